//! From an update to events.
//!
//! Pure: an update in, events out. What we said ourselves is no event, neither is what was said to another bot, or a
//! word of a later API.

#[cfg(test)]
mod tests;

mod content;

use serde_json::Value;
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{
    Author, Content, DedupeKey, Event, EventKind, MembershipChange, MembershipSubject,
    ReactionChange,
};
use talaria_domain::ids::{EventId, Ids};
use talaria_domain::names::{MessageId, ThreadId};
use talaria_domain::principal::{Principal, Role};
use talaria_domain::profile::Account;
use talaria_domain::question::TokenHash;

use super::outbound;
use super::wire::{
    CallbackQuery, Chat, ChatType, DirectTopic, MemberChange, Message, MessageReaction,
    ReactionType, Update, User,
};

/// The thread of whatever is in no topic of a forum ("General").
pub(super) const GENERAL: &str = "1";
/// What the id of a thread below a channel begins with: it is sent under another name than a topic's.
pub(super) const BELOW_CHANNEL: &str = "direct:";

/// Who listens, and when.
#[derive(Clone, Copy)]
pub(super) struct Listener<'a> {
    /// Our account.
    pub(super) account: &'a Account,
    /// The bot itself.
    pub(super) me: &'a User,
    /// Where new ids come from.
    pub(super) ids: &'a dyn Ids,
    /// The time.
    pub(super) now: Timestamp,
}

/// An update that could be read.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Arrived {
    /// What it says, in order; nothing if it is nothing for us.
    pub(super) events: Vec<Event>,
    /// The press that is to be answered once it is recorded.
    pub(super) press: Option<String>,
    /// A group that became another chat: before and after.
    pub(super) moved: Option<(i64, i64)>,
}

/// The update's number in the order of all, if it has one.
pub(super) fn number(update: &Value) -> Option<i64> {
    update.get("update_id").and_then(Value::as_i64)
}

/// Reads an update, or says what is wrong with it without quoting what somebody wrote.
pub(super) fn read(listener: Listener<'_>, update: Value) -> Result<Arrived, String> {
    let update: Update =
        serde_json::from_value(update).map_err(|error| without_quotes(&error.to_string()))?;
    let number = update.update_id;
    if let Some(message) = update.message.or(update.channel_post) {
        let token = format!("message:{}:{}", message.chat.id, message.message_id);
        return Ok(said(listener, message, (&token, EventKind::Message)));
    }
    if let Some(message) = update.edited_message.or(update.edited_channel_post) {
        // By the update's number: two changes within a second have the same `edit_date`.
        let token = format!("edit:{}:{}:{number}", message.chat.id, message.message_id);
        return Ok(said(listener, message, (&token, EventKind::Edited)));
    }
    if let Some(pressed) = update.callback_query {
        return Ok(press(listener, pressed));
    }
    let events = match (update.message_reaction, update.my_chat_member) {
        (Some(reaction), _) => reactions(listener, &reaction, number),
        (_, Some(change)) => membership(listener, &change, number).into_iter().collect(),
        (None, None) => Vec::new(),
    };
    Ok(Arrived {
        events,
        ..Arrived::default()
    })
}

fn said(
    listener: Listener<'_>,
    message: Message,
    (token, wrap): (&str, fn(Content) -> EventKind),
) -> Arrived {
    let here = message.chat.id;
    let after = message.migrate_to_chat_id.map(|after| (here, after));
    let moved = after.or_else(|| message.migrate_from_chat_id.map(|before| (before, here)));
    Arrived {
        events: spoken(listener, message, (token, wrap))
            .into_iter()
            .collect(),
        press: None,
        moved,
    }
}

