//! The methods of the Web API, each as its page describes it: what is answered, and which errors there are.
//!
//! Pure: arguments in, answers out.

#[cfg(test)]
mod tests;

mod blocks;

use serde_json::{Map, Value, json};

use self::blocks::{Blocks, buttons};
use super::told;
use super::world::{Bot, Stored, World};
use crate::vendor::{File, Post, Signed, World as _};

/// What Slack holds at most.
const MOST_CHARS: usize = 40_000;

/// What was asked with.
pub(super) type Arguments = Map<String, Value>;

/// A no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct No {
    pub(super) code: &'static str,
    /// What Slack adds to it.
    pub(super) notes: Vec<String>,
}

impl From<&'static str> for No {
    fn from(code: &'static str) -> Self {
        let notes = Vec::new();
        Self { code, notes }
    }
}

/// A method's answer, without the `ok`.
pub(super) fn answer(
    world: &mut World,
    bot: usize,
    method: &str,
    asked: &Arguments,
) -> Result<Value, No> {
    let Some(who) = world.bots.get(bot).cloned() else {
        return Err("invalid_auth".into());
    };
    match method {
        "api.test" => Ok(json!({ "args": asked })),
        "auth.test" => Ok(json!({
            "url": "https://simulated.slack.com/", "team": "simulated", "user": who.name, "team_id": who.team,
            "user_id": who.user, "bot_id": who.bot, "is_enterprise_install": false,
        })),
        "chat.postMessage" => post(world, (bot, &who), asked),
        "chat.update" => update(world, &who, asked),
        "reactions.add" => react(world, &who, asked, false),
        "reactions.remove" => react(world, &who, asked, true),
        "assistant.threads.setStatus" => status(world, &who, asked),
        "conversations.open" => {
            let user = word(asked, "users").ok_or("users_not_found")?;
            let rest = user.get(1..).unwrap_or_default();
            Ok(
                json!({ "no_op": false, "already_open": false, "channel": { "id": format!("D{rest}") } }),
            )
        }
        "users.info" => person(asked),
        "files.getUploadURLExternal" => place(world, asked),
        "files.completeUploadExternal" => share(world, &who, asked),
        "files.info" => {
            let id = word(asked, "file").ok_or("file_not_found")?;
            let file = world.file(id).ok_or("file_not_found")?;
            Ok(json!({ "file": file, "comments": [] }))
        }
        _ => Err("unknown_method".into()),
    }
}

fn word<'a>(asked: &'a Arguments, name: &str) -> Option<&'a str> {
    let word = asked.get(name).and_then(Value::as_str);
    word.filter(|word| !word.is_empty())
}

/// The chat that is meant: one that somebody wrote in, or one whose id could be one.
fn channel(world: &World, asked: &Arguments, name: &str) -> Result<String, No> {
    let chat = word(asked, name).ok_or("channel_not_found")?;
    let mut letters = chat.chars();
    let starts = letters.next().is_some_and(|first| "CDGUW".contains(first));
    let is_id = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit();
    let could_be = starts && chat.len() > 2 && letters.all(is_id);
    if !could_be && world.room().chat(chat).is_none() {
        return Err("channel_not_found".into());
    }
    if world.archived.contains(chat) {
        return Err("is_archived".into());
    }
    Ok(chat.to_owned())
}

/// The thread that is meant, if it is there.
fn thread(world: &World, chat: &str, asked: &Arguments) -> Result<Option<String>, No> {
    let Some(root) = word(asked, "thread_ts") else {
        return Ok(None);
    };
    let mut messages = world
        .room()
        .chat(chat)
        .into_iter()
        .flat_map(|chat| &chat.messages);
    let is_there =
        messages.any(|shown| shown.message_id == root || shown.thread.as_deref() == Some(root));
    is_there
        .then(|| Some(root.to_owned()))
        .ok_or_else(|| "thread_not_found".into())
}

fn text_of(asked: &Arguments, blocks: &Blocks) -> Result<String, No> {
    let text = asked
        .get("text")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if text.chars().count() > MOST_CHARS {
        return Err("msg_too_long".into());
    }
    if text.is_empty() && blocks.is_empty() {
        return Err("no_text".into());
    }
    // With blocks, the text is only what a notification says.
    Ok(if blocks.is_empty() {
        text.to_owned()
    } else {
        blocks::words(blocks)
    })
}

fn post(world: &mut World, (at, bot): (usize, &Bot), asked: &Arguments) -> Result<Value, No> {
    let chat = channel(world, asked, "channel")?;
    let thread = thread(world, &chat, asked)?;
    let blocks = blocks::read(asked)?;
    let text = text_of(asked, &blocks)?;
    let is_plain = asked
        .get("mrkdwn")
        .is_some_and(|it| it == false || it == "false");
    let ts = world.room.post(Post {
        chat: chat.clone(),
        thread: thread.clone(),
        sender: bot.user.clone(),
        reply_to: None,
        text: text.clone(),
        format: Some(if is_plain { "plain" } else { "mrkdwn" }.to_owned()),
        buttons: buttons(&blocks),
        file: None,
    });
    let mut message = shown(bot, &ts, &text);
    if let Some(thread) = thread {
        message["thread_ts"] = thread.into();
    }
    if !blocks.is_empty() {
        message["blocks"] = blocks.clone().into();
        world.blocks.insert(ts.clone(), blocks);
    }
    world.post_letter(at, "events_api", told::echo(bot, &chat, &message));
    Ok(json!({ "channel": chat, "ts": ts, "message": message }))
}

