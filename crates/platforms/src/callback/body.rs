//! From a part to the body of a post. It is the same in every attempt, letter for letter: even its time is that of the
//! part, which its id tells.
//!
//! Pure: a part in, a text out.

#[cfg(test)]
mod tests;

use serde::Serialize;
use talaria_domain::adapter::Outgoing;
use talaria_domain::delivery::{Outcome, PartBody, Rejection};
use talaria_domain::ids::{PartId, ReplyId};
use talaria_domain::names::{MessageId, ThreadId};

/// What a program is told.
#[derive(Serialize)]
struct Body<'a> {
    /// What it is: `reply.final` is an agent's answer, `reply.notice` is the gateway's own word.
    #[serde(rename = "type")]
    kind: String,
    /// The conversation that asked.
    session_id: Option<&'a str>,
    /// The job that it is about.
    job_id: Option<&'a str>,
    /// What the ledger calls it.
    reply_id: ReplyId,
    /// What is said, in Markdown.
    text: &'a str,
    /// When it was said, in seconds.
    created: u64,
}

/// The body that tells this part, or why there is none.
pub(super) fn of(outgoing: &Outgoing) -> Result<String, Outcome> {
    let invalid = |detail: &str| Outcome::Rejected {
        class: Rejection::Invalid,
        detail: detail.to_owned(),
    };
    let PartBody::Text { markdown } = &outgoing.part.body else {
        return Err(invalid("files cannot be posted to a program"));
    };
    let body = Body {
        kind: format!("reply.{}", outgoing.kind.as_str()),
        session_id: outgoing.to.thread.as_ref().map(ThreadId::as_str),
        job_id: outgoing.to.reply_to.as_ref().map(MessageId::as_str),
        reply_id: outgoing.part.reply,
        text: markdown,
        created: made_at(outgoing.part.id),
    };
    serde_json::to_string(&body).map_err(|error| invalid(&error.to_string()))
}

/// When a part was made, in seconds: ids begin with their time in milliseconds.
fn made_at(part: PartId) -> u64 {
    let time = part.as_bytes().iter().take(6);
    time.fold(0_u64, |time, byte| time << 8 | u64::from(*byte)) / 1_000
}
