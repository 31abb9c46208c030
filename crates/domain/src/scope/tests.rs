//! Structure decides, not characters.

use super::*;

fn conversation(conversation: &str, thread: Option<&str>) -> ScopeIdentity {
    ScopeIdentity {
        runner: "r".into(),
        binding: "b".into(),
        holder: ScopeHolder::Conversation {
            conversation: conversation.to_owned(),
            thread: thread.map(str::to_owned),
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

#[test]
fn there_are_exactly_four_scopes() {
    let names = StateScope::ALL.map(StateScope::as_str);
    assert_eq!(names, ["conversation", "actor", "subject", "runner"]);
    for scope in StateScope::ALL {
        assert_eq!(StateScope::parse(scope.as_str()), Some(scope));
    }
    for name in ["", "workspace", "Conversation", "session"] {
        assert_eq!(StateScope::parse(name), None, "{name}");
        assert!(serde_json::from_value::<StateScope>(name.into()).is_err());
    }
}

#[test]
fn a_runner_binding_profile_or_thread_of_ones_own_is_a_memory_of_ones_own() {
    let key = |runner: &str, binding: &str, holder: ScopeHolder| {
        let (runner, binding) = (runner.into(), binding.into());
        let identity = ScopeIdentity {
            runner,
            binding,
            holder,
        };
        identity.key()
    };
    let keys = [
        key("r", "b", ScopeHolder::Runner),
        key("s", "b", ScopeHolder::Runner),
        key("r", "c", ScopeHolder::Runner),
        conversation("a", None).key(),
        conversation("a", Some("t")).key(),
        conversation("b", None).key(),
        ScopeKey::plugin(&"p".into(), &"r".into()),
        ScopeKey::plugin(&"q".into(), &"r".into()),
        ScopeKey::plugin(&"p".into(), &"s".into()),
        ScopeKey::workspace(&"p".into()),
        ScopeKey::workspace(&"q".into()),
    ];
    let different: BTreeSet<ScopeKey> = keys.into_iter().collect();
    assert_eq!(different.len(), keys.len());
    assert_eq!(
        key("r", "b", ScopeHolder::Runner),
        keys[0],
        "and always the same"
    );
}

#[test]
fn a_snapshot_has_every_scope() {
    let snapshot = Snapshot::default();
    let scopes: Vec<StateScope> = snapshot.scopes.keys().copied().collect();
    assert_eq!(scopes, StateScope::ALL);
    assert!(snapshot.scopes.values().all(BTreeMap::is_empty) && snapshot.is_whole);
}

#[test]
fn what_two_policies_allow_is_what_each_of_them_allows() {
    let off = StatePolicy {
        enable: false,
        ..StatePolicy::default()
    };
    let runner = StatePolicy {
        enable: true,
        scopes: [StateScope::Runner, StateScope::Actor].into(),
    };
    let both = StatePolicy::default().narrowed_to(&runner);
    assert_eq!(both.scopes, [StateScope::Actor].into());
    assert!(!off.narrowed_to(&runner).is_usable());
    assert!(runner.is_usable());
}
