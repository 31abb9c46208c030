//! What the Bot API knows beside its rooms: the bots and what each has not acknowledged, which number everybody has, what
//! is in the files. What was acknowledged never comes again; what was not does, however often it is asked for.
//!
//! Pure: deeds and requests in, updates and answers out.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::files::Files;
use super::names::Names;
use super::updates::Queue;
use crate::vendor::{self, Deed, Room};

/// Which bots there are.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Terms {
    /// Their tokens, each a number, a colon and a secret; any such token if there is none.
    pub tokens: Vec<String>,
}

impl Terms {
    /// These bots.
    pub fn of(tokens: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let tokens = tokens.into_iter().map(Into::into);
        Self {
            tokens: tokens.collect(),
        }
    }
}

/// A bot.
#[derive(Debug)]
pub(super) struct Bot {
    pub(super) id: i64,
    pub(super) token: String,
    pub(super) queue: Queue,
    pub(super) commands: Value,
}

impl Bot {
    /// The bot with this token; none if it is not one.
    fn with(token: &str) -> Option<Self> {
        let (id, secret) = token.split_once(':')?;
        let id = id.parse().ok().filter(|id: &i64| *id > 0)?;
        (!secret.is_empty()).then(|| Self {
            id,
            token: token.to_owned(),
            queue: Queue::default(),
            commands: json!([]),
        })
    }

    pub(super) fn username(&self) -> String {
        format!("sim_{}_bot", self.id)
    }

    /// As a "User".
    pub(super) fn user(&self) -> Value {
        json!({
            "id": self.id, "is_bot": true, "first_name": "the simulated bot", "username": self.username(),
        })
    }
}

/// What is known of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// It is that of the bot with this index.
    Bot(usize),
    /// It could be one and is not.
    Unknown,
    /// It is none.
    Malformed,
}

/// Everything that the Bot API knows.
#[derive(Debug)]
pub struct World {
    pub(super) room: Room,
    pub(super) bots: Vec<Bot>,
    /// Whether every token that looks like one is that of a bot.
    is_open: bool,
    /// What people did before there was a bot.
    early: Vec<Deed>,
    pub(super) people: Names,
    pub(super) chats: Names,
    pub(super) topics: Names,
    /// The kind of each chat.
    pub(super) kinds: BTreeMap<i64, String>,
    /// The topics that each chat has.
    pub(super) open_topics: BTreeSet<(i64, i64)>,
    pub(super) created_topics: i64,
    /// Messages as the wire has them.
    pub(super) messages: BTreeMap<String, Value>,
    pub(super) files: Files,
    /// Groups that became supergroups.
    pub(super) moved: BTreeMap<i64, i64>,
    /// Presses that nobody answered.
    pub(super) presses: BTreeSet<String>,
}

impl vendor::World for World {
    fn room(&self) -> &Room {
        &self.room
    }

    fn room_mut(&mut self) -> &mut Room {
        &mut self.room
    }

    fn tell(&mut self, deed: Deed) {
        if self.bots.is_empty() {
            self.early.push(deed);
            return;
        }
        for at in 0..self.bots.len() {
            self.tell_bot(at, &deed);
        }
    }

    fn backlog(&self) -> usize {
        self.bots.iter().map(|bot| bot.queue.len()).sum()
    }
}

impl World {
    pub(super) fn on(terms: Terms) -> Self {
        let bots = terms.tokens.iter().filter_map(|token| Bot::with(token));
        Self {
            room: Room::numbered(|number| number.to_string()),
            bots: bots.collect(),
            is_open: terms.tokens.is_empty(),
            early: Vec::new(),
            people: Names::default(),
            chats: Names::default(),
            topics: Names::default(),
            kinds: BTreeMap::new(),
            open_topics: BTreeSet::new(),
            created_topics: 0,
            messages: BTreeMap::new(),
            files: Files::default(),
            moved: BTreeMap::new(),
            presses: BTreeSet::new(),
        }
    }

    /// Whose token this is. Where any will do, a bot is made of it, which then hears what was said so far.
    pub(super) fn bot(&mut self, token: &str) -> Token {
        if let Some(at) = self.bots.iter().position(|bot| bot.token == token) {
            return Token::Bot(at);
        }
        let Some(bot) = Bot::with(token) else {
            return Token::Malformed;
        };
        if !self.is_open {
            return Token::Unknown;
        }
        self.bots.push(bot);
        let at = self.bots.len() - 1;
        for deed in std::mem::take(&mut self.early) {
            self.tell_bot(at, &deed);
        }
        Token::Bot(at)
    }

    /// Takes a bot's token away, as its owner does by asking for another.
    pub fn revoke(&mut self, token: &str) {
        self.is_open = false;
        for bot in self.bots.iter_mut().filter(|bot| bot.token == token) {
            bot.token.clear();
        }
    }

    /// Makes a group a supergroup: it has another number from now on, and tells so in both chats.
    pub fn migrate(&mut self, chat: &str) -> i64 {
        let before = self.chats.number(chat, super::message::group_number);
        let after = -1_002_000_000_000 - before.abs();
        self.moved.insert(before, after);
        let kind = self.kinds.get(&before).cloned();
        self.kinds
            .insert(after, kind.unwrap_or_else(|| "group".to_owned()));
        let name = self.chats.name(before).unwrap_or(chat).to_owned();
        self.chats.bind(&name, after);
        for at in 0..self.bots.len() {
            self.tell_move(at, (before, after));
        }
        after
    }

    fn tell_bot(&mut self, at: usize, deed: &Deed) {
        let Some(bot) = self.bots.get(at) else {
            return;
        };
        let (id, username) = (bot.id.to_string(), bot.username());
        let is_for = |to: &String| *to == id || *to == username;
        if !deed.to.as_ref().is_none_or(is_for) {
            return;
        }
        let (kind, what) = self.update(deed, &username);
        if let Some(bot) = self.bots.get_mut(at) {
            bot.queue.push(kind, what);
        }
    }
}
