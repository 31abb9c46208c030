//! From what Slack tells to an event.
//!
//! Pure: a payload in, an event out. One post may be told as `message` and as `app_mention`: both become the same event
//! under the same key. What we said ourselves is not an event, or we would answer ourselves; neither is what changed in a
//! message but its words.

#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;
use serde_json::Value;
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{
    Attachment, AttachmentKind, Author, Content, DedupeKey, Event, EventKind, Mention,
    ReactionChange,
};
use talaria_domain::ids::EventId;
use talaria_domain::principal::{Principal, Role};
use talaria_domain::profile::Account;

use super::outbound;
use super::text::{self, Names};
use super::wire::{Callback, File, Happening, Interaction, SlashCommand};
use crate::commands::COMMANDS;

/// Who we are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Me {
    /// The workspace.
    pub(super) team: String,
    /// Our user id there, which people mention.
    pub(super) user: String,
    /// Our bot id, which our messages carry.
    pub(super) bot: Option<String>,
}

/// Who listens, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listener<'a> {
    /// Our account.
    pub(super) account: &'a Account,
    /// Who we are.
    pub(super) me: &'a Me,
    /// What people are called, as far as it is known.
    pub(super) names: &'a Names,
    /// The event's id, if it becomes one.
    pub(super) id: EventId,
    /// The time.
    pub(super) now: Timestamp,
}

/// What Slack tells, by what it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Told<'a> {
    /// The Events API.
    Event(&'a Value),
    /// Somebody pressed something.
    Interaction(&'a Value),
    /// A slash command.
    Command(&'a Value),
}

/// What it comes to.
#[derive(Debug, PartialEq)]
pub(super) enum Arrived {
    /// Somebody said something.
    Event(Box<Event>),
    /// Nothing for us.
    Nothing,
    /// It belongs to another workspace.
    Foreign,
    /// We may not be let in any more.
    Revoked,
}

impl<'a> Told<'a> {
    /// What an envelope of this type has in it; none for types that are not ours.
    pub(super) fn of(kind: &str, payload: &'a Value) -> Option<Self> {
        match kind {
            "events_api" => Some(Self::Event(payload)),
            "interactive" => Some(Self::Interaction(payload)),
            "slash_commands" => Some(Self::Command(payload)),
            _ => None,
        }
    }

    /// Everybody whose name would help a reader.
    pub(super) fn people(&self) -> Vec<&'a str> {
        let at = |value: &'a Value, path: &str| value.pointer(path).and_then(Value::as_str);
        let Self::Event(payload) = self else {
            return Vec::new();
        };
        let mut people = Vec::new();
        for path in ["/event", "/event/message"] {
            let user = at(payload, &format!("{path}/user"));
            let text = at(payload, &format!("{path}/text")).unwrap_or_default();
            people.extend(user.into_iter().chain(text::mentioned(text)));
        }
        people.dedup();
        people
    }
}

/// Reads what was told, or says what is wrong with it without quoting what somebody wrote.
pub(super) fn read(listener: Listener<'_>, told: Told<'_>) -> Result<Arrived, String> {
    match told {
        Told::Event(payload) => callback(listener, payload),
        Told::Interaction(payload) => pressed(listener, payload),
        Told::Command(payload) => command(listener, payload),
    }
}

fn callback(listener: Listener<'_>, payload: &Value) -> Result<Arrived, String> {
    let callback: Callback = parsed("an event", payload)?;
    let seen_by = callback.authorizations.iter().map(|it| &it.team_id);
    let teams = [&callback.team_id, &callback.context_team_id];
    let teams = seen_by.chain(teams).filter_map(Option::as_deref);
    if is_foreign(listener, teams) {
        return Ok(Arrived::Foreign);
    }
    let kind = callback.event.get("type").and_then(Value::as_str);
    let Some(kind) = kind else {
        return Err("an event cannot be read: missing field `type`".to_owned());
    };
    let happening = || parsed::<Happening>(kind, &callback.event);
    match kind {
        "message" | "app_mention" => message(listener, happening()?),
        "reaction_added" => reaction(listener, happening()?, ReactionChange::Added),
        "reaction_removed" => reaction(listener, happening()?, ReactionChange::Removed),
        "app_uninstalled" => Ok(Arrived::Revoked),
        "tokens_revoked" => {
            let tokens = happening()?.tokens.unwrap_or_default();
            let is_ours = tokens.bot.contains(&listener.me.user);
            Ok(if is_ours {
                Arrived::Revoked
            } else {
                Arrived::Nothing
            })
        }
        _ => Ok(Arrived::Nothing),
    }
}

/// Whether it is for other workspaces only.
fn is_foreign<'a>(listener: Listener<'_>, teams: impl Iterator<Item = &'a str>) -> bool {
    let mut teams = teams.filter(|team| !team.is_empty()).peekable();
    teams.peek().is_some() && !teams.any(|team| team == listener.me.team)
}

