//! What Slack knows beside its rooms: its bots, their sockets, files, and what they were told and have not acknowledged.
//! What was acknowledged never comes again; what was not does, over the next socket.
//!
//! Pure: requests in, answers out.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;

use serde_json::{Value, json};

use super::told;
use crate::vendor::{self, Deed, Room};

/// A bot, in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bot {
    /// What it is let in by; any token if there is none.
    pub token: Option<String>,
    /// What its sockets are opened by; any token if there is none.
    pub app_token: Option<String>,
    /// The workspace.
    pub team: String,
    /// Its user id, which people mention.
    pub user: String,
    /// Its bot id, which its messages carry.
    pub bot: String,
    /// Its app.
    pub app: String,
    /// What it is called.
    pub name: String,
}

impl Bot {
    /// The bot with this number, in the first workspace.
    pub fn numbered(number: usize) -> Self {
        Self {
            token: None,
            app_token: None,
            team: "T0SIM0001".to_owned(),
            user: format!("U0BOT{number:04}"),
            bot: format!("B0BOT{number:04}"),
            app: format!("A0APP{number:04}"),
            name: format!("bot{number}"),
        }
    }

    /// The same, let in by this token alone.
    #[must_use]
    pub fn let_in_by(self, token: &str) -> Self {
        let token = Some(token.to_owned());
        Self { token, ..self }
    }

    /// The same, with sockets that are opened by this token alone.
    #[must_use]
    pub fn connected_by(self, token: &str) -> Self {
        let app_token = Some(token.to_owned());
        Self { app_token, ..self }
    }

    /// The same, in another workspace.
    #[must_use]
    pub fn in_team(self, team: &str) -> Self {
        let team = team.to_owned();
        Self { team, ..self }
    }
}

/// Whom Slack knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    bots: Vec<Bot>,
}

impl Default for Terms {
    fn default() -> Self {
        Self::serving(Vec::new())
    }
}

impl Terms {
    /// These bots; one that any token stands for if there are none.
    pub fn serving(mut bots: Vec<Bot>) -> Self {
        if bots.is_empty() {
            bots.push(Bot::numbered(1));
        }
        Self { bots }
    }

    /// Whom it knows.
    pub fn bots(&self) -> &[Bot] {
        &self.bots
    }
}

/// Something that a bot is to hear.
#[derive(Debug, Clone)]
pub(super) struct Letter {
    number: u64,
    bot: usize,
    /// What kind of envelope it is in.
    pub(super) kind: &'static str,
    /// What it says.
    pub(super) payload: Value,
    /// How often it was told.
    pub(super) tries: u64,
    /// The way that it is on.
    way: Option<u64>,
}

impl Letter {
    fn id(&self) -> String {
        format!("{:08x}-0000-4000-8000-{:012x}", self.tries, self.number)
    }

    /// It in its envelope.
    pub(super) fn envelope(&self) -> Value {
        let mut envelope = json!({
            "envelope_id": self.id(),
            "type": self.kind,
            "payload": self.payload,
            "accepts_response_payload": self.kind != "events_api",
        });
        if self.kind == "events_api" {
            envelope["retry_attempt"] = (self.tries - 1).into();
            let reason = if self.tries > 1 { "timeout" } else { "" };
            envelope["retry_reason"] = reason.into();
        }
        envelope
    }
}

/// A file that is at Slack.
#[derive(Debug, Default, Clone)]
pub(super) struct Stored {
    pub(super) name: String,
    pub(super) media_type: String,
    pub(super) content: Vec<u8>,
    /// How long it is to be.
    pub(super) length: Option<usize>,
}

/// Everything that Slack knows.
#[derive(Debug)]
pub struct World {
    pub(super) room: Room,
    pub(super) bots: Vec<Bot>,
    /// Where everything is found.
    pub(super) host: String,
    letters: VecDeque<Letter>,
    /// How many letters were written, ways opened, files named.
    letters_ever: u64,
    ways: u64,
    pub(super) files_ever: u64,
    /// The ways that are open, and whose they are.
    open: BTreeMap<u64, usize>,
    /// What the next socket is let in by.
    tickets: BTreeMap<String, usize>,
    pub(super) files: BTreeMap<String, Stored>,
    /// The blocks of the messages that have some.
    pub(super) blocks: BTreeMap<String, Vec<Value>>,
    /// Chats that nobody can write to any more.
    pub(super) archived: BTreeSet<String>,
}

