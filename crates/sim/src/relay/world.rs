//! What a bridge knows: what people wrote and nobody acknowledged, what each chat shows, what it was asked, what is to go
//! wrong. What was acknowledged never comes again; what was not does, however often it is asked for.
//!
//! Pure: requests in, answers out.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use talaria_domain::capabilities::TextUnit;
use talaria_domain::clock::Timestamp;

use super::fault::{Fault, Faults, On};

/// How many updates come at once.
const PAGE: usize = 100;
/// How many requests are remembered.
const REMEMBERED: usize = 1_000;
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

/// What somebody writes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// Where.
    pub chat: String,
    /// What kind of chat it is.
    #[serde(default = "direct")]
    pub kind: String,
    /// The thread in it.
    #[serde(default)]
    pub thread: Option<String>,
    /// Who.
    pub sender: String,
    /// What.
    pub text: String,
    /// Whether the bot is mentioned.
    #[serde(default)]
    pub mentioned: bool,
    /// The message that it answers.
    #[serde(default)]
    pub reply_to: Option<String>,
    /// The message of theirs that it replaces.
    #[serde(default)]
    pub edits: Option<String>,
}

fn direct() -> String {
    "direct".to_owned()
}

impl Written {
    /// What `sender` writes to the bot alone, in the chat called `chat of SENDER`.
    pub fn direct(sender: &str, text: &str) -> Self {
        Self {
            chat: format!("chat of {sender}"),
            kind: direct(),
            thread: None,
            sender: sender.to_owned(),
            text: text.to_owned(),
            mentioned: false,
            reply_to: None,
            edits: None,
        }
    }
}

/// What became of what somebody wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WrittenId {
    /// The message's id.
    pub id: String,
    /// The update's place in the order.
    pub offset: u64,
}

/// A message as people see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// The platform's id.
    pub message_id: String,
    /// Who wrote it.
    pub sender: String,
    /// Whether that is the bot.
    pub ours: bool,
    /// The thread it is in.
    pub thread: Option<String>,
    /// The message it answers.
    pub reply_to: Option<String>,
    /// What it says.
    pub text: String,
    /// How the bot wanted it to be read.
    pub format: Option<String>,
    /// How often it was changed.
    pub edits: u32,
}

/// A chat as people see it.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Chat {
    /// Its id.
    pub chat: String,
    /// Its kind; empty if only the bot ever wrote there.
    pub kind: String,
    /// Its messages, in order.
    pub messages: Vec<Shown>,
}

/// What the adapter asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// Which question.
    pub on: On,
    /// The method.
    pub method: String,
    /// The path and the query.
    pub path: String,
    /// The body; null if there was none, or none that is JSON.
    pub body: Value,
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
    offer: Offer,
    limit: usize,
    /// The offset of the last update.
    last: u64,
    /// Updates that nobody acknowledged.
    backlog: VecDeque<(u64, Value)>,
    chats: BTreeMap<String, Chat>,
    /// Where each message is.
    places: BTreeMap<String, (String, usize)>,
    /// The messages that have a key.
    keys: BTreeMap<String, String>,
    requests: VecDeque<Asked>,
    faults: Faults,
    /// How often somebody asked what is new.
    polls: u64,
}

impl World {
    pub(super) fn offering(offer: Offer, limit: usize) -> Self {
        Self {
            offer,
            limit,
            last: 0,
            backlog: VecDeque::new(),
            chats: BTreeMap::new(),
            places: BTreeMap::new(),
            keys: BTreeMap::new(),
            requests: VecDeque::new(),
            faults: Faults::default(),
            polls: 0,
        }
    }

    /// How many updates nobody has acknowledged.
    pub fn backlog(&self) -> usize {
        self.backlog.len()
    }

    /// What the adapter asked, the last thousand times.
    pub fn requests(&self) -> impl Iterator<Item = &Asked> {
        self.requests.iter()
    }

    /// A chat, as people see it.
    pub fn chat(&self, chat: &str) -> Option<&Chat> {
        self.chats.get(chat)
    }