fn message(listener: Listener<'_>, said: Happening) -> Result<Arrived, String> {
    match said.subtype.as_deref() {
        Some("message_changed") => return changed(listener, said),
        None
        | Some(
            "file_share" | "thread_broadcast" | "bot_message" | "me_message" | "reply_broadcast",
        ) => {}
        Some(_) => return Ok(Arrived::Nothing),
    }
    if said.hidden || is_own(listener.me, &said) {
        return Ok(Arrived::Nothing);
    }
    let place = Place::of(&said)?;
    let token = format!("message:{}:{}", place.channel, place.ts);
    let content = content(listener, &said);
    event(
        listener,
        &said,
        (&place, &token),
        EventKind::Message(content),
    )
}

fn changed(listener: Listener<'_>, told: Happening) -> Result<Arrived, String> {
    let Some(mut said) = told.message else {
        return Err("a message_changed cannot be read: missing field `message`".to_owned());
    };
    let was = told.previous_message.and_then(|was| was.text);
    // Previews that are loaded and replies that are counted change a message as well.
    let is_same = was.is_some() && was == said.text;
    let Some(edited) = said.edited.as_ref().map(|edited| edited.ts.clone()) else {
        return Ok(Arrived::Nothing);
    };
    if is_same || is_own(listener.me, &said) {
        return Ok(Arrived::Nothing);
    }
    said.channel = told.channel;
    said.channel_type = told.channel_type;
    let place = Place::of(&said)?;
    let token = format!("edit:{}:{}:{edited}", place.channel, place.ts);
    let content = content(listener, &said);
    event(
        listener,
        &said,
        (&place, &token),
        EventKind::Edited(content),
    )
}

fn reaction(
    listener: Listener<'_>,
    told: Happening,
    change: ReactionChange,
) -> Result<Arrived, String> {
    let missing = |name: &str| format!("a reaction cannot be read: missing field `{name}`");
    let user = some(told.user).ok_or_else(|| missing("user"))?;
    let reaction = some(told.reaction).ok_or_else(|| missing("reaction"))?;
    let item = told.item.unwrap_or_default();
    // Reactions on files have no place.
    let (Some(channel), Some(ts)) = (some(item.channel), some(item.ts)) else {
        return Ok(Arrived::Nothing);
    };
    if user == listener.me.user {
        return Ok(Arrived::Nothing);
    }
    let stamp = some(told.event_ts).unwrap_or_default();
    let verb = match change {
        ReactionChange::Added => "added",
        ReactionChange::Removed => "removed",
    };
    let token = format!("reaction:{verb}:{channel}:{ts}:{user}:{reaction}:{stamp}");
    // Slack does not tell which thread the message is in.
    let place = Place {
        kind: chat_kind(&channel, None),
        channel,
        ts,
        thread: None,
    };
    let sender = Happening {
        user: Some(user),
        ts: Some(stamp),
        ..Happening::default()
    };
    let kind = EventKind::Reaction { reaction, change };
    event(listener, &sender, (&place, &token), kind)
}

