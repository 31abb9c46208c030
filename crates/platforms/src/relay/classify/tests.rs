//! The table of `docs/relay.md`, line by line.

use std::time::Duration;

use talaria_domain::adapter::Disconnected;
use talaria_domain::delivery::{Outcome, Rejection};
use talaria_domain::names::MessageId;

use super::{Ask, Reply, received, sent};

fn done(body: &str) -> Reply {
    Reply::Done(body.as_bytes().to_vec())
}

fn no(status: u16, code: &str, retry_after: Option<&str>) -> Reply {
    Reply::Refused {
        status,
        retry_after: retry_after.map(str::to_owned),
        code: code.to_owned(),
        words: "no".to_owned(),
    }
}

#[test]
fn a_no_has_its_class() {
    for (status, code, class) in [
        (400, "markup", Rejection::Markup),
        (400, "too_long", Rejection::TooLong),
        (400, "forbidden", Rejection::Forbidden),
        (400, "gone", Rejection::Gone),
        (400, "unauthorized", Rejection::Unauthorized),
        (400, "empty", Rejection::Invalid),
        (400, "", Rejection::Invalid),
        (401, "", Rejection::Unauthorized),
        (402, "", Rejection::Invalid),
        (403, "", Rejection::Forbidden),
        (404, "", Rejection::Gone),
        (409, "", Rejection::Invalid),
        (410, "", Rejection::Gone),
        (413, "", Rejection::TooLong),
        (422, "markup", Rejection::Invalid),
        (302, "", Rejection::Invalid),
    ] {
        let expected = Outcome::Rejected {
            class,
            detail: "no".to_owned(),
        };
        let outcome = sent(no(status, code, None), None);
        assert_eq!(outcome, Err(expected), "{status} {code}");
    }
}

#[test]
fn too_many_requests_were_certainly_not_done() {
    for (header, wait) in [
        (Some("3"), Some(Duration::from_secs(3))),
        (Some(" 3 "), Some(Duration::from_secs(3))),
        (Some("0"), Some(Duration::ZERO)),
        (Some("0.5"), Some(Duration::from_millis(500))),
        (Some("99999999999999999999"), Some(Duration::from_hours(1))),
        (Some("inf"), None),
        (Some("-3"), None),
        (Some("Wed, 21 Oct 2015 07:28:00 GMT"), None),
        (None, None),
    ] {
        let expected = Outcome::NotSent {
            retry_after: wait,
            detail: "no".to_owned(),
        };
        let outcome = sent(no(429, "", header), None);
        assert_eq!(outcome, Err(expected), "{header:?}");
    }
}

#[test]
fn what_may_have_been_done_is_unknown() {
    for reply in [
        no(500, "", None),
        no(502, "markup", None),
        no(503, "", Some("3")),
        no(504, "", None),
        no(101, "", None),
        Reply::Silent("no".to_owned()),
        done(""),
        done("{}"),
        done(r#"{"message_id":""}"#),
        done(r#"{"message_id":5}"#),
        done("<html>"),
    ] {
        let outcome = sent(reply.clone(), None);
        assert!(
            matches!(outcome, Err(Outcome::Unknown { .. })),
            "{reply:?}: {outcome:?}"
        );
    }
}

#[test]
fn what_never_left_may_be_tried_again() {
    let expected = Outcome::NotSent {
        retry_after: None,
        detail: "refused".to_owned(),
    };
    assert_eq!(
        sent(Reply::NotSent("refused".to_owned()), None),
        Err(expected)
    );
}

#[test]
fn a_message_that_is_there_has_an_id() {
    let changed = MessageId::from("m1");
    for (reply, changed, id) in [
        (r#"{"message_id":"m9"}"#, None, "m9"),
        (r#"{"message_id":"m9"}"#, Some(&changed), "m9"),
        ("", Some(&changed), "m1"),
        ("{}", Some(&changed), "m1"),
    ] {
        assert_eq!(sent(done(reply), changed), Ok(id.into()), "{reply:?}");
    }
}

#[test]
fn a_connection_ends_for_a_reason() {
    let detail = || "no".to_owned();
    let lost = || Disconnected::Lost { detail: detail() };
    let unauthorized = || Disconnected::Unauthorized { detail: detail() };
    let conflict = || Disconnected::Conflict { detail: detail() };
    for (ask, reply, ended) in [
        (Ask::About, no(401, "", None), unauthorized()),
        (Ask::About, no(403, "", None), unauthorized()),
        (Ask::About, no(404, "", None), lost()),
        (Ask::About, no(409, "", None), lost()),
        (Ask::About, no(500, "", None), lost()),
        (Ask::Updates, no(401, "", None), unauthorized()),
        (Ask::Updates, no(403, "", None), unauthorized()),
        (Ask::Updates, no(409, "", None), conflict()),
        (Ask::Updates, no(400, "", None), lost()),
        (Ask::Updates, no(429, "", Some("3")), lost()),
        (Ask::Updates, no(302, "", None), lost()),
        (Ask::Updates, no(500, "", None), lost()),
        (Ask::Updates, Reply::NotSent(detail()), lost()),
        (Ask::Updates, Reply::Silent(detail()), lost()),
    ] {
        assert_eq!(
            received(ask, reply.clone()),
            Err(ended),
            "{ask:?} {reply:?}"
        );
    }
    assert_eq!(received(Ask::About, done("x")), Ok(b"x".to_vec()));
}
