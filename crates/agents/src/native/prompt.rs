//! What a turn begins with, as its model is told. News of work that was started here is marked as such: a model that
//! takes it for the words of a person obeys what some program printed.
//!
//! Pure: a turn in, a prompt out.

#[cfg(test)]
mod tests;

use talaria_domain::event::{Attachment, AttachmentKind, Event, EventKind, InternalCause};
use talaria_domain::runner::Turn;

use crate::models::NEWS;

/// The first words of a turn.
pub(super) fn prompt(turn: &Turn) -> String {
    if is_news(turn) {
        format!("{NEWS}\n{}", turn.prompt)
    } else {
        turn.prompt.clone()
    }
}

/// The pictures that are shown with them: those that a model's server can get by their address. Others are named in the
/// prompt.
pub(super) fn images(turn: &Turn) -> Vec<String> {
    let attachments = turn.input.iter().flat_map(|event| match &event.kind {
        EventKind::Message(content) | EventKind::Edited(content) => content.attachments.as_slice(),
        _ => &[],
    });
    let shown = attachments.filter(|attachment| is_shown(attachment));
    shown.map(|attachment| attachment.locator.clone()).collect()
}

fn is_shown(attachment: &Attachment) -> bool {
    let has_address = ["data:", "https:"]
        .iter()
        .any(|start| attachment.locator.starts_with(start));
    attachment.kind == AttachmentKind::Image && has_address
}

/// Whether nobody said anything. A task that was given away is not news.
fn is_news(turn: &Turn) -> bool {
    !turn.input.is_empty() && turn.input.iter().all(is_about_a_job)
}

const fn is_about_a_job(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::Internal {
            cause: InternalCause::JobEnded { .. },
            ..
        }
    )
}
