//! The methods: what is called, with what, and what is answered. Refusals have the words of the open Bot API server.
//!
//! Pure: parameters in, results out.

mod posting;

use serde_json::{Value, json};

use super::parameters::Parameters;
use super::updates::Webhook;
use super::world::World;
use crate::vendor::{On, Signed};

/// The largest file that can be fetched.
const MOST_FETCHED: usize = 20 * 1024 * 1024;
/// "ReactionTypeEmoji", as far as anybody here uses it.
const REACTIONS: &str = "❤👍👎🔥🥰👏😁🤔🤯😱🤬😢🎉🤩🤮💩🙏👌🕊🤡🥱🥴😍🐳🌚🌭💯🤣⚡🍌🏆💔🤨😐🍓🍾💋😈😴😭🤓👻👀🎃🙈😇😨🤝✍🤗🫡🗿🆒💘🙉🦄😘💊🙊😎👾🤷😡";

/// A no.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct No {
    pub(super) code: u16,
    pub(super) words: String,
    /// "ResponseParameters"; null if there are none.
    pub(super) parameters: Value,
}

impl No {
    pub(super) fn of(code: u16, words: &str) -> Self {
        Self {
            code,
            words: words.to_owned(),
            parameters: Value::Null,
        }
    }

    pub(super) fn bad(words: &str) -> Self {
        Self::of(400, &format!("Bad Request: {words}"))
    }
}

/// What kind of question a method is.
pub(super) fn question(method: &str) -> On {
    match method {
        "getme" => On::About,
        "getupdates" => On::Updates,
        "sendmessage" => On::Send,
        "sendchataction" => On::Typing,
        "setmessagereaction" => On::Mark,
        "createforumtopic" => On::Thread,
        _ if method.starts_with("edit") => On::Edit,
        _ if method.starts_with("send") => On::Upload,
        _ => On::Other,
    }
}

/// Calls a method, named in lower case, as the bot with this index.
pub(super) fn call(
    world: &mut World,
    bot: usize,
    (method, asked): (&str, &Parameters),
) -> Result<Value, No> {
    match method {
        "getme" => me(world, bot),
        "getwebhookinfo" => webhook(world, bot),
        "setwebhook" => set_webhook(world, bot, asked),
        "deletewebhook" => {
            let queue = queue(world, bot)?;
            queue.webhook = None;
            if asked.flag("drop_pending_updates") {
                queue.forget();
            }
            Ok(json!(true))
        }
        "sendmessage" => posting::text(world, bot, asked),
        "sendphoto" | "senddocument" | "sendvoice" | "sendaudio" | "sendvideo"
        | "sendanimation" => posting::file(world, bot, (method, asked)),
        "editmessagetext" | "editmessagecaption" | "editmessagereplymarkup" => {
            posting::change(world, bot, (method, asked))
        }
        "sendchataction" => sign(world, bot, asked),
        "setmessagereaction" => react(world, bot, asked),
        "createforumtopic" => topic(world, asked),
        "getfile" => file(world, asked),
        "answercallbackquery" => {
            let id = asked.text("callback_query_id").unwrap_or_default();
            let too_old = "query is too old and response timeout expired or query ID is invalid";
            let is_open = world.presses.remove(id);
            is_open.then(|| json!(true)).ok_or_else(|| No::bad(too_old))
        }
        "setmycommands" => {
            let commands = asked.json("commands").unwrap_or_else(|| json!([]));
            bot_mut(world, bot)?.commands = commands;
            Ok(json!(true))
        }
        "getmycommands" => Ok(bot_mut(world, bot)?.commands.clone()),
        "logout" | "close" => Ok(json!(true)),
        _ => Err(No::of(404, "Not Found: method not found")),
    }
}

fn bot_mut(world: &mut World, bot: usize) -> Result<&mut super::world::Bot, No> {
    let found = world.bots.get_mut(bot);
    found.ok_or_else(|| No::of(401, "Unauthorized"))
}

fn queue(world: &mut World, bot: usize) -> Result<&mut super::updates::Queue, No> {
    bot_mut(world, bot).map(|bot| &mut bot.queue)
}

fn me(world: &mut World, bot: usize) -> Result<Value, No> {
    let mut me = bot_mut(world, bot)?.user();
    for (name, value) in [
        ("can_join_groups", true),
        ("can_read_all_group_messages", true),
        ("supports_inline_queries", false),
        ("can_connect_to_business", false),
        ("has_main_web_app", false),
        ("has_topics_enabled", true),
        ("allows_users_to_create_topics", true),
    ] {
        me[name] = json!(value);
    }
    Ok(me)
}

fn webhook(world: &mut World, bot: usize) -> Result<Value, No> {
    let queue = queue(world, bot)?;
    let hook = queue.webhook.clone().unwrap_or_default();
    let mut state = json!({
        "url": hook.url, "has_custom_certificate": false, "pending_update_count": queue.len(),
    });
    if let Some(wanted) = queue.wanted() {
        state["allowed_updates"] = json!(wanted);
    }
    if let Some((at, words)) = hook.error {
        state["last_error_date"] = json!(at);
        state["last_error_message"] = json!(words);
    }
    Ok(state)
}