impl vendor::World for World {
    fn room(&self) -> &Room {
        &self.room
    }

    fn room_mut(&mut self) -> &mut Room {
        &mut self.room
    }

    fn tell(&mut self, deed: Deed) {
        let files = self.keep_files(&deed);
        for at in 0..self.bots.len() {
            let Some(bot) = self.bots.get(at).cloned() else {
                continue;
            };
            let hears = deed.to.as_ref().is_none_or(|to| *to == bot.user);
            if hears {
                let told = told::payloads(self, &bot, &deed, &files);
                for (kind, payload) in told {
                    self.post_letter(at, kind, payload);
                }
            }
        }
    }

    fn backlog(&self) -> usize {
        self.letters.len()
    }
}

impl World {
    /// Slack on these terms.
    pub(super) fn on(terms: Terms) -> Self {
        Self {
            // A message's id is when it was written, in seconds and millionths.
            room: Room::numbered(|number| format!("{}.{number:06}", 1_700_000_000 + number)),
            bots: terms.bots,
            host: String::new(),
            letters: VecDeque::new(),
            letters_ever: 0,
            ways: 0,
            files_ever: 0,
            open: BTreeMap::new(),
            tickets: BTreeMap::new(),
            files: BTreeMap::new(),
            blocks: BTreeMap::new(),
            archived: BTreeSet::new(),
        }
    }

    /// This is where it is found.
    pub(super) fn listen(&mut self, address: SocketAddr) {
        self.host = address.to_string();
    }

    /// How many messages of bots there are.
    pub fn answers(&self) -> usize {
        let messages = self.room.chats().flat_map(|chat| &chat.messages);
        messages.filter(|shown| shown.ours).count()
    }

    /// How many sockets are open.
    pub fn sockets(&self) -> usize {
        self.open.len()
    }

    /// Nobody can write to a chat any more.
    pub fn archive(&mut self, chat: &str) {
        self.archived.insert(chat.to_owned());
    }

    /// A token is not accepted any more.
    pub fn revoke(&mut self, token: &str) {
        let bots = self.bots.iter_mut();
        for bot in bots.filter(|bot| bot.token.as_deref() == Some(token)) {
            bot.token = Some(String::new());
        }
    }

    /// A bot is not wanted in its workspace any more, and is told so.
    pub fn uninstall(&mut self, bot: usize) {
        let Some(Bot { team, app, .. }) = self.bots.get(bot) else {
            return;
        };
        let event = json!({ "type": "app_uninstalled" });
        let payload = json!({
            "type": "event_callback", "team_id": team, "api_app_id": app, "event": event, "event_id": "EvUninstalled",
        });
        self.post_letter(bot, "events_api", payload);
    }

    /// The first bot is told something that makes no sense, or is not for it.
    pub fn tell_garbage(&mut self, payload: Value) {
        self.post_letter(0, "events_api", payload);
    }

    /// The bot that this token stands for.
    pub(super) fn bot_by(&self, token: &str) -> Option<usize> {
        let is_it = |bot: &Bot| match &bot.token {
            Some(known) => known == token,
            None => token.starts_with("xoxb-"),
        };
        let known = !token.is_empty();
        known.then(|| self.bots.iter().position(is_it)).flatten()
    }

    /// The bot whose sockets this token opens.
    pub(super) fn app_by(&self, token: &str) -> Option<usize> {
        let is_it = |bot: &Bot| match &bot.app_token {
            Some(known) => known == token,
            None => token.starts_with("xapp-"),
        };
        self.bots.iter().position(is_it)
    }

    /// Lets one socket in.
    pub(super) fn ticket(&mut self, bot: usize) -> String {
        self.ways += 1;
        let ticket = format!("ticket-{}", self.ways);
        self.tickets.insert(ticket.clone(), bot);
        ticket
    }

    /// The bot with this user id.
    pub(super) fn bot_of(&self, user: &str) -> Option<usize> {
        self.bots.iter().position(|bot| bot.user == user)
    }

