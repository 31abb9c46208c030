//! What a runner remembers, and for whom. A [`StateScope`] says whose memory it is; a [`ScopeIdentity`] names
//! the one holder; its key is a digest over structure. A missing identity means that there is no such scope,
//! never a shared one.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Fields};
use crate::names::{BindingId, RunnerId};

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
        /// The conversation.
        conversation: String,
        /// The thread.
        thread: Option<String>,
        /// Which life of the conversation: a reset starts the next one.
        generation: u32,
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
                generation,
            } => fields
                .text(conversation)
                .optional(thread.as_deref())
                .text(&generation.to_string()),
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

#[cfg(test)]
mod tests {
    //! Structure decides, not characters.

    use super::*;

    fn conversation(conversation: &str, thread: Option<&str>) -> ScopeIdentity {
        ScopeIdentity {
            runner: "r".into(),
            binding: "b".into(),
            holder: ScopeHolder::Conversation {
                conversation: conversation.to_owned(),
                thread: thread.map(str::to_owned),
                generation: 0,
            },
        }
    }

    #[test]
    fn keys_follow_structure() {
        assert_ne!(
            conversation("a:b", Some("c")).key(),
            conversation("a", Some("b:c")).key()
        );
        assert_ne!(
            conversation("a", None).key(),
            conversation("a", Some("")).key()
        );
        let with = |holder| ScopeIdentity {
            holder,
            ..conversation("a", None)
        };
        let (kind, id) = ("user".to_owned(), "7".to_owned());
        let actor = with(ScopeHolder::Actor {
            kind: kind.clone(),
            id: id.clone(),
        });
        let subject = with(ScopeHolder::Subject { kind, id });
        assert_ne!(actor.key(), subject.key());
    }

    #[test]
    fn the_policy_is_asked_for_every_scope() {
        let policy = StatePolicy::default();
        assert!(policy.may_use(StateScope::Conversation) && policy.may_use(StateScope::Actor));
        assert!(!policy.may_use(StateScope::Subject) && !policy.may_use(StateScope::Runner));
        let off = StatePolicy {
            enable: false,
            ..policy
        };
        assert!(StateScope::ALL.iter().all(|scope| !off.may_use(*scope)));
    }
}
