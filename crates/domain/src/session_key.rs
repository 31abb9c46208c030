//! Which conversation an event belongs to, and who shares it.
//!
//! One function, [`SessionKey::derive`], turns a source and the profile's sharing policy into a key. A key is a
//! structure, never a joined text: its id is a digest over fields with their lengths, so two different
//! structures cannot meet, whatever characters a platform puts into its ids.
//!
//! - A direct chat is its chat and thread. The user is not part of it while a chat is known, else the
//!   participant stands in; when nothing at all is known there is one sink.
//! - Every other chat is per user by default; a thread in it is shared by default; each can be turned round.
//!   Without a known participant it falls back to the chat.
//! - Profile and account are always part of the key.

use serde::{Deserialize, Serialize};

use crate::address::{Address, ChatKind};
use crate::digest::{Digest, Fields};
use crate::ids::{self, SessionId};
use crate::names::{AccountName, ChatId, PlatformName, ProfileName, ThreadId, UserId};
use crate::principal::{Principal, PrincipalKey};

/// Where a message came from, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The chat service.
    pub platform: PlatformName,
    /// Our account there.
    pub account: AccountName,
    /// What kind of chat it is.
    pub chat_kind: ChatKind,
    /// The chat, where the platform names one.
    pub chat: Option<ChatId>,
    /// The thread or topic.
    pub thread: Option<ThreadId>,
    /// The sender's most stable id.
    pub participant: Option<UserId>,
}

impl Source {
    /// The source of what `principal` said at `address`. Empty ids count as absent.
    pub fn of(address: &Address, principal: &Principal) -> Self {
        Self {
            platform: address.platform.clone(),
            account: address.account.clone(),
            chat_kind: address.chat_kind,
            chat: Some(address.chat.clone()).filter(|id| !id.is_empty()),
            thread: address.thread.clone().filter(|id| !id.is_empty()),
            participant: principal.stable_user().cloned(),
        }
    }
}

/// Who shares a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sharing {
    /// In groups and channels, each person has a conversation of their own.
    pub group_per_user: bool,
    /// In threads too. Has an effect only together with `group_per_user`.
    pub thread_per_user: bool,
}

impl Default for Sharing {
    fn default() -> Self {
        Self {
            group_per_user: true,
            thread_per_user: false,
        }
    }
}

impl Sharing {
    /// Whether several people can meet in one conversation of this source, so that each message has to say
    /// whose it is.
    pub fn is_shared(self, source: &Source) -> bool {
        source.chat_kind != ChatKind::Direct && !self.is_per_user(source)
    }

    fn is_per_user(self, source: &Source) -> bool {
        self.group_per_user && (source.thread.is_none() || self.thread_per_user)
    }
}

/// The identity of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SessionKey {
    /// Whose conversation it is.
    pub profile: ProfileName,
    /// The chat service.
    pub platform: PlatformName,
    /// Our account there.
    pub account: AccountName,
    /// What kind of chat it is.
    pub chat_kind: ChatKind,
    /// The chat.
    pub chat: Option<ChatId>,
    /// The thread or topic.
    pub thread: Option<ThreadId>,
    /// The one person it belongs to, where it is not shared.
    pub participant: Option<UserId>,
}

impl SessionKey {
    /// The one way to make a key.
    pub fn derive(profile: &ProfileName, source: &Source, sharing: Sharing) -> Self {
        let is_own = match source.chat_kind {
            ChatKind::Direct => source.chat.is_none(),
            _ => sharing.is_per_user(source),
        };
        Self {
            profile: profile.clone(),
            platform: source.platform.clone(),
            account: source.account.clone(),
            chat_kind: source.chat_kind,
            chat: source.chat.clone(),
            thread: source.thread.clone(),
            participant: source.participant.clone().filter(|_| is_own),
        }
    }

    /// The stable id of this key: the same on every machine and in every release. Where we named the chat ourselves, it
    /// begins with the time at which we did: such chats are new all the time, and so their keys lie side by side in the
    /// ledger in place of all over it.
    pub fn id(&self) -> SessionKeyId {
        let digest = self.digest();
        let named_at = self
            .chat
            .as_ref()
            .and_then(|chat| ids::time_of(chat.as_str()));
        match named_at.filter(|_| self.chat_kind == ChatKind::Direct) {
            Some(time) => SessionKeyId(digest.beginning_with(time)),
            None => SessionKeyId(digest),
        }
    }

    fn digest(&self) -> Digest {
        let fields = Fields::of("session")
            .text(self.profile.as_str())
            .text(self.platform.as_str())
            .text(self.account.as_str())
            .text(self.chat_kind.as_str())
            .optional(self.chat.as_ref().map(ChatId::as_str))
            .optional(self.thread.as_ref().map(ThreadId::as_str))
            .optional(self.participant.as_ref().map(UserId::as_str));
        fields.digest()
    }

    /// Where the chat is, if it is a direct one that is named after this conversation and nothing else is known of it.
    pub fn own_chat_of(&self, session: SessionId) -> Option<OwnChat> {
        let chat = self.chat.as_ref()?;
        let is_own = chat.as_str() == session.to_string()
            && self.chat_kind == ChatKind::Direct
            && self.thread.is_none()
            && self.participant.is_none();
        is_own.then(|| OwnChat {
            profile: self.profile.clone(),
            platform: self.platform.clone(),
            account: self.account.clone(),
        })
    }

    /// Who may find the conversation again: the one person it is with, or, where several share it, the place itself.
    pub fn owner(&self, principal: &Principal) -> PrincipalKey {
        let is_shared = self.chat_kind != ChatKind::Direct && self.participant.is_none();
        if is_shared {
            let id = self.id().0.to_string();
            return PrincipalKey(Fields::of("shared by").text(&id).digest());
        }
        principal.key()
    }
}

/// Where a direct chat is that is named after its conversation: all that its key has beside that name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OwnChat {
    /// Whose conversation it is.
    pub profile: ProfileName,
    /// The chat service.
    pub platform: PlatformName,
    /// Our account there.
    pub account: AccountName,
}

impl OwnChat {
    /// The key of this conversation.
    pub fn key_of(self, session: SessionId) -> SessionKey {
        SessionKey {
            profile: self.profile,
            platform: self.platform,
            account: self.account,
            chat_kind: ChatKind::Direct,
            chat: Some(session.to_string().into()),
            thread: None,
            participant: None,
        }
    }
}

/// A key's stable id, 256 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionKeyId(pub Digest);

#[cfg(test)]
mod tests;
