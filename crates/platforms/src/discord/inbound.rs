//! From what Discord says to an event.
//!
//! Pure: a payload and its place in, an event or nothing out. What the bot itself said is nothing, or it would answer
//! itself; so is what Discord says in a room by itself (somebody joined, something was pinned).

#[cfg(test)]
mod tests;

use serde_json::Value;
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{
    Attachment, AttachmentKind, Author, Content, DedupeKey, Event, EventKind, Mention, Quote,
    ReactionChange,
};
use talaria_domain::ids::EventId;
use talaria_domain::names::MessageId;
use talaria_domain::principal::{Principal, Role};
use talaria_domain::profile::Account;

use super::channels::Spot;
use super::outbound;
use super::place::made_at;
use super::wire::{Attached, Interaction, Member, Message, Reacted, User};

/// The types of messages that somebody wrote: default, reply, and the answers of commands ("Message Resource", message
/// types).
const WRITTEN: [u8; 4] = [0, 19, 20, 23];
/// The flag of a voice message.
const IS_VOICE: u64 = 1 << 13;
const COMMAND: u8 = 2;
const COMPONENT: u8 = 3;

/// Who listens, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listener<'a> {
    /// Our account.
    pub(super) account: &'a Account,
    /// The bot's own id.
    pub(super) bot: &'a str,
    /// The event's id, if it becomes one.
    pub(super) id: EventId,
    /// The time.
    pub(super) now: Timestamp,
}

/// What somebody wrote.
pub(super) fn message(listener: Listener<'_>, spot: &Spot, message: &Message) -> Option<Event> {
    if message.author.id == listener.bot || !WRITTEN.contains(&message.kind) {
        return None;
    }
    let token = format!("message:{}", message.id);
    let event = written(listener, spot, message, EventKind::Message);
    let is_empty = matches!(&event.kind, EventKind::Message(content)
        if content.text.is_empty() && content.attachments.is_empty());
    (!is_empty).then(|| listener.keyed(event, &token))
}

/// What somebody changed. An update without the time of a change is about something else: a preview of a link.
pub(super) fn edited(listener: Listener<'_>, spot: &Spot, message: &Message) -> Option<Event> {
    let edited_at = message.edited_timestamp.clone()?;
    if message.author.id == listener.bot || !WRITTEN.contains(&message.kind) {
        return None;
    }
    let token = format!("edit:{}:{edited_at}", message.id);
    let event = written(listener, spot, message, EventKind::Edited);
    Some(listener.keyed(event, &token))
}

/// What somebody put on a message or took away. `place` is the session and the number of the event: the same in a
/// replay, and there is nothing else that tells two of the same apart.
pub(super) fn reacted(
    listener: Listener<'_>,
    spot: &Spot,
    reacted: Reacted,
    (change, place): (ReactionChange, &str),
) -> Option<Event> {
    if reacted.user_id == listener.bot {
        return None;
    }
    let emoji = &reacted.emoji;
    let name = emoji.name.clone().unwrap_or_default();
    let reaction = match &emoji.id {
        Some(id) => format!("{name}:{id}"),
        None => name,
    };
    let user = reacted.member.as_ref().and_then(|it| it.user.clone());
    let user = user.unwrap_or_else(|| User {
        id: reacted.user_id.clone(),
        username: String::new(),
        global_name: None,
        bot: false,
    });
    // A bot's marks are decoration.
    if user.bot {
        return None;
    }
    let principal = listener.principal(&user, reacted.member.as_ref());
    let message = Some(reacted.message_id.into());
    let kind = EventKind::Reaction { reaction, change };
    let event = listener.event((spot, principal), message, kind);
    Some(listener.keyed(event, &format!("reaction:{place}")))
}

/// A button that was pressed, or a command that was chosen from the menu: that one becomes the text that it stands for.
pub(super) fn interaction(
    listener: Listener<'_>,
    spot: &Spot,
    interaction: Interaction,
) -> Option<Event> {
    let Interaction { id, data, .. } = interaction;
    let member = interaction.member.as_ref();
    let user = member.and_then(|it| it.user.clone());
    let user = user.or(interaction.user)?;
    let principal = listener.principal(&user, member);
    let sent_at = made_at(&id).map(Timestamp::from_millis);
    let (token, message, kind) = match interaction.kind {
        COMPONENT => {
            let (token, choice) = outbound::carried(&data.custom_id)?;
            let message = interaction.message.map(|it| MessageId::from(it.id));
            let kind = EventKind::Pressed { token, choice };
            (format!("press:{id}"), message, kind)
        }
        COMMAND => {
            let text = std::iter::once(format!("/{}", data.name));
            let given = data.options.iter().map(|it| spelled(&it.value));
            let text: Vec<_> = text.chain(given).filter(|it| !it.is_empty()).collect();
            let content = Content {
                text: text.join(" "),
                // Whoever chooses it from our menu says it to us.
                mention: Mention::Direct,
                ..Content::default()
            };
            let token = format!("command:{id}");
            (token, None, EventKind::Message(content))
        }
        _ => return None,
    };
    let event = listener.event((spot, principal), message, kind);
    let event = Event { sent_at, ..event };
    Some(listener.keyed(event, &token))
}

