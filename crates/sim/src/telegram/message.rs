//! What people do, as the wire has it ("Update", "Message", "CallbackQuery", "MessageReactionUpdated"), with the traps of
//! the real one: everything in a topic "answers" what opened it, and an answer in a supergroup has a thread that is none.
//!
//! Pure: deeds in, JSON out.

use serde_json::{Value, json};

use super::world::World;
use crate::vendor::stage::now;
use crate::vendor::{Deed, Did, File, Written};

/// The number of the n-th person that has none.
pub(super) const fn person_number(count: i64) -> i64 {
    500_000_000 + count
}

/// The number of the n-th group that has none.
pub(super) const fn group_number(count: i64) -> i64 {
    -1_001_000_000_000 - count
}

const fn topic_number(count: i64) -> i64 {
    80_000 + count
}

impl World {
    /// A deed as an update of this kind, for the bot with this name.
    pub(super) fn update(&mut self, deed: &Deed, bot: &str) -> (&'static str, Value) {
        let chat = self.place(deed);
        let is_channel = deed.kind == "channel";
        match &deed.did {
            Did::Wrote(written) => {
                let message = self.written(deed, (written, chat), bot);
                self.messages.insert(deed.message.clone(), message.clone());
                (
                    if is_channel {
                        "channel_post"
                    } else {
                        "message"
                    },
                    message,
                )
            }
            Did::Changed(written) => {
                let mut message = self.written(deed, (written, chat), bot);
                message["edit_date"] = json!(deed.at.as_millis() / 1_000);
                self.messages.insert(deed.message.clone(), message.clone());
                let kind = if is_channel {
                    "edited_channel_post"
                } else {
                    "edited_message"
                };
                (kind, message)
            }
            Did::Pressed { carried } => {
                let id = format!("{}", 4_382_000_000_000_000_000 + deed.number);
                self.presses.insert(id.clone());
                let message = self.messages.get(&deed.message).cloned();
                let pressed = json!({
                    "id": id, "from": self.person(&deed.sender, false), "message": message,
                    "chat_instance": "-8765432109876543210", "data": carried,
                });
                ("callback_query", pressed)
            }
            Did::Reacted { reaction, removed } => {
                let mark = json!([{ "type": "emoji", "emoji": reaction }]);
                let (old, new) = if *removed {
                    (mark, json!([]))
                } else {
                    (json!([]), mark)
                };
                let reacted = json!({
                    "chat": self.chat(chat), "message_id": number(&deed.message),
                    "user": self.person(&deed.sender, false), "date": deed.at.as_millis() / 1_000,
                    "old_reaction": old, "new_reaction": new,
                });
                ("message_reaction", reacted)
            }
        }
    }

    /// The chat's number. A chat with one person has the number of that person.
    fn place(&mut self, deed: &Deed) -> i64 {
        let chat = match self.chats.known(&deed.chat) {
            Some(chat) => chat,
            None if deed.kind == "direct" => self.person_in(deed),
            None => self.chats.number(&deed.chat, group_number),
        };
        self.chats.bind(&deed.chat, chat);
        if !deed.kind.is_empty() {
            self.kinds.insert(chat, deed.kind.clone());
        }
        if let Some(thread) = &deed.thread {
            let topic = self.topics.number(thread, topic_number);
            self.open_topics.insert((chat, topic));
        }
        chat
    }

    /// The number of whoever a chat is with.
    fn person_in(&mut self, deed: &Deed) -> i64 {
        let Ok(chat) = deed.chat.parse::<i64>() else {
            return self.people.number(&deed.sender, person_number);
        };
        if self.people.known(&deed.sender).is_none() && deed.sender.parse::<i64>().is_err() {
            self.people.bind(&deed.sender, chat);
        }
        chat
    }

    fn written(&mut self, deed: &Deed, (written, chat): (&Written, i64), bot: &str) -> Value {
        let text = match written.mentioned && !written.text.contains(&format!("@{bot}")) {
            true => format!("@{bot} {}", written.text),
            false => written.text.clone(),
        };
        let mut message = json!({
            "message_id": number(&deed.message),
            "chat": self.chat(chat),
            "date": deed.at.as_millis() / 1_000,
        });
        if deed.kind == "channel" {
            message["sender_chat"] = self.chat(chat);
        } else {
            message["from"] = self.person(&deed.sender, written.bot);
        }
        if let Some(thread) = &deed.thread {
            self.thread(&mut message, chat, thread);
        }
        if let Some(id) = &written.reply_to {
            self.answers(&mut message, id);
        }
        if let Some(album) = &written.album {
            message["media_group_id"] = json!(album);
        }
        let (said, marked) = match written.files.first() {
            Some(file) => {
                self.attach(&mut message, file);
                ("caption", "caption_entities")
            }
            None => ("text", "entities"),
        };
        let entities = entities(&text);
        if !text.is_empty() {
            message[said] = json!(text);
        }
        if !entities.is_empty() {
            message[marked] = json!(entities);
        }
        message
    }

    /// Puts a message into a topic.
    pub(super) fn thread(&mut self, message: &mut Value, chat: i64, thread: &str) {
        let topic = self.topics.number(thread, topic_number);
        match self.kinds.get(&chat).map(String::as_str) {
            Some("direct_messages") => {
                message["direct_messages_topic"] = json!({ "topic_id": topic });
            }
            // What is in General is in no topic.
            Some("forum" | "thread") if topic == 1 => {}
            Some("forum" | "thread" | "direct") => {
                message["message_thread_id"] = json!(topic);
                message["is_topic_message"] = json!(true);
                message["reply_to_message"] = json!({
                    "message_id": topic, "date": message["date"], "chat": message["chat"],
                    "from": message["from"], "message_thread_id": topic, "is_topic_message": true,
                    "forum_topic_created": { "name": thread, "icon_color": 7_322_096 },
                });
            }
            _ => {}
        }
    }

