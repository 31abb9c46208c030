//! Messages of bots: where they go, what is wrong with them, and how they are shown ("sendMessage" and its siblings).
//!
//! Pure: parameters in, messages out.

use serde_json::{Value, json};
use talaria_domain::capabilities::TextUnit;

use super::{No, bot_mut};
use crate::telegram::markup::{self, Plain};
use crate::telegram::message::shown_as;
use crate::telegram::parameters::Parameters;
use crate::telegram::world::World;
use crate::vendor::stage::now;
use crate::vendor::{File, Post, Shown};

const MOST_TEXT: usize = 4_096;
const MOST_CAPTION: usize = 1_024;
const MOST_BYTES: usize = 50 * 1024 * 1024;
const MOST_PICTURE_BYTES: usize = 10 * 1024 * 1024;
/// What a button may carry.
const MOST_CARRIED: usize = 64;

/// A bot writes.
pub(super) fn text(world: &mut World, bot: usize, asked: &Parameters) -> Result<Value, No> {
    let plain = plain(asked, "text", MOST_TEXT)?;
    if plain.text.trim().is_empty() {
        return Err(No::bad("message text is empty"));
    }
    post(world, bot, (asked, plain, None))
}

/// A bot sends a file.
pub(super) fn file(
    world: &mut World,
    bot: usize,
    (method, asked): (&str, &Parameters),
) -> Result<Value, No> {
    let field = method.strip_prefix("send").unwrap_or(method);
    let plain = plain(asked, "caption", MOST_CAPTION)?;
    let Some(uploaded) = asked.file(field) else {
        let words = format!("there is no {field} in the request");
        return Err(No::bad(&words));
    };
    let most = if field == "photo" {
        MOST_PICTURE_BYTES
    } else {
        MOST_BYTES
    };
    match uploaded.content.len() {
        0 => return Err(No::bad("file must be non-empty")),
        length if length > most => return Err(No::of(413, "Request Entity Too Large")),
        _ => {}
    }
    let shown = File {
        name: uploaded.name.clone(),
        media_type: uploaded.media_type.clone(),
        content: String::from_utf8_lossy(&uploaded.content).into_owned(),
    };
    let content = uploaded.content.clone();
    post(world, bot, (asked, plain, Some((field, shown, content))))
}

type Attached<'a> = (&'a str, File, Vec<u8>);

