//! Every failure, and what it is to programs.

use super::*;

/// What a model's server might say, with what nobody outside may read.
const REASON: &str = "the model server 10.0.0.7:8080 said: bad key sk-very-secret of org-17";

fn over(end: End, retry_after_seconds: Option<u64>) -> Over {
    Over {
        end,
        text: String::new(),
        reason: REASON.to_owned(),
        usage: talaria_domain::run::Usage::default(),
        retry_after_seconds,
    }
}

fn response(code: FailureCode, seconds: Option<u64>) -> (Response, Value) {
    let refusal = Refusal::of(&over(End::Failed(code), seconds)).expect("no answer");
    let error = refusal.body()["error"].take();
    (refusal.into_response(), error)
}

const INPUT: &str = "invalid_request_error";
const API: &str = "api_error";
const RATE: &str = "rate_limit_error";

const FAILURES: [(FailureCode, u16, &str, &str); 16] = [
    (FailureCode::ModelUnreachable, 502, API, "model_unreachable"),
    (FailureCode::ModelOverloaded, 429, RATE, "model_overloaded"),
    (FailureCode::ModelRefused, 502, API, "model_refused"),
    (FailureCode::ModelAuth, 502, API, "model_auth"),
    (FailureCode::ModelUnreadable, 502, API, "model_unreadable"),
    (
        FailureCode::ModelMisconfigured,
        502,
        API,
        "model_misconfigured",
    ),
    (
        FailureCode::ContextTooLong,
        400,
        INPUT,
        "context_length_exceeded",
    ),
    (
        FailureCode::Unsupported,
        400,
        INPUT,
        "unsupported_parameter",
    ),
    (FailureCode::OutputLimit, 400, INPUT, "output_limit_reached"),
    (FailureCode::Withheld, 400, INPUT, "content_filter"),
    (FailureCode::Timeout, 504, API, "timeout"),
    (FailureCode::NoProgress, 504, API, "no_progress"),
    (FailureCode::ToolLoop, 500, API, "tool_loop"),
    (
        FailureCode::AttemptsExhausted,
        500,
        API,
        "attempts_exhausted",
    ),
    (FailureCode::Internal, 500, API, "internal"),
    (FailureCode::Other, 502, API, "run_failed"),
];

#[test]
fn every_failure_has_its_status_type_and_code() {
    for (failure, status, kind, code) in FAILURES {
        let (response, error) = response(failure, None);
        assert_eq!(response.status().as_u16(), status, "{failure:?}");
        assert_eq!(
            (error["type"].as_str(), error["code"].as_str()),
            (Some(kind), Some(code))
        );
        assert_eq!(
            response.headers()[SHOULD_RETRY],
            "false",
            "tools may have run"
        );
        assert!(!response.headers().contains_key(header::RETRY_AFTER));
    }
}

#[test]
fn what_a_models_server_says_is_not_passed_on() {
    for failure in [
        FailureCode::ModelUnreachable,
        FailureCode::ModelOverloaded,
        FailureCode::ModelRefused,
        FailureCode::ModelAuth,
        FailureCode::ModelUnreadable,
        FailureCode::ModelMisconfigured,
        FailureCode::ContextTooLong,
        FailureCode::Timeout,
    ] {
        let (_, error) = response(failure, None);
        let words = error.to_string();
        for secret in ["10.0.0.7", "sk-very-secret", "org-17"] {
            assert!(!words.contains(secret), "{failure:?}: {words}");
        }
    }
}

#[test]
fn when_to_come_back_is_told_if_it_is_known() {
    let (busy, _) = response(FailureCode::ModelOverloaded, Some(7));
    assert_eq!(busy.headers()[header::RETRY_AFTER], "7");
    let full = Refusal::queue_full();
    assert_eq!(full.body()["error"]["type"], "rate_limit_error");
    assert_eq!(full.body()["error"]["code"], "queue_full");
    let full = full.into_response();
    assert_eq!(full.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(full.headers()[header::RETRY_AFTER], "5");
    assert!(
        !full.headers().contains_key(SHOULD_RETRY),
        "nothing has begun"
    );
}
