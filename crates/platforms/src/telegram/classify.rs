//! What an answer means, or the lack of one. The API has no list of its errors: the code decides, and within "Bad
//! Request" the words do, as the open Bot API server (github.com/tdlib/telegram-bot-api) writes them. What was
//! certainly not done may be tried again, what may have been done may not.
//!
//! Pure: a reply in, an outcome out.

#[cfg(test)]
mod tests;

use std::time::Duration;

use serde_json::Value;
use talaria_domain::adapter::Disconnected;
use talaria_domain::delivery::{Outcome, Rejection};

/// No chat is closed for longer because the platform says so.
const LONGEST_WAIT: Duration = Duration::from_hours(1);
/// We ask again sooner than we would have to, if only to stay alive.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// What to do about a token that is not accepted.
const WHAT_TO_DO: &str =
    "ask @BotFather for the bot's token (/mybots, API Token) and put it into the configuration";

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    /// Yes, and the result.
    Done(Value),
    /// No.
    Refused(Refusal),
    /// The request certainly did not leave.
    NotSent(String),
    /// The request may have arrived; no whole answer came.
    Silent(String),
}

/// A no.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The error's code, which is the status as well.
    pub(super) code: u16,
    /// The description.
    pub(super) words: String,
    /// How many seconds to wait.
    pub(super) retry_after: Option<u64>,
    /// What the group has become.
    pub(super) moved_to: Option<i64>,
}

impl Refusal {
    fn says(&self, any: &[&str]) -> bool {
        let words = self.words.to_lowercase();
        any.iter().any(|words_of| words.contains(words_of))
    }
}

/// What a message that is changed already says is what was wanted.
const UNCHANGED: [&str; 1] = ["message is not modified"];
const MARKUP: [&str; 4] = [
    "can't parse entities",
    "can't parse message text",
    "entity_bounds_invalid",
    "entities_too_long",
];
const TOO_LONG: [&str; 4] = [
    "message is too long",
    "message_too_long",
    "caption is too long",
    "media_caption_too_long",
];
const GONE: [&str; 16] = [
    "chat not found",
    "chat_id_invalid",
    "group chat was upgraded",
    "group chat was deactivated",
    "peer_id_invalid",
    "user not found",
    "message thread not found",
    "topic_deleted",
    "topic_id_invalid",
    "message to edit not found",
    "message can't be edited",
    "message to be replied not found",
    "message to react not found",
    "message_id_invalid",
    "message not found",
    "channel_private",
];
const FORBIDDEN: [&str; 10] = [
    "not enough rights",
    "have no rights",
    "need administrator rights",
    "chat_admin_required",
    "_forbidden",
    "chat_restricted",
    "topic_closed",
    "topic closed",
    "user_is_blocked",
    "user_banned_in_channel",
];
/// Somebody has gone for good, which is told as if we were not let in.
const AWAY: [&str; 2] = ["user is deactivated", "group chat was deleted"];
const NO_PICTURE: [&str; 4] = [
    "photo_invalid_dimensions",
    "image_process_failed",
    "photo_save_file_invalid",
    "photo_ext_invalid",
];

/// The result, or what became of it instead.
pub(super) fn outcome(reply: Reply) -> Result<Value, Outcome> {
    match reply {
        Reply::Done(result) => Ok(result),
        Reply::NotSent(detail) => Err(Outcome::NotSent {
            retry_after: None,
            detail,
        }),
        Reply::Silent(detail) => Err(Outcome::Unknown { detail }),
        Reply::Refused(refusal) => Err(refused(refusal)),
    }
}

fn refused(refusal: Refusal) -> Outcome {
    let class = match refusal.code {
        400 => bad_request(&refusal),
        // A token that is not even one is no path to anything.
        401 | 404 => Rejection::Unauthorized,
        403 if refusal.says(&AWAY) => Rejection::Gone,
        403 => Rejection::Forbidden,
        429 => {
            let wait = refusal.retry_after.map(Duration::from_secs);
            return Outcome::NotSent {
                retry_after: wait.map(|wait| wait.min(LONGEST_WAIT)),
                detail: refusal.words,
            };
        }
        // Redirects are not followed: they would carry the token to wherever they point.
        300..=499 => Rejection::Invalid,
        _ => {
            let detail = refusal.words;
            return Outcome::Unknown { detail };
        }
    };
    Outcome::Rejected {
        class,
        detail: refusal.words,
    }
}

fn bad_request(refusal: &Refusal) -> Rejection {
    if refusal.says(&MARKUP) {
        Rejection::Markup
    } else if refusal.says(&TOO_LONG) {
        Rejection::TooLong
    } else if refusal.says(&GONE) {
        Rejection::Gone
    } else if refusal.says(&FORBIDDEN) {
        Rejection::Forbidden
    } else {
        Rejection::Invalid
    }
}

/// Whether a message shows already what it was to show.
pub(super) fn is_unchanged(reply: &Reply) -> bool {
    matches!(reply, Reply::Refused(refusal) if refusal.code == 400 && refusal.says(&UNCHANGED))
}

/// Whether a file is one that can be sent, but not as a picture.
pub(super) fn is_no_picture(reply: &Reply) -> bool {
    matches!(reply, Reply::Refused(refusal) if refusal.code == 400 && refusal.says(&NO_PICTURE))
}

/// What the group has become that something was sent to, and where it therefore is not.
pub(super) const fn moved_to(reply: &Reply) -> Option<i64> {
    match reply {
        Reply::Refused(refusal) => refusal.moved_to,
        _ => None,
    }
}

/// Who we are, or why the connection ends before it began.
pub(super) fn met(reply: Reply) -> Result<Value, Disconnected> {
    match reply {
        Reply::Refused(Refusal {
            code: 404, words, ..
        }) => Err(unauthorized(&words)),
        other => answered(other),
    }
}

/// The result of a question that has to be answered for the connection to go on.
pub(super) fn answered(reply: Reply) -> Result<Value, Disconnected> {
    match reply {
        Reply::Done(result) => Ok(result),
        Reply::Refused(Refusal {
            code: 401, words, ..
        }) => Err(unauthorized(&words)),
        Reply::Refused(Refusal { words: detail, .. })
        | Reply::NotSent(detail)
        | Reply::Silent(detail) => Err(Disconnected::Lost { detail }),
    }
}

fn unauthorized(words: &str) -> Disconnected {
    Disconnected::Unauthorized {
        detail: format!("{words}: {WHAT_TO_DO}"),
    }
}

/// Why there is no page of updates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Halt {
    /// The connection has ended.
    Ended(Disconnected),
    /// We asked too often.
    Wait(Duration),
    /// The platform calls somebody instead.
    Webhook(String),
    /// Somebody else asks.
    Rival(String),
}

/// A page of updates, or why there is none.
pub(super) fn polled(reply: Reply) -> Result<Value, Halt> {
    match reply {
        Reply::Refused(refusal) if refusal.code == 409 => {
            let is_webhook = refusal.says(&["webhook"]);
            let wrap = if is_webhook {
                Halt::Webhook
            } else {
                Halt::Rival
            };
            Err(wrap(refusal.words))
        }
        Reply::Refused(Refusal {
            code: 429,
            retry_after: Some(seconds),
            ..
        }) => Err(Halt::Wait(Duration::from_secs(seconds).min(LONGEST_PAUSE))),
        other => answered(other).map_err(Halt::Ended),
    }
}
