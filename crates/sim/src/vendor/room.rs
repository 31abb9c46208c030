//! Rooms as people see them: what everybody wrote, in order, with buttons, files, marks and typing signs. What a person
//! does is a [`Deed`], which the vendor tells its bots on its own wire.
//!
//! Pure: deeds and posts in, pictures out.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use talaria_domain::clock::Timestamp;

use super::fault::{Fault, Faults, On};

/// How many requests are remembered.
const REMEMBERED: usize = 10_000;

/// What somebody writes.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Written {
    /// Where.
    pub chat: String,
    /// What kind of chat it is: direct, group, channel, forum, thread.
    #[serde(default = "direct")]
    pub kind: String,
    /// The thread in it.
    pub thread: Option<String>,
    /// Who.
    pub sender: String,
    /// What.
    pub text: String,
    /// Whether the bot is mentioned.
    pub mentioned: bool,
    /// The message that it answers.
    pub reply_to: Option<String>,
    /// The message of theirs that it replaces.
    pub edits: Option<String>,
    /// What comes with it.
    pub files: Vec<File>,
    /// Several messages of one album say the same here.
    pub album: Option<String>,
    /// Whether a program writes it.
    pub bot: bool,
    /// The one bot that hears it, by its id; every bot if nobody is named.
    pub to: Option<String>,
}

fn direct() -> String {
    "direct".to_owned()
}

impl Written {
    /// What `sender` writes to the bot alone, in the chat called `chat of SENDER`.
    pub fn direct(sender: &str, text: &str) -> Self {
        Self::to_chat(&format!("chat of {sender}"), "direct", (sender, text))
    }

    /// What `sender` writes in a chat of this kind.
    pub fn to_chat(chat: &str, kind: &str, (sender, text): (&str, &str)) -> Self {
        Self {
            chat: chat.to_owned(),
            kind: kind.to_owned(),
            sender: sender.to_owned(),
            text: text.to_owned(),
            ..Self::default()
        }
    }
}

/// A file that somebody sends.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// What is in it.
    pub content: String,
}

/// What became of what somebody wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WrittenId {
    /// The message's id.
    pub id: String,
    /// The deed's place in the order of all deeds.
    pub offset: u64,
}

/// Somebody presses a button.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Press {
    /// The message that has it.
    pub message: String,
    /// What it says.
    pub button: String,
    /// Who.
    pub sender: String,
}

/// Somebody puts a mark on a message, or takes it away.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reaction {
    /// The message.
    pub message: String,
    /// The mark, as the platform spells it.
    pub reaction: String,
    /// Who.
    pub sender: String,
    /// Whether it is taken away.
    #[serde(default)]
    pub removed: bool,
}

/// Something that a person did, for the vendor to tell its bots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    /// Its place in the order of all deeds, from 1.
    pub number: u64,
    /// When.
    pub at: Timestamp,
    /// Where.
    pub chat: String,
    /// What kind of chat that is.
    pub kind: String,
    /// The thread in it.
    pub thread: Option<String>,
    /// Who.
    pub sender: String,
    /// The message that it is, or is about.
    pub message: String,
    /// The one bot that hears it; every bot if nobody is named.
    pub to: Option<String>,
    /// What they did.
    pub did: Did,
}

/// What somebody did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Did {
    /// They wrote.
    Wrote(Written),
    /// They changed what they wrote.
    Changed(Written),
    /// They pressed a button.
    Pressed {
        /// What the button carries.
        carried: String,
    },
    /// They put a mark on a message, or took it away.
    Reacted {
        /// The mark.
        reaction: String,
        /// Whether it was taken away.
        removed: bool,
    },
}

/// What a bot wants to be there.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Post {
    /// Where.
    pub chat: String,
    /// The thread in it.
    pub thread: Option<String>,
    /// Which bot.
    pub sender: String,
    /// The message that it answers.
    pub reply_to: Option<String>,
    /// What it says.
    pub text: String,
    /// How it is to be read.
    pub format: Option<String>,
    /// The buttons below it: what each says, and what it carries.
    pub buttons: Vec<(String, String)>,
    /// The file that it shows.
    pub file: Option<File>,
}

