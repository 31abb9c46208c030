//! The errors that the pages of the methods list (<https://docs.slack.dev/reference/methods/>), and what each comes to.

use std::time::Duration;

use serde_json::json;
use talaria_domain::adapter::Disconnected;
use talaria_domain::delivery::{Outcome, Rejection};

use super::{Reply, done, goodbye, received};

fn no(status: u16, error: &str) -> Reply {
    Reply::Refused {
        status,
        retry_after: None,
        error: error.to_owned(),
        words: "no".to_owned(),
    }
}

#[test]
fn a_no_has_its_class() {
    for (status, error, class) in [
        (200, "channel_not_found", Rejection::Gone),
        (200, "is_archived", Rejection::Gone),
        (200, "message_not_found", Rejection::Gone),
        (200, "thread_not_found", Rejection::Gone),
        (200, "user_not_found", Rejection::Gone),
        (200, "not_in_channel", Rejection::Forbidden),
        (200, "restricted_action", Rejection::Forbidden),
        (
            200,
            "restricted_action_read_only_channel",
            Rejection::Forbidden,
        ),
        (200, "missing_scope", Rejection::Forbidden),
        (200, "ekm_access_denied", Rejection::Forbidden),
        (200, "cant_update_message", Rejection::Forbidden),
        (200, "edit_window_closed", Rejection::Forbidden),
        (200, "msg_too_long", Rejection::TooLong),
        (200, "msg_blocks_too_long", Rejection::TooLong),
        (200, "invalid_blocks", Rejection::Markup),
        (200, "no_text", Rejection::Invalid),
        (200, "too_many_attachments", Rejection::Invalid),
        (200, "invalid_arguments", Rejection::Invalid),
        (200, "unknown_method", Rejection::Invalid),
        (200, "not_authed", Rejection::Unauthorized),
        (200, "invalid_auth", Rejection::Unauthorized),
        (200, "account_inactive", Rejection::Unauthorized),
        (200, "token_revoked", Rejection::Unauthorized),
        (200, "token_expired", Rejection::Unauthorized),
        (302, "", Rejection::Invalid),
        (401, "", Rejection::Unauthorized),
        (403, "", Rejection::Forbidden),
        (404, "", Rejection::Invalid),
        (413, "", Rejection::TooLong),
    ] {
        let expected = Outcome::Rejected {
            class,
            detail: "no".to_owned(),
        };
        assert_eq!(done(no(status, error)), Err(expected), "{status} {error}");
    }
}

#[test]
fn too_much_was_certainly_not_done() {
    for (status, error, header, wait) in [
        (429, "ratelimited", Some("3"), Some(Duration::from_secs(3))),
        (429, "", Some(" 30 "), Some(Duration::from_secs(30))),
        (
            429,
            "",
            Some("99999999999999999999"),
            Some(Duration::from_hours(1)),
        ),
        (429, "", Some("soon"), None),
        (429, "", Some("-3"), None),
        (429, "", None, None),
        (200, "ratelimited", None, None),
        (200, "rate_limited", None, None),
        (200, "message_limit_exceeded", None, None),
        (200, "team_added_to_org", None, None),
    ] {
        let reply = Reply::Refused {
            status,
            retry_after: header.map(str::to_owned),
            error: error.to_owned(),
            words: "no".to_owned(),
        };
        let expected = Outcome::NotSent {
            retry_after: wait,
            detail: "no".to_owned(),
        };
        assert_eq!(done(reply), Err(expected), "{status} {error} {header:?}");
    }
}

#[test]
fn what_may_have_been_done_is_unknown() {
    for reply in [
        no(200, "fatal_error"),
        no(200, "internal_error"),
        no(200, "service_unavailable"),
        no(200, "request_timeout"),
        no(200, "something_that_nobody_has_heard_of"),
        no(200, ""),
        no(500, "channel_not_found"),
        no(502, ""),
        no(503, ""),
        no(418, ""),
        Reply::Silent("no".to_owned()),
    ] {
        let outcome = done(reply.clone());
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
    assert_eq!(done(Reply::NotSent("refused".to_owned())), Err(expected));
}

#[test]
fn a_yes_is_passed_on() {
    let body = json!({ "ok": true, "ts": "1.2" });
    assert_eq!(done(Reply::Done(body.clone())), Ok(body.clone()));
    assert_eq!(received(Reply::Done(body.clone())), Ok(body));
}

#[test]
fn a_connection_ends_for_a_reason() {
    for (reply, is_about_us) in [
        (no(200, "invalid_auth"), true),
        (no(200, "account_inactive"), true),
        (no(200, "token_revoked"), true),
        (no(200, "token_expired"), true),
        (no(200, "not_allowed_token_type"), true),
        (no(200, "missing_scope"), true),
        (no(200, "access_denied"), true),
        (no(401, ""), true),
        (no(200, "internal_error"), false),
        (no(200, "ratelimited"), false),
        (no(429, "ratelimited"), false),
        (no(500, ""), false),
        (no(302, ""), false),
        (Reply::NotSent("no".to_owned()), false),
        (Reply::Silent("no".to_owned()), false),
    ] {
        let ended = received(reply.clone());
        let is_expected = match &ended {
            Err(Disconnected::Unauthorized { detail }) => is_about_us && detail.starts_with("no; "),
            Err(Disconnected::Lost { detail }) => !is_about_us && detail == "no",
            _ => false,
        };
        assert!(is_expected, "{reply:?}: {ended:?}");
    }
}

/// "Using Socket Mode": the reasons that Slack gives before it takes a socket away.
#[test]
fn a_goodbye_says_what_follows() {
    for reason in ["warning", "refresh_requested", "something_new", ""] {
        assert_eq!(goodbye(reason), None, "{reason}");
    }
    assert!(matches!(
        goodbye("link_disabled"),
        Some(Disconnected::Unauthorized { .. })
    ));
    assert!(matches!(
        goodbye("too_many_websockets"),
        Some(Disconnected::Conflict { .. })
    ));
}
