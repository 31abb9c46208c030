//! What Discord knows beside its rooms: bots, channels, and sessions with everything that each was to hear. What a session
//! heard and did not take note of comes again when it is taken up; what nobody was connected for can only be asked for.
//!
//! Pure: requests in, answers out.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use talaria_domain::clock::Timestamp;

use super::names::{chat_id, message_id, other_id, thread_id, user_id};
use super::render;
use crate::vendor::{self, Deed, Did, Room, Written};

/// More sessions of one bot are forgotten.
const SESSIONS: usize = 3;
/// The one guild that all channels are in.
pub(super) const GUILD: &str = "1000000000000000001";

/// How Discord is simulated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// The tokens that are accepted, each for a bot of its own; any if there is none.
    pub tokens: Vec<String>,
    /// How many messages a channel takes in five seconds.
    pub limit: Option<u32>,
    /// The time between two heartbeats.
    pub heartbeat: Duration,
}

impl Terms {
    /// The usual terms for these tokens.
    pub fn for_tokens<const N: usize>(tokens: [&str; N]) -> Self {
        Self {
            tokens: tokens.map(str::to_owned).into(),
            limit: None,
            heartbeat: Duration::from_millis(41_250),
        }
    }
}

/// A bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bot {
    /// Its id, and that of its application.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// What it is let in with.
    pub token: String,
}

/// Somebody chooses a command from a bot's menu.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Chosen {
    /// Where.
    pub chat: String,
    /// What kind of chat it is.
    pub kind: String,
    /// The thread in it.
    pub thread: Option<String>,
    /// Who.
    pub sender: String,
    /// The command.
    pub name: String,
    /// What goes with it.
    pub text: Option<String>,
}

/// A channel, a thread or a direct conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Channel {
    /// What it is called where people look.
    pub(super) key: String,
    pub(super) name: String,
    /// As Discord numbers it.
    pub(super) kind: u8,
    /// The channel that a thread is below.
    pub(super) parent: Option<String>,
    /// Who the other one is, in a direct conversation.
    pub(super) with: Option<String>,
    pub(super) last_message: Option<String>,
}

/// What is known of a message beside what is shown.
#[derive(Debug, Clone)]
pub(super) struct Letter {
    pub(super) at: Timestamp,
    pub(super) edited_at: Option<Timestamp>,
    pub(super) channel: String,
    /// What a person wrote.
    pub(super) written: Option<Written>,
    pub(super) nonce: Option<Value>,
}

/// A session on the gateway.
#[derive(Debug)]
struct Session {
    bot: String,
    /// Everything that it was to hear, in order.
    frames: Vec<Value>,
    /// How much of it was told on the last connection.
    told: usize,
    /// How much of it the bot says that it has.
    heard: usize,
    /// The connection that has it.
    line: u64,
}

/// Everything that Discord knows.
#[derive(Debug)]
pub struct World {
    pub(super) room: Room,
    pub(super) terms: Terms,
    pub(super) bots: Vec<Bot>,
    pub(super) channels: BTreeMap<String, Channel>,
    pub(super) letters: BTreeMap<String, Letter>,
    pub(super) commands: BTreeMap<String, Value>,
    /// Interactions that can be answered, by their token: their id, and the answer.
    pub(super) interactions: BTreeMap<String, (String, Option<Value>)>,
    /// The messages that carry a nonce, by bot.
    pub(super) nonces: BTreeMap<(String, String), String>,
    /// When bots wrote, by channel.
    pub(super) paces: BTreeMap<String, Vec<Timestamp>>,
    sessions: BTreeMap<String, Session>,
    address: SocketAddr,
    others: u64,
}

impl vendor::World for World {
    fn room(&self) -> &Room {
        &self.room
    }

    fn room_mut(&mut self) -> &mut Room {
        &mut self.room
    }

