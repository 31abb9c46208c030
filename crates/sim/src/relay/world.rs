//! What a bridge knows beside its rooms: what it offers, and what people wrote and nobody acknowledged. What was acknowledged never comes again; what was not does, however often it is asked for.
//!
//! Pure: requests in, answers out.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};
use talaria_domain::capabilities::TextUnit;

use crate::vendor::{self, Deed, Did, Post, Room};

/// How many updates come at once.
const PAGE: usize = 100;
/// The bot's id.
const BOT: &str = "sim-bot";

/// What the platform offers beside messages.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Offer {
    /// Nothing.
    #[default]
    Plain,
    /// Messages are recognised by a key.
    Keys,
    /// Messages can be changed.
    Edits,
}

/// What a bridge offers, and to whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// What it offers beside messages.
    pub offer: Offer,
    /// How much text fits into one message, in UTF-16.
    pub limit: usize,
    /// The token that is accepted; any if there is none.
    pub token: Option<String>,
}

impl Terms {
    /// The usual terms with this offer.
    pub const fn offering(offer: Offer) -> Self {
        Self {
            offer,
            limit: 4_096,
            token: None,
        }
    }
}

/// A message that the adapter wants to be there.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    key: String,
    #[serde(default)]
    chat: String,
    thread: Option<String>,
    reply_to: Option<String>,
    text: String,
    #[serde(default)]
    format: String,
}

/// A no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct No {
    pub(super) status: u16,
    pub(super) code: &'static str,
}

/// Everything that a bridge knows.
#[derive(Debug)]
pub struct World {
    room: Room,
    offer: Offer,
    limit: usize,
    /// The token that is accepted; any if there is none.
    token: Option<String>,
    /// Updates that nobody acknowledged.
    backlog: VecDeque<(u64, Value)>,
    /// The messages that have a key.
    keys: BTreeMap<String, String>,
    /// How often somebody asked what is new.
    polls: u64,
}

impl vendor::World for World {
    fn room(&self) -> &Room {
        &self.room
    }

    fn room_mut(&mut self) -> &mut Room {
        &mut self.room
    }

    fn tell(&mut self, deed: Deed) {
        if let Some(update) = self.update(&deed) {
            self.backlog.push_back((deed.number, update));
        }
    }

    fn backlog(&self) -> usize {
        self.backlog.len()
    }
}

impl World {
    /// A bridge on these terms.
    pub(super) fn on(terms: Terms) -> Self {
        Self {
            room: Room::numbered(|number| format!("m{number}")),
            offer: terms.offer,
            limit: terms.limit,
            token: terms.token,
            backlog: VecDeque::new(),
            keys: BTreeMap::new(),
            polls: 0,
        }
    }

    pub(super) fn knows(&self, token: Option<&str>) -> bool {
        match (&self.token, token) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(ours), Some(theirs)) => ours == theirs,
        }
    }

    pub(super) fn about(&self) -> Value {
        json!({
            "id": BOT,
            "name": "the simulated bot",
            "edits": self.offer == Offer::Edits,
            "keys": self.offer == Offer::Keys,
            "limit": self.limit,
            "unit": TextUnit::Utf16,
        })
    }

    /// A deed as the protocol has it, if it has a word for it.
    fn update(&self, deed: &Deed) -> Option<Value> {
        let (kind, written) = match &deed.did {
            Did::Wrote(written) => ("message", written),
            Did::Changed(written) => ("edited", written),
            Did::Pressed { .. } | Did::Reacted { .. } => return None,
        };
        let answered = written.reply_to.as_ref();
        let answered = answered.map(|id| {
            let text = self.room.message(id).map(|shown| &shown.text);
            json!({ "message_id": id, "text": text })
        });
        Some(json!({
            "offset": deed.number,
            "id": format!("u{}", deed.number),
            "kind": kind,
            "chat": { "id": deed.chat, "kind": deed.kind },
            "thread": deed.thread,
            "message_id": deed.message,
            "sender": { "id": deed.sender, "name": deed.sender, "bot": written.bot },
            "text": written.text,
            "mentioned": written.mentioned,
            "reply_to": answered,
            "sent_at": deed.at,
        }))
    }

    /// Somebody asks what is new, and has everything up to `after`. Whoever asked before is not listened to any more.
    pub(super) fn open_poll(&mut self, after: Option<u64>) -> u64 {
        let after = after.unwrap_or(0);
        self.backlog.retain(|(offset, _)| *offset > after);
        self.polls += 1;
        self.polls
    }

    /// Whether there is something to tell to whoever asks.
    pub(super) fn is_ready(&self, poll: u64) -> bool {
        self.polls != poll || !self.backlog.is_empty()
    }

    /// What is new.
    pub(super) fn page(&self, poll: u64) -> Result<Value, No> {
        if self.polls != poll {
            return Err(No {
                status: 409,
                code: "conflict",
            });
        }
        let updates = self.backlog.iter().take(PAGE).map(|(_, update)| update);
        Ok(json!({ "updates": updates.collect::<Vec<_>>() }))
    }

    /// The bot writes.
    pub(super) fn post(&mut self, wanted: Wanted) -> Result<String, No> {
        if self.offer == Offer::Keys
            && let Some(id) = self.keys.get(&wanted.key)
        {
            return Ok(id.clone());
        }
        self.check(&wanted.text)?;
        let id = self.room.post(Post {
            chat: wanted.chat,
            thread: wanted.thread,
            sender: BOT.to_owned(),
            reply_to: wanted.reply_to,
            text: wanted.text,
            format: Some(wanted.format),
            ..Post::default()
        });
        if self.offer == Offer::Keys {
            self.keys.insert(wanted.key, id.clone());
        }
        Ok(id)
    }

    /// The bot changes what it wrote.
    pub(super) fn change(&mut self, id: &str, wanted: &Wanted) -> Result<(), No> {
        if self.offer != Offer::Edits {
            return Err(No {
                status: 400,
                code: "unsupported",
            });
        }
        self.check(&wanted.text)?;
        let is_changed = self.room.change(id, BOT, |shown| {
            shown.text.clone_from(&wanted.text);
            shown.format = Some(wanted.format.clone());
        });
        let gone = No {
            status: 404,
            code: "gone",
        };
        is_changed.then_some(()).ok_or(gone)
    }

    fn check(&self, text: &str) -> Result<(), No> {
        let no = |code| Err(No { status: 400, code });
        match TextUnit::Utf16.measure(text) {
            0 => no("empty"),
            length if length > self.limit => no("too_long"),
            _ => Ok(()),
        }
    }
}
