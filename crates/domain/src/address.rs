//! Where something is said. An [`Address`] names the place; a [`ReturnAddress`] is the place, the person and
//! the profile that asked, fixed when the work is admitted. Late results go there and nowhere else: nothing is
//! routed by "the last channel", by the environment or by parsing a key.

use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Fields};
use crate::ids::SessionId;
use crate::names::{AccountName, ChatId, MessageId, PlatformName, ProfileName, ThreadId};
use crate::principal::Principal;

/// The kind of a chat. Part of a session's identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatKind {
    /// One person and us.
    Direct,
    /// Several people and us.
    Group,
    /// A public or broadcast room.
    Channel,
    /// A room made of topics.
    Forum,
    /// A thread that its platform treats as a chat.
    Thread,
    /// A program that calls us.
    Webhook,
}

impl ChatKind {
    /// Every kind, for tables and tests.
    pub const ALL: [Self; 6] = [
        Self::Direct,
        Self::Group,
        Self::Channel,
        Self::Forum,
        Self::Thread,
        Self::Webhook,
    ];

    /// Its name in keys, configuration and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Group => "group",
            Self::Channel => "channel",
            Self::Forum => "forum",
            Self::Thread => "thread",
            Self::Webhook => "webhook",
        }
    }
}

/// A place on a platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// The chat service.
    pub platform: PlatformName,
    /// Our account there.
    pub account: AccountName,
    /// What kind of chat it is.
    pub chat_kind: ChatKind,
    /// The chat.
    pub chat: ChatId,
    /// The thread or topic inside it.
    pub thread: Option<ThreadId>,
    /// The message that an answer is anchored to.
    pub reply_to: Option<MessageId>,
}

impl Address {
    /// The queue that everything to this place waits in: one per account, chat and thread. The reply anchor is
    /// not part of it, or answers to two messages of one chat could overtake each other.
    pub fn target(&self) -> TargetKey {
        let fields = Fields::of("target")
            .text(self.platform.as_str())
            .text(self.account.as_str());
        let thread = self.thread.as_ref().map(ThreadId::as_str);
        TargetKey(fields.text(self.chat.as_str()).optional(thread).digest())
    }
}

/// One outgoing queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TargetKey(pub Digest);

/// The way back: travels with the work and never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReturnAddress {
    /// Where the answer goes.
    pub address: Address,
    /// Who asked.
    pub requester: Principal,
    /// Whose account it leaves through.
    pub profile: ProfileName,
    /// The conversation that asked, even if its chat has moved on to another one.
    pub session: SessionId,
}
