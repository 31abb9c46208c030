//! What a turn begins with, as its model is told. News of work that was started here is marked as such: a model that
//! takes it for the words of a person obeys what some program printed.
//!
//! Pure: a turn in, a prompt out.

#[cfg(test)]
mod tests;

use std::path::Path;

use talaria_domain::event::{Attachment, AttachmentKind, Event, EventKind, InternalCause, Kept};
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

/// A picture that a model can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Picture<'a> {
    /// The model's server can get it by this address.
    Address(&'a str),
    /// It is kept here.
    Kept(&'a Path),
}

/// The pictures that came with what is said. Others than these are named in the prompt.
pub(super) fn pictures(turn: &Turn) -> impl Iterator<Item = Picture<'_>> {
    let attachments = turn.input.iter().flat_map(|event| match &event.kind {
        EventKind::Message(content) | EventKind::Edited(content) => content.attachments.as_slice(),
        _ => &[],
    });
    let images = attachments.filter(|attachment| attachment.kind == AttachmentKind::Image);
    images.filter_map(picture)
}

fn picture(attachment: &Attachment) -> Option<Picture<'_>> {
    if let Some(Kept::At(path)) = &attachment.kept {
        return Some(Picture::Kept(path));
    }
    let address = attachment.locator.as_str();
    let mut starts = ["data:", "https:"].iter();
    let has_address = starts.any(|start| address.starts_with(start));
    has_address.then_some(Picture::Address(address))
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