    fn tell(&mut self, deed: Deed) {
        let channel = self.channel(
            (&deed.chat, &deed.kind),
            deed.thread.as_deref(),
            &deed.sender,
        );
        match &deed.did {
            Did::Wrote(written) => self.wrote(&deed, channel, written),
            Did::Changed(_) => {
                if let Some(letter) = self.letters.get_mut(&deed.message) {
                    letter.edited_at = Some(deed.at);
                }
                let to = deed.to.clone();
                self.tell_of_message("MESSAGE_UPDATE", &deed.message, to.as_deref());
            }
            Did::Pressed { carried } => self.pressed(&deed, channel, carried),
            Did::Reacted { reaction, removed } => {
                let name = if *removed {
                    "MESSAGE_REACTION_REMOVE"
                } else {
                    "MESSAGE_REACTION_ADD"
                };
                let body = render::reaction(self, &deed, (&channel, reaction));
                self.dispatch(deed.to.as_deref(), name, |_, _| Some(body.clone()));
            }
        }
    }

    fn backlog(&self) -> usize {
        let newest = |bot: &Bot| {
            let sessions = self.sessions.values();
            let mut newest_first = sessions.rev();
            let last = newest_first.find(|session| session.bot == bot.id);
            last.map_or(0, Session::unheard)
        };
        self.bots.iter().map(newest).sum()
    }
}

impl World {
    /// Discord on these terms.
    pub(super) fn on(terms: Terms) -> Self {
        let mut world = Self {
            room: Room::numbered(message_id),
            terms: terms.clone(),
            bots: Vec::new(),
            channels: BTreeMap::new(),
            letters: BTreeMap::new(),
            commands: BTreeMap::new(),
            interactions: BTreeMap::new(),
            nonces: BTreeMap::new(),
            paces: BTreeMap::new(),
            sessions: BTreeMap::new(),
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            others: 0,
        };
        for token in terms.tokens {
            world.admit(&token);
        }
        world
    }

    /// It is found here.
    pub(super) const fn listen_on(&mut self, address: SocketAddr) {
        self.address = address;
    }

    /// Where it is found.
    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    fn admit(&mut self, token: &str) -> Bot {
        let number = self.bots.len() + 1;
        let bot = Bot {
            id: user_id(&format!("bot {number}")),
            name: format!("bot{number}"),
            token: token.to_owned(),
        };
        self.bots.push(bot.clone());
        bot
    }

    /// The bot with this token. Where no tokens were named, every token is a bot of its own.
    pub(super) fn bot(&mut self, token: &str) -> Option<Bot> {
        let known = self.bots.iter().find(|bot| bot.token == token).cloned();
        let is_token = !token.is_empty() && !token.contains(char::is_whitespace);
        let is_open = self.terms.tokens.is_empty() && is_token;
        known.or_else(|| is_open.then(|| self.admit(token)))
    }

    /// A token is not accepted any more.
    pub fn revoke(&mut self, token: &str) {
        self.bots.retain(|bot| bot.token != token);
        self.terms.tokens.push("nobody has this one".to_owned());
    }

    /// No session can be taken up any more.
    pub fn forget_sessions(&mut self) {
        self.sessions.clear();
    }

    /// A channel, made if it is not there; gives its id. Bots hear of it.
    pub(super) fn channel(
        &mut self,
        (chat, kind): (&str, &str),
        thread: Option<&str>,
        sender: &str,
    ) -> String {
        let (above, below) = match kind {
            "channel" => (5, 10),
            "forum" => (15, 11),
            "group" | "thread" => (0, 11),
            _ => (1, 11),
        };
        let id = chat_id(chat);
        let channel = Channel {
            key: chat.to_owned(),
            name: chat.to_owned(),
            kind: above,
            parent: None,
            with: (above == 1).then(|| sender.to_owned()),
            last_message: None,
        };
        self.open(&id, channel, "CHANNEL_CREATE");
        let Some(thread) = thread.filter(|_| above != 1) else {
            return id;
        };
        let channel = Channel {
            key: thread.to_owned(),
            name: thread.to_owned(),
            kind: below,
            parent: Some(id),
            with: None,
            last_message: None,
        };
        let id = thread_id(thread);
        self.open(&id, channel, "THREAD_CREATE");
        id
    }

