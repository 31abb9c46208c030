//! Which messages become one turn. Pure: rows in, ids out.
//!
//! Rapid messages of one sender at one address are one thought, and so is the news of several jobs of theirs. Nothing else
//! is ever merged: not two senders, not two threads, not a message with something of somebody else in between. A program
//! that is called back is told of each job by itself.

use std::time::Duration;

use talaria_domain::address::ChatKind;
use talaria_domain::event::{Event, EventKind, InternalCause};
use talaria_domain::ids::EventId;

/// Those of `rest`, in order, that become part of `first`: each within `window` of the one before it.
pub fn merge<'a>(
    first: &'a Event,
    rest: impl IntoIterator<Item = &'a Event>,
    window: Duration,
) -> Vec<EventId> {
    let mut last = first;
    let mut merged = Vec::new();
    for next in rest {
        if !belongs(last, next, window) {
            break;
        }
        merged.push(next.id);
        last = next;
    }
    merged
}

fn belongs(last: &Event, next: &Event, window: Duration) -> bool {
    let is_message = |event: &Event| matches!(event.kind, EventKind::Message(_));
    let is_rapid = is_message(last)
        && is_message(next)
        && !window.is_zero()
        && next.received_at.since(last.received_at) <= window;
    let is_together = last.address.chat_kind != ChatKind::Webhook
        || last.address.reply_to == next.address.reply_to;
    (is_rapid || (is_news(last) && is_news(next) && is_together))
        && last.principal.key() == next.principal.key()
        && last.address.target() == next.address.target()
}

/// Whether it is news of a job. All that waits of it is told at once, however long it waited.
pub fn is_news(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::Internal {
            cause: InternalCause::JobEnded { .. },
            ..
        }
    )
}

#[cfg(test)]
mod tests;
