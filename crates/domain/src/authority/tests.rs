//! It only ever gets less.

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::binding::{DeliveryPolicy, ResourcePolicy};
use crate::descriptor::{
    EventOperation, FileOperation, HistoryOperation, InteractionOperation, KnowledgeOperation,
    ModelOperation, StoreName, StoreOperation, ToolOperation,
};
use crate::scope::StateScope;

const KINDS: [ResourceKind; 5] = ResourceKind::ALL;

fn tools(tools: &[(&str, &[&str])]) -> Authority {
    let own = Authority::default().with(ResourceKind::Model, "main", Grant::of(["invoke"]));
    tools.iter().fold(own, |authority, (name, operations)| {
        let grant = Grant::of(operations.iter().copied());
        authority.with(ResourceKind::Tool, *name, grant)
    })
}

fn named(tools: &[&str]) -> Vec<String> {
    tools.iter().map(ToString::to_string).collect()
}

#[test]
fn models_tools_knowledge_and_files_are_allowed_by_name_and_nothing_else_is() {
    for kind in KINDS {
        let authority = Authority::default().with(kind, "granted", Grant::of(["use"]));
        for frozen in [
            authority.clone().freeze(),
            serde_json::from_value::<Authority>(json!(authority))
                .unwrap()
                .freeze(),
        ] {
            assert!(frozen.allows(kind, "granted", "use"));
            assert!(!frozen.allows(kind, "granted", "change"), "{kind:?}");
            assert!(!frozen.allows(kind, "another", "use"), "{kind:?}");
            let others = KINDS.into_iter().filter(|other| *other != kind);
            for other in others {
                assert!(!frozen.allows(other, "granted", "use"), "{other:?}");
            }
        }
    }
    let nothing = Authority::default().freeze();
    let ask = |kind| nothing.allows(kind, "granted", "use");
    assert!(!KINDS.into_iter().any(ask), "no resources, no access");
}

#[test]
fn storage_follows_plugin_and_workspace_each_by_itself() {
    let operations = StoreOperation::ALL.map(StoreOperation::as_str);
    let both = StoreName::ALL.map(StoreName::as_str);
    let scope = both.into_iter().fold(Authority::default(), |scope, store| {
        scope.with(ResourceKind::Storage, store, Grant::of(operations))
    });
    let sets: [&[StoreName]; 4] = [
        &[],
        &[StoreName::Plugin],
        &[StoreName::Workspace],
        &StoreName::ALL,
    ];
    for permitted in sets {
        for allowed in sets {
            let permissions = Permissions {
                storage: permitted.iter().copied().collect(),
                ..Permissions::default()
            };
            let mut policy = Policy::default();
            policy.resources.storage = allowed.iter().copied().collect();
            let authority = intersect(&permissions, &policy, &scope).freeze();
            for store in StoreName::ALL {
                let expected = permitted.contains(&store) && allowed.contains(&store);
                for operation in operations {
                    let found = authority.allows(ResourceKind::Storage, store.as_str(), operation);
                    assert_eq!(found, expected, "{permitted:?} {allowed:?} {store:?}");
                }
            }
            assert!(!authority.allows(ResourceKind::Storage, "elsewhere", "get"));
        }
    }
}

#[test]
fn an_unknown_kind_is_refused_before_it_means_anything() {
    for name in ["skill", "network", "Model", "", "models"] {
        assert_eq!(ResourceKind::parse(name), None, "{name}");
        let stored =
            json!({ "grants": { name: { "it": { "operations": ["use"], "pinned": null } } } });
        assert!(
            serde_json::from_value::<Authority>(stored).is_err(),
            "{name}"
        );
    }
    for kind in KINDS {
        assert_eq!(ResourceKind::parse(kind.as_str()), Some(kind));
    }
}

