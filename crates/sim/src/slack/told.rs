//! What people do, as Slack tells it: the outer event of the Events API ("Events API", "message event",
//! "app_mention event", "reaction_added event"), `block_actions` ("Interaction payloads") and slash commands.
//!
//! Pure: a deed in, payloads out.

use serde_json::{Value, json};

use super::world::{Bot, World};
use crate::vendor::{Deed, Did, World as _, Written};

/// The app's own command.
const COMMAND: &str = "/talaria";

/// What a bot hears of a deed, each with the kind of envelope that it comes in.
pub(super) fn payloads(
    world: &World,
    bot: &Bot,
    deed: &Deed,
    files: &[Value],
) -> Vec<(&'static str, Value)> {
    let events = match &deed.did {
        Did::Wrote(written) if is_command(&written.text) => {
            return vec![("slash_commands", command(bot, deed, written))];
        }
        Did::Pressed { carried } => {
            return vec![("interactive", press(world, bot, deed, carried))];
        }
        Did::Wrote(written) => wrote(world, (bot, deed), written, files),
        Did::Changed(written) => vec![changed(world, (bot, deed), written)],
        Did::Reacted { reaction, removed } => {
            let kind = if *removed {
                "reaction_removed"
            } else {
                "reaction_added"
            };
            let owner = world
                .room()
                .message(&deed.message)
                .map(|shown| &shown.sender);
            vec![json!({
                "type": kind, "user": deed.sender, "reaction": reaction, "item_user": owner,
                "item": { "type": "message", "channel": deed.chat, "ts": deed.message },
                "event_ts": stamp(deed),
            })]
        }
    };
    let numbered = events.into_iter().enumerate();
    let outer = numbered.map(|(at, event)| ("events_api", outer(bot, deed, at, event)));
    outer.collect()
}

/// What a bot hears of what it wrote itself.
pub(super) fn echo(bot: &Bot, channel: &str, message: &Value) -> Value {
    let mut event = message.clone();
    event["channel"] = channel.into();
    event["event_ts"] = message["ts"].clone();
    let number = message["ts"].as_str().unwrap_or_default();
    json!({
        "type": "event_callback", "team_id": bot.team, "api_app_id": bot.app, "event": event,
        "event_id": format!("EvEcho{}", number.replace('.', "")),
    })
}

fn outer(bot: &Bot, deed: &Deed, at: usize, event: Value) -> Value {
    json!({
        "token": "verification", "team_id": bot.team, "context_team_id": bot.team, "api_app_id": bot.app,
        "event": event, "type": "event_callback",
        "event_id": format!("Ev{:04}{at}{}", deed.number, bot.user),
        "event_time": deed.at.as_millis() / 1_000,
        "authorizations": [{
            "enterprise_id": null, "team_id": bot.team, "user_id": bot.user, "is_bot": true,
            "is_enterprise_install": false,
        }],
        "is_ext_shared_channel": false,
    })
}

fn wrote(
    world: &World,
    (bot, deed): (&Bot, &Deed),
    written: &Written,
    files: &[Value],
) -> Vec<Value> {
    let event = message(world, (bot, deed), written, files);
    let text = event["text"].as_str().unwrap_or_default();
    let is_mentioned = text.contains(&format!("<@{}>", bot.user));
    let mut events = vec![event.clone()];
    if is_mentioned && written.kind != "direct" {
        let mut mention = event;
        mention["type"] = "app_mention".into();
        if let Some(fields) = mention.as_object_mut() {
            fields.remove("channel_type");
            fields.remove("subtype");
        }
        events.push(mention);
    }
    events
}

fn message(world: &World, (bot, deed): (&Bot, &Deed), written: &Written, files: &[Value]) -> Value {
    let mut event = json!({
        "type": "message", "user": deed.sender, "text": text(bot, written), "ts": deed.message,
        "team": bot.team, "channel": deed.chat, "channel_type": channel_type(&written.kind),
        "event_ts": deed.message,
    });
    if let Some(root) = root(world, deed, written) {
        let author = world.room().message(&root).map(|shown| &shown.sender);
        event["parent_user_id"] = json!(author);
        event["thread_ts"] = root.into();
    }
    if written.bot {
        event["bot_id"] = format!("B{}", deed.sender).into();
        event["bot_profile"] = json!({ "id": format!("B{}", deed.sender), "name": deed.sender });
    } else {
        event["client_msg_id"] = format!("00000000-0000-4000-8000-{:012x}", deed.number).into();
    }
    if !files.is_empty() {
        event["subtype"] = "file_share".into();
        event["files"] = files.into();
    }
    event
}