    /// A channel that is there from now on, if it was not.
    pub(super) fn open(&mut self, id: &str, channel: Channel, name: &str) {
        if self.channels.contains_key(id) {
            return;
        }
        let is_direct = channel.kind == 1;
        self.channels.insert(id.to_owned(), channel);
        if !is_direct {
            self.dispatch(None, name, |world, _| render::channel(world, id));
        }
    }

    fn wrote(&mut self, deed: &Deed, channel: String, written: &Written) {
        self.file(
            &deed.message,
            Letter {
                at: deed.at,
                edited_at: None,
                channel,
                written: Some(written.clone()),
                nonce: None,
            },
        );
        self.tell_of_message("MESSAGE_CREATE", &deed.message, deed.to.as_deref());
    }

    /// Files what is known of a message.
    pub(super) fn file(&mut self, id: &str, letter: Letter) {
        if let Some(channel) = self.channels.get_mut(&letter.channel) {
            channel.last_message = Some(id.to_owned());
        }
        self.letters.insert(id.to_owned(), letter);
    }

    fn pressed(&mut self, deed: &Deed, channel: String, carried: &str) {
        let data = json!({ "custom_id": carried, "component_type": 2 });
        let used = render::Use {
            kind: 3,
            channel,
            sender: deed.sender.clone(),
            message: Some(deed.message.clone()),
            data,
        };
        self.interact(deed.to.as_deref(), &used);
    }

    /// Somebody chooses a command from the menu of every bot that has it; gives the interactions' ids.
    pub fn choose(&mut self, chosen: &Chosen) -> Vec<String> {
        let thread = chosen.thread.as_deref();
        let channel = self.channel((&chosen.chat, &chosen.kind), thread, &chosen.sender);
        let options = chosen.text.as_ref();
        let options = options.map(|text| json!({ "type": 3, "name": "text", "value": text }));
        let options: Vec<Value> = options.into_iter().collect();
        let used = render::Use {
            kind: 2,
            channel,
            sender: chosen.sender.clone(),
            message: None,
            data: json!({ "id": "1", "name": chosen.name, "type": 1, "options": options }),
        };
        let named = |menu: &Value| {
            let mut menu = menu.as_array().into_iter().flatten();
            menu.any(|command| command["name"] == *chosen.name)
        };
        let with_it = self.commands.iter().filter(|(_, menu)| named(menu));
        let with_it: Vec<String> = with_it.map(|(bot, _)| bot.clone()).collect();
        let with_it = with_it.iter();
        with_it.map(|bot| self.interact(Some(bot), &used)).collect()
    }

    fn interact(&mut self, to: Option<&str>, used: &render::Use) -> String {
        let id = self.next_id();
        let token = format!("interaction-token-{id}");
        self.interactions.insert(token.clone(), (id.clone(), None));
        self.dispatch(to, "INTERACTION_CREATE", |world, bot| {
            render::interaction(world, bot, (&id, &token), used)
        });
        id
    }

    /// What an interaction was answered with.
    pub fn answer_to(&self, interaction: &str) -> Option<&Value> {
        let mut all = self.interactions.values();
        let (_, answer) = all.find(|(id, _)| id == interaction)?;
        answer.as_ref()
    }

    /// The answers to all interactions, in order.
    pub fn answers(&self) -> Vec<Value> {
        let answered = self.interactions.values();
        answered.filter_map(|(_, answer)| answer.clone()).collect()
    }

    /// Another id, for anything that is no message.
    pub(super) fn next_id(&mut self) -> String {
        self.others += 1;
        other_id(self.others)
    }