#[test]
fn changing_what_it_was_made_from_changes_nothing() {
    let mut source = tools(&[("terminal", &["call"])]);
    let frozen = source.clone().freeze();
    source = source.with(ResourceKind::Tool, "files", Grant::of(["call"]));
    let grants = source.grants.get_mut(&ResourceKind::Tool).unwrap();
    let terminal = grants.get_mut("terminal").unwrap();
    terminal.operations.insert("configure".to_owned());
    terminal.pinned = Some("another".to_owned());
    source.state.enable = false;
    assert!(!frozen.allows(ResourceKind::Tool, "files", "call"));
    assert!(!frozen.allows(ResourceKind::Tool, "terminal", "configure"));
    let grant = frozen.grant(ResourceKind::Tool, "terminal", "call");
    assert_eq!(grant.map(|grant| &**grant), Some(&Grant::of(["call"])));
    assert!(frozen.authority().state.enable);
}

#[test]
fn a_grant_is_for_the_implementation_it_was_given_for() {
    let pinned = Grant::of(["call"]).pinned_to("built in: terminal");
    assert!(pinned.is_for("built in: terminal"));
    assert!(!pinned.is_for("acme/terminal"));
    assert!(Grant::of(["call"]).is_for("anything"));
}

#[test]
fn each_operation_is_granted_by_itself_whether_or_not_anybody_knows_it() {
    let mut words: BTreeSet<&str> = ["dance", "sing"].into();
    words.extend(ModelOperation::ALL.map(ModelOperation::as_str));
    words.extend(ToolOperation::ALL.map(ToolOperation::as_str));
    words.extend(KnowledgeOperation::ALL.map(KnowledgeOperation::as_str));
    words.extend(FileOperation::ALL.map(FileOperation::as_str));
    words.extend(StoreOperation::ALL.map(StoreOperation::as_str));
    for granted in &words {
        let authority = Authority::default().with(ResourceKind::Tool, "it", Grant::of([*granted]));
        let frozen = authority.freeze();
        for asked in &words {
            let is_allowed = frozen.allows(ResourceKind::Tool, "it", asked);
            assert_eq!(
                is_allowed,
                asked == granted,
                "{asked} where {granted} is granted"
            );
        }
    }
}

#[test]
fn what_is_taken_away_is_read_as_it_was_written() {
    let table = [
        (
            Revocation::Resource {
                kind: ResourceKind::Tool,
                name: "terminal".to_owned(),
                operation: None,
            },
            json!({ "resource": { "kind": "tool", "name": "terminal" } }),
        ),
        (Revocation::Right(Right::Ask), json!({ "right": "ask" })),
        (Revocation::State, json!("state")),
    ];
    for (revocation, written) in table {
        assert_eq!(json!(revocation), written);
        assert_eq!(
            serde_json::from_value::<Revocation>(written).unwrap(),
            revocation
        );
    }
    for right in Right::ALL {
        assert_eq!(Right::parse(right.as_str()), Some(right));
        assert_eq!(json!(right), right.as_str());
    }
    assert_eq!(Right::parse("everything"), None);
}

#[test]
fn a_child_has_the_tools_that_are_named_and_allowed() {
    let parent = tools(&[("terminal", &["call"]), ("files", &["call"])]);
    let table = [
        (None, vec!["files", "terminal"]),
        (Some(named(&["files"])), vec!["files"]),
        (Some(named(&["files", "launch"])), vec!["files"]),
        (Some(named(&["launch"])), vec![]),
        (Some(named(&[])), vec![]),
    ];
    for (tools, expected) in table {
        let child = parent.clone().with_tools(tools.as_deref());
        let names: Vec<&String> = child.grants[&ResourceKind::Tool].keys().collect();
        assert_eq!(names, expected, "{tools:?}");
        assert!(child.allows(ResourceKind::Model, "main", "invoke"));
    }
}

#[test]
fn what_two_allow_is_what_each_of_them_allows() {
    let then = tools(&[("terminal", &["call", "configure"]), ("files", &["call"])]);
    let since = tools(&[("terminal", &["call"]), ("launch", &["call"])]);
    for both in [then.narrowed_to(&since), since.narrowed_to(&then)] {
        assert_eq!(both, tools(&[("terminal", &["call"])]));
    }
    let grant = Grant::of(["call"]).pinned_to("another program");
    let swapped = since.with(ResourceKind::Tool, "terminal", grant);
    let both = then.narrowed_to(&swapped);
    assert!(!both.allows(ResourceKind::Tool, "terminal", "call"));
}