/// A message as people see it.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// The platform's id.
    pub message_id: String,
    /// Who wrote it.
    pub sender: String,
    /// Whether that is a bot of ours.
    pub ours: bool,
    /// The thread it is in.
    pub thread: Option<String>,
    /// The message it answers.
    pub reply_to: Option<String>,
    /// What it says.
    pub text: String,
    /// How the bot wanted it to be read.
    pub format: Option<String>,
    /// The buttons below it: what each says, and what it carries.
    pub buttons: Vec<(String, String)>,
    /// The file that it shows.
    pub file: Option<File>,
    /// The marks on it: who, and which.
    pub marks: Vec<(String, String)>,
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
    /// Typing signs that were shown there, in order.
    pub signs: Vec<Signed>,
}

/// A typing sign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Signed {
    /// Which bot.
    pub sender: String,
    /// The thread it was shown in.
    pub thread: Option<String>,
    /// What it says; empty takes it away.
    pub says: String,
}

/// What an adapter asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// Which question.
    pub on: On,
    /// The method.
    pub method: String,
    /// The path and the query. A token in it is left out.
    pub path: String,
    /// The body; null if there was none, or none that is JSON.
    pub body: Value,
    /// When.
    pub at: Timestamp,
}

/// Everything that people see, and everything that is to go wrong.
#[derive(Debug)]
pub struct Room {
    /// The platform's id of the message with this number.
    id_of: fn(u64) -> String,
    chats: BTreeMap<String, Chat>,
    /// Where each message is.
    places: BTreeMap<String, (String, usize)>,
    deeds: u64,
    /// What bots wrote and changed, in order, by the messages' ids.
    said: Vec<String>,
    requests: VecDeque<Asked>,
    faults: Faults,
}

impl Room {
    /// An empty room whose messages are numbered by `id_of`, from 1.
    pub fn numbered(id_of: fn(u64) -> String) -> Self {
        Self {
            id_of,
            chats: BTreeMap::new(),
            places: BTreeMap::new(),
            deeds: 0,
            said: Vec::new(),
            requests: VecDeque::new(),
            faults: Faults::default(),
        }
    }

    /// Somebody writes, or changes what they wrote.
    pub fn write(&mut self, written: &Written, at: Timestamp) -> Deed {
        let (message, did) = if let Some(id) = &written.edits {
            self.replace(id, |shown| written.text.clone_into(&mut shown.text));
            (id.clone(), Did::Changed(written.clone()))
        } else {
            let id = self.show(&written.chat, |message_id| Shown {
                message_id,
                sender: written.sender.clone(),
                thread: written.thread.clone(),
                reply_to: written.reply_to.clone(),
                text: written.text.clone(),
                file: written.files.first().cloned(),
                ..Shown::default()
            });
            (id, Did::Wrote(written.clone()))
        };
        if let Some(chat) = self.chats.get_mut(&written.chat) {
            chat.kind.clone_from(&written.kind);
        }
        let mut deed = self.deed((&message, &written.sender), did, at);
        deed.to.clone_from(&written.to);
        deed
    }

    /// Somebody presses a button, if it is there.
    pub fn press(&mut self, press: &Press, at: Timestamp) -> Option<Deed> {
        let shown = self.message(&press.message)?;
        let mut buttons = shown.buttons.iter();
        let (_, carried) = buttons.find(|(says, _)| *says == press.button)?.clone();
        let to = Some(shown.sender.clone());
        let did = Did::Pressed { carried };
        let deed = self.deed((&press.message, &press.sender), did, at);
        Some(Deed { to, ..deed })
    }

    /// Somebody puts a mark on a message, or takes it away, if the message is there.
    pub fn react(&mut self, reaction: &Reaction, at: Timestamp) -> Option<Deed> {
        let Reaction {
            message,
            reaction: mark,
            sender,
            removed,
        } = reaction;
        self.mark(message, (sender, mark), *removed).then_some(())?;
        let did = Did::Reacted {
            reaction: mark.clone(),
            removed: *removed,
        };
        Some(self.deed((message, sender), did, at))
    }

    /// Puts a mark on a message or takes it away. Says whether the message is there.
    pub fn mark(&mut self, message: &str, (who, mark): (&str, &str), removed: bool) -> bool {
        self.replace_quietly(message, |shown| {
            let both = (who.to_owned(), mark.to_owned());
            shown.marks.retain(|other| *other != both);
            if !removed {
                shown.marks.push(both);
            }
        })
    }

