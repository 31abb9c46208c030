//! What a receiver's answer means, or the lack of one. The whole table of `docs/callbacks.md` is here and nowhere else.
//! What a receiver may have taken is posted again under the same id, because it promised to honour that.
//!
//! Pure: a reply in, an outcome out.

#[cfg(test)]
mod tests;

use std::time::Duration;

use talaria_domain::delivery::{Outcome, Rejection};

/// No receiver is left alone for longer because it says so.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// A status, with the header `retry-after`.
    Answered(u16, Option<String>),
    /// The post certainly did not leave.
    NotSent(String),
    /// The post may have arrived; no answer came.
    Silent(String),
}

/// Nothing if the receiver has it, else what became of it.
pub(super) fn outcome(reply: Reply) -> Result<(), Outcome> {
    let (status, retry_after) = match reply {
        Reply::Answered(status, retry_after) => (status, retry_after),
        Reply::NotSent(detail) => {
            let retry_after = None;
            return Err(Outcome::NotSent {
                retry_after,
                detail,
            });
        }
        Reply::Silent(detail) => return Err(Outcome::Unknown { detail }),
    };
    let detail = format!("the receiver answered {status}");
    let retry_after = retry_after.as_deref().and_then(seconds);
    let rejected = |class, detail| Err(Outcome::Rejected { class, detail });
    match status {
        200..=299 => Ok(()),
        300..=399 => {
            let detail = format!("{detail}, and redirects are not followed");
            rejected(Rejection::Invalid, detail)
        }
        401 => rejected(Rejection::Unauthorized, detail),
        403 => rejected(Rejection::Forbidden, detail),
        404 | 410 => rejected(Rejection::Gone, detail),
        413 => rejected(Rejection::TooLong, detail),
        408 | 425 | 429 | 503 => Err(Outcome::NotSent {
            retry_after,
            detail,
        }),
        400..=499 => rejected(Rejection::Invalid, detail),
        // It says when to come back: then it does not have it.
        _ if retry_after.is_some() => Err(Outcome::NotSent {
            retry_after,
            detail,
        }),
        _ => Err(Outcome::Unknown { detail }),
    }
}

/// How long a header asks us to wait, if it does so in seconds.
fn seconds(header: &str) -> Option<Duration> {
    let seconds: u64 = header.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}