fn spoken(
    listener: Listener<'_>,
    message: Message,
    (token, wrap): (&str, fn(Content) -> EventKind),
) -> Option<Event> {
    let from = message.from.as_ref();
    if from.is_some_and(|user| user.id == listener.me.id) {
        return None;
    }
    let principal = principal(listener, (from, message.sender_chat.as_ref()))?;
    let is_person = message.sender_chat.is_some() || from.is_some_and(|user| !user.is_bot);
    let author = if is_person && !message.is_automatic_forward {
        Author::Person
    } else {
        // What a channel says is repeated by a program in the group beside it.
        Author::Bot
    };
    let thread = thread(&message.chat, Topic::of_message(&message));
    let address = address(listener, &message.chat, thread, Some(message.message_id));
    let (id, date) = (message.message_id, message.date);
    let content = content::read(listener, message)?;
    let kind = wrap(Content { author, ..content });
    Some(event(
        listener,
        (token, address, principal),
        (id, kind, Some(date)),
    ))
}

fn press(listener: Listener<'_>, pressed: CallbackQuery) -> Arrived {
    let button = pressed.data.as_deref().and_then(outbound::carried);
    let events = match (button, pressed.message) {
        (Some((token, choice)), Some(message)) => {
            let token = TokenHash::of(token);
            let topic = Topic {
                is_topic: message.is_topic_message,
                thread: message.message_thread_id,
                below: message.direct_messages_topic.as_ref(),
            };
            let thread = thread(&message.chat, topic);
            let address = address(listener, &message.chat, thread, Some(message.message_id));
            let principal = person(listener, &pressed.from);
            let key = format!("press:{}", pressed.id);
            let kind = EventKind::Pressed { token, choice };
            let kind = (message.message_id, kind, None);
            vec![event(listener, (&key, address, principal), kind)]
        }
        _ => Vec::new(),
    };
    Arrived {
        events,
        press: Some(pressed.id),
        moved: None,
    }
}

fn reactions(listener: Listener<'_>, update: &MessageReaction, number: i64) -> Vec<Event> {
    let who = (update.user.as_ref(), update.actor_chat.as_ref());
    let Some(principal) = principal(listener, who) else {
        return Vec::new();
    };
    if update
        .user
        .as_ref()
        .is_some_and(|user| user.id == listener.me.id)
    {
        return Vec::new();
    }
    let (old, new) = (&update.old_reaction, &update.new_reaction);
    let removed = old.iter().filter(|mark| !new.contains(mark));
    let added = new.iter().filter(|mark| !old.contains(mark));
    let removed = removed.map(|mark| (mark, ReactionChange::Removed));
    let changes = removed.chain(added.map(|mark| (mark, ReactionChange::Added)));
    let one = |(at, (mark, change)): (usize, (&ReactionType, ReactionChange))| {
        let (chat, message) = (update.chat.id, update.message_id);
        let token = format!("reaction:{chat}:{message}:{number}:{at}");
        // The update does not say which topic the message is in.
        let address = address(listener, &update.chat, None, Some(message));
        let reaction = spelled(mark);
        let kind = EventKind::Reaction { reaction, change };
        let place = (token.as_str(), address, principal.clone());
        event(listener, place, (message, kind, Some(update.date)))
    };
    changes.enumerate().map(one).collect()
}

fn spelled(mark: &ReactionType) -> String {
    match mark {
        ReactionType::Emoji { emoji } => emoji.clone(),
        ReactionType::CustomEmoji { custom_emoji_id } => format!("custom:{custom_emoji_id}"),
        ReactionType::Other => "other".to_owned(),
    }
}

/// Whether we came or went; a change of rights is neither.
fn membership(listener: Listener<'_>, update: &MemberChange, number: i64) -> Option<Event> {
    let is_there = |status: &str, is_member: Option<bool>| match status {
        "left" | "kicked" => false,
        "restricted" => is_member.unwrap_or(true),
        _ => true,
    };
    let (old, new) = (&update.old_chat_member, &update.new_chat_member);
    let was = is_there(&old.status, old.is_member);
    let is = is_there(&new.status, new.is_member);
    let change = match (was, is) {
        (false, true) => MembershipChange::Joined,
        (true, false) => MembershipChange::Left,
        _ => return None,
    };
    let about = MembershipSubject::Ourselves;
    let kind = EventKind::Membership { change, about };
    let token = format!("member:{}:{number}", update.chat.id);
    let address = address(listener, &update.chat, None, None);
    let principal = person(listener, &update.from);
    let mut event = event(
        listener,
        (&token, address, principal),
        (0, kind, Some(update.date)),
    );
    event.message = None;
    Some(event)
}

