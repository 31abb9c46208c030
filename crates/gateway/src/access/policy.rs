//! What the operator wrote down about an account: who, where, and how they have to speak. Plain; the default lets nobody
//! in.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use talaria_domain::names::{ChatId, UserId};
use talaria_domain::principal::Role;

/// Who may talk through an account. The default lets nobody in.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct AccessPolicy {
    /// Members, by stable id.
    pub allow: BTreeSet<UserId>,
    /// Those with a role, by stable id.
    pub roles: BTreeMap<UserId, Role>,
    /// Whoever is known to the surface itself: a key or a cookie was checked before the event came here.
    pub surface: Trust,
    /// Everybody, as a guest. Loud in the configuration check.
    pub anyone: bool,
    /// What happens to people whom nobody let in.
    pub strangers: Strangers,
    /// What holds where several people are.
    pub groups: Groups,
    /// What other programs say.
    pub bots: Bots,
}

/// Whether the surface has checked who speaks.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It only tells what the platform told it.
    #[default]
    Unchecked,
    /// It checked a key; the role it says is the role they have.
    Checked,
}

/// What happens to people whom nobody let in.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strangers {
    /// Nothing.
    #[default]
    Ignore,
    /// In a direct chat they get a code that the operator can approve.
    Pair,
}

/// What holds where several people are.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Groups {
    /// Whether something has to be said to us.
    pub mention: Mentions,
    /// Chats in which everybody may talk, as a guest.
    pub allow_chats: BTreeSet<ChatId>,
    /// Whether that is so in threads, too.
    pub threads: Threads,
}

/// Whether something has to be said to us: by a mention of our id, or as an answer to a message of ours.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mentions {
    /// What is said to the room is nobody's business.
    #[default]
    Required,
    /// Everything is for us.
    Optional,
}

/// Whether what is said in a thread has to be said to us.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Threads {
    /// Not where we have answered before.
    #[default]
    Follow,
    /// Like everywhere else.
    Mention,
}

/// What becomes of what programs write. They have to be let in like everybody else.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bots {
    /// Nothing.
    #[default]
    Ignore,
    /// It counts where it is said to us.
    Mentions,
    /// It counts like a person's.
    All,
}
