//! Discord's objects, as its documentation has them: users, channels, messages, interactions, a guild.
//!
//! Pure: what is known in, JSON out.

use serde_json::{Value, json};
use talaria_domain::clock::Timestamp;

use super::names::user_id;
use super::world::{Bot, Channel, GUILD, Letter, World};
use crate::vendor::{Deed, File, Shown};

/// Everybody may do everything that is known.
const PERMISSIONS: &str = "2251799813685247";

/// Somebody used a button or a command.
#[derive(Debug, Clone)]
pub(super) struct Use {
    pub(super) kind: u8,
    pub(super) channel: String,
    pub(super) sender: String,
    pub(super) message: Option<String>,
    pub(super) data: Value,
}

/// "Gateway Events", ready.
pub(super) fn ready(world: &World, bot: &Bot, session: &str) -> Value {
    json!({
        "v": 10,
        "user": bot_user(bot),
        "guilds": [{ "id": GUILD, "unavailable": true }],
        "session_id": session,
        "resume_gateway_url": format!("ws://{}", world.address()),
        "shard": [0, 1],
        "application": { "id": bot.id, "flags": 0 },
        "user_settings": {},
        "private_channels": [],
    })
}

/// "Gateway Events", guild create.
pub(super) fn guild(world: &World, bot: &Bot) -> Value {
    let of = |is_thread: bool| -> Vec<Value> {
        let fits = |channel: &Channel| channel.kind != 1 && channel.parent.is_some() == is_thread;
        let all = world.channels.iter().filter(|(_, channel)| fits(channel));
        all.filter_map(|(id, _)| channel(world, id)).collect()
    };
    json!({
        "id": GUILD, "name": "the simulated guild", "icon": null, "splash": null, "discovery_splash": null,
        "owner_id": user_id("owner"), "afk_channel_id": null, "afk_timeout": 300, "verification_level": 0,
        "default_message_notifications": 0, "explicit_content_filter": 0, "emojis": [], "stickers": [],
        "roles": [{
            "id": GUILD, "name": "@everyone", "color": 0, "hoist": false, "position": 0,
            "colors": { "primary_color": 0, "secondary_color": null, "tertiary_color": null },
            "permissions": PERMISSIONS, "managed": false, "mentionable": false, "flags": 0,
        }],
        "features": [], "mfa_level": 0, "application_id": null, "system_channel_id": null,
        "system_channel_flags": 0, "rules_channel_id": null, "vanity_url_code": null, "description": null,
        "banner": null, "premium_tier": 0, "preferred_locale": "en-US", "public_updates_channel_id": null,
        "nsfw_level": 0, "premium_progress_bar_enabled": false, "safety_alerts_channel_id": null,
        "joined_at": "2024-01-01T00:00:00.000000+00:00", "large": false, "unavailable": false,
        "member_count": 1, "voice_states": [], "members": [member(bot_user(bot))],
        "channels": of(false), "threads": of(true), "presences": [], "stage_instances": [],
        "guild_scheduled_events": [], "soundboard_sounds": [],
    })
}

fn member(user: Value) -> Value {
    let mut member = json!({
        "nick": null, "avatar": null, "roles": [], "joined_at": "2024-01-01T00:00:00.000000+00:00",
        "deaf": false, "mute": false, "flags": 0, "permissions": PERMISSIONS,
    });
    member["user"] = user;
    member
}

/// "User Resource", user object.
pub(super) fn bot_user(bot: &Bot) -> Value {
    json!({
        "id": bot.id, "username": bot.name, "discriminator": "0", "global_name": null, "avatar": null,
        "bot": true, "mfa_enabled": false, "verified": true, "email": null, "flags": 0,
    })
}

fn user(world: &World, name: &str, is_bot: bool) -> Value {
    if let Some(bot) = world.bots.iter().find(|bot| bot.id == name) {
        return bot_user(bot);
    }
    json!({
        "id": user_id(name), "username": name, "discriminator": "0", "global_name": name, "avatar": null,
        "bot": is_bot,
    })
}

/// "Channel Resource", channel object.
pub(super) fn channel(world: &World, id: &str) -> Option<Value> {
    let channel = world.channels.get(id)?;
    let mut body = json!({
        "id": id, "type": channel.kind, "last_message_id": channel.last_message, "flags": 0,
    });
    if let Some(with) = &channel.with {
        body["recipients"] = json!([user(world, with, false)]);
        return Some(body);
    }
    body["guild_id"] = json!(GUILD);
    body["name"] = json!(channel.name);
    body["position"] = json!(0);
    body["permission_overwrites"] = json!([]);
    body["nsfw"] = json!(false);
    body["parent_id"] = json!(channel.parent);
    body["rate_limit_per_user"] = json!(0);
    body["topic"] = Value::Null;
    if channel.parent.is_some() {
        body["owner_id"] = json!(user_id("owner"));
        body["message_count"] = json!(1);
        body["member_count"] = json!(1);
        body["thread_metadata"] = json!({
            "archived": false, "auto_archive_duration": 1440, "locked": false,
            "archive_timestamp": "2024-01-01T00:00:00.000000+00:00",
            "create_timestamp": "2024-01-01T00:00:00.000000+00:00",
        });
    }
    if channel.kind == 15 {
        body["available_tags"] = json!([]);
        body["default_reaction_emoji"] = Value::Null;
        body["default_sort_order"] = Value::Null;
        body["default_forum_layout"] = json!(0);
    }
    Some(body)
}

/// A message as it is told over the gateway: with the guild, and who somebody is in it.
pub(super) fn heard_message(world: &World, bot: &Bot, id: &str) -> Option<Value> {
    let mut body = message(world, bot, id)?;
    let letter = world.letters.get(id)?;
    let channel = world.channels.get(&letter.channel);
    body["channel_type"] = json!(channel.map(|channel| channel.kind));
    if in_guild(world, &letter.channel) {
        body["guild_id"] = json!(GUILD);
        let mut member = member(Value::Null);
        member.as_object_mut()?.remove("user");
        body["member"] = member;
    }
    Some(body)
}

