//! What arrived: a typed envelope with its source, its content and its address. Adapters make them, intake
//! records them, lanes order them; nobody looks at the wire again afterwards.

use std::collections::BTreeMap;
use std::ops::Not;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::address::Address;
use crate::capabilities::DeliveryWindow;
use crate::clock::Timestamp;
use crate::digest::{Digest, Fields};
use crate::ids::{EventId, JobId, ScheduleId};
use crate::names::{AccountName, MessageId, PlatformName, ProfileName};
use crate::principal::Principal;
use crate::question::{Choice, TokenHash};
use crate::runner::Said;

/// What arrived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Our id for it.
    pub id: EventId,
    /// The same for live delivery, backfill and replay, so that it is recorded once.
    pub dedupe: DedupeKey,
    /// Where it was said.
    pub address: Address,
    /// Who said it.
    pub principal: Principal,
    /// The platform's id of the message it is, or is about.
    pub message: Option<MessageId>,
    /// What it says.
    pub kind: EventKind,
    /// When the platform says it was sent.
    pub sent_at: Option<Timestamp>,
    /// When it reached us.
    pub received_at: Timestamp,
}

impl Event {
    /// Whether it opens its chat: then the chat has its name from it, nobody delivers it a second time, and nothing that
    /// was ever recorded can have to do with it.
    pub fn opens_its_chat(&self) -> bool {
        let named_after = self.address.chat.as_str().parse();
        named_after == Ok(self.id)
            && self.address.thread.is_none()
            && self.dedupe == DedupeKey::own(self.id)
    }

    /// What a program asked for beside its words.
    pub fn wishes(&self) -> Option<&Wishes> {
        match &self.kind {
            EventKind::Message(content) => content.wishes.as_deref(),
            _ => None,
        }
    }

    /// When whoever asked hears of the turn.
    pub fn hearing(&self) -> Hearing {
        self.wishes()
            .map_or_else(Hearing::default, |wishes| wishes.hearing)
    }
}

/// What an event says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventKind {
    /// Somebody wrote.
    Message(Content),
    /// Somebody changed what they wrote.
    Edited(Content),
    /// Somebody put a reaction on a message, or took it away.
    Reaction {
        /// The reaction, as the platform spells it.
        reaction: String,
        /// Put or taken away.
        change: ReactionChange,
    },
    /// A slash command; it takes the control path and never waits behind a turn.
    Command {
        /// Without the slash, in lower case, without a bot's name.
        name: String,
        /// The rest of the line.
        arguments: String,
    },
    /// Somebody pressed a button; it takes the control path, too.
    Pressed {
        /// What the button carried, as a hash: the token itself is kept nowhere.
        token: TokenHash,
        /// What was pressed, or what was written beside it.
        choice: Choice,
    },
    /// The gateway's own: a job ended, a schedule is due, a board moved.
    Internal {
        /// Why it exists.
        cause: InternalCause,
        /// What the agent is told.
        text: String,
    },
    /// Somebody came or went, or we did.
    Membership {
        /// Came or went.
        change: MembershipChange,
        /// Whether it is about our own account.
        about: MembershipSubject,
    },
}

impl EventKind {
    /// Its name in the ledger and in logs.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Message(_) => "message",
            Self::Edited(_) => "edited",
            Self::Reaction { .. } => "reaction",
            Self::Command { .. } => "command",
            Self::Pressed { .. } => "pressed",
            Self::Internal { .. } => "internal",
            Self::Membership { .. } => "membership",
        }
    }
}

/// What somebody wrote.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The text.
    pub text: String,
    /// What came with it.
    pub attachments: Vec<Attachment>,
    /// What it answers.
    pub quote: Option<Quote>,
    /// Whether it was said to us.
    pub mention: Mention,
    /// Whether a person wrote it.
    #[serde(default, skip_serializing_if = "Author::is_person")]
    pub author: Author,
    /// What a program asks for beside its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wishes: Option<Box<Wishes>>,
}