fn pressed(listener: Listener<'_>, payload: &Value) -> Result<Arrived, String> {
    let told: Interaction = parsed("an interaction", payload)?;
    if told.kind != "block_actions" {
        return Ok(Arrived::Nothing);
    }
    let team = told.team.as_ref().map(|team| team.id.as_str());
    if is_foreign(listener, team.into_iter()) {
        return Ok(Arrived::Foreign);
    }
    let carried = told.actions.iter().find_map(|action| {
        let value = action.value.as_deref()?;
        let (token, choice) = outbound::carried(&action.action_id, value)?;
        Some((action, token, choice))
    });
    let Some((action, token, choice)) = carried else {
        return Ok(Arrived::Nothing);
    };
    let message = told.message.unwrap_or_default();
    let channel = told.channel.map(|channel| channel.id);
    let said = Happening {
        channel: some(channel).or(told.container.channel_id),
        ts: some(message.ts).or(told.container.message_ts),
        thread_ts: some(message.thread_ts).or(told.container.thread_ts),
        user: Some(told.user.id),
        username: told.user.name,
        ..Happening::default()
    };
    let place = Place::of(&said)?;
    let key = format!("press:{}:{}:{}", place.channel, place.ts, action.action_ts);
    let sender = Happening {
        ts: Some(action.action_ts.clone()),
        ..said
    };
    let kind = EventKind::Pressed { token, choice };
    event(listener, &sender, (&place, &key), kind)
}

fn command(listener: Listener<'_>, payload: &Value) -> Result<Arrived, String> {
    let told: SlashCommand = parsed("a slash command", payload)?;
    if is_foreign(listener, told.team_id.as_deref().into_iter()) {
        return Ok(Arrived::Foreign);
    }
    let missing = |name: &str| format!("a slash command cannot be read: missing field `{name}`");
    for (name, id) in [
        ("channel_id", &told.channel_id),
        ("user_id", &told.user_id),
        ("trigger_id", &told.trigger_id),
    ] {
        if id.is_empty() {
            return Err(missing(name));
        }
    }
    let key = format!("command:{}", told.trigger_id);
    // It is written outside of every thread, and is no message.
    let place = Place {
        kind: chat_kind(&told.channel_id, None),
        channel: told.channel_id,
        ts: String::new(),
        thread: None,
    };
    let content = Content {
        text: typed(&told.command, &told.text),
        mention: Mention::Direct,
        ..Content::default()
    };
    let sender = Happening {
        user: Some(told.user_id),
        username: told.user_name,
        ..Happening::default()
    };
    let kind = EventKind::Message(content);
    event(listener, &sender, (&place, &key), kind)
}

/// What was typed after the app's own command is the command; one of ours is itself.
fn typed(command: &str, rest: &str) -> String {
    let rest = text::readable(rest.trim(), &Names::new());
    let name = command.trim_start_matches('/').to_lowercase();
    if COMMANDS.iter().any(|(ours, _)| *ours == name) {
        return format!("/{name} {rest}").trim_end().to_owned();
    }
    match rest.trim_start_matches('/') {
        "" => "/help".to_owned(),
        rest => format!("/{rest}"),
    }
}

/// Where something was said.
struct Place {
    kind: ChatKind,
    channel: String,
    ts: String,
    thread: Option<String>,
}

impl Place {
    fn of(said: &Happening) -> Result<Self, String> {
        let missing = |name: &str| format!("a message cannot be read: missing field `{name}`");
        let channel = some(said.channel.clone()).ok_or_else(|| missing("channel"))?;
        let ts = some(said.ts.clone()).ok_or_else(|| missing("ts"))?;
        let kind = chat_kind(&channel, said.channel_type.as_deref());
        let inside = some(said.thread_ts.clone());
        // In a room every message that is in no thread begins one.
        let thread = match kind {
            ChatKind::Direct => inside,
            _ => inside.or_else(|| Some(ts.clone())),
        };
        Ok(Self {
            kind,
            channel,
            ts,
            thread,
        })
    }
}

/// Not every event tells the kind; the id does.
fn chat_kind(channel: &str, kind: Option<&str>) -> ChatKind {
    let is_direct = kind.map_or_else(|| channel.starts_with('D'), |kind| kind == "im");
    if is_direct {
        ChatKind::Direct
    } else {
        ChatKind::Group
    }
}

fn is_own(me: &Me, said: &Happening) -> bool {
    let is_our_bot = said.bot_id.is_some() && said.bot_id == me.bot;
    is_our_bot || said.user.as_ref() == Some(&me.user)
}

fn content(listener: Listener<'_>, said: &Happening) -> Content {
    let me = &listener.me.user;
    let text = said.text.as_deref().unwrap_or_default();
    let is_bot = said.bot_id.is_some() || said.subtype.as_deref() == Some("bot_message");
    let words = text::readable(text::without_address(text, me), listener.names);
    Content {
        text: if words.is_empty() {
            annexes(said, listener.names)
        } else {
            as_command(words)
        },
        attachments: said.files.iter().map(attachment).collect(),
        quote: None,
        mention: if text::mentions(text, me) {
            Mention::Direct
        } else if said.parent_user_id.as_ref() == Some(me) {
            Mention::Reply
        } else {
            Mention::Absent
        },
        author: if is_bot { Author::Bot } else { Author::Person },
        wishes: None,
    }
}

