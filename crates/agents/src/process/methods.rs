//! Which callbacks a run can use, so that a runner need not try to find out. What it is told is what it may when it
//! begins; each callback is still checked when it happens.
//!
//! Pure: an authority in, names of methods out.

use std::collections::BTreeSet;

use talaria_domain::authority::{Authority, ResourceKind, Right};
use talaria_domain::descriptor::{
    FileOperation, KnowledgeOperation, ModelOperation, StoreOperation, ToolOperation,
};
use talaria_domain::scope::StateScope;

/// What needs a grant: the method, the kind of resource, the operation.
const BY_GRANT: [(&str, ResourceKind, &str); 10] = [
    (
        "model.invoke",
        ResourceKind::Model,
        ModelOperation::Invoke.as_str(),
    ),
    (
        "model.stream",
        ResourceKind::Model,
        ModelOperation::Stream.as_str(),
    ),
    (
        "tool.list",
        ResourceKind::Tool,
        ToolOperation::Detail.as_str(),
    ),
    (
        "tool.call",
        ResourceKind::Tool,
        ToolOperation::Call.as_str(),
    ),
    (
        "kb.query",
        ResourceKind::KnowledgeBase,
        KnowledgeOperation::Retrieve.as_str(),
    ),
    (
        "file.read",
        ResourceKind::File,
        FileOperation::Read.as_str(),
    ),
    (
        "storage.get",
        ResourceKind::Storage,
        StoreOperation::Get.as_str(),
    ),
    (
        "storage.set",
        ResourceKind::Storage,
        StoreOperation::Set.as_str(),
    ),
    (
        "storage.delete",
        ResourceKind::Storage,
        StoreOperation::Delete.as_str(),
    ),
    (
        "storage.list",
        ResourceKind::Storage,
        StoreOperation::List.as_str(),
    ),
];

const BY_RIGHT: [(&str, Right); 4] = [
    ("history.page", Right::HistoryPage),
    ("history.search", Right::HistorySearch),
    ("event.get", Right::EventGet),
    ("ask", Right::Ask),
];

/// What needs a scope that is open.
const BY_SCOPE: [&str; 4] = ["state.get", "state.set", "state.delete", "state.list"];

/// The callbacks that a run can use.
pub(super) fn methods(
    authority: &Authority,
    open: &BTreeSet<StateScope>,
) -> BTreeSet<&'static str> {
    let is_granted = |kind: ResourceKind, operation: &str| {
        let grants = authority.grants.get(&kind);
        let mut grants = grants.into_iter().flat_map(|grants| grants.values());
        grants.any(|grant| grant.operations.contains(operation))
    };
    let granted = BY_GRANT.iter();
    let granted = granted.filter(|(_, kind, operation)| is_granted(*kind, operation));
    let rights = BY_RIGHT.iter();
    let rights = rights.filter(|(_, right)| authority.rights.contains(right));
    let scopes = BY_SCOPE.iter().filter(|_| !open.is_empty());
    granted
        .map(|(method, ..)| *method)
        .chain(rights.map(|(method, _)| *method))
        .chain(scopes.copied())
        .chain(["log"])
        .collect()
}

#[cfg(test)]
mod tests {
    //! What is announced is what can be done.

    use talaria_domain::authority::Grant;

    use super::*;
    use crate::process::wire::Asked;

    fn none() -> BTreeSet<StateScope> {
        BTreeSet::new()
    }

    #[test]
    fn nothing_is_announced_that_was_not_granted() {
        assert_eq!(methods(&Authority::default(), &none()), ["log"].into());
    }

    #[test]
    fn every_method_is_announced_where_everything_is_granted() {
        let authority = Authority {
            rights: Right::ALL.into(),
            ..Authority::default()
        };
        let everything = ResourceKind::ALL.into_iter().fold(authority, |all, kind| {
            let operations = BY_GRANT.iter().filter(|(_, of, _)| *of == kind);
            all.with(kind, "it", Grant::of(operations.map(|(.., it)| *it)))
        });
        let mut all = BTreeSet::from(Asked::METHODS);
        all.insert("log");
        assert_eq!(methods(&everything, &StateScope::ALL.into()), all);
    }

    #[test]
    fn each_operation_announces_its_own_method() {
        for (method, kind, operation) in BY_GRANT {
            let authority = Authority::default().with(kind, "it", Grant::of([operation]));
            assert_eq!(methods(&authority, &none()), [method, "log"].into());
        }
        for (method, right) in BY_RIGHT {
            let authority = Authority {
                rights: [right].into(),
                ..Authority::default()
            };
            assert_eq!(methods(&authority, &none()), [method, "log"].into());
        }
    }

    #[test]
    fn state_is_announced_where_a_scope_is_open_and_not_otherwise() {
        let is_announced = |open: &BTreeSet<StateScope>| {
            let methods = methods(&Authority::default(), open);
            BY_SCOPE.map(|method| methods.contains(method))
        };
        assert_eq!(is_announced(&none()), [false; 4]);
        assert_eq!(is_announced(&[StateScope::Runner].into()), [true; 4]);
    }
}