    fn deed(&mut self, (message, sender): (&str, &str), did: Did, at: Timestamp) -> Deed {
        self.deeds += 1;
        let place = self.places.get(message);
        let chat = place.and_then(|(chat, _)| self.chats.get(chat));
        let thread = self.message(message).and_then(|shown| shown.thread.clone());
        Deed {
            number: self.deeds,
            at,
            chat: chat.map(|chat| chat.chat.clone()).unwrap_or_default(),
            kind: chat.map(|chat| chat.kind.clone()).unwrap_or_default(),
            thread,
            sender: sender.to_owned(),
            message: message.to_owned(),
            to: None,
            did,
        }
    }

    /// A bot writes; gives the message's id.
    pub fn post(&mut self, post: Post) -> String {
        let chat = post.chat.clone();
        let id = self.show(&chat, |message_id| Shown {
            message_id,
            sender: post.sender,
            ours: true,
            thread: post.thread,
            reply_to: post.reply_to,
            text: post.text,
            format: post.format,
            buttons: post.buttons,
            file: post.file,
            ..Shown::default()
        });
        self.said.push(id.clone());
        id
    }

    /// A bot changes what it wrote. Says whether the message is there and its own.
    pub fn change(&mut self, id: &str, sender: &str, change: impl FnOnce(&mut Shown)) -> bool {
        let is_own = |shown: &Shown| shown.ours && shown.sender == sender;
        if !self.message(id).is_some_and(is_own) {
            return false;
        }
        self.said.push(id.to_owned());
        self.replace(id, change)
    }

    /// How often bots wrote or changed something.
    pub const fn said_ever(&self) -> usize {
        self.said.len()
    }

    /// What bots wrote and changed after the first `after` times, as it is shown now.
    pub fn said_after(&self, after: usize) -> impl Iterator<Item = &Shown> {
        let ids = self.said.iter().skip(after);
        ids.filter_map(|id| self.message(id))
    }

    /// A bot shows a typing sign.
    pub fn sign(&mut self, chat: &str, signed: Signed) {
        self.chat_mut(chat).signs.push(signed);
    }

    /// A message.
    pub fn message(&self, id: &str) -> Option<&Shown> {
        let (chat, at) = self.places.get(id)?;
        self.chats.get(chat)?.messages.get(*at)
    }

    /// The chat that a message is in.
    pub fn chat_of(&self, message: &str) -> Option<&str> {
        self.places.get(message).map(|(chat, _)| chat.as_str())
    }

    /// A chat, as people see it.
    pub fn chat(&self, chat: &str) -> Option<&Chat> {
        self.chats.get(chat)
    }

    /// All chats.
    pub fn chats(&self) -> impl Iterator<Item = &Chat> {
        self.chats.values()
    }

    /// Remembers what an adapter asked.
    pub fn remember(&mut self, asked: Asked) {
        if self.requests.len() == REMEMBERED {
            self.requests.pop_front();
        }
        self.requests.push_back(asked);
    }

    /// What adapters asked lately, in order.
    pub fn requests(&self) -> impl Iterator<Item = &Asked> {
        self.requests.iter()
    }

    /// Something is to go wrong.
    pub fn order(&mut self, fault: Fault) {
        self.faults.order(fault);
    }

    /// Whether something goes wrong next time.
    pub fn has_fault(&self, on: On) -> bool {
        self.faults.has(on)
    }

    /// What goes wrong this time.
    pub fn next_fault(&mut self, on: On) -> Option<Fault> {
        self.faults.next(on)
    }

    fn chat_mut(&mut self, chat: &str) -> &mut Chat {
        self.chats.entry(chat.to_owned()).or_insert_with(|| Chat {
            chat: chat.to_owned(),
            ..Chat::default()
        })
    }

    fn show(&mut self, chat: &str, message: impl FnOnce(String) -> Shown) -> String {
        let number = u64::try_from(self.places.len()).unwrap_or(u64::MAX);
        let id = (self.id_of)(number + 1);
        let shown = self.chat_mut(chat);
        let place = (chat.to_owned(), shown.messages.len());
        shown.messages.push(message(id.clone()));
        self.places.insert(id.clone(), place);
        id
    }

    /// Changes a message; that it was is counted.
    fn replace(&mut self, id: &str, change: impl FnOnce(&mut Shown)) -> bool {
        self.replace_quietly(id, |shown| {
            change(shown);
            shown.edits += 1;
        })
    }

    fn replace_quietly(&mut self, id: &str, change: impl FnOnce(&mut Shown)) -> bool {
        let Some((chat, at)) = self.places.get(id) else {
            return false;
        };
        let chat = self.chats.get_mut(chat);
        let shown = chat.and_then(|chat| chat.messages.get_mut(*at));
        shown.map(change).is_some()
    }
}