fn in_guild(world: &World, channel: &str) -> bool {
    let channel = world.channels.get(channel);
    channel.is_some_and(|channel| channel.kind != 1)
}

/// "Message Resource", message object, as this bot sees it.
pub(super) fn message(world: &World, bot: &Bot, id: &str) -> Option<Value> {
    let mut body = plain_message(world, bot, id)?;
    let shown = world.room.message(id)?;
    let answered = shown.reply_to.as_ref();
    if let Some(answered) = answered {
        let letter = world.letters.get(id)?;
        body["type"] = json!(19);
        body["message_reference"] =
            json!({ "type": 0, "message_id": answered, "channel_id": letter.channel });
        body["referenced_message"] = json!(plain_message(world, bot, answered));
    }
    Some(body)
}

fn plain_message(world: &World, bot: &Bot, id: &str) -> Option<Value> {
    let shown = world.room.message(id)?;
    let letter = world.letters.get(id)?;
    let written = letter.written.as_ref();
    let is_mentioned = written.is_some_and(|written| written.mentioned);
    let content = if is_mentioned {
        format!("<@{}> {}", bot.id, shown.text)
    } else {
        shown.text.clone()
    };
    let mentions: Vec<Value> = is_mentioned.then(|| bot_user(bot)).into_iter().collect();
    let is_bot = written.is_some_and(|written| written.bot);
    let mut body = json!({
        "id": id, "channel_id": letter.channel, "author": user(world, &shown.sender, is_bot),
        "content": content, "timestamp": time(letter.at), "edited_timestamp": letter.edited_at.map(time),
        "tts": false, "mention_everyone": false, "mentions": mentions, "mention_roles": [],
        "attachments": attachments(world, id, (shown, letter)), "embeds": [], "reactions": [],
        "pinned": false, "type": 0, "flags": 0, "components": components(shown),
    });
    if let Some(nonce) = &letter.nonce {
        body["nonce"] = nonce.clone();
    }
    Some(body)
}

fn components(shown: &Shown) -> Vec<Value> {
    let button = |(at, (label, carries)): (usize, &(String, String))| json!({ "type": 2, "id": at + 2, "style": 2, "label": label, "custom_id": carries });
    let buttons: Vec<Value> = shown.buttons.iter().enumerate().map(button).collect();
    let rows = buttons.chunks(5);
    rows.map(|row| json!({ "type": 1, "id": 1, "components": row }))
        .collect()
}

/// The files of a message, each with its id.
pub(super) fn files<'a>(
    id: &str,
    (shown, letter): (&'a Shown, &'a Letter),
) -> Vec<(String, &'a File)> {
    let many = letter.written.as_ref().map(|written| written.files.iter());
    let files: Vec<&File> = match many {
        Some(many) => many.collect(),
        None => shown.file.iter().collect(),
    };
    let id: u64 = id.parse().unwrap_or_default();
    (id + 1..).map(|id| id.to_string()).zip(files).collect()
}

fn attachments(world: &World, id: &str, known: (&Shown, &Letter)) -> Vec<Value> {
    let address = world.address();
    let channel = &known.1.channel;
    let one = |(file, content): (String, &File)| {
        let url = format!(
            "http://{address}/attachments/{channel}/{file}/{}?ex=1&is=2&hm=3",
            content.name
        );
        json!({
            "id": file, "filename": content.name, "size": content.content.len(), "url": url,
            "proxy_url": url, "content_type": content.media_type, "flags": 0,
        })
    };
    files(id, known).into_iter().map(one).collect()
}

/// "Gateway Events", message reaction add and remove.
pub(super) fn reaction(world: &World, deed: &Deed, (channel, emoji): (&str, &str)) -> Value {
    let mut body = json!({
        "user_id": user_id(&deed.sender), "channel_id": channel, "message_id": deed.message,
        "emoji": { "id": null, "name": emoji }, "burst": false, "type": 0,
    });
    if in_guild(world, channel) {
        body["guild_id"] = json!(GUILD);
        body["member"] = member(user(world, &deed.sender, false));
    }
    body
}

/// "Receiving and Responding", interaction object.
pub(super) fn interaction(
    world: &World,
    bot: &Bot,
    (id, token): (&str, &str),
    used: &Use,
) -> Option<Value> {
    let who = user(world, &used.sender, false);
    let mut body = json!({
        "id": id, "application_id": bot.id, "type": used.kind, "token": token, "version": 1,
        "data": used.data, "channel_id": used.channel, "channel": channel(world, &used.channel)?,
        "app_permissions": PERMISSIONS, "locale": "en-US", "entitlements": [],
        "authorizing_integration_owners": {}, "context": 0, "attachment_size_limit": 10_485_760,
    });
    if in_guild(world, &used.channel) {
        body["guild_id"] = json!(GUILD);
        body["guild"] = json!({ "id": GUILD, "features": [], "locale": "en-US" });
        body["guild_locale"] = json!("en-US");
        body["member"] = member(who);
    } else {
        body["user"] = who;
    }
    if let Some(shown) = &used.message {
        body["message"] = message(world, bot, shown)?;
    }
    Some(body)
}

/// A time as Discord writes it.
fn time(at: Timestamp) -> String {
    let millis = at.as_millis();
    let (days, rest) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
    let (year, month, day) = date(days);
    let (seconds, millis) = (rest / 1_000, rest % 1_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}000+00:00")
}

/// Year, month and day, so many days after 1970 began: the calendar repeats every 400 years.
const fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}