/// What a program asks for beside its words. It counts for this one turn.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wishes {
    /// Instructions that come after the profile's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// What was said before, as the program remembers it; it stands in the place of our transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<Said>>,
    /// For the model, under the names that OpenAI gave them: `max_tokens`, `temperature`, `stop`, `response_format`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, Json>,
    /// For how long the program can be reached, wherever its conversation is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<DeliveryWindow>,
    /// Whether the program can be asked something while the turn runs, and knows how to answer.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub may_be_asked: bool,
    /// When the program hears of the turn.
    #[serde(default, skip_serializing_if = "Hearing::is_left")]
    pub hearing: Hearing,
    /// Where it hears of what ends after the turn, if not by asking. The work that the turn begins goes back there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<Address>,
    /// Whose turn it is to be. Only on surfaces of our own: elsewhere the account says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileName>,
}

/// When whoever asked hears of their turn.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hearing {
    /// They do not wait on the line: they hear of it where the conversation is, or come back and ask.
    #[default]
    Left,
    /// They are on the line, and hear it grow.
    AsItGrows,
    /// They are on the line, and hear nothing before its end.
    AtItsEnd,
}

impl Hearing {
    /// Whether nobody waits on the line.
    pub const fn is_left(&self) -> bool {
        matches!(self, Self::Left)
    }
}

/// Whether a message was said to us, by our id and never by our name.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mention {
    /// Said to the room.
    #[default]
    Absent,
    /// Our account is mentioned.
    Direct,
    /// It answers a message of ours.
    Reply,
}

/// Whether a person wrote something, as the platform tells it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// A person.
    #[default]
    Person,
    /// A program: another bot, or a hook that posts.
    Bot,
}

impl Author {
    /// Whether it is a person.
    pub const fn is_person(&self) -> bool {
        matches!(self, Self::Person)
    }
}

/// A file, image or recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// What kind of thing it is.
    pub kind: AttachmentKind,
    /// How its adapter fetches it.
    pub locator: String,
    /// The file's name, as it was sent: shown, never used as a path.
    pub file_name: Option<String>,
    /// The media type, as it was declared.
    pub media_type: Option<String>,
    /// The size, as it was declared.
    pub size_bytes: Option<u64>,
    /// What became of getting it here, once a turn has tried. What the ledger has of an event never says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
}

/// What became of getting a file here that only its platform had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// A copy of it is here.
    At(PathBuf),
    /// There is none, and this is why.
    Missing(String),
}

/// What kind of thing an attachment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    /// A picture.
    Image,
    /// A recording of sound.
    Audio,
    /// A voice message.
    Voice,
    /// A moving picture.
    Video,
    /// Any other file.
    File,
}

/// What a message answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The message that is answered.
    pub message: MessageId,
    /// Who wrote it, if that is known.
    pub author: Option<Principal>,
    /// The passage, if the platform tells.
    pub text: Option<String>,
}

/// Put or taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReactionChange {
    /// Put on the message.
    Added,
    /// Taken away.
    Removed,
}

/// Came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MembershipChange {
    /// Came.
    Joined,
    /// Went, or was sent away.
    Left,
}

/// Whom a change of membership is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MembershipSubject {
    /// Our own account.
    Ourselves,
    /// Somebody else.
    Other,
}

/// Why the gateway spoke to itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum InternalCause {
    /// A job ended.
    JobEnded {
        /// Which.
        job: JobId,
    },
    /// Another run gave a task away: the beginning of its session.
    Delegated {
        /// The job that it is.
        job: JobId,
    },
    /// A session was handed to this place.
    Handoff,
    /// A schedule is due.
    Schedule {
        /// Which.
        schedule: ScheduleId,
        /// The time that it was due: with the schedule, the occurrence.
        due: Timestamp,
    },
    /// A board's task changed.
    Board,
}

/// What makes an event itself: platform, account and the platform's own token for the delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DedupeKey(pub Digest);

impl DedupeKey {
    /// The key of what `token` names on this account. The token must not depend on how the event reached us.
    pub fn derive(platform: &PlatformName, account: &AccountName, token: &str) -> Self {
        Self(
            Fields::of("dedupe")
                .text(platform.as_str())
                .text(account.as_str())
                .text(token)
                .digest(),
        )
    }

    /// The key of an event that nobody delivers a second time: it is as much itself as its id is. Told from every other
    /// key by its bytes, so that nothing has to be kept for it.
    pub fn own(event: EventId) -> Self {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(event.as_bytes());
        Self(Digest::from_bytes(bytes))
    }
}

#[cfg(test)]
mod tests;