fn event(
    listener: Listener<'_>,
    (token, address, principal): (&str, Address, Principal),
    (message, kind, date): (i64, EventKind, Option<i64>),
) -> Event {
    let Account { platform, name, .. } = listener.account;
    let seconds = date.and_then(|date| date.checked_mul(1_000));
    Event {
        id: EventId::next(listener.ids, listener.now),
        dedupe: DedupeKey::derive(platform, name, token),
        address,
        principal,
        message: Some(MessageId::from(message.to_string())),
        kind,
        sent_at: seconds.map(Timestamp::from_millis),
        received_at: listener.now,
    }
}

/// What a message says about its topic.
#[derive(Clone, Copy)]
struct Topic<'a> {
    is_topic: bool,
    thread: Option<i64>,
    below: Option<&'a DirectTopic>,
}

impl<'a> Topic<'a> {
    const fn of_message(message: &'a Message) -> Self {
        Self {
            is_topic: message.is_topic_message,
            thread: message.message_thread_id,
            below: message.direct_messages_topic.as_ref(),
        }
    }
}

/// The thread, if it is one that can be written to: answers to a message have a `message_thread_id` as well.
fn thread(chat: &Chat, topic: Topic<'_>) -> Option<ThreadId> {
    if let Some(DirectTopic { topic_id }) = topic.below {
        return Some(format!("{BELOW_CHANNEL}{topic_id}").into());
    }
    let thread = topic.thread.filter(|_| topic.is_topic);
    let thread = thread.map(|thread| ThreadId::from(thread.to_string()));
    let is_forum = chat.kind == ChatType::Supergroup && chat.is_forum;
    thread.or_else(|| is_forum.then(|| GENERAL.into()))
}

fn address(
    listener: Listener<'_>,
    chat: &Chat,
    thread: Option<ThreadId>,
    message: Option<i64>,
) -> Address {
    let chat_kind = match chat.kind {
        ChatType::Private => ChatKind::Direct,
        ChatType::Channel => ChatKind::Channel,
        ChatType::Supergroup if chat.is_forum => ChatKind::Forum,
        ChatType::Group | ChatType::Supergroup | ChatType::Unknown => ChatKind::Group,
    };
    let anchor = message.filter(|_| chat_kind != ChatKind::Direct);
    Address {
        platform: listener.account.platform.clone(),
        account: listener.account.name.clone(),
        chat_kind,
        chat: chat.id.to_string().into(),
        thread,
        reply_to: anchor.map(|id| id.to_string().into()),
    }
}

/// Who speaks. A chat that speaks for itself (a channel, an admin who does not want to be seen) wins: the user beside
/// it is the same for everybody ("sender_chat" in "Message").
fn principal(
    listener: Listener<'_>,
    (user, chat): (Option<&User>, Option<&Chat>),
) -> Option<Principal> {
    if let Some(chat) = chat {
        return Some(somebody(listener, chat.id, chat.title.clone()));
    }
    user.map(|user| person(listener, user))
}

fn person(listener: Listener<'_>, user: &User) -> Principal {
    let names = [Some(&user.first_name), user.last_name.as_ref()];
    let names: Vec<&str> = names.into_iter().flatten().map(String::as_str).collect();
    somebody(listener, user.id, Some(names.join(" ")))
}

fn somebody(listener: Listener<'_>, id: i64, name: Option<String>) -> Principal {
    let name = name.map(|name| name.trim().to_owned());
    Principal {
        platform: listener.account.platform.clone(),
        account: listener.account.name.clone(),
        user: id.to_string().into(),
        alternate: None,
        display_name: name.filter(|name| !name.is_empty()),
        // The least there is: what they may do is decided by access.
        role: Role::Guest,
    }
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
