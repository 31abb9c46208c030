//! The tables of "Opcodes and Status Codes", line by line, and the error bodies of "API Reference".

use std::time::Duration;

use serde_json::json;
use talaria_domain::adapter::Disconnected;
use talaria_domain::delivery::{Outcome, Rejection};
use talaria_domain::names::MessageId;

use super::{Closed, No, Reply, closed, done, received, sent};
use crate::discord::wire::Refusal;

fn no(status: u16, code: i64) -> Reply {
    let refusal = Refusal {
        code,
        ..Refusal::default()
    };
    Reply::Refused(No::of(status, &refusal, (None, "no".to_owned())))
}

fn rejected(reply: Reply) -> Option<Rejection> {
    match done(reply) {
        Err(Outcome::Rejected { class, .. }) => Some(class),
        _ => None,
    }
}

#[test]
fn a_no_has_its_class() {
    for (status, code, class) in [
        (404, 10_003, Rejection::Gone),
        (404, 10_004, Rejection::Gone),
        (404, 10_008, Rejection::Gone),
        (404, 10_013, Rejection::Gone),
        (404, 10_062, Rejection::Gone),
        (404, 0, Rejection::Gone),
        (401, 0, Rejection::Unauthorized),
        (403, 40_001, Rejection::Unauthorized),
        (401, 50_014, Rejection::Unauthorized),
        (403, 40_002, Rejection::Forbidden),
        (403, 50_001, Rejection::Forbidden),
        (403, 50_005, Rejection::Forbidden),
        (403, 50_007, Rejection::Forbidden),
        (400, 50_008, Rejection::Forbidden),
        (403, 50_013, Rejection::Forbidden),
        (400, 50_083, Rejection::Forbidden),
        (403, 50_278, Rejection::Forbidden),
        (400, 160_005, Rejection::Forbidden),
        (403, 0, Rejection::Forbidden),
        (413, 40_005, Rejection::TooLong),
        (413, 0, Rejection::TooLong),
        (400, 50_045, Rejection::TooLong),
        (400, 50_006, Rejection::Invalid),
        (400, 50_035, Rejection::Invalid),
        (400, 50_109, Rejection::Invalid),
        (400, 200_000, Rejection::Invalid),
        (400, 0, Rejection::Invalid),
        (405, 0, Rejection::Invalid),
        (302, 0, Rejection::Invalid),
    ] {
        assert_eq!(rejected(no(status, code)), Some(class), "{status} {code}");
    }
}

/// "API Reference", error messages: the examples of the page.
#[test]
fn a_form_that_is_too_long_is_told_apart() {
    for (errors, class) in [
        (
            json!({ "content": { "_errors": [
                { "code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length." }] } }),
            Rejection::TooLong,
        ),
        (
            json!({ "access_token": { "_errors": [{ "code": "BASE_TYPE_REQUIRED", "message": "This field is required" }] } }),
            Rejection::Invalid,
        ),
        (
            json!({ "activities": { "0": { "platform": { "_errors": [
                { "code": "BASE_TYPE_CHOICES", "message": "Value must be one of ('desktop', 'android', 'ios')." }] } } } }),
            Rejection::Invalid,
        ),
        (json!(null), Rejection::Invalid),
    ] {
        let refusal = Refusal {
            code: 50_035,
            errors: errors.clone(),
            ..Refusal::default()
        };
        let reply = Reply::Refused(No::of(400, &refusal, (None, "no".to_owned())));
        assert_eq!(rejected(reply), Some(class), "{errors}");
    }
}

/// "Rate Limits": the field, or else the header.
#[test]
fn too_many_requests_were_certainly_not_done() {
    for (field, header, wait) in [
        (Some(64.57), Some(65.0), Some(Duration::from_millis(64_570))),
        (None, Some(65.0), Some(Duration::from_secs(65))),
        (Some(0.0), None, Some(Duration::ZERO)),
        (Some(1e30), None, Some(Duration::from_hours(1))),
        (Some(-1.0), None, None),
        (Some(f64::NAN), None, None),
        (None, None, None),
    ] {
        let refusal = Refusal {
            retry_after: field,
            ..Refusal::default()
        };
        let reply = Reply::Refused(No::of(429, &refusal, (header, "no".to_owned())));
        let expected = Outcome::NotSent {
            retry_after: wait,
            detail: "no".to_owned(),
        };
        assert_eq!(done(reply), Err(expected), "{field:?} {header:?}");
    }
}

#[test]
fn what_may_have_been_done_is_unknown() {
    for reply in [
        no(500, 0),
        no(502, 0),
        no(503, 50_013),
        no(504, 0),
        no(101, 0),
        Reply::Silent("no".to_owned()),
        Reply::Done(b"".to_vec()),
        Reply::Done(b"{}".to_vec()),
        Reply::Done(br#"{"id":""}"#.to_vec()),
        Reply::Done(b"<html>".to_vec()),
    ] {
        let outcome = sent(reply.clone(), None);
        assert!(
            matches!(outcome, Err(Outcome::Unknown { .. })),
            "{reply:?}: {outcome:?}"
        );
    }
}

#[test]
fn a_message_that_is_there_has_an_id() {
    let changed = MessageId::from("7");
    let body = || Reply::Done(br#"{"id":"9","type":0}"#.to_vec());
    assert_eq!(sent(body(), None), Ok("9".into()));
    assert_eq!(
        sent(Reply::Done(Vec::new()), Some(&changed)),
        Ok("7".into())
    );
    assert_eq!(
        sent(no(304, 0), Some(&changed)),
        Ok("7".into()),
        "not modified"
    );
    let wait = Some(Duration::from_secs(9));
    let expected = Outcome::NotSent {
        retry_after: wait,
        detail: "full".to_owned(),
    };
    assert_eq!(
        sent(Reply::NotSent("full".to_owned(), wait), None),
        Err(expected)
    );
}

#[test]
fn a_connection_is_not_there_for_a_reason() {
    assert_eq!(received(Reply::Done(b"x".to_vec())), Ok(b"x".to_vec()));
    let ended = received(no(401, 0)).unwrap_err();
    assert!(matches!(ended, Disconnected::Unauthorized { detail } if detail.starts_with("no: ")));
    for reply in [
        no(403, 50_001),
        no(404, 0),
        no(429, 0),
        no(500, 0),
        Reply::NotSent("no".to_owned(), None),
        Reply::Silent("no".to_owned()),
    ] {
        let ended = received(reply.clone()).unwrap_err();
        assert!(matches!(ended, Disconnected::Lost { .. }), "{reply:?}");
    }
}

/// The column "Reconnect" of the close codes.
#[test]
fn every_close_code_has_its_consequence() {
    for code in [
        4_000, 4_001, 4_002, 4_005, 4_008, 1_000, 1_001, 1_006, 4_999,
    ] {
        assert_eq!(closed(code, ""), Closed::Resume, "{code}");
    }
    for code in [4_003, 4_007, 4_009] {
        assert_eq!(closed(code, ""), Closed::Fresh, "{code}");
    }
    for (code, words) in [
        (4_004, "Reset Token"),
        (4_010, "shards"),
        (4_011, "shards"),
        (4_012, "update Talaria"),
        (4_013, "update Talaria"),
        (4_014, "Message Content Intent"),
    ] {
        let Closed::Ended(Disconnected::Unauthorized { detail }) = closed(code, "Words.") else {
            panic!("{code}");
        };
        let expected = format!("closed with {code} Words: ");
        assert!(
            detail.starts_with(&expected) && detail.contains(words),
            "{detail}"
        );
    }
}