/// Like a server of one's own, it calls plain addresses, too.
fn set_webhook(world: &mut World, bot: usize, asked: &Parameters) -> Result<Value, No> {
    let secret = asked.text("secret_token").unwrap_or_default();
    let is_taken = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    if secret.len() > 256 || !secret.chars().all(is_taken) {
        return Err(No::bad("secret token contains unallowed characters"));
    }
    let url = asked.text("url").unwrap_or_default();
    if !url.is_empty() && !url.starts_with("http") {
        return Err(No::bad(
            "bad webhook: An HTTPS URL must be provided for webhook",
        ));
    }
    let queue = queue(world, bot)?;
    queue.want(asked.json("allowed_updates"));
    if asked.flag("drop_pending_updates") {
        queue.forget();
    }
    let hook = Webhook {
        url: url.to_owned(),
        secret: secret.to_owned(),
        error: None,
    };
    queue.webhook = Some(hook).filter(|hook| !hook.url.is_empty());
    Ok(json!(true))
}

fn sign(world: &mut World, bot: usize, asked: &Parameters) -> Result<Value, No> {
    let chat = posting::chat(world, asked)?;
    let topic = asked.number("message_thread_id");
    let thread = match topic {
        Some(1) => Some("1".to_owned()),
        Some(topic) => Some(posting::topic_name(world, (chat, topic))?),
        None => None,
    };
    let sender = bot_mut(world, bot)?.id.to_string();
    let says = asked.text("action").unwrap_or_default().to_owned();
    if says.is_empty() {
        return Err(No::bad("wrong parameter action in request"));
    }
    let name = world.chats.name(chat).unwrap_or_default().to_owned();
    let signed = Signed {
        sender,
        thread,
        says,
    };
    world.room.sign(&name, signed);
    Ok(json!(true))
}

fn react(world: &mut World, bot: usize, asked: &Parameters) -> Result<Value, No> {
    let chat = posting::chat(world, asked)?;
    let message = asked.number("message_id").unwrap_or(0).to_string();
    let name = world.chats.name(chat).unwrap_or_default().to_owned();
    if world.room.chat_of(&message) != Some(name.as_str()) {
        return Err(No::bad("message to react not found"));
    }
    let wanted = asked.json("reaction").unwrap_or_else(|| json!([]));
    let wanted: Vec<Value> = wanted.as_array().cloned().unwrap_or_default();
    if wanted.len() > 1 {
        return Err(No::bad("REACTIONS_TOO_MANY"));
    }
    let emoji = wanted
        .first()
        .map(|mark| mark["emoji"].as_str().unwrap_or_default().to_owned());
    if emoji
        .as_ref()
        .is_some_and(|emoji| emoji.is_empty() || !REACTIONS.contains(emoji.as_str()))
    {
        return Err(No::bad("REACTION_INVALID"));
    }
    let who = bot_mut(world, bot)?.id.to_string();
    let marks = world
        .room
        .message(&message)
        .map(|shown| shown.marks.clone());
    for (other, mark) in marks.unwrap_or_default() {
        if other == who {
            world.room.mark(&message, (&who, &mark), true);
        }
    }
    if let Some(emoji) = emoji {
        world.room.mark(&message, (&who, &emoji), false);
    }
    Ok(json!(true))
}

fn topic(world: &mut World, asked: &Parameters) -> Result<Value, No> {
    let chat = posting::chat(world, asked)?;
    let kind = world.kinds.get(&chat).map(String::as_str);
    if !matches!(kind, Some("forum" | "thread" | "direct")) {
        return Err(No::bad("the chat is not a forum"));
    }
    let name = asked.text("name").unwrap_or_default();
    if name.is_empty() || name.chars().count() > 128 {
        return Err(No::bad("TOPIC_TITLE_INVALID"));
    }
    world.created_topics += 1;
    let topic = 70_000 + world.created_topics;
    world.topics.bind(&topic.to_string(), topic);
    world.open_topics.insert((chat, topic));
    Ok(json!({ "message_thread_id": topic, "name": name, "icon_color": 7_322_096 }))
}

fn file(world: &World, asked: &Parameters) -> Result<Value, No> {
    let id = asked.text("file_id").unwrap_or_default();
    let id = id.strip_prefix("small-").unwrap_or(id);
    let stored = world.files.with_id(id);
    let stored =
        stored.ok_or_else(|| No::bad("wrong file_id or the file is temporarily unavailable"))?;
    if stored.content.len() > MOST_FETCHED {
        return Err(No::bad("file is too big"));
    }
    Ok(json!({
        "file_id": id, "file_unique_id": format!("u{id}"), "file_size": stored.content.len(),
        "file_path": stored.path,
    }))
}