/// The message that a thread begins with. Slack has no other way to answer a message.
fn root(world: &World, deed: &Deed, written: &Written) -> Option<String> {
    let answered = written.reply_to.as_ref().map(|id| {
        let shown = world.room().message(id);
        let thread = shown.and_then(|shown| shown.thread.clone());
        thread.unwrap_or_else(|| id.clone())
    });
    deed.thread.clone().or(answered)
}

fn changed(world: &World, (bot, deed): (&Bot, &Deed), written: &Written) -> Value {
    let mut now = message(world, (bot, deed), written, &[]);
    now["edited"] = json!({ "user": deed.sender, "ts": stamp(deed) });
    let mut before = now.clone();
    before["text"] = "what was there before".into();
    json!({
        "type": "message", "subtype": "message_changed", "hidden": true, "message": now,
        "previous_message": before, "channel": deed.chat, "channel_type": channel_type(&written.kind),
        "ts": stamp(deed), "event_ts": stamp(deed),
    })
}

fn press(world: &World, bot: &Bot, deed: &Deed, carried: &str) -> Value {
    let blocks = world.blocks.get(&deed.message).cloned().unwrap_or_default();
    let pressed = blocks.iter().find_map(|block| {
        let elements = block["elements"].as_array()?;
        let element = elements.iter().find(|it| it["value"] == carried)?;
        Some((block["block_id"].clone(), element.clone()))
    });
    let (block, element) = pressed.unwrap_or_default();
    let text = world.room().message(&deed.message).map(|shown| &shown.text);
    let mut message = json!({
        "type": "message", "user": bot.user, "bot_id": bot.bot, "ts": deed.message, "text": text, "blocks": blocks,
    });
    let mut container = json!({
        "type": "message", "message_ts": deed.message, "channel_id": deed.chat, "is_ephemeral": false,
    });
    if let Some(thread) = &deed.thread {
        message["thread_ts"] = thread.as_str().into();
        container["thread_ts"] = thread.as_str().into();
    }
    json!({
        "type": "block_actions", "api_app_id": bot.app, "token": "verification",
        "team": { "id": bot.team, "domain": "simulated" },
        "user": { "id": deed.sender, "username": name(&deed.sender), "name": name(&deed.sender), "team_id": bot.team },
        "container": container, "message": message,
        "channel": { "id": deed.chat, "name": channel_name(deed) },
        "trigger_id": format!("{}.trigger", deed.number),
        "response_url": format!("http://{}/response/{}", world.host, deed.number),
        "actions": [{
            "type": "button", "action_id": element["action_id"], "block_id": block, "text": element["text"],
            "value": carried, "action_ts": stamp(deed),
        }],
    })
}

fn is_command(text: &str) -> bool {
    text.split_whitespace().next() == Some(COMMAND)
}

fn command(bot: &Bot, deed: &Deed, written: &Written) -> Value {
    let rest = written.text.strip_prefix(COMMAND).unwrap_or_default();
    json!({
        "token": "verification", "team_id": bot.team, "team_domain": "simulated", "channel_id": deed.chat,
        "channel_name": channel_name(deed), "user_id": deed.sender, "user_name": name(&deed.sender),
        "command": COMMAND, "text": rest.trim(), "api_app_id": bot.app, "is_enterprise_install": "false",
        "response_url": "", "trigger_id": format!("{}.trigger", deed.number),
    })
}

/// When it happened: the platform's own kind of time, another for each deed.
fn stamp(deed: &Deed) -> String {
    format!("{}.{:06}", deed.at.as_millis() / 1_000, deed.number)
}

fn channel_type(kind: &str) -> &'static str {
    match kind {
        "direct" => "im",
        "group" => "group",
        _ => "channel",
    }
}

fn channel_name(deed: &Deed) -> &'static str {
    match deed.kind.as_str() {
        "direct" => "directmessage",
        "group" => "privategroup",
        _ => "general",
    }
}

/// What somebody is called.
pub(super) fn name(user: &str) -> String {
    user.to_lowercase()
}

/// What somebody typed, as Slack writes it down: three characters are escaped, but for the tokens that Slack itself
/// makes of mentions and links.
fn text(bot: &Bot, written: &Written) -> String {
    let us = format!("<@{}>", bot.user);
    let text = escaped(&written.text);
    if written.mentioned && !text.contains(&us) {
        return format!("{us} {text}");
    }
    text
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let token = rest
            .split_inclusive('>')
            .next()
            .filter(|token| is_token(token));
        let taken = if let Some(token) = token {
            out.push_str(token);
            token.len()
        } else {
            match first {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                other => out.push(other),
            }
            first.len_utf8()
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

fn is_token(text: &str) -> bool {
    let starts = [
        "<@U",
        "<@W",
        "<#C",
        "<!here",
        "<!channel",
        "<!everyone",
        "<!subteam^",
        "<http",
    ];
    text.ends_with('>') && starts.iter().any(|start| text.starts_with(start))
}
