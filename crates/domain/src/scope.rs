//! What a runner remembers, and for whom. A [`StateScope`] says whose memory it is; a [`ScopeIdentity`] names
//! the one holder; its key is a digest over structure. A missing identity means that there is no such scope,
//! never a shared one.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::{Digest, Fields};
use crate::names::{BindingId, ProfileName, RunnerId};

/// Whose memory it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateScope {
    /// One conversation's.
    Conversation,
    /// One person's.
    Actor,
    /// What the event is about.
    Subject,
    /// The runner's own.
    Runner,
}

impl StateScope {
    /// Every scope, for tables and tests.
    pub const ALL: [Self; 4] = [Self::Conversation, Self::Actor, Self::Subject, Self::Runner];

    /// Its name in keys and configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Actor => "actor",
            Self::Subject => "subject",
            Self::Runner => "runner",
        }
    }

    /// The scope that this name stands for; there are no others.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }
}

/// Which scopes a binding may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StatePolicy {
    /// Whether it remembers anything.
    pub enable: bool,
    /// For whom.
    pub scopes: BTreeSet<StateScope>,
}

impl Default for StatePolicy {
    fn default() -> Self {
        Self {
            enable: true,
            scopes: [StateScope::Conversation, StateScope::Actor].into(),
        }
    }
}

impl StatePolicy {
    /// Whether `scope` may be read and written.
    pub fn may_use(&self, scope: StateScope) -> bool {
        self.enable && self.scopes.contains(&scope)
    }

    /// Whether anything may be remembered at all.
    pub fn is_usable(&self) -> bool {
        self.enable && !self.scopes.is_empty()
    }

    /// What both allow.
    #[must_use]
    pub fn narrowed_to(&self, other: &Self) -> Self {
        Self {
            enable: self.enable && other.enable,
            scopes: self.scopes.intersection(&other.scopes).copied().collect(),
        }
    }
}

/// The one holder of a scope's memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScopeIdentity {
    /// Which runner remembers.
    pub runner: RunnerId,
    /// Under which binding.
    pub binding: BindingId,
    /// For whom.
    pub holder: ScopeHolder,
}

/// For whom a runner remembers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "scope", rename_all = "snake_case")]
pub enum ScopeHolder {
    /// A conversation, and the thread in it.
    Conversation {
        /// The conversation, in one of its lives: a reset starts the next one, which remembers nothing of this one.
        conversation: String,
        /// The thread.
        thread: Option<String>,
    },
    /// A person or program.
    Actor {
        /// What it is; `user` where nothing is said.
        kind: String,
        /// Which.
        id: String,
    },
    /// What the event is about.
    Subject {
        /// What it is; `unknown` where nothing is said.
        kind: String,
        /// Which.
        id: String,
    },
    /// Nobody in particular.
    Runner,
}

impl ScopeIdentity {
    /// The scope it belongs to.
    pub const fn scope(&self) -> StateScope {
        match self.holder {
            ScopeHolder::Conversation { .. } => StateScope::Conversation,
            ScopeHolder::Actor { .. } => StateScope::Actor,
            ScopeHolder::Subject { .. } => StateScope::Subject,
            ScopeHolder::Runner => StateScope::Runner,
        }
    }

    /// The key that its memory is kept under.
    pub fn key(&self) -> ScopeKey {
        let fields = Fields::of("state").text(self.scope().as_str());
        let fields = fields
            .text(self.runner.as_str())
            .text(self.binding.as_str());
        let fields = match &self.holder {
            ScopeHolder::Conversation {
                conversation,
                thread,
            } => fields.text(conversation).optional(thread.as_deref()),
            ScopeHolder::Actor { kind, id } | ScopeHolder::Subject { kind, id } => {
                fields.text(kind).text(id)
            }
            ScopeHolder::Runner => fields,
        };
        ScopeKey(fields.digest())
    }
}

/// The key that a scope's memory is kept under.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ScopeKey(pub Digest);

impl ScopeKey {
    /// The store of a runner, the same in every conversation of a profile. Another profile's is another one.
    pub fn plugin(profile: &ProfileName, runner: &RunnerId) -> Self {
        let fields = Fields::of("storage").text("plugin").text(profile.as_str());
        Self(fields.text(runner.as_str()).digest())
    }

    /// What a conversation is called elsewhere, which all of its runners see. The name itself is a value and no part of
    /// any key.
    pub fn elsewhere(conversation: &str, thread: Option<&str>) -> Self {
        let fields = Fields::of("elsewhere").text(conversation);
        Self(fields.optional(thread).digest())
    }

    /// The store of a profile, which its runners share.
    pub fn workspace(profile: &ProfileName) -> Self {
        let fields = Fields::of("storage").text("workspace");
        Self(fields.text(profile.as_str()).digest())
    }
}

/// What a run is given of what is remembered when it begins: a copy. Every scope is there, whether or not it holds
/// anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// By scope and name.
    pub scopes: BTreeMap<StateScope, BTreeMap<String, Value>>,
    /// Whether that is everything: what is too much is left to be asked for.
    pub is_whole: bool,
    /// The scopes that may be read and written, and that somebody holds. The others are empty whatever happens.
    #[serde(default)]
    pub open: BTreeSet<StateScope>,
}

impl Default for Snapshot {
    fn default() -> Self {
        Self {
            scopes: StateScope::ALL.map(|scope| (scope, BTreeMap::new())).into(),
            is_whole: true,
            open: BTreeSet::new(),
        }
    }
}

#[cfg(test)]
mod tests;