    /// All chats.
    pub fn chats(&self) -> impl Iterator<Item = &Chat> {
        self.chats.values()
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

    /// Somebody writes, or changes what they wrote.
    pub(super) fn write(&mut self, written: &Written, now: Timestamp) -> WrittenId {
        let id = match &written.edits {
            Some(id) => {
                self.replace(id, &written.text, None);
                id.clone()
            }
            None => self.show(&written.chat, |message_id| Shown {
                message_id,
                sender: written.sender.clone(),
                ours: false,
                thread: written.thread.clone(),
                reply_to: written.reply_to.clone(),
                text: written.text.clone(),
                format: None,
                edits: 0,
            }),
        };
        if let Some(chat) = self.chats.get_mut(&written.chat) {
            chat.kind.clone_from(&written.kind);
        }
        self.last += 1;
        let update = self.update(written, &id, now);
        self.backlog.push_back((self.last, update));
        let offset = self.last;
        WrittenId { id, offset }
    }

    fn update(&self, written: &Written, id: &str, now: Timestamp) -> Value {
        let kind = match written.edits {
            Some(_) => "edited",
            None => "message",
        };
        let answered = written.reply_to.as_ref();
        let answered = answered.map(|id| {
            let text = self.message(id).map(|shown| &shown.text);
            json!({ "message_id": id, "text": text })
        });
        json!({
            "offset": self.last,
            "id": format!("u{}", self.last),
            "kind": kind,
            "chat": { "id": written.chat, "kind": written.kind },
            "thread": written.thread,
            "message_id": id,
            "sender": { "id": written.sender, "name": written.sender },
            "text": written.text,
            "mentioned": written.mentioned,
            "reply_to": answered,
            "sent_at": now,
        })
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
        let Wanted { key, chat, .. } = wanted;
        let id = self.show(&chat, |message_id| Shown {
            message_id,
            sender: BOT.to_owned(),
            ours: true,
            thread: wanted.thread,
            reply_to: wanted.reply_to,
            text: wanted.text,
            format: Some(wanted.format),
            edits: 0,
        });
        if self.offer == Offer::Keys {
            self.keys.insert(key, id.clone());
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
        let is_ours = self.message(id).is_some_and(|shown| shown.ours);
        if !is_ours {
            return Err(No {
                status: 404,
                code: "gone",
            });
        }
        self.replace(id, &wanted.text, Some(&wanted.format));
        Ok(())
    }

    pub(super) fn remember(&mut self, asked: Asked) {
        if self.requests.len() == REMEMBERED {
            self.requests.pop_front();
        }
        self.requests.push_back(asked);
    }

    pub(super) fn order(&mut self, fault: Fault) {
        self.faults.order(fault);
    }

    pub(super) fn has_fault(&self, on: On) -> bool {
        self.faults.has(on)
    }

    pub(super) fn next_fault(&mut self, on: On) -> Option<Fault> {
        self.faults.next(on)
    }

    fn check(&self, text: &str) -> Result<(), No> {
        let no = |code| Err(No { status: 400, code });
        match TextUnit::Utf16.measure(text) {
            0 => no("empty"),
            length if length > self.limit => no("too_long"),
            _ => Ok(()),
        }
    }

    fn show(&mut self, chat: &str, message: impl FnOnce(String) -> Shown) -> String {
        let id = format!("m{}", self.places.len() + 1);
        let shown = self.chats.entry(chat.to_owned()).or_insert_with(|| Chat {
            chat: chat.to_owned(),
            ..Chat::default()
        });
        let place = (chat.to_owned(), shown.messages.len());
        shown.messages.push(message(id.clone()));
        self.places.insert(id.clone(), place);
        id
    }

    fn message(&self, id: &str) -> Option<&Shown> {
        let (chat, at) = self.places.get(id)?;
        self.chats.get(chat)?.messages.get(*at)
    }

    fn replace(&mut self, id: &str, text: &str, format: Option<&str>) {
        let Some((chat, at)) = self.places.get(id) else {
            return;
        };
        let chat = self.chats.get_mut(chat);
        if let Some(shown) = chat.and_then(|chat| chat.messages.get_mut(*at)) {
            text.clone_into(&mut shown.text);
            shown.format = format.map(str::to_owned);
            shown.edits += 1;
        }
    }
}
