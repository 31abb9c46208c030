//! From a part to a request.
//!
//! Pure: a part in, a message out.

#[cfg(test)]
mod tests;

use talaria_domain::adapter::{Outgoing, TextForm};
use talaria_domain::delivery::{Outcome, PartBody, Rejection};
use talaria_domain::names::{MessageId, ThreadId};

use super::wire::{Format, Message};

/// The message that shows this part, or why there is none.
pub(super) fn message(outgoing: &Outgoing) -> Result<Message<'_>, Outcome> {
    let PartBody::Text { markdown } = &outgoing.part.body else {
        return Err(Outcome::Rejected {
            class: Rejection::Invalid,
            detail: "files cannot be sent through a bridge".to_owned(),
        });
    };
    let to = &outgoing.to;
    Ok(Message {
        key: outgoing.part.id.to_string(),
        chat: to.chat.as_str(),
        thread: to.thread.as_ref().map(ThreadId::as_str),
        reply_to: to.reply_to.as_ref().map(MessageId::as_str),
        text: markdown,
        format: match outgoing.form {
            TextForm::Markdown => Format::Markdown,
            TextForm::Plain => Format::Plain,
        },
    })
}
