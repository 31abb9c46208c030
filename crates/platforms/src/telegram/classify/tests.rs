//! Errors as core.telegram.org/bots/api ("Making requests", `ResponseParameters`) and the open Bot API server
//! (github.com/tdlib/telegram-bot-api, Client.cpp) write them.

use std::time::Duration;

use serde_json::json;
use talaria_domain::adapter::Disconnected;
use talaria_domain::delivery::{Outcome, Rejection};

use super::{
    Halt, Refusal, Reply, answered, is_no_picture, is_unchanged, met, moved_to, outcome, polled,
};

fn no(code: u16, words: &str) -> Reply {
    Reply::Refused(Refusal {
        code,
        words: words.to_owned(),
        ..Refusal::default()
    })
}

fn wait(seconds: u64) -> Reply {
    Reply::Refused(Refusal {
        code: 429,
        words: "Too Many Requests".to_owned(),
        retry_after: Some(seconds),
        moved_to: None,
    })
}

/// Codes and words, and what each means.
const REFUSALS: [(u16, &str, Rejection); 36] = [
    (
        400,
        "Bad Request: can't parse entities: Unsupported start tag \"x\" at byte offset 0",
        Rejection::Markup,
    ),
    (
        400,
        "Bad Request: can't parse entities: Can't find end tag corresponding to start tag \"b\"",
        Rejection::Markup,
    ),
    (400, "Bad Request: ENTITY_BOUNDS_INVALID", Rejection::Markup),
    (400, "Bad Request: message is too long", Rejection::TooLong),
    (400, "Bad Request: MESSAGE_TOO_LONG", Rejection::TooLong),
    (
        400,
        "Bad Request: message caption is too long",
        Rejection::TooLong,
    ),
    (
        400,
        "Bad Request: MEDIA_CAPTION_TOO_LONG",
        Rejection::TooLong,
    ),
    (400, "Bad Request: chat not found", Rejection::Gone),
    (
        400,
        "Bad Request: message thread not found",
        Rejection::Gone,
    ),
    (400, "Bad Request: TOPIC_DELETED", Rejection::Gone),
    (
        400,
        "Bad Request: message to edit not found",
        Rejection::Gone,
    ),
    (400, "Bad Request: message can't be edited", Rejection::Gone),
    (400, "Bad Request: MESSAGE_ID_INVALID", Rejection::Gone),
    (
        400,
        "Bad Request: message to be replied not found",
        Rejection::Gone,
    ),
    (
        400,
        "Bad Request: group chat was upgraded to a supergroup chat",
        Rejection::Gone,
    ),
    (400, "Bad Request: PEER_ID_INVALID", Rejection::Gone),
    (
        400,
        "Bad Request: not enough rights to send text messages to the chat",
        Rejection::Forbidden,
    ),
    (
        400,
        "Bad Request: have no rights to send a message",
        Rejection::Forbidden,
    ),
    (
        400,
        "Bad Request: need administrator rights in the channel chat",
        Rejection::Forbidden,
    ),
    (
        400,
        "Bad Request: CHAT_WRITE_FORBIDDEN",
        Rejection::Forbidden,
    ),
    (
        400,
        "Bad Request: VOICE_MESSAGES_FORBIDDEN",
        Rejection::Forbidden,
    ),
    (400, "Bad Request: TOPIC_CLOSED", Rejection::Forbidden),
    (
        400,
        "Bad Request: message text is empty",
        Rejection::Invalid,
    ),
    (400, "Bad Request: BUTTON_DATA_INVALID", Rejection::Invalid),
    (
        400,
        "Bad Request: the chat is not a forum",
        Rejection::Invalid,
    ),
    (400, "", Rejection::Invalid),
    (401, "Unauthorized", Rejection::Unauthorized),
    (404, "Not Found", Rejection::Unauthorized),
    (
        403,
        "Forbidden: bot was blocked by the user",
        Rejection::Forbidden,
    ),
    (
        403,
        "Forbidden: bot was kicked from the supergroup chat",
        Rejection::Forbidden,
    ),
    (
        403,
        "Forbidden: bot can't initiate conversation with a user",
        Rejection::Forbidden,
    ),
    (403, "Forbidden: user is deactivated", Rejection::Gone),
    (
        403,
        "Forbidden: the group chat was deleted",
        Rejection::Gone,
    ),
    (413, "Request Entity Too Large", Rejection::Invalid),
    (409, "Conflict", Rejection::Invalid),
    (302, "", Rejection::Invalid),
];

