//! Each way a server says no, and what we make of it.

use std::time::Duration;

use serde_json::json;

use super::Fault;

fn kind(fault: &Fault) -> &'static str {
    match fault {
        Fault::Passing { .. } => "passing",
        Fault::Busy { .. } => "busy",
        Fault::Silent { .. } => "silent",
        Fault::Unreadable(_) => "unreadable",
        Fault::Refused(_) => "refused",
        Fault::Unauthorized(_) => "unauthorized",
        Fault::Misconfigured(_) => "misconfigured",
        Fault::TooLong(_) => "too long",
    }
}

// "Error codes", OpenAI docs; "Errors", Claude docs; "Errors and Debugging", OpenRouter docs; and what compatible servers
// answer.
const ANSWERS: [(u16, &str, &str); 20] = [
    (
        401,
        r#"{"error":{"message":"Incorrect API key provided: sk-abc"}}"#,
        "unauthorized",
    ),
    (
        403,
        r#"{"error":{"type":"permission_error","message":"not for you"}}"#,
        "unauthorized",
    ),
    (404, r#"{"error":"model 'x' not found"}"#, "refused"),
    (
        400,
        r#"{"error":{"message":"bad","code":"context_length_exceeded"}}"#,
        "too long",
    ),
    (
        400,
        r#"{"object":"error","message":"This model's maximum context length is 8192 tokens."}"#,
        "too long",
    ),
    (
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 2 > 1"}}"#,
        "too long",
    ),
    (
        400,
        r#"{"error":{"message":"input length and `max_tokens` exceed context limit: 2 + 1 > 2"}}"#,
        "too long",
    ),
    (
        400,
        r#"{"error":{"code":400,"message":"no","type":"exceed_context_size_error"}}"#,
        "too long",
    ),
    (413, "", "too long"),
    (
        422,
        r#"{"detail":"stream_options: extra fields not permitted"}"#,
        "refused",
    ),
    (
        400,
        r#"{"error":{"message":"temperature is wrong"}}"#,
        "refused",
    ),
    (302, "", "refused"),
    (
        429,
        r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#,
        "busy",
    ),
    (
        429,
        r#"{"error":{"message":"no money","code":"insufficient_quota"}}"#,
        "refused",
    ),
    (
        429,
        r#"{"error":{"type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"}}}"#,
        "refused",
    ),
    (408, "", "passing"),
    (409, "", "passing"),
    (500, "<html>oh</html>", "passing"),
    (503, "no healthy upstream", "passing"),
    (
        529,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        "busy",
    ),
];

#[test]
fn a_status_is_classified_with_its_words() {
    for (status, body, expected) in ANSWERS {
        let fault = Fault::of_status(status, body, None);
        assert_eq!(kind(&fault), expected, "{status} {body}: {fault:?}");
    }
}

#[test]
fn the_words_of_a_401_are_left_out() {
    let fault = Fault::of_status(
        401,
        r#"{"error":{"message":"wrong key sk-abc***xyz"}}"#,
        None,
    );
    assert_eq!(fault, Fault::Unauthorized("status 401".to_owned()));
}

#[test]
fn words_are_told_and_pages_are_not() {
    let why = |body| match Fault::of_status(500, body, None) {
        Fault::Passing { why, .. } => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        why(" no healthy upstream\n"),
        "status 500: no healthy upstream"
    );
    assert_eq!(why("<html><body>Bad Gateway</body></html>"), "status 500");
    assert_eq!(
        why(r#"{"error":"out of memory"}"#),
        "status 500: out of memory"
    );
}

#[test]
fn the_wait_that_is_asked_for_is_kept() {
    let wait = Some(Duration::from_secs(3));
    let fault = Fault::of_status(429, "", wait);
    assert_eq!(
        fault,
        Fault::Busy {
            why: "status 429".to_owned(),
            after: wait
        }
    );
}

// Errors in the middle of a stream: "Errors", Claude docs; "Streaming", OpenRouter docs.
#[test]
fn an_error_object_is_classified_by_type_or_code() {
    let table = [
        (
            json!({"type": "overloaded_error", "message": "Overloaded"}),
            "busy",
        ),
        (json!({"type": "api_error", "message": "oh"}), "passing"),
        (
            json!({"type": "rate_limit_error", "message": "slow down"}),
            "busy",
        ),
        (
            json!({"type": "authentication_error", "message": "who?"}),
            "unauthorized",
        ),
        (
            json!({"type": "permission_error", "message": "no"}),
            "unauthorized",
        ),
        (
            json!({"type": "not_found_error", "message": "no such model"}),
            "refused",
        ),
        (
            json!({"type": "invalid_request_error", "message": "wrong"}),
            "refused",
        ),
        (
            json!({"type": "invalid_request_error", "message": "prompt is too long: 2 > 1"}),
            "too long",
        ),
        (
            json!({"type": "request_too_large", "message": "wow"}),
            "too long",
        ),
        (
            json!({"code": 502, "message": "Provider disconnected"}),
            "passing",
        ),
        (json!({"code": 402, "message": "no credits"}), "refused"),
        (json!("something broke"), "passing"),
    ];
    for (error, expected) in table {
        assert_eq!(kind(&Fault::of_error(&error)), expected, "{error}");
    }
}