fn shown(bot: &Bot, ts: &str, text: &str) -> Value {
    json!({
        "type": "message", "user": bot.user, "bot_id": bot.bot, "app_id": bot.app, "team": bot.team, "text": text,
        "ts": ts, "bot_profile": { "id": bot.bot, "app_id": bot.app, "name": bot.name, "team_id": bot.team },
    })
}

fn update(world: &mut World, bot: &Bot, asked: &Arguments) -> Result<Value, No> {
    let chat = channel(world, asked, "channel")?;
    let ts = word(asked, "ts").ok_or("message_not_found")?.to_owned();
    if world.room().chat_of(&ts) != Some(chat.as_str()) {
        return Err("message_not_found".into());
    }
    let blocks = blocks::read(asked)?;
    let text = text_of(asked, &blocks)?;
    let pressed = buttons(&blocks);
    let is_changed = world.room.change(&ts, &bot.user, |shown| {
        shown.text.clone_from(&text);
        shown.buttons = pressed;
    });
    if !is_changed {
        return Err("cant_update_message".into());
    }
    world.blocks.insert(ts.clone(), blocks);
    let message = shown(bot, &ts, &text);
    Ok(json!({ "channel": chat, "ts": ts, "text": text, "message": message }))
}

fn react(world: &mut World, bot: &Bot, asked: &Arguments, removed: bool) -> Result<Value, No> {
    let chat = channel(world, asked, "channel")?;
    let name = word(asked, "name").ok_or("invalid_name")?.to_owned();
    let ts = word(asked, "timestamp")
        .ok_or("no_item_specified")?
        .to_owned();
    let message = world.room().message(&ts);
    let message = message.filter(|_| world.room().chat_of(&ts) == Some(chat.as_str()));
    let message = message.ok_or("message_not_found")?;
    let mark = (bot.user.clone(), name.clone());
    let is_there = message.marks.contains(&mark);
    match (is_there, removed) {
        (true, false) => return Err("already_reacted".into()),
        (false, true) => return Err("no_reaction".into()),
        _ => {}
    }
    world.room.mark(&ts, (&bot.user, &name), removed);
    Ok(json!({}))
}

fn status(world: &mut World, bot: &Bot, asked: &Arguments) -> Result<Value, No> {
    let chat = channel(world, asked, "channel_id")?;
    let Ok(Some(thread)) = thread(world, &chat, asked) else {
        return Err("invalid_thread_ts".into());
    };
    let says = asked.get("status").and_then(Value::as_str);
    let says = says.ok_or("invalid_arguments")?.to_owned();
    let signed = Signed {
        sender: bot.user.clone(),
        thread: Some(thread),
        says,
    };
    world.room.sign(&chat, signed);
    Ok(json!({}))
}

fn person(asked: &Arguments) -> Result<Value, No> {
    let id = word(asked, "user").filter(|id| id.starts_with(['U', 'W']));
    let id = id.ok_or("user_not_found")?;
    let name = told::name(id);
    Ok(json!({ "user": {
        "id": id, "name": name, "real_name": name, "is_bot": id.starts_with("U0BOT"),
        "profile": { "display_name": name, "real_name": name },
    }}))
}

fn place(world: &mut World, asked: &Arguments) -> Result<Value, No> {
    let name = word(asked, "filename")
        .ok_or("invalid_arguments")?
        .to_owned();
    let length = match asked.get("length") {
        Some(Value::String(digits)) => digits.parse().ok(),
        Some(number) => number
            .as_u64()
            .and_then(|number| usize::try_from(number).ok()),
        None => None,
    };
    let length: usize = length.ok_or("invalid_arguments")?;
    let id = world.name_file();
    let stored = Stored {
        name,
        media_type: "application/octet-stream".to_owned(),
        content: Vec::new(),
        length: Some(length),
    };
    world.files.insert(id.clone(), stored);
    let url = format!("http://{}/upload/v1/{id}", world.host);
    Ok(json!({ "upload_url": url, "file_id": id }))
}

fn share(world: &mut World, bot: &Bot, asked: &Arguments) -> Result<Value, No> {
    let files = asked.get("files").and_then(Value::as_array);
    let files = files.ok_or("invalid_arguments")?.clone();
    let blocks = blocks::read(asked)?;
    let destination = word(asked, "channel_id").is_some();
    let mut shared = Vec::new();
    for file in &files {
        let id = file["id"].as_str().ok_or("invalid_arguments")?;
        let stored = world.files.get(id).ok_or("file_not_found")?.clone();
        if stored
            .length
            .is_some_and(|length| length != stored.content.len())
        {
            return Err("file_not_found".into());
        }
        if destination {
            show(world, bot, asked, (&blocks, stored))?;
        }
        let title = file.get("title").cloned().unwrap_or_default();
        shared.push(json!({ "id": id, "title": title }));
    }
    Ok(json!({ "files": shared }))
}

fn show(
    world: &mut World,
    bot: &Bot,
    asked: &Arguments,
    (blocks, stored): (&Blocks, Stored),
) -> Result<(), No> {
    let chat = channel(world, asked, "channel_id")?;
    let thread = thread(world, &chat, asked)?;
    let comment = word(asked, "initial_comment");
    let words = || blocks::words(blocks);
    let ts = world.room.post(Post {
        chat,
        thread,
        sender: bot.user.clone(),
        text: comment.map_or_else(words, str::to_owned),
        buttons: if comment.is_none() {
            buttons(blocks)
        } else {
            Vec::new()
        },
        file: Some(File {
            name: stored.name,
            media_type: stored.media_type,
            content: String::from_utf8_lossy(&stored.content).into_owned(),
        }),
        ..Post::default()
    });
    world.blocks.insert(ts, blocks.clone());
    Ok(())
}