    /// Tells the sessions of one bot, or of all, about a message.
    pub(super) fn tell_of_message(&mut self, name: &str, id: &str, to: Option<&str>) {
        self.dispatch(to, name, |world, bot| render::heard_message(world, bot, id));
    }

    /// Tells the sessions of one bot, or of all.
    fn dispatch(
        &mut self,
        to: Option<&str>,
        name: &str,
        body: impl Fn(&Self, &Bot) -> Option<Value>,
    ) {
        let bots = self
            .bots
            .iter()
            .filter(|bot| to.is_none_or(|to| to == bot.id));
        let bodies = bots.filter_map(|bot| Some((bot.id.clone(), body(self, bot)?)));
        let bodies: BTreeMap<String, Value> = bodies.collect();
        for session in self.sessions.values_mut() {
            if let Some(body) = bodies.get(&session.bot) {
                session.push(name, body);
            }
        }
    }

    /// Begins a session; gives its id and the connection's number.
    pub(super) fn begin(&mut self, bot: &Bot) -> (String, u64) {
        let id = format!("session-{}", self.next_id());
        let mut session = Session {
            bot: bot.id.clone(),
            frames: Vec::new(),
            told: 0,
            heard: 0,
            line: 1,
        };
        session.push("READY", &render::ready(self, bot, &id));
        session.push("GUILD_CREATE", &render::guild(self, bot));
        let of_bot = self.sessions.iter();
        let of_bot = of_bot.filter(|(_, session)| session.bot == bot.id);
        let mut of_bot: Vec<String> = of_bot.map(|(id, _)| id.clone()).collect();
        of_bot.truncate((of_bot.len() + 1).saturating_sub(SESSIONS));
        for old in of_bot {
            self.sessions.remove(&old);
        }
        self.sessions.insert(id.clone(), session);
        (id, 1)
    }

    /// Takes a session up again after this event; gives the connection's number. None if there is no such session.
    pub(super) fn resume(&mut self, bot: &Bot, id: &str, seq: usize) -> Option<u64> {
        let session = self.sessions.get_mut(id)?;
        if session.bot != bot.id || seq > session.frames.len() {
            return None;
        }
        session.push("RESUMED", &json!({ "_trace": [] }));
        session.told = seq;
        session.heard = session.heard.max(seq);
        session.line += 1;
        Some(session.line)
    }

    /// Whether there is something to tell on this connection.
    pub(super) fn is_ready(&self, id: &str, line: u64) -> bool {
        let session = self.sessions.get(id);
        session.is_none_or(|it| it.line != line || it.told < it.frames.len())
    }

    /// What is told next; none if the connection does not have the session any more.
    pub(super) fn next(&mut self, id: &str, line: u64) -> Option<Value> {
        let session = self.sessions.get_mut(id).filter(|it| it.line == line)?;
        let frame = session.frames.get(session.told)?.clone();
        session.told += 1;
        Some(frame)
    }

    /// A bot says how far it has heard.
    pub(super) fn heard(&mut self, id: &str, seq: usize) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.heard = session.heard.max(seq);
        }
    }

    /// A session is over.
    pub(super) fn end(&mut self, id: &str) {
        self.sessions.remove(id);
    }
}

impl Session {
    /// What somebody did that the bot has not said it has. Heartbeats are all that says so.
    fn unheard(&self) -> usize {
        let is_deed = |frame: &&Value| {
            let name = frame["t"].as_str().unwrap_or_default();
            name.starts_with("MESSAGE_") || name == "INTERACTION_CREATE"
        };
        self.frames.iter().skip(self.heard).filter(is_deed).count()
    }

    fn push(&mut self, name: &str, body: &Value) {
        let seq = self.frames.len() + 1;
        let frame = json!({ "op": 0, "t": name, "s": seq, "d": body });
        self.frames.push(frame);
    }
}