/// What is permitted, what is named, and what comes of it.
type Row<'a> = (&'a Permissions, Policy, &'a [(&'a str, &'a str)]);

#[test]
fn the_manifest_narrows_and_the_policy_names() {
    let scope = Authority {
        rights: Right::ALL.into(),
        ..tools(&[("terminal", &["call", "detail"]), ("files", &["call"])])
    };
    let policy = |names: &[&str]| Policy {
        resources: ResourcePolicy {
            tools: named(names).into_iter().collect(),
            ..ResourcePolicy::default()
        },
        ..Policy::default()
    };
    let calls = Permissions {
        tools: [ToolOperation::Call].into(),
        ..Permissions::default()
    };
    let table: [Row<'_>; 4] = [
        (&calls, policy(&["terminal"]), &[("terminal", "call")]),
        (
            &calls,
            policy(&["terminal", "launch"]),
            &[("terminal", "call")],
        ),
        (&calls, policy(&[]), &[]),
        (&Permissions::default(), policy(&["terminal"]), &[]),
    ];
    for (permissions, policy, expected) in table {
        let authority = intersect(permissions, &policy, &scope);
        let grants = authority.grants.get(&ResourceKind::Tool);
        let found: Vec<(&str, &str)> = grants
            .into_iter()
            .flatten()
            .flat_map(|(name, grant)| {
                grant
                    .operations
                    .iter()
                    .map(|it| (name.as_str(), it.as_str()))
            })
            .collect();
        assert_eq!(found, expected);
        assert!(!authority.grants.contains_key(&ResourceKind::Model));
    }
}

#[test]
fn people_are_asked_where_manifest_and_policy_both_say_so() {
    let scope = Authority {
        rights: Right::ALL.into(),
        ..Authority::default()
    };
    let silent = Policy {
        delivery: DeliveryPolicy {
            interactions: false,
            ..DeliveryPolicy::default()
        },
        ..Policy::default()
    };
    let all = Permissions::all();
    assert!(
        intersect(&all, &Policy::default(), &scope)
            .rights
            .contains(&Right::Ask)
    );
    assert!(
        !intersect(&all, &silent, &scope)
            .rights
            .contains(&Right::Ask)
    );
    let none = intersect(&Permissions::default(), &Policy::default(), &scope);
    assert_eq!(none.rights, [].into());
    let nowhere = intersect(&all, &Policy::default(), &Authority::default());
    assert_eq!(nowhere.rights, [].into());
}

#[test]
fn what_was_stored_before_there_were_rights_is_read_and_has_none() {
    let stored = r#"{"grants":{"tool":{"terminal":{"operations":["call"],"pinned":null}}}}"#;
    let authority: Authority = serde_json::from_str(stored).unwrap();
    assert!(authority.allows(ResourceKind::Tool, "terminal", "call"));
    assert!(authority.rights.is_empty());
    assert_eq!(authority.state, StatePolicy::default());
}

const NAMES: [&str; 4] = ["one", "two", "plugin", "workspace"];
const OPERATIONS: [&str; 9] = [
    "invoke", "stream", "call", "detail", "read", "list", "retrieve", "get", "set",
];

fn some<T: Copy + Ord + std::fmt::Debug + 'static>(
    all: &'static [T],
) -> impl Strategy<Value = BTreeSet<T>> {
    btree_set(prop::sample::select(all), 0..=all.len())
}

fn permissions() -> impl Strategy<Value = Permissions> {
    let resources = (
        some(&ModelOperation::ALL),
        some(&ToolOperation::ALL),
        some(&KnowledgeOperation::ALL),
        some(&FileOperation::ALL),
        some(&StoreName::ALL),
    );
    let rights = (
        some(&HistoryOperation::ALL),
        some(&EventOperation::ALL),
        some(&InteractionOperation::ALL),
    );
    (resources, rights).prop_map(
        |((models, tools, knowledge_bases, files, storage), (history, events, interactions))| {
            Permissions {
                models,
                tools,
                knowledge_bases,
                files,
                storage,
                history,
                events,
                interactions,
            }
        },
    )
}

