//! What a run may use: computed once when the run is admitted, frozen, stored with it, and checked at every
//! effect. Plain data: it can be narrowed or revoked, and there is no operation that widens it.
//!
//! [`Authority`] is what the ledger keeps; [`Frozen`] is the same with its sets made ready, which is what is asked at
//! every effect; [`Revoked`] is what was taken away since.

mod frozen;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use self::frozen::{Frozen, Revocation, Revoked};
use crate::binding::Policy;
use crate::descriptor::Permissions;
use crate::scope::StatePolicy;

/// A kind of resource. A kind that is not here cannot be named, let alone granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceKind {
    /// A language model.
    Model,
    /// A tool, with the implementation behind its name pinned.
    Tool,
    /// A knowledge base.
    KnowledgeBase,
    /// A file.
    File,
    /// A store: `plugin` or `workspace`.
    Storage,
}

impl ResourceKind {
    /// Every kind, for tables and tests.
    pub const ALL: [Self; 5] = [
        Self::Model,
        Self::Tool,
        Self::KnowledgeBase,
        Self::File,
        Self::Storage,
    ];

    /// Its name in the ledger, on the wire and in sentences.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Tool => "tool",
            Self::KnowledgeBase => "knowledge_base",
            Self::File => "file",
            Self::Storage => "storage",
        }
    }

    /// The kind that this name stands for; no other name stands for anything.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// What a run may do that is about its own conversation and not about a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Read what was said before.
    HistoryPage,
    /// Look for words in it.
    HistorySearch,
    /// Read an event.
    EventGet,
    /// Ask a person.
    Ask,
}

impl Right {
    /// Every right, for tables, tests and runners that are built in.
    pub const ALL: [Self; 4] = [
        Self::HistoryPage,
        Self::HistorySearch,
        Self::EventGet,
        Self::Ask,
    ];

    /// Its name in the ledger and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HistoryPage => "history_page",
            Self::HistorySearch => "history_search",
            Self::EventGet => "event_get",
            Self::Ask => "ask",
        }
    }

    /// The right that this name stands for; no other name stands for anything.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|right| right.as_str() == name)
    }
}

/// What may be done with one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The operations that are allowed.
    pub operations: BTreeSet<String>,
    /// The implementation behind the name when the run was admitted.
    pub pinned: Option<String>,
}

impl Grant {
    /// These operations, on whatever has the name.
    pub fn of<'a>(operations: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            operations: operations.into_iter().map(str::to_owned).collect(),
            pinned: None,
        }
    }

    /// The same, on this implementation and no other.
    #[must_use]
    pub fn pinned_to(self, implementation: impl Into<String>) -> Self {
        Self {
            pinned: Some(implementation.into()),
            ..self
        }
    }

    /// Whether it was given for this implementation.
    pub fn is_for(&self, implementation: &str) -> bool {
        self.pinned
            .as_deref()
            .is_none_or(|pinned| pinned == implementation)
    }
}

/// The frozen snapshot of what a run may use.
///
/// ```
/// use talaria_domain::authority::{Authority, Grant, ResourceKind};
///
/// let mut authority = Authority::default();
/// assert!(!authority.allows(ResourceKind::Tool, "terminal", "call"), "closed by default");
/// authority.grants.entry(ResourceKind::Tool).or_default().insert("terminal".to_owned(), Grant::of(["call"]));
/// assert!(authority.allows(ResourceKind::Tool, "terminal", "call"));
/// assert!(!authority.allows(ResourceKind::Tool, "terminal", "configure"));
/// ```
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authority {
    /// What is allowed, by kind and by the resource's name.
    pub grants: BTreeMap<ResourceKind, BTreeMap<String, Grant>>,
    /// What it may do in its own conversation.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub rights: BTreeSet<Right>,
    /// What it may remember.
    #[serde(default)]
    pub state: StatePolicy,
}

impl Authority {
    /// Whether `operation` on the resource called `name` is allowed.
    pub fn allows(&self, kind: ResourceKind, name: &str, operation: &str) -> bool {
        let grant = self.grants.get(&kind).and_then(|grants| grants.get(name));
        grant.is_some_and(|grant| grant.operations.contains(operation))
    }

    /// The same with one more grant, while it is put together.
    #[must_use]
    pub fn with(mut self, kind: ResourceKind, name: impl Into<String>, grant: Grant) -> Self {
        let grants = self.grants.entry(kind).or_default();
        grants.insert(name.into(), grant);
        self
    }

    /// The same without the tools that are not in `tools`; none means all of them.
    #[must_use]
    pub fn with_tools(mut self, tools: Option<&[String]>) -> Self {
        if let (Some(tools), Some(grants)) = (tools, self.grants.get_mut(&ResourceKind::Tool)) {
            grants.retain(|name, _| tools.contains(name));
        }
        self
    }

    /// What both allow: what a child of a run may, and what is left of an old grant. A resource whose implementation
    /// is another one by now is not the one that was allowed.
    #[must_use]
    pub fn narrowed_to(&self, other: &Self) -> Self {
        let mut narrow = Self {
            grants: BTreeMap::new(),
            rights: self.rights.intersection(&other.rights).copied().collect(),
            state: self.state.narrowed_to(&other.state),
        };
        for (kind, grants) in &self.grants {
            for (name, grant) in grants {
                let found = other.grants.get(kind).and_then(|grants| grants.get(name));
                let Some(found) = found.filter(|found| found.pinned == grant.pinned) else {
                    continue;
                };
                let both = found.operations.intersection(&grant.operations);
                let kept = Grant {
                    operations: both.cloned().collect(),
                    pinned: grant.pinned.clone(),
                };
                narrow = narrow.with(*kind, name, kept);
            }
        }
        narrow
    }

    /// The same, made ready to be asked at every effect.
    pub fn freeze(self) -> Frozen {
        Frozen::of(self)
    }
}

/// What a run may use: what its runner may at most, what its binding allows, and what there is where it runs. All
/// three have to say yes; whoever says nothing says no.
#[must_use]
pub fn intersect(permissions: &Permissions, policy: &Policy, scope: &Authority) -> Authority {
    let mut authority = Authority {
        grants: BTreeMap::new(),
        rights: permissions
            .rights()
            .filter(|right| policy.may(*right) && scope.rights.contains(right))
            .collect(),
        state: policy.state.clone(),
    };
    for (kind, grants) in &scope.grants {
        for (name, grant) in grants {
            if !policy.resources.names(*kind, name) {
                continue;
            }
            let permitted = permissions.operations(*kind, name);
            let operations = grant.operations.iter();
            let operations: BTreeSet<String> = operations
                .filter(|operation| permitted.contains(&operation.as_str()))
                .cloned()
                .collect();
            if !operations.is_empty() {
                let pinned = grant.pinned.clone();
                authority = authority.with(*kind, name, Grant { operations, pinned });
            }
        }
    }
    authority
}

#[cfg(test)]
mod tests;
