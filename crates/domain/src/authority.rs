//! What a run may use: computed once when the run is admitted, frozen, stored with it, and checked at every
//! effect. Plain data: it can be narrowed or revoked, and there is no operation that widens it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

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

/// What may be done with one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The operations that are allowed.
    pub operations: BTreeSet<String>,
    /// The implementation behind the name when the run was admitted.
    pub pinned: Option<String>,
}

/// The frozen snapshot of what a run may use.
///
/// ```
/// use talaria_domain::authority::{Authority, Grant, ResourceKind};
///
/// let mut authority = Authority::default();
/// assert!(!authority.allows(ResourceKind::Tool, "terminal", "call"), "closed by default");
/// let grant = Grant { operations: ["call".to_owned()].into(), pinned: None };
/// authority.grants.entry(ResourceKind::Tool).or_default().insert("terminal".to_owned(), grant);
/// assert!(authority.allows(ResourceKind::Tool, "terminal", "call"));
/// assert!(!authority.allows(ResourceKind::Tool, "terminal", "configure"));
/// ```
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authority {
    /// What is allowed, by kind and by the resource's name.
    pub grants: BTreeMap<ResourceKind, BTreeMap<String, Grant>>,
}

impl Authority {
    /// Whether `operation` on the resource called `name` is allowed.
    pub fn allows(&self, kind: ResourceKind, name: &str, operation: &str) -> bool {
        let grant = self.grants.get(&kind).and_then(|grants| grants.get(name));
        grant.is_some_and(|grant| grant.operations.contains(operation))
    }
}
