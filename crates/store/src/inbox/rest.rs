//! An event as the ledger keeps it: what columns tell to the letter stands there and nowhere else, and the rest is JSON
//! without what is not known. There is a row for every event, so what it repeats is written, copied and read again each time.
//!
//! Rows from before have the whole event in their JSON; they are read in the same way.

use serde::{Deserialize, Serialize};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Event, EventKind};
use talaria_domain::names::{AccountName, ChatId, MessageId, PlatformName, ThreadId, UserId};
use talaria_domain::principal::{Principal, Role};

use crate::error::Result;
use crate::tx::Row;
use crate::value::{is_storable, to_json};

/// The columns that an event is read from, in the order of [`read`].
macro_rules! event_columns {
    () => {
        "event, event_id, dedupe_key, message, received_at"
    };
}
pub(crate) use event_columns;

#[derive(Serialize)]
struct Rest<'a> {
    address: Place<'a>,
    principal: Person<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a MessageId>,
    kind: &'a EventKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_at: Option<Timestamp>,
}

#[derive(Serialize)]
struct Place<'a> {
    platform: &'a PlatformName,
    account: &'a AccountName,
    chat_kind: ChatKind,
    chat: &'a ChatId,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<&'a ThreadId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<&'a MessageId>,
}

#[derive(Serialize)]
struct Person<'a> {
    platform: &'a PlatformName,
    account: &'a AccountName,
    user: &'a UserId,
    #[serde(skip_serializing_if = "Option::is_none")]
    alternate: Option<&'a UserId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    display_name: Option<&'a str>,
    role: Role,
}

/// What is not known may be missing, or null.
#[derive(Deserialize)]
struct Kept {
    address: Address,
    principal: Principal,
    message: Option<MessageId>,
    kind: EventKind,
    sent_at: Option<Timestamp>,
}

/// What stands beside the columns.
pub(super) fn write(event: &Event) -> Result<String> {
    let Event {
        address,
        principal,
        message,
        kind,
        sent_at,
        // These have columns.
        id: _,
        dedupe: _,
        received_at: _,
    } = event;
    // Its column has it, too, but as well as columns can.
    let is_odd = |message: &&MessageId| !is_storable(message.as_str());
    to_json(&Rest {
        address: Place {
            platform: &address.platform,
            account: &address.account,
            chat_kind: address.chat_kind,
            chat: &address.chat,
            thread: address.thread.as_ref(),
            reply_to: address.reply_to.as_ref(),
        },
        principal: Person {
            platform: &principal.platform,
            account: &principal.account,
            user: &principal.user,
            alternate: principal.alternate.as_ref(),
            display_name: principal.display_name.as_deref(),
            role: principal.role,
        },
        message: message.as_ref().filter(is_odd),
        kind,
        sent_at: *sent_at,
    })
}

/// The event whose columns (`event, event_id, dedupe_key, message, received_at`) begin at `first`.
pub fn read(row: &Row<'_>, first: usize) -> Result<Event> {
    let Kept {
        address,
        principal,
        message,
        kind,
        sent_at,
    } = row.json(first)?;
    let message = match message {
        Some(odd) => Some(odd),
        None => row.get(first + 3)?,
    };
    Ok(Event {
        id: row.get(first + 1)?,
        dedupe: row.get(first + 2)?,
        address,
        principal,
        message,
        kind,
        sent_at,
        received_at: row.get(first + 4)?,
    })
}