    /// A socket comes with its ticket, which counts once.
    pub(super) fn admit(&mut self, ticket: &str) -> Option<u64> {
        let bot = self.tickets.remove(ticket)?;
        Some(self.open_way(bot))
    }

    /// A way to a bot is open.
    pub(super) fn open_way(&mut self, bot: usize) -> u64 {
        self.ways += 1;
        self.open.insert(self.ways, bot);
        self.ways
    }

    /// It is not any more: what was on it and not acknowledged takes the next one.
    pub(super) fn close_way(&mut self, way: u64) {
        self.open.remove(&way);
        let on_it = |letter: &&mut Letter| letter.way == Some(way);
        for letter in self.letters.iter_mut().filter(on_it) {
            letter.way = None;
        }
    }

    /// What Slack says first.
    pub(super) fn hello(&self, way: u64) -> Value {
        let bot = self.open.get(&way).copied();
        let others = self.open.values().filter(|other| Some(**other) == bot);
        let app = bot.and_then(|bot| self.bots.get(bot)).map(|bot| &bot.app);
        json!({
            "type": "hello",
            "num_connections": others.count(),
            "connection_info": { "app_id": app },
            "debug_info": { "host": "simulated", "approximate_connection_time": 18_060 },
        })
    }

    /// Whether there is something to be told on this way.
    pub(super) fn has_letter(&self, way: u64) -> bool {
        let bot = self.open.get(&way);
        let waits = |letter: &Letter| letter.way.is_none() && Some(&letter.bot) == bot;
        self.letters.iter().any(waits)
    }

    /// The next to be told on this way.
    pub(super) fn next_letter(&mut self, way: u64) -> Option<Letter> {
        let bot = *self.open.get(&way)?;
        let waits = |letter: &&mut Letter| letter.way.is_none() && letter.bot == bot;
        let letter = self.letters.iter_mut().find(waits)?;
        letter.way = Some(way);
        letter.tries += 1;
        Some(letter.clone())
    }

    /// A bot says that it has an envelope.
    pub(super) fn acknowledge(&mut self, envelope: &str) {
        let number = envelope.rsplit('-').next();
        let number = number.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let at = |letter: &Letter| Some(letter.number) == number;
        if let Some(at) = self.letters.iter().position(at) {
            self.letters.remove(at);
        }
    }

    /// A bot has taken what it was called for.
    pub(super) fn taken(&mut self, letter: &Letter) {
        self.letters.retain(|other| other.number != letter.number);
    }

    /// A bot is to hear this.
    pub(super) fn post_letter(&mut self, bot: usize, kind: &'static str, payload: Value) {
        self.letters_ever += 1;
        self.letters.push_back(Letter {
            number: self.letters_ever,
            bot,
            kind,
            payload,
            tries: 0,
            way: None,
        });
    }

    /// The files that somebody sends are at Slack from now on.
    fn keep_files(&mut self, deed: &Deed) -> Vec<Value> {
        let vendor::Did::Wrote(written) = &deed.did else {
            return Vec::new();
        };
        let mut kept = Vec::new();
        for file in &written.files {
            let id = self.name_file();
            let stored = Stored {
                name: file.name.clone(),
                media_type: file.media_type.clone(),
                content: file.content.clone().into_bytes(),
                length: None,
            };
            self.files.insert(id.clone(), stored);
            kept.extend(self.file(&id));
        }
        kept
    }

    /// A new file's id.
    pub(super) fn name_file(&mut self) -> String {
        self.files_ever += 1;
        format!("F0SIM{:04}", self.files_ever)
    }

    /// A file, as Slack tells of it.
    pub(super) fn file(&self, id: &str) -> Option<Value> {
        let stored = self.files.get(id)?;
        let url = format!("http://{}/files-pri/{id}/{}", self.host, stored.name);
        Some(json!({
            "id": id,
            "name": stored.name,
            "title": stored.name,
            "mimetype": stored.media_type,
            "filetype": stored.name.rsplit('.').next(),
            "mode": "hosted",
            "is_external": false,
            "size": stored.content.len(),
            "url_private": url,
            "url_private_download": url,
        }))
    }
}