fn policy() -> impl Strategy<Value = Policy> {
    let names = || some(&NAMES).prop_map(|names| names.into_iter().map(str::to_owned).collect());
    let resources = (
        names(),
        names(),
        names(),
        any::<bool>(),
        some(&StoreName::ALL),
    )
        .prop_map(
            |(models, tools, knowledge_bases, files, storage)| ResourcePolicy {
                models,
                tools,
                knowledge_bases,
                files,
                storage,
            },
        );
    let state = (any::<bool>(), some(&StateScope::ALL));
    let state = state.prop_map(|(enable, scopes)| StatePolicy { enable, scopes });
    (resources, state, any::<bool>()).prop_map(|(resources, state, interactions)| Policy {
        resources,
        state,
        delivery: DeliveryPolicy {
            interactions,
            ..DeliveryPolicy::default()
        },
    })
}

fn authority() -> impl Strategy<Value = Authority> {
    let grant = (
        some(&OPERATIONS),
        prop::option::of(prop::sample::select(&NAMES[..2])),
    );
    let granted = (
        prop::sample::select(&KINDS[..]),
        prop::sample::select(&NAMES[..]),
        grant,
    );
    let state = (any::<bool>(), some(&StateScope::ALL));
    (vec(granted, 0..12), some(&Right::ALL), state).prop_map(
        |(granted, rights, (enable, scopes))| {
            let own = Authority {
                rights,
                state: StatePolicy { enable, scopes },
                ..Authority::default()
            };
            granted
                .into_iter()
                .fold(own, |own, (kind, name, (operations, pinned))| {
                    let grant = Grant {
                        operations: operations.into_iter().map(str::to_owned).collect(),
                        pinned: pinned.map(str::to_owned),
                    };
                    own.with(kind, name, grant)
                })
        },
    )
}

fn revocation() -> impl Strategy<Value = Revocation> {
    let resource = (
        prop::sample::select(&KINDS[..]),
        prop::sample::select(&NAMES[..]),
        prop::option::of(prop::sample::select(&OPERATIONS[..])),
    );
    prop_oneof![
        4 => resource.prop_map(|(kind, name, operation)| Revocation::Resource {
            kind,
            name: name.to_owned(),
            operation: operation.map(str::to_owned),
        }),
        1 => prop::sample::select(&Right::ALL[..]).prop_map(Revocation::Right),
        1 => Just(Revocation::State),
    ]
}

/// Whether all three say yes, told in another way than the code does.
fn is_inside(
    (permissions, policy, scope): (&Permissions, &Policy, &Authority),
    (kind, name, operation): (ResourceKind, &str, &str),
) -> bool {
    let written = json!(permissions);
    let listed = |field: &str, word: &str| {
        let words = written[field].as_array().unwrap();
        words.iter().any(|it| it == word)
    };
    let resources = &policy.resources;
    let (is_permitted, is_named) = match kind {
        ResourceKind::Model => (listed("models", operation), resources.models.contains(name)),
        ResourceKind::Tool => (listed("tools", operation), resources.tools.contains(name)),
        ResourceKind::KnowledgeBase => (
            listed("knowledge_bases", operation),
            resources.knowledge_bases.contains(name),
        ),
        ResourceKind::File => (listed("files", operation), resources.files),
        ResourceKind::Storage => {
            let is_known = ["get", "set", "delete", "list", "clear"].contains(&operation);
            let named = json!(resources.storage);
            let is_named = named.as_array().unwrap().iter().any(|it| it == name);
            (is_known && listed("storage", name), is_named)
        }
    };
    is_permitted && is_named && scope.allows(kind, name, operation)
}

fn is_taken(
    revocations: &[Revocation],
    (kind, name, operation): (ResourceKind, &str, &str),
) -> bool {
    revocations.iter().any(|revocation| match revocation {
        Revocation::Resource {
            kind: of,
            name: which,
            operation: only,
        } => {
            (*of, which.as_str()) == (kind, name)
                && only.as_deref().is_none_or(|only| only == operation)
        }
        Revocation::Right(_) | Revocation::State => false,
    })
}

