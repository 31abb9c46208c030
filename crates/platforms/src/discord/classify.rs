//! What an answer means, or the lack of one; and what it means that a connection was closed. The tables of "Opcodes and
//! Status Codes" are here and nowhere else: what was certainly not done may be tried again, what may have been done may
//! not.
//!
//! Pure: an answer in, an outcome out.

#[cfg(test)]
mod tests;

use std::time::Duration;

use serde_json::Value;
use talaria_domain::adapter::Disconnected;
use talaria_domain::delivery::{Outcome, Rejection};
use talaria_domain::names::MessageId;

use super::wire::{Named, Refusal};

/// No chat is closed for longer because Discord says so.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    /// Yes, and the body that says so.
    Done(Vec<u8>),
    /// No.
    Refused(No),
    /// The request certainly did not leave: why, and when it may.
    NotSent(String, Option<Duration>),
    /// The request may have arrived; no whole answer came.
    Silent(String),
}

/// A no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct No {
    /// The status.
    pub(super) status: u16,
    /// What is wrong, as Discord numbers it.
    pub(super) code: i64,
    /// Whether some text is longer than it may be.
    pub(super) is_too_long: bool,
    /// When it may be tried again.
    pub(super) wait: Option<Duration>,
    /// What is wrong, for people.
    pub(super) words: String,
}

impl No {
    /// What a refusal says, in words that have no secret in them.
    pub(super) fn of(status: u16, refusal: &Refusal, (wait, words): (Option<f64>, String)) -> Self {
        let wait = refusal.retry_after.or(wait);
        Self {
            status,
            code: refusal.code,
            is_too_long: has_length_error(&refusal.errors),
            wait: wait.and_then(seconds),
            words,
        }
    }
}

/// Whether a form was refused because something in it is too long: `BASE_TYPE_MAX_LENGTH`, wherever it stands ("API
/// Reference", error messages).
fn has_length_error(errors: &Value) -> bool {
    match errors {
        Value::Object(fields) => fields.iter().any(|(name, value)| {
            let is_code = name == "code" && value == "BASE_TYPE_MAX_LENGTH";
            is_code || has_length_error(value)
        }),
        Value::Array(items) => items.iter().any(has_length_error),
        _ => false,
    }
}

fn seconds(wait: f64) -> Option<Duration> {
    let is_wait = wait.is_finite() && wait >= 0.0;
    is_wait.then(|| Duration::from_secs_f64(wait.min(LONGEST_WAIT.as_secs_f64())))
}

/// The id of the message that is there now, or what became of it instead. `changed` is the message that was to be
/// changed, if one was.
pub(super) fn sent(reply: Reply, changed: Option<&MessageId>) -> Result<MessageId, Outcome> {
    let is_unmodified = matches!(&reply, Reply::Refused(no) if no.status == 304);
    if let (true, Some(changed)) = (is_unmodified, changed) {
        return Ok(changed.clone());
    }
    let body = done(reply)?;
    let told = serde_json::from_slice(&body).ok();
    let told = told.map(|named: Named| MessageId::from(named.id));
    let told = told.filter(|id| !id.is_empty());
    told.or_else(|| changed.cloned())
        .ok_or_else(|| Outcome::Unknown {
            detail: "it was done, and the answer has no `id`".to_owned(),
        })
}

/// The body of a yes, or what became of it instead.
pub(super) fn done(reply: Reply) -> Result<Vec<u8>, Outcome> {
    match reply {
        Reply::Done(body) => Ok(body),
        Reply::NotSent(detail, retry_after) => Err(Outcome::NotSent {
            retry_after,
            detail,
        }),
        Reply::Silent(detail) => Err(Outcome::Unknown { detail }),
        Reply::Refused(no) => Err(refused(no)),
    }
}

fn refused(no: No) -> Outcome {
    let class = match no.status {
        429 => {
            return Outcome::NotSent {
                retry_after: no.wait,
                detail: no.words,
            };
        }
        // Redirects are not followed: they would carry the token to wherever they point.
        300..=499 => class_of(&no),
        _ => return Outcome::Unknown { detail: no.words },
    };
    Outcome::Rejected {
        class,
        detail: no.words,
    }
}

/// The codes whose status alone says too little ("Opcodes and Status Codes", JSON error codes).
fn class_of(no: &No) -> Rejection {
    match no.code {
        // Unknown channel, guild, message, user, webhook, interaction.
        10_003 | 10_004 | 10_008 | 10_013 | 10_015 | 10_062 => Rejection::Gone,
        40_001 | 50_014 => Rejection::Unauthorized,
        // Too large for the request, too large a file.
        40_005 | 50_045 => Rejection::TooLong,
        // Verify the account, missing access, not our message, nobody to write to, no text channel, missing
        // permissions, an archived thread, no mutual guild, a locked thread.
        40_002 | 50_001 | 50_005 | 50_007 | 50_008 | 50_013 | 50_083 | 50_278 | 160_005 => {
            Rejection::Forbidden
        }
        50_035 if no.is_too_long => Rejection::TooLong,
        // An empty message, a form that is wrong otherwise, blocked by moderation.
        50_006 | 50_035 | 200_000 | 200_001 => Rejection::Invalid,
        _ => match no.status {
            401 => Rejection::Unauthorized,
            403 => Rejection::Forbidden,
            404 | 410 => Rejection::Gone,
            413 => Rejection::TooLong,
            _ => Rejection::Invalid,
        },
    }
}

/// The body of an answer, or why there is no connection.
pub(super) fn received(reply: Reply) -> Result<Vec<u8>, Disconnected> {
    match reply {
        Reply::Done(body) => Ok(body),
        Reply::Refused(No {
            status: 401, words, ..
        }) => Err(Disconnected::Unauthorized {
            detail: format!("{words}: {RESET_THE_TOKEN}"),
        }),
        Reply::Refused(No { words: detail, .. })
        | Reply::NotSent(detail, _)
        | Reply::Silent(detail) => Err(Disconnected::Lost { detail }),
    }
}

const RESET_THE_TOKEN: &str =
    "put the bot's token into the configuration (developer portal, Bot, Reset Token)";

/// What follows from a connection that was closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Closed {
    /// The session is taken up again.
    Resume,
    /// A new session is begun.
    Fresh,
    /// Somebody has to do something.
    Ended(Disconnected),
}

/// What a close code means ("Opcodes and Status Codes", gateway close event codes).
pub(super) fn closed(code: u16, reason: &str) -> Closed {
    let todo = match code {
        4_004 => RESET_THE_TOKEN,
        4_010 | 4_011 => "the bot is in too many servers for the shards that it was given",
        4_012 => "this version of the gateway is not served any more: update Talaria",
        4_013 => "the intents are not known any more: update Talaria",
        4_014 => {
            "switch on Message Content Intent in the developer portal (Bot, Privileged Gateway Intents)"
        }
        // This session is over: not authenticated, invalid sequence, timed out.
        4_003 | 4_007 | 4_009 => return Closed::Fresh,
        _ => return Closed::Resume,
    };
    let reason = reason.trim_end_matches('.');
    Closed::Ended(Disconnected::Unauthorized {
        detail: format!("closed with {code} {reason}: {todo}"),
    })
}
