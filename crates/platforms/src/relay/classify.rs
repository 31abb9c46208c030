//! What an answer means, or the lack of one. The whole table of `docs/relay.md` is here and nowhere else: what was
//! certainly not done may be tried again, what may have been done may not.
//!
//! Pure: a reply in, an outcome out.

#[cfg(test)]
mod tests;

use std::time::Duration;

use talaria_domain::adapter::Disconnected;
use talaria_domain::delivery::{Outcome, Rejection};
use talaria_domain::names::MessageId;

use super::wire::Sent;

/// No chat is closed for longer because a bridge says so.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// Yes, and the body that says so.
    Done(Vec<u8>),
    /// No.
    Refused {
        /// The status.
        status: u16,
        /// The header of that name.
        retry_after: Option<String>,
        /// What is wrong, as the protocol calls it.
        code: String,
        /// What is wrong, for people.
        words: String,
    },
    /// The request certainly did not leave.
    NotSent(String),
    /// The request may have arrived; no whole answer came.
    Silent(String),
}

/// What was asked, of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// Who are you?
    About,
    /// What is new?
    Updates,
}

/// The id of the message that is there now, or what became of it instead. `changed` is the message that was to be
/// changed, if one was: a bridge need not repeat its id.
pub(super) fn sent(reply: Reply, changed: Option<&MessageId>) -> Result<MessageId, Outcome> {
    match reply {
        Reply::Done(body) => {
            let told = serde_json::from_slice(&body).ok();
            let told = told.map(|sent: Sent| MessageId::from(sent.message_id));
            let told = told.filter(|id| !id.is_empty());
            told.or_else(|| changed.cloned())
                .ok_or_else(|| Outcome::Unknown {
                    detail: "it was done, and the answer has no `message_id`".to_owned(),
                })
        }
        Reply::NotSent(detail) => Err(Outcome::NotSent {
            retry_after: None,
            detail,
        }),
        Reply::Silent(detail) => Err(Outcome::Unknown { detail }),
        Reply::Refused {
            status,
            retry_after,
            code,
            words,
        } => Err(refused(status, retry_after.as_deref(), &code, words)),
    }
}

fn refused(status: u16, retry_after: Option<&str>, code: &str, detail: String) -> Outcome {
    let rejected = |class| Outcome::Rejected {
        class,
        detail: detail.clone(),
    };
    match status {
        400 => rejected(class_of(code)),
        401 => rejected(Rejection::Unauthorized),
        403 => rejected(Rejection::Forbidden),
        404 | 410 => rejected(Rejection::Gone),
        413 => rejected(Rejection::TooLong),
        429 => Outcome::NotSent {
            retry_after: retry_after.and_then(seconds),
            detail,
        },
        // Redirects are not followed: they would carry the token to wherever they point.
        300..=399 | 402..=499 => rejected(Rejection::Invalid),
        _ => Outcome::Unknown { detail },
    }
}

fn class_of(code: &str) -> Rejection {
    match code {
        "markup" => Rejection::Markup,
        "too_long" => Rejection::TooLong,
        "forbidden" => Rejection::Forbidden,
        "gone" => Rejection::Gone,
        "unauthorized" => Rejection::Unauthorized,
        _ => Rejection::Invalid,
    }
}

/// How long a header asks us to wait, if it does so in seconds.
fn seconds(header: &str) -> Option<Duration> {
    let wait: f64 = header.trim().parse().ok()?;
    let is_wait = wait.is_finite() && wait >= 0.0;
    is_wait.then(|| Duration::from_secs_f64(wait.min(LONGEST_WAIT.as_secs_f64())))
}

/// The body of an answer, or why the connection ends.
pub(super) fn received(ask: Ask, reply: Reply) -> Result<Vec<u8>, Disconnected> {
    match reply {
        Reply::Done(body) => Ok(body),
        Reply::Refused {
            status: 401 | 403,
            words: detail,
            ..
        } => Err(Disconnected::Unauthorized { detail }),
        Reply::Refused {
            status: 409,
            words: detail,
            ..
        } if ask == Ask::Updates => Err(Disconnected::Conflict { detail }),
        Reply::Refused { words: detail, .. } | Reply::NotSent(detail) | Reply::Silent(detail) => {
            Err(Disconnected::Lost { detail })
        }
    }
}