/// Slack keeps whatever begins with a slash to itself, and takes no commands in threads: there they begin with `!`.
fn as_command(words: String) -> String {
    let name = words.strip_prefix('!').map(|rest| {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        &rest[..end]
    });
    match name {
        Some(name) if COMMANDS.iter().any(|(ours, _)| *ours == name) => {
            format!("/{}", &words[1..])
        }
        _ => words,
    }
}

/// What a program said that puts its words somewhere else.
fn annexes(said: &Happening, names: &Names) -> String {
    let words = |annex: &super::wire::Annex| some(annex.text.clone().or(annex.fallback.clone()));
    let words = said.attachments.iter().filter_map(words);
    let words = words.map(|words| text::readable(&words, names));
    words.collect::<Vec<_>>().join("\n")
}

fn attachment(file: &File) -> Attachment {
    let media = file.mimetype.as_deref().unwrap_or_default();
    let kind = match (media.split('/').next(), file.subtype.as_deref()) {
        (_, Some("slack_audio")) => AttachmentKind::Voice,
        (Some("image"), _) => AttachmentKind::Image,
        (Some("audio"), _) => AttachmentKind::Audio,
        (Some("video"), _) => AttachmentKind::Video,
        _ => AttachmentKind::File,
    };
    Attachment {
        kind,
        locator: file.id.clone(),
        file_name: some(file.name.clone()),
        media_type: some(file.mimetype.clone()),
        size_bytes: file.size,
        kept: None,
    }
}

fn event(
    listener: Listener<'_>,
    said: &Happening,
    (place, token): (&Place, &str),
    kind: EventKind,
) -> Result<Arrived, String> {
    let Account { platform, name, .. } = listener.account;
    let sender = some(said.user.clone()).or_else(|| some(said.bot_id.clone()));
    let sender = sender.ok_or("a message cannot be read: it is from nobody")?;
    let known = listener.names.get(&sender).cloned();
    let profile = said.bot_profile.as_ref().and_then(|bot| bot.name.clone());
    let display_name = known.or_else(|| some(said.username.clone()).or_else(|| some(profile)));
    Ok(Arrived::Event(Box::new(Event {
        id: listener.id,
        dedupe: DedupeKey::derive(platform, name, token),
        address: Address {
            platform: platform.clone(),
            account: name.clone(),
            chat_kind: place.kind,
            chat: place.channel.as_str().into(),
            thread: place.thread.as_deref().map(Into::into),
            reply_to: None,
        },
        principal: Principal {
            platform: platform.clone(),
            account: name.clone(),
            user: sender.into(),
            alternate: None,
            display_name,
            // The least there is: what they may do is decided by access.
            role: Role::Guest,
        },
        message: some(Some(place.ts.clone())).map(Into::into),
        kind,
        sent_at: said.ts.as_deref().and_then(time_of),
        received_at: listener.now,
    })))
}

/// A message's id is when it was written, in seconds and millionths.
fn time_of(ts: &str) -> Option<Timestamp> {
    let (seconds, rest) = ts.split_once('.').unwrap_or((ts, "0"));
    let seconds: i64 = seconds.parse().ok()?;
    let millis: i64 = format!("{rest:0<3}").get(..3)?.parse().ok()?;
    Some(Timestamp::from_millis(
        seconds.checked_mul(1_000)?.checked_add(millis)?,
    ))
}

fn some(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

fn parsed<T: DeserializeOwned>(what: &str, value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|error| {
        let complaint = without_quotes(&error.to_string());
        format!("{what} cannot be read: {complaint}")
    })
}

/// A reader's complaint quotes what it found, which may be what somebody wrote.
fn without_quotes(complaint: &str) -> String {
    match (complaint.find('"'), complaint.rfind('"')) {
        (Some(start), Some(end)) if start < end => {
            format!("{}\"…\"{}", &complaint[..start], &complaint[end + 1..])
        }
        _ => complaint.to_owned(),
    }
}
