//! An authority with its sets made ready, and what was taken away since. Asking is a look-up by hash, whatever the run
//! was granted; nothing here can add anything.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Authority, Grant, ResourceKind, Right};

/// An authority that is asked at every effect. It has copies of its own: whatever it was made from can change, and
/// it does not.
#[derive(Debug, Clone, PartialEq)]
pub struct Frozen {
    authority: Authority,
    /// In the order of [`ResourceKind::ALL`].
    by_name: [ByName; 5],
    /// The grants themselves, out of the way: most questions need none of what is in them.
    grants: Vec<Arc<Grant>>,
}

/// Small entries: with many runs under way, what a question costs is what it brings into the cache.
type ByName = HashMap<Box<str>, Held>;

/// What a name stands for: its operations as bits, and where its grant is.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Held {
    operations: u16,
    grant: u32,
}

/// The operations that have a bit, in its order. Others are compared.
const OPERATIONS: [&str; 13] = [
    "invoke",
    "stream",
    "rerank",
    "count_tokens",
    "detail",
    "call",
    "list",
    "retrieve",
    "read",
    "get",
    "set",
    "delete",
    "clear",
];

fn bit(operation: &str) -> Option<u16> {
    let place = OPERATIONS.iter().position(|it| *it == operation)?;
    Some(1 << place)
}

fn bits(grant: &Grant) -> u16 {
    let bits = grant.operations.iter().filter_map(|it| bit(it));
    bits.fold(0, |all, bit| all | bit)
}

impl Frozen {
    pub(super) fn of(authority: Authority) -> Self {
        let mut all = Vec::new();
        let by_name = ResourceKind::ALL.map(|kind| {
            let grants = authority.grants.get(&kind);
            let grants = grants.into_iter().flatten();
            let held = grants.map(|(name, grant)| {
                let held = Held {
                    operations: bits(grant),
                    grant: u32::try_from(all.len()).unwrap_or(u32::MAX),
                };
                all.push(Arc::new(grant.clone()));
                (name.as_str().into(), held)
            });
            held.collect()
        });
        Self {
            authority,
            by_name,
            grants: all,
        }
    }

    /// What the ledger has.
    pub const fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The grant for one operation on one resource, if there is one.
    pub fn grant(&self, kind: ResourceKind, name: &str, operation: &str) -> Option<&Arc<Grant>> {
        let held = self.of_kind(kind).get(name)?;
        let grant = self.grants.get(usize::try_from(held.grant).ok()?)?;
        let is_granted = match bit(operation) {
            Some(bit) => held.operations & bit != 0,
            None => grant.operations.contains(operation),
        };
        is_granted.then_some(grant)
    }

    const fn of_kind(&self, kind: ResourceKind) -> &ByName {
        let [model, tool, knowledge_base, file, storage] = &self.by_name;
        match kind {
            ResourceKind::Model => model,
            ResourceKind::Tool => tool,
            ResourceKind::KnowledgeBase => knowledge_base,
            ResourceKind::File => file,
            ResourceKind::Storage => storage,
        }
    }

    /// Whether `operation` on the resource called `name` is allowed.
    pub fn allows(&self, kind: ResourceKind, name: &str, operation: &str) -> bool {
        self.grant(kind, name, operation).is_some()
    }

    /// Whether it has this right.
    pub fn may(&self, right: Right) -> bool {
        self.authority.rights.contains(&right)
    }
}

/// One thing that is taken away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Revocation {
    /// A resource, or one operation on it.
    Resource {
        /// Of which kind.
        kind: ResourceKind,
        /// Which.
        name: String,
        /// Only this; all of them without it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        operation: Option<String>,
    },
    /// A right.
    Right(Right),
    /// Everything that can be remembered.
    State,
}

/// What was taken away from a run since it was admitted. It only ever grows.
#[derive(Debug, Default, Clone)]
pub struct Revoked {
    resources: HashMap<ResourceKind, HashMap<String, Operations>>,
    rights: HashSet<Right>,
    is_without_state: bool,
}

#[derive(Debug, Clone)]
enum Operations {
    All,
    These(HashSet<String>),
}

impl Revoked {
    /// Takes one more thing away.
    pub fn add(&mut self, revocation: &Revocation) {
        match revocation {
            Revocation::Right(right) => {
                self.rights.insert(*right);
            }
            Revocation::State => self.is_without_state = true,
            Revocation::Resource {
                kind,
                name,
                operation,
            } => {
                let names = self.resources.entry(*kind).or_default();
                let operations = names
                    .entry(name.clone())
                    .or_insert_with(|| Operations::These(HashSet::new()));
                match (operations, operation) {
                    (all, None) => *all = Operations::All,
                    (Operations::These(these), Some(operation)) => {
                        these.insert(operation.clone());
                    }
                    (Operations::All, Some(_)) => {}
                }
            }
        }
    }

    /// What is left of an authority: what a child of the run may, and what the next attempt begins with.
    #[must_use]
    pub fn taken_from(&self, authority: &Authority) -> Authority {
        let mut left = authority.clone();
        left.rights.retain(|right| !self.has_right(*right));
        if self.is_without_state {
            left.state.enable = false;
        }
        for (kind, grants) in &mut left.grants {
            for (name, grant) in grants.iter_mut() {
                let is_left = |operation: &String| !self.has(*kind, name, operation);
                let operations: BTreeSet<String> = grant
                    .operations
                    .iter()
                    .filter(|it| is_left(it))
                    .cloned()
                    .collect();
                grant.operations = operations;
            }
            grants.retain(|_, grant| !grant.operations.is_empty());
        }
        left
    }

    /// Whether this operation on this resource was taken away.
    pub fn has(&self, kind: ResourceKind, name: &str, operation: &str) -> bool {
        let names = self.resources.get(&kind);
        match names.and_then(|names| names.get(name)) {
            None => false,
            Some(Operations::All) => true,
            Some(Operations::These(these)) => these.contains(operation),
        }
    }

    /// Whether this right was taken away.
    pub fn has_right(&self, right: Right) -> bool {
        self.rights.contains(&right)
    }

    /// Whether nothing can be remembered any more.
    pub const fn is_without_state(&self) -> bool {
        self.is_without_state
    }
}