fn spelled(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn written(
    listener: Listener<'_>,
    spot: &Spot,
    message: &Message,
    wrap: fn(Content) -> EventKind,
) -> Event {
    let principal = listener.principal(&message.author, message.member.as_ref());
    let sent_at = made_at(&message.id).map(Timestamp::from_millis);
    let is_program = message.author.bot || message.webhook_id.is_some();
    let is_mentioned = message.mentions.iter().any(|it| it.id == listener.bot);
    let answered = message.answers.as_deref();
    let is_answer = answered.is_some_and(|it| it.author.id == listener.bot);
    let forwarded = message.forwards.first();
    let forwarded = forwarded.map(|it| it.message.content.clone());
    let text = unaddressed(&message.content, listener.bot);
    let content = Content {
        text: if text.is_empty() {
            forwarded.unwrap_or_default()
        } else {
            text.to_owned()
        },
        attachments: attachments(message),
        quote: answered.map(|it| Quote {
            message: it.id.as_str().into(),
            author: Some(listener.principal(&it.author, None)),
            text: Some(it.content.clone()).filter(|text| !text.is_empty()),
        }),
        mention: match (
            is_mentioned && names(&message.content, listener.bot),
            is_answer,
        ) {
            (true, _) => Mention::Direct,
            (false, true) => Mention::Reply,
            (false, false) => Mention::Absent,
        },
        author: if is_program {
            Author::Bot
        } else {
            Author::Person
        },
        wishes: None,
    };
    let id = Some(MessageId::from(message.id.as_str()));
    let mut event = listener.event((spot, principal), id.clone(), wrap(content));
    event.sent_at = sent_at;
    // In a direct chat there is nobody else whose message it could be an answer to.
    event.address.reply_to = id.filter(|_| spot.kind != ChatKind::Direct);
    event
}

/// Whether a text names the bot. Discord counts whoever is answered among those who are mentioned.
fn names(text: &str, bot: &str) -> bool {
    ["<@", "<@!"]
        .iter()
        .any(|opening| text.contains(&format!("{opening}{bot}>")))
}

/// A text without the bot's own name in front of it.
fn unaddressed<'a>(text: &'a str, bot: &str) -> &'a str {
    let mut rest = text.trim();
    while let Some(after) = ["<@", "<@!"]
        .iter()
        .find_map(|opening| rest.strip_prefix(&format!("{opening}{bot}>")))
    {
        rest = after.trim_start();
    }
    rest
}

fn attachments(message: &Message) -> Vec<Attachment> {
    let is_voice = message.flags & IS_VOICE != 0;
    let one = |file: &Attached| {
        let media_type = file.content_type.clone();
        Attachment {
            kind: attachment_kind(media_type.as_deref().unwrap_or_default(), is_voice),
            locator: locator((&message.channel_id, &message.id), &file.id),
            file_name: file.filename.clone(),
            media_type,
            size_bytes: file.size,
            kept: None,
        }
    };
    message.attachments.iter().map(one).collect()
}

/// How a file is found again. Its address expires, and would let in whoever has it; the message does neither.
fn locator((channel, message): (&str, &str), file: &str) -> String {
    format!("{channel}/{message}/{file}")
}

/// The channel, the message and the file that a locator stands for.
pub(super) fn located(locator: &str) -> Option<(&str, &str, &str)> {
    let mut ids = locator.split('/');
    let found = (ids.next()?, ids.next()?, ids.next()?);
    let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    let is_whole = ids.next().is_none() && [found.0, found.1, found.2].into_iter().all(is_id);
    is_whole.then_some(found)
}

fn attachment_kind(media_type: &str, is_voice: bool) -> AttachmentKind {
    match media_type.split('/').next() {
        Some("audio") if is_voice => AttachmentKind::Voice,
        Some("image") => AttachmentKind::Image,
        Some("audio") => AttachmentKind::Audio,
        Some("video") => AttachmentKind::Video,
        _ => AttachmentKind::File,
    }
}

impl Listener<'_> {
    fn principal(&self, user: &User, member: Option<&Member>) -> Principal {
        let nick = member.and_then(|it| it.nick.clone());
        let name = nick.or_else(|| user.global_name.clone());
        let name = name.unwrap_or_else(|| user.username.clone());
        Principal {
            platform: self.account.platform.clone(),
            account: self.account.name.clone(),
            user: user.id.as_str().into(),
            alternate: None,
            display_name: Some(name).filter(|name| !name.is_empty()),
            // The least there is: what they may do is decided by access.
            role: Role::Guest,
        }
    }

    fn event(
        &self,
        (spot, principal): (&Spot, Principal),
        message: Option<MessageId>,
        kind: EventKind,
    ) -> Event {
        let Account { platform, name, .. } = self.account;
        Event {
            id: self.id,
            dedupe: DedupeKey::derive(platform, name, ""),
            address: Address {
                platform: platform.clone(),
                account: name.clone(),
                chat_kind: spot.kind,
                chat: spot.chat.as_str().into(),
                thread: spot.thread.as_deref().map(Into::into),
                reply_to: None,
            },
            principal,
            message,
            kind,
            sent_at: None,
            received_at: self.now,
        }
    }

    fn keyed(&self, event: Event, token: &str) -> Event {
        let Account { platform, name, .. } = self.account;
        Event {
            dedupe: DedupeKey::derive(platform, name, token),
            ..event
        }
    }
}