fn every_effect() -> impl Iterator<Item = (ResourceKind, &'static str, &'static str)> {
    let of_kind = |kind| {
        let of_name = move |name| OPERATIONS.into_iter().map(move |it| (kind, name, it));
        NAMES.into_iter().flat_map(of_name)
    };
    KINDS.into_iter().flat_map(of_kind)
}

proptest! {
    #[test]
    fn no_effect_is_ever_allowed_outside_the_intersection(
        permissions in permissions(),
        policy in policy(),
        scope in authority(),
        revocations in vec(revocation(), 0..8),
    ) {
        let frozen = intersect(&permissions, &policy, &scope).freeze();
        let mut revoked = Revoked::default();
        for count in 0..=revocations.len() {
            let taken = &revocations[..count];
            if let Some(last) = taken.last() {
                revoked.add(last);
            }
            for effect @ (kind, name, operation) in every_effect() {
                let is_allowed = frozen.allows(kind, name, operation)
                    && !revoked.has(kind, name, operation);
                let is_right = is_inside((&permissions, &policy, &scope), effect)
                    && !is_taken(taken, effect);
                prop_assert_eq!(is_allowed, is_right, "{:?} after {:?}", effect, taken);
            }
            for right in Right::ALL {
                let is_allowed = frozen.may(right) && !revoked.has_right(right);
                let is_asked = right != Right::Ask || policy.delivery.interactions;
                let is_right = permissions.rights().any(|it| it == right)
                    && scope.rights.contains(&right)
                    && is_asked
                    && !taken.contains(&Revocation::Right(right));
                prop_assert_eq!(is_allowed, is_right, "{:?} after {:?}", right, taken);
            }
            prop_assert_eq!(revoked.is_without_state(), taken.contains(&Revocation::State));
        }
    }

    #[test]
    fn what_is_left_is_what_was_granted_and_not_taken(
        authority in authority(),
        revocations in vec(revocation(), 0..8),
    ) {
        let mut revoked = Revoked::default();
        for revocation in &revocations {
            revoked.add(revocation);
        }
        let left = revoked.taken_from(&authority);
        for effect @ (kind, name, operation) in every_effect() {
            let is_right = authority.allows(kind, name, operation) && !is_taken(&revocations, effect);
            prop_assert_eq!(left.allows(kind, name, operation), is_right, "{:?}", effect);
            prop_assert_eq!(left.clone().freeze().allows(kind, name, operation), is_right);
        }
        for right in Right::ALL {
            let is_taken = revocations.contains(&Revocation::Right(right));
            prop_assert_eq!(left.rights.contains(&right), authority.rights.contains(&right) && !is_taken);
        }
        let is_usable = authority.state.is_usable() && !revocations.contains(&Revocation::State);
        prop_assert_eq!(left.state.is_usable(), is_usable);
        prop_assert_eq!(revoked.taken_from(&left), left, "nothing is taken twice");
    }

    #[test]
    fn children_may_at_most_what_their_parents_may(
        parent in authority(),
        since in authority(),
        tools in prop::option::of(some(&NAMES)),
    ) {
        let tools: Option<Vec<String>> =
            tools.map(|tools| tools.into_iter().map(str::to_owned).collect());
        let child = parent.clone().with_tools(tools.as_deref()).narrowed_to(&since);
        let grandchild = child.narrowed_to(&child);
        prop_assert_eq!(&grandchild, &child, "nothing is lost by being looked at twice");
        for (kind, name, operation) in every_effect() {
            if child.allows(kind, name, operation) {
                prop_assert!(parent.allows(kind, name, operation));
                prop_assert!(since.allows(kind, name, operation));
            }
        }
        prop_assert!(child.rights.is_subset(&parent.rights));
        for scope in StateScope::ALL {
            let both = parent.state.may_use(scope) && since.state.may_use(scope);
            prop_assert_eq!(child.state.may_use(scope), both);
        }
    }
}