#[test]
fn a_no_has_its_class() {
    for (code, words, class) in REFUSALS {
        let expected = Outcome::Rejected {
            class,
            detail: words.to_owned(),
        };
        assert_eq!(outcome(no(code, words)), Err(expected), "{code} {words}");
    }
}

#[test]
fn too_many_requests_were_certainly_not_done() {
    for (seconds, expected) in [(37, 37), (0, 0), (999_999, 3_600)] {
        let outcome = outcome(wait(seconds));
        let is_expected = matches!(outcome, Err(Outcome::NotSent { retry_after: Some(wait), .. })
            if wait == Duration::from_secs(expected));
        assert!(is_expected, "{seconds}");
    }
    assert!(matches!(
        outcome(no(429, "x")),
        Err(Outcome::NotSent {
            retry_after: None,
            ..
        })
    ));
}

#[test]
fn what_may_have_been_done_is_unknown() {
    for reply in [
        no(500, "Internal Server Error: restart"),
        no(502, "Bad Gateway"),
        no(504, ""),
        no(101, ""),
        no(200, "ok is false"),
        Reply::Silent("no answer in time".to_owned()),
    ] {
        let outcome = outcome(reply.clone());
        assert!(
            matches!(outcome, Err(Outcome::Unknown { .. })),
            "{reply:?}: {outcome:?}"
        );
    }
    let never_left = outcome(Reply::NotSent("refused".to_owned()));
    assert!(matches!(
        never_left,
        Err(Outcome::NotSent {
            retry_after: None,
            ..
        })
    ));
    assert_eq!(outcome(Reply::Done(json!(1))), Ok(json!(1)));
}

#[test]
fn some_a_no_is_a_yes_or_a_hint() {
    let unchanged = "Bad Request: message is not modified: specified new message content and reply markup are exactly \
                     the same as a current content and reply markup of the message";
    assert!(is_unchanged(&no(400, unchanged)));
    assert!(!is_unchanged(&no(403, unchanged)) && !is_unchanged(&no(400, "other")));
    assert!(is_no_picture(&no(
        400,
        "Bad Request: PHOTO_INVALID_DIMENSIONS"
    )));
    assert!(is_no_picture(&no(400, "Bad Request: IMAGE_PROCESS_FAILED")));
    assert!(!is_no_picture(&no(400, "Bad Request: wrong file")));
    let moved = Reply::Refused(Refusal {
        code: 400,
        moved_to: Some(-100_123),
        ..Refusal::default()
    });
    assert_eq!(
        (moved_to(&moved), moved_to(&no(400, "x"))),
        (Some(-100_123), None)
    );
}

#[test]
fn a_connection_ends_for_a_reason() {
    let name = |ended: &Disconnected| match ended {
        Disconnected::Lost { .. } => "lost",
        Disconnected::Unauthorized { .. } => "unauthorized",
        Disconnected::Conflict { .. } => "conflict",
    };
    for (reply, when_met, later) in [
        (no(401, "Unauthorized"), "unauthorized", "unauthorized"),
        (no(404, "Not Found"), "unauthorized", "lost"),
        (no(403, ""), "lost", "lost"),
        (no(500, ""), "lost", "lost"),
        (no(302, ""), "lost", "lost"),
        (Reply::NotSent(String::new()), "lost", "lost"),
        (Reply::Silent(String::new()), "lost", "lost"),
    ] {
        assert_eq!(
            name(&met(reply.clone()).unwrap_err()),
            when_met,
            "{reply:?}"
        );
        assert_eq!(
            name(&answered(reply.clone()).unwrap_err()),
            later,
            "{reply:?}"
        );
        let Err(Halt::Ended(ended)) = polled(reply.clone()) else {
            panic!("{reply:?}");
        };
        assert_eq!(name(&ended), later, "{reply:?}");
    }
}

#[test]
fn who_else_asks_is_told_apart_from_who_is_called() {
    let other = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
    let hook = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
    assert_eq!(polled(no(409, other)), Err(Halt::Rival(other.to_owned())));
    assert_eq!(polled(no(409, hook)), Err(Halt::Webhook(hook.to_owned())));
    assert_eq!(polled(wait(37)), Err(Halt::Wait(Duration::from_secs(37))));
    assert_eq!(polled(wait(9_999)), Err(Halt::Wait(Duration::from_mins(1))));
    assert_eq!(polled(Reply::Done(json!([]))), Ok(json!([])));
}