    /// Makes a message an answer.
    pub(super) fn answers(&self, message: &mut Value, id: &str) {
        let Some(answered) = self.messages.get(id) else {
            return;
        };
        let mut answered = answered.clone();
        if let Some(fields) = answered.as_object_mut() {
            fields.remove("reply_to_message");
        }
        let is_topic = message["is_topic_message"] == json!(true);
        if message["chat"]["type"] == json!("supergroup") && !is_topic {
            message["message_thread_id"] = answered["message_id"].clone();
        }
        message["reply_to_message"] = answered;
    }

    /// Puts a file into a message, as people's own programs would.
    fn attach(&mut self, message: &mut Value, file: &File) {
        let about = self
            .files
            .keep(&file.name, file.content.clone().into_bytes());
        let field = field_of(&file.media_type);
        message[field] = shown_as(field, about.clone(), (&file.name, &file.media_type));
        if field == "animation" {
            message["document"] = shown_as("document", about, (&file.name, &file.media_type));
        }
    }

    /// "User".
    fn person(&mut self, name: &str, is_bot: bool) -> Value {
        let id = self.people.number(name, person_number);
        let mut user = json!({ "id": id, "is_bot": is_bot, "first_name": name });
        if is_bot {
            user["username"] = json!(format!("other_{id}_bot"));
        }
        user
    }

    /// "Chat".
    pub(super) fn chat(&self, id: i64) -> Value {
        let name = self.chats.name(id).unwrap_or_default();
        let kind = self.kinds.get(&id).map_or("", String::as_str);
        let is_super = id < -1_000_000_000_000;
        match kind {
            "direct" => {
                let name = self.people.name(id).unwrap_or(name);
                json!({ "id": id, "type": "private", "first_name": name })
            }
            "channel" => json!({ "id": id, "type": "channel", "title": name }),
            "forum" | "thread" => {
                json!({ "id": id, "type": "supergroup", "title": name, "is_forum": true })
            }
            "direct_messages" => {
                json!({ "id": id, "type": "supergroup", "title": name, "is_direct_messages": true })
            }
            _ if is_super => json!({ "id": id, "type": "supergroup", "title": name }),
            _ => json!({ "id": id, "type": "group", "title": name }),
        }
    }

    /// Tells a bot that a group became a supergroup, in both.
    pub(super) fn tell_move(&mut self, at: usize, (before, after): (i64, i64)) {
        let date = now().as_millis() / 1_000;
        let from = self.person("somebody", false);
        let old = json!({
            "message_id": 900_001, "date": date, "from": from, "migrate_to_chat_id": after,
            "chat": { "id": before, "type": "group", "title": "before" },
        });
        let new = json!({
            "message_id": 1, "date": date, "from": from, "migrate_from_chat_id": before, "chat": self.chat(after),
        });
        if let Some(bot) = self.bots.get_mut(at) {
            bot.queue.push("message", old);
            bot.queue.push("message", new);
        }
    }
}

fn number(message: &str) -> i64 {
    message.parse().unwrap_or(0)
}

/// How a file of this type is shown.
pub(super) fn field_of(media_type: &str) -> &'static str {
    match media_type {
        "image/jpeg" | "image/png" => "photo",
        "image/gif" => "animation",
        "image/webp" => "sticker",
        "audio/ogg" => "voice",
        _ if media_type.starts_with("audio/") => "audio",
        _ if media_type.starts_with("video/") => "video",
        _ => "document",
    }
}

/// "PhotoSize", "Document", "Voice" and so on.
pub(super) fn shown_as(field: &str, mut about: Value, (name, media_type): (&str, &str)) -> Value {
    match field {
        "photo" => {
            let mut small = about.clone();
            small["file_id"] = json!(format!(
                "small-{}",
                about["file_id"].as_str().unwrap_or_default()
            ));
            small["file_size"] = json!(1);
            for (size, side) in [(&mut small, 90), (&mut about, 1_280)] {
                size["width"] = json!(side);
                size["height"] = json!(side);
            }
            json!([small, about])
        }
        "sticker" => {
            let more = [
                ("type", json!("regular")),
                ("width", json!(512)),
                ("height", json!(512)),
                ("is_animated", json!(false)),
                ("is_video", json!(false)),
                ("emoji", json!("👍")),
            ];
            for (name, value) in more {
                about[name] = value;
            }
            about
        }
        _ => {
            about["file_name"] = json!(name);
            about["mime_type"] = json!(media_type);
            if field != "document" {
                about["duration"] = json!(3);
            }
            if matches!(field, "video" | "animation") {
                about["width"] = json!(640);
                about["height"] = json!(480);
            }
            about
        }
    }
}

/// "MessageEntity": commands and mentions, as the platform finds them.
fn entities(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut offset = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let kind = match bare.chars().next() {
            Some('/') => Some("bot_command"),
            Some('@') => Some("mention"),
            _ => None,
        };
        let length = bare.encode_utf16().count();
        if let Some(kind) = kind.filter(|_| length > 1) {
            found.push(json!({ "type": kind, "offset": offset, "length": length }));
        }
        offset += word.encode_utf16().count();
    }
    found
}
