//! How a run ended, as the ledger keeps it: what older binaries wrote can be read, and what newer ones write as well.

use serde_json::json;

use super::*;

const CODES: [FailureCode; 16] = [
    FailureCode::ModelUnreachable,
    FailureCode::ModelOverloaded,
    FailureCode::ModelRefused,
    FailureCode::ModelAuth,
    FailureCode::ModelUnreadable,
    FailureCode::ModelMisconfigured,
    FailureCode::ContextTooLong,
    FailureCode::Unsupported,
    FailureCode::OutputLimit,
    FailureCode::Withheld,
    FailureCode::Timeout,
    FailureCode::NoProgress,
    FailureCode::ToolLoop,
    FailureCode::AttemptsExhausted,
    FailureCode::Internal,
    FailureCode::Other,
];

fn read(value: Value) -> RunOutcome {
    serde_json::from_value(value).expect("an outcome")
}

#[test]
fn outcomes_without_codes_can_be_read() {
    let cost = json!({ "input_tokens": 3, "output_tokens": 4 });
    let usage = Usage {
        input_tokens: 3,
        output_tokens: 4,
    };
    assert_eq!(
        read(json!({ "outcome": "completed", "usage": cost })),
        RunOutcome::completed(usage)
    );
    let failed = json!({ "outcome": "failed", "reason": "no model" });
    assert_eq!(
        read(failed),
        RunOutcome::failed(FailureCode::Other, "no model")
    );
    let later = json!({ "outcome": "failed", "reason": "x", "code": "moon_phase" });
    assert_eq!(read(later), RunOutcome::failed(FailureCode::Other, "x"));
}

#[test]
fn outcomes_are_read_as_they_were_written() {
    for code in CODES {
        let written = serde_json::to_value(code).expect("a code");
        assert_eq!(written, json!(code.as_str()));
        let failed = RunOutcome::failed(code, "why");
        let kept = serde_json::to_value(RunEvent::Ended(failed.clone())).expect("an event");
        assert_eq!(kept["code"], json!(code.as_str()), "{kept}");
        let event: RunEvent = serde_json::from_value(kept).expect("an event");
        assert_eq!(event, RunEvent::Ended(failed));
    }
    for finish in [Finish::Stop, Finish::Length, Finish::ContentFilter] {
        let written = serde_json::to_value(finish).expect("a finish");
        assert_eq!(written, json!(finish.as_str()));
    }
    let later = RunOutcome::Failed(Failure {
        retry_after_seconds: Some(7),
        ..Failure::of(FailureCode::ModelOverloaded, "busy")
    });
    let kept = serde_json::to_value(&later).expect("an outcome");
    assert_eq!(read(kept), later);
}