fn post(
    world: &mut World,
    bot: usize,
    (asked, plain, attached): (&Parameters, Plain, Option<Attached<'_>>),
) -> Result<Value, No> {
    let chat = chat(world, asked)?;
    let thread = thread(world, (chat, asked))?;
    let answered = answered(world, asked)?;
    let keyboard = asked.json("reply_markup");
    let buttons = buttons(keyboard.as_ref())?;
    let bot = bot_mut(world, bot)?;
    let (sender, user) = (bot.id.to_string(), bot.user());
    let mode = asked.text("parse_mode").filter(|mode| !mode.is_empty());
    let id = world.room.post(Post {
        chat: world.chats.name(chat).unwrap_or_default().to_owned(),
        thread: thread.clone(),
        sender,
        reply_to: answered.clone(),
        text: plain.text.clone(),
        format: mode.map(str::to_owned),
        buttons,
        file: attached.as_ref().map(|(_, file, _)| file.clone()),
    });
    let mut message = json!({
        "message_id": id.parse::<i64>().unwrap_or(0), "from": user, "chat": world.chat(chat),
        "date": now().as_millis() / 1_000,
    });
    if let Some(thread) = thread {
        world.thread(&mut message, chat, &thread);
    }
    if let Some(answered) = answered {
        world.answers(&mut message, &answered);
    }
    let is_file = attached.is_some();
    if let Some((field, file, content)) = attached {
        let about = world.files.keep(&file.name, content);
        message[field] = shown_as(field, about, (&file.name, &file.media_type));
    }
    dress(&mut message, &plain, (is_file, keyboard));
    world.messages.insert(id, message.clone());
    Ok(message)
}

/// Puts text and buttons into a message.
fn dress(message: &mut Value, plain: &Plain, (is_file, keyboard): (bool, Option<Value>)) {
    let (said, marked) = if is_file {
        ("caption", "caption_entities")
    } else {
        ("text", "entities")
    };
    if let Some(fields) = message.as_object_mut() {
        fields.remove(marked);
        fields.remove("reply_markup");
    }
    if !plain.text.is_empty() {
        message[said] = json!(plain.text);
    }
    if !plain.entities.is_empty() {
        message[marked] = json!(plain.entities);
    }
    if let Some(keyboard) = keyboard {
        message["reply_markup"] = keyboard;
    }
}

/// A bot changes what it wrote.
pub(super) fn change(
    world: &mut World,
    bot: usize,
    (method, asked): (&str, &Parameters),
) -> Result<Value, No> {
    let chat = chat(world, asked)?;
    let id = asked.number("message_id").unwrap_or(0).to_string();
    let name = world.chats.name(chat).unwrap_or_default();
    let here = world.room.chat_of(&id) == Some(name);
    let Some(before) = world.messages.get(&id).cloned().filter(|_| here) else {
        return Err(No::bad("message to edit not found"));
    };
    let sender = bot_mut(world, bot)?.id.to_string();
    let is_own = |shown: &Shown| shown.ours && shown.sender == sender;
    if !world.room.message(&id).is_some_and(is_own) {
        return Err(No::bad("message can't be edited"));
    }
    let is_file = before.get("text").is_none();
    let plain = match method {
        "editmessagetext" if is_file => {
            return Err(No::bad("there is no text in the message to edit"));
        }
        "editmessagetext" => plain(asked, "text", MOST_TEXT)?,
        "editmessagecaption" => plain(asked, "caption", MOST_CAPTION)?,
        _ => said(&before),
    };
    let keyboard = asked.json("reply_markup");
    let buttons = buttons(keyboard.as_ref())?;
    let mut after = before.clone();
    dress(&mut after, &plain, (is_file, keyboard));
    if after == before {
        return Err(No::bad(
            "message is not modified: specified new message content and reply markup are exactly the same as a \
             current content and reply markup of the message",
        ));
    }
    after["edit_date"] = json!(now().as_millis() / 1_000);
    let mode = asked.text("parse_mode").map(str::to_owned);
    world.room.change(&id, &sender, |shown| {
        shown.text = plain.text;
        shown.format = mode;
        shown.buttons = buttons;
    });
    let mut kept = after.clone();
    if let Some(fields) = kept.as_object_mut() {
        fields.remove("edit_date");
    }
    world.messages.insert(id, kept);
    Ok(after)
}

fn said(message: &Value) -> Plain {
    let text = message.get("text").or_else(|| message.get("caption"));
    let entities = message
        .get("entities")
        .or_else(|| message.get("caption_entities"));
    Plain {
        text: text.and_then(Value::as_str).unwrap_or_default().to_owned(),
        entities: entities
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default(),
    }
}

fn plain(asked: &Parameters, field: &str, most: usize) -> Result<Plain, No> {
    let text = asked.text(field).unwrap_or_default();
    let plain = markup::read(text, asked.text("parse_mode"));
    let plain = plain.map_err(|words| No::bad(&words))?;
    if TextUnit::Utf16.measure(&plain.text) > most {
        let what = if field == "text" {
            "message is too long"
        } else {
            "message caption is too long"
        };
        return Err(No::bad(what));
    }
    Ok(plain)
}

/// The chat that is asked for, if the bot knows it.
pub(super) fn chat(world: &World, asked: &Parameters) -> Result<i64, No> {
    let chat = asked.number("chat_id").unwrap_or(0);
    if let Some(after) = world.moved.get(&chat) {
        let words = "group chat was upgraded to a supergroup chat";
        return Err(No {
            parameters: json!({ "migrate_to_chat_id": after }),
            ..No::bad(words)
        });
    }
    let is_known = world.chats.name(chat).is_some();
    is_known
        .then_some(chat)
        .ok_or_else(|| No::bad("chat not found"))
}

/// What a topic of this chat is called.
pub(super) fn topic_name(world: &World, (chat, topic): (i64, i64)) -> Result<String, No> {
    let kind = world.kinds.get(&chat).map(String::as_str);
    let has_topics = matches!(
        kind,
        Some("forum" | "thread" | "direct" | "direct_messages")
    );
    let is_open = has_topics && world.open_topics.contains(&(chat, topic));
    let name = world.topics.name(topic).filter(|_| is_open);
    name.map(str::to_owned)
        .ok_or_else(|| No::bad("message thread not found"))
}

/// The topic that is asked for. A forum's General has no number that can be written to.
fn thread(world: &World, (chat, asked): (i64, &Parameters)) -> Result<Option<String>, No> {
    let below = asked.number("direct_messages_topic_id");
    let is_below = world.kinds.get(&chat).map(String::as_str) == Some("direct_messages");
    let topic = asked.number("message_thread_id");
    match (below.filter(|_| is_below), topic) {
        (Some(topic), _) => topic_name(world, (chat, topic)).map(Some),
        (None, Some(1)) => Err(No::bad("message thread not found")),
        (None, Some(topic)) => topic_name(world, (chat, topic)).map(Some),
        (None, None) => {
            let general = world.open_topics.contains(&(chat, 1));
            Ok(general.then(|| "1".to_owned()))
        }
    }
}

fn answered(world: &World, asked: &Parameters) -> Result<Option<String>, No> {
    let wanted = asked.json("reply_parameters");
    let id = wanted
        .as_ref()
        .and_then(|wanted| wanted["message_id"].as_i64());
    let Some(id) = id.or_else(|| asked.number("reply_to_message_id")) else {
        return Ok(None);
    };
    let may_miss = |wanted: &Value| wanted["allow_sending_without_reply"] == json!(true);
    let may_miss = wanted.as_ref().is_some_and(may_miss);
    let id = id.to_string();
    if world.messages.contains_key(&id) {
        return Ok(Some(id));
    }
    let missing = || No::bad("message to be replied not found");
    may_miss.then_some(None).ok_or_else(missing)
}

fn buttons(keyboard: Option<&Value>) -> Result<Vec<(String, String)>, No> {
    let rows = keyboard.and_then(|keyboard| keyboard["inline_keyboard"].as_array());
    let all = rows
        .into_iter()
        .flatten()
        .filter_map(Value::as_array)
        .flatten();
    let mut buttons = Vec::new();
    for button in all {
        let says = button["text"].as_str().unwrap_or_default();
        let carries = button["callback_data"].as_str().unwrap_or_default();
        if says.is_empty() {
            return Err(No::bad(
                "can't parse inline keyboard button: Text must be non-empty",
            ));
        }
        if carries.len() > MOST_CARRIED {
            return Err(No::bad("BUTTON_DATA_INVALID"));
        }
        buttons.push((says.to_owned(), carries.to_owned()));
    }
    Ok(buttons)
}
