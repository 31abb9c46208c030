//! From an update to an event.
//!
//! Pure: an update in, an event out. What the bot itself said is not an event, or it would answer itself; neither is
//! a word of a later protocol. Whatever else cannot be read is an error and never skipped: it is somebody's message.

#[cfg(test)]
mod tests;

use serde_json::Value;
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Author, Content, DedupeKey, Event, EventKind, Mention, Quote};
use talaria_domain::ids::EventId;
use talaria_domain::names::{MessageId, ThreadId};
use talaria_domain::principal::{Principal, Role};
use talaria_domain::profile::Account;

use super::wire::{Kind, Said, Update, What};

/// Who listens, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listener<'a> {
    /// Our account.
    pub(super) account: &'a Account,
    /// The bot's own id.
    pub(super) bot: &'a str,
    /// The event's id, if it becomes one.
    pub(super) id: EventId,
    /// The time.
    pub(super) now: Timestamp,
}

/// An update that could be read.
#[derive(Debug, PartialEq)]
pub(super) struct Arrived {
    /// Its place in the order.
    pub(super) offset: u64,
    /// What it says; none if it is nothing for us.
    pub(super) event: Option<Event>,
}

/// Reads an update, or says what is wrong with it without quoting what somebody wrote.
pub(super) fn read(listener: Listener<'_>, update: Value) -> Result<Arrived, String> {
    let offset = update.get("offset").and_then(Value::as_u64);
    let which = offset.map_or_else(|| "an update".to_owned(), |at| format!("update {at}"));
    let wrong = |why: String| format!("{which} cannot be read: {why}");
    let update: Update = serde_json::from_value(update)
        .map_err(|error| wrong(without_quotes(&error.to_string())))?;
    let (said, wrap): (Said, fn(Content) -> EventKind) = match update.what {
        What::Message(said) => (said, EventKind::Message),
        What::Edited(said) => (said, EventKind::Edited),
        What::Unknown => return Ok(nothing(update.offset)),
    };
    for (name, id) in [
        ("id", &said.id),
        ("chat.id", &said.chat.id),
        ("sender.id", &said.sender.id),
    ] {
        if id.is_empty() {
            return Err(wrong(format!("`{name}` is empty")));
        }
    }
    if said.sender.id == listener.bot {
        return Ok(nothing(update.offset));
    }
    Ok(Arrived {
        offset: update.offset,
        event: Some(event(listener, said, wrap)),
    })
}

const fn nothing(offset: u64) -> Arrived {
    Arrived {
        offset,
        event: None,
    }
}

fn event(listener: Listener<'_>, said: Said, wrap: fn(Content) -> EventKind) -> Event {
    let Account { platform, name, .. } = listener.account;
    let some = |text: Option<String>| text.filter(|text| !text.is_empty());
    let answered = said
        .reply_to
        .filter(|answered| !answered.message_id.is_empty());
    let content = Content {
        text: said.text,
        attachments: Vec::new(),
        quote: answered.map(|answered| Quote {
            message: answered.message_id.into(),
            author: None,
            text: some(answered.text),
        }),
        author: if said.sender.bot {
            Author::Bot
        } else {
            Author::Person
        },
        mention: if said.mentioned {
            Mention::Direct
        } else {
            Mention::Absent
        },
        wishes: None,
    };
    Event {
        id: listener.id,
        dedupe: DedupeKey::derive(platform, name, &said.id),
        address: Address {
            platform: platform.clone(),
            account: name.clone(),
            chat_kind: chat_kind(said.chat.kind),
            chat: said.chat.id.into(),
            thread: some(said.thread).map(ThreadId::from),
            reply_to: None,
        },
        principal: Principal {
            platform: platform.clone(),
            account: name.clone(),
            user: said.sender.id.into(),
            alternate: None,
            display_name: some(said.sender.name),
            // The least there is: what they may do is decided by access.
            role: Role::Guest,
        },
        message: some(said.message_id).map(MessageId::from),
        kind: wrap(content),
        sent_at: said.sent_at.map(Timestamp::from_millis),
        received_at: listener.now,
    }
}

const fn chat_kind(kind: Kind) -> ChatKind {
    match kind {
        Kind::Direct => ChatKind::Direct,
        Kind::Group => ChatKind::Group,
        Kind::Channel => ChatKind::Channel,
        Kind::Thread => ChatKind::Thread,
    }
}

/// A reader's complaint quotes what it found, which may be what somebody wrote.
fn without_quotes(complaint: &str) -> String {
    match (complaint.find('"'), complaint.rfind('"')) {
        (Some(start), Some(end)) if start < end => {
            format!("{}\"…\"{}", &complaint[..start], &complaint[end + 1..])
        }
        _ => complaint.to_owned(),
    }
}
