//! Who remembers what, and why not.

use std::collections::BTreeSet;

use talaria_sim::people::People;

use super::*;

fn owner(runner: &str, binding: &str) -> Owner {
    Owner {
        profile: "assistant".into(),
        runner: runner.into(),
        binding: binding.into(),
        policy: StatePolicy {
            enable: true,
            scopes: StateScope::ALL.into(),
        },
    }
}

fn facts() -> Facts {
    Facts {
        conversation: Some("talk".to_owned()),
        thread: None,
        actor: Some((Some("user".to_owned()), "7".to_owned())),
        subject: Some((Some("message".to_owned()), "42".to_owned())),
    }
}

fn drawers() -> Drawers {
    Drawers::of(&owner("r", "b"), &facts())
}

fn with_policy(enable: bool, scopes: &[StateScope]) -> Drawers {
    let policy = StatePolicy {
        enable,
        scopes: scopes.iter().copied().collect(),
    };
    let owner = Owner {
        policy,
        ..owner("r", "b")
    };
    Drawers::of(&owner, &facts())
}

fn keys(drawers: &Drawers) -> [Option<ScopeKey>; 4] {
    StateScope::ALL.map(|scope| drawers.key(scope))
}

const CONVERSATION: Memory = Memory::State(StateScope::Conversation);

fn get(key: &str) -> MemoryRequest {
    MemoryRequest::Get {
        key: key.to_owned(),
    }
}

fn set(key: &str, value: Value) -> MemoryRequest {
    let key = key.to_owned();
    MemoryRequest::Set {
        key,
        value,
        expected: None,
    }
}

fn every_request() -> [MemoryRequest; 5] {
    [
        get("key"),
        set("key", json!(1)),
        MemoryRequest::Delete {
            key: "key".to_owned(),
        },
        MemoryRequest::List {
            prefix: String::new(),
            after: None,
            limit: 10,
        },
        MemoryRequest::Clear,
    ]
}

fn refused(drawers: &Drawers, memory: Memory, request: &MemoryRequest) -> Refusal {
    decide(drawers, memory, request).unwrap_err()
}

#[test]
fn every_scope_has_a_key_of_its_own_and_always_the_same() {
    let found: BTreeSet<ScopeKey> = keys(&drawers()).into_iter().flatten().collect();
    assert_eq!(found.len(), 4);
    assert_eq!(keys(&drawers()), keys(&drawers()));
}

#[test]
fn another_runner_binding_conversation_thread_actor_or_subject_is_another_memory() {
    let with = |change: fn(&mut Facts)| {
        let mut facts = facts();
        change(&mut facts);
        Drawers::of(&owner("r", "b"), &facts)
    };
    let table = [
        (Drawers::of(&owner("s", "b"), &facts()), [false; 4]),
        (Drawers::of(&owner("r", "c"), &facts()), [false; 4]),
        (
            with(|it| it.conversation = Some("other".to_owned())),
            [false, true, true, true],
        ),
        (
            with(|it| it.thread = Some("7".to_owned())),
            [false, true, true, true],
        ),
        (
            with(|it| it.actor = Some((None, "8".to_owned()))),
            [true, false, true, true],
        ),
        (
            with(|it| it.actor = Some((Some("bot".to_owned()), "7".to_owned()))),
            [true, false, true, true],
        ),
        (
            with(|it| it.subject = Some((None, "42".to_owned()))),
            [true, true, false, true],
        ),
    ];
    let own = keys(&drawers());
    for (other, expected) in table {
        let pairs = keys(&other).into_iter().zip(own);
        let same: Vec<bool> = pairs.map(|(other, own)| other == own).collect();
        assert_eq!(same, expected);
    }
}

#[test]
fn separators_in_names_do_not_make_two_memories_one() {
    let talk = |conversation: &str, thread: &str| {
        let facts = Facts {
            conversation: Some(conversation.to_owned()),
            thread: Some(thread.to_owned()),
            ..facts()
        };
        Drawers::of(&owner("r", "b"), &facts).key(StateScope::Conversation)
    };
    assert_ne!(talk("a:b", "c"), talk("a", "b:c"));
    let runner = |runner, binding| Drawers::of(&owner(runner, binding), &facts());
    assert_ne!(keys(&runner("a:b", "c")), keys(&runner("a", "b:c")));
}

#[test]
fn an_actor_is_a_user_and_a_subject_is_unknown_unless_somebody_says_more() {
    let named = |kind: Option<&str>| (kind.map(str::to_owned), "7".to_owned());
    let with = |actor: Option<&str>, subject: Option<&str>| {
        let facts = Facts {
            actor: Some(named(actor)),
            subject: Some(named(subject)),
            ..facts()
        };
        keys(&Drawers::of(&owner("r", "b"), &facts))
    };
    assert_eq!(with(None, None), with(Some("user"), Some("unknown")));
    assert_eq!(
        with(Some(""), Some("")),
        with(Some("user"), Some("unknown"))
    );
    assert_ne!(with(None, None), with(Some("bot"), Some("message")));
}

#[test]
fn a_missing_identity_skips_the_scope_and_the_runners_is_always_there() {
    for nobody in [
        Facts::default(),
        Facts {
            conversation: Some(String::new()),
            thread: None,
            actor: Some((None, String::new())),
            subject: Some((Some("message".to_owned()), String::new())),
        },
    ] {
        let drawers = Drawers::of(&owner("r", "b"), &nobody);
        let open: Vec<StateScope> = drawers.open_scopes().iter().map(|(it, _)| *it).collect();
        assert_eq!(open, [StateScope::Runner]);
        for scope in [
            StateScope::Conversation,
            StateScope::Actor,
            StateScope::Subject,
        ] {
            for request in every_request() {
                let refusal = refused(&drawers, Memory::State(scope), &request);
                assert_eq!(refusal.code, RefusalCode::NotFound);
                assert!(refusal.reason.contains(scope.as_str()), "{refusal}");
            }
        }
    }
}

#[test]
fn disabled_state_is_refused_on_read_and_write_whatever_the_scope() {
    let off = with_policy(false, &StateScope::ALL);
    assert!(off.open_scopes().is_empty());
    for scope in StateScope::ALL {
        for request in every_request() {
            let refusal = refused(&off, Memory::State(scope), &request);
            assert_eq!(refusal.code, RefusalCode::Disabled);
            assert!(refusal.reason.contains("disabled"), "{refusal}");
        }
    }
}

#[test]
fn a_scope_that_is_not_enabled_is_refused_on_read_and_write() {
    let few = with_policy(true, &[StateScope::Actor, StateScope::Runner]);
    for request in every_request() {
        for scope in [StateScope::Actor, StateScope::Runner] {
            assert!(decide(&few, Memory::State(scope), &request).is_ok());
        }
        for scope in [StateScope::Conversation, StateScope::Subject] {
            let refusal = refused(&few, Memory::State(scope), &request);
            assert_eq!(refusal.code, RefusalCode::Disabled);
            assert!(refusal.reason.contains("not enabled"), "{refusal}");
            assert!(refusal.reason.contains("actor, runner"), "{refusal}");
        }
    }
}

#[test]
fn what_is_switched_off_comes_before_who_is_missing_and_what_is_wrong() {
    let nobody = |policy| {
        let owner = Owner {
            policy,
            ..owner("r", "b")
        };
        Drawers::of(&owner, &Facts::default())
    };
    let wrong = get("");
    let off = nobody(StatePolicy {
        enable: false,
        ..StatePolicy::default()
    });
    assert!(
        refused(&off, CONVERSATION, &wrong)
            .reason
            .contains("disabled")
    );
    let few = nobody(StatePolicy {
        scopes: [].into(),
        ..StatePolicy::default()
    });
    assert!(
        refused(&few, CONVERSATION, &wrong)
            .reason
            .contains("not enabled")
    );
    let all = nobody(StatePolicy::default());
    assert_eq!(
        refused(&all, CONVERSATION, &wrong).code,
        RefusalCode::NotFound
    );
    assert_eq!(
        refused(&drawers(), CONVERSATION, &wrong).code,
        RefusalCode::Invalid
    );
}

#[test]
fn the_alias_is_mapped_wherever_a_key_can_stand_and_other_keys_are_not() {
    let new = "external.conversation_id".to_owned();
    let step = |request: &MemoryRequest| decide(&drawers(), CONVERSATION, request).unwrap().1;
    assert_eq!(
        step(&get("conversation_id")),
        Step::Get { key: new.clone() }
    );
    let Step::Set { key, .. } = step(&set("conversation_id", json!(1))) else {
        panic!("not set");
    };
    assert_eq!(key, new);
    let delete = MemoryRequest::Delete {
        key: "conversation_id".to_owned(),
    };
    assert_eq!(step(&delete), Step::Delete { key: new.clone() });
    let list = |prefix: &str| MemoryRequest::List {
        prefix: prefix.to_owned(),
        after: Some("conversation_id".to_owned()),
        limit: 3,
    };
    let page = |prefix: &str| Page {
        prefix: prefix.to_owned(),
        after: Some(new.clone()),
        limit: 3,
    };
    assert_eq!(step(&list("conversation_id")), Step::List(page(&new)));
    assert_eq!(
        step(&list("conversation")),
        Step::List(page("conversation"))
    );
    for other in [
        "conversation_ids",
        "external.conversation_id",
        "x.conversation_id",
    ] {
        assert_eq!(
            step(&get(other)),
            Step::Get {
                key: other.to_owned()
            }
        );
    }
    let stored = decide(&drawers(), Memory::Plugin, &get("conversation_id"))
        .unwrap()
        .1;
    let own = "conversation_id".to_owned();
    assert_eq!(
        stored,
        Step::Get { key: own },
        "a store is the runner's own business"
    );
}

#[test]
fn a_key_has_at_most_255_bytes_and_says_something() {
    let longest = "k".repeat(LONGEST_KEY);
    assert!(decide(&drawers(), CONVERSATION, &get(&longest)).is_ok());
    let table = [
        ("k".repeat(256), RefusalCode::TooLarge),
        ("k".repeat(5_000), RefusalCode::TooLarge),
        ("ä".repeat(128), RefusalCode::TooLarge),
        (String::new(), RefusalCode::Invalid),
        ("a\0b".to_owned(), RefusalCode::Invalid),
        ("a\nb".to_owned(), RefusalCode::Invalid),
    ];
    for (key, code) in table {
        for memory in [CONVERSATION, Memory::Plugin, Memory::Workspace] {
            for request in [get(&key), set(&key, json!(1))] {
                assert_eq!(refused(&drawers(), memory, &request).code, code, "{key:?}");
            }
        }
    }
    let list = MemoryRequest::List {
        prefix: "k".repeat(256),
        after: None,
        limit: 1,
    };
    assert_eq!(
        refused(&drawers(), CONVERSATION, &list).code,
        RefusalCode::TooLarge
    );
}

#[test]
fn a_value_has_at_most_256_kib_of_json() {
    // Two bytes are the quotes.
    let text = |bytes: usize| json!("v".repeat(bytes - 2));
    assert!(decide(&drawers(), CONVERSATION, &set("key", text(LARGEST_VALUE))).is_ok());
    for too_large in [text(LARGEST_VALUE + 1), text(300 * 1_024)] {
        let refusal = refused(&drawers(), CONVERSATION, &set("key", too_large));
        assert_eq!(refusal.code, RefusalCode::TooLarge);
        assert!(refusal.reason.contains("exceeds the limit"), "{refusal}");
    }
    for no_json in ["NaN", "Infinity", "-Infinity", "1e999", "{1, 2}"] {
        assert!(serde_json::from_str::<Value>(no_json).is_err(), "{no_json}");
    }
}

#[test]
fn a_limit_is_a_limit_whatever_is_asked_for() {
    for (asked, expected) in [(0, 1), (1, 1), (100, 100), (101, 100), (usize::MAX, 100)] {
        let list = MemoryRequest::List {
            prefix: String::new(),
            after: None,
            limit: asked,
        };
        let Step::List(page) = decide(&drawers(), CONVERSATION, &list).unwrap().1 else {
            panic!("no list");
        };
        assert_eq!(page.limit, expected, "{asked}");
    }
}

#[test]
fn the_external_id_is_seeded_where_the_conversation_may_be_read_and_holds_none() {
    let seeded = |drawers: &Drawers, mut snapshot: Snapshot| {
        seed(drawers, None, &mut snapshot);
        let values = &snapshot.scopes[&StateScope::Conversation];
        values.get("external.conversation_id").cloned()
    };
    let empty = Snapshot::default;
    assert_eq!(seeded(&drawers(), empty()), Some(json!("talk")));
    let mut own = empty();
    let values = own.scopes.get_mut(&StateScope::Conversation).unwrap();
    values.insert("external.conversation_id".to_owned(), json!("theirs"));
    assert_eq!(
        seeded(&drawers(), own),
        Some(json!("theirs")),
        "a value of its own stays"
    );
    assert_eq!(seeded(&with_policy(false, &StateScope::ALL), empty()), None);
    assert_eq!(
        seeded(&with_policy(true, &[StateScope::Actor]), empty()),
        None
    );
    let nowhere = Drawers::of(&owner("r", "b"), &Facts::default());
    assert_eq!(seeded(&nowhere, empty()), None);
}

#[test]
fn stores_are_asked_for_by_their_grants_and_state_by_its_policy() {
    let names = ["get", "set", "delete", "list", "clear"];
    for (request, operation) in every_request().into_iter().zip(names) {
        let of = |memory| {
            let found = store_operation(memory, &request);
            found.map(|(store, operation)| (store.as_str(), operation.as_str()))
        };
        assert_eq!(of(Memory::Plugin), Some(("plugin", operation)));
        assert_eq!(of(Memory::Workspace), Some(("workspace", operation)));
        assert_eq!(of(CONVERSATION), None);
        assert_eq!(is_change(&request), !["get", "list"].contains(&operation));
    }
}

#[test]
fn people_with_one_id_on_two_accounts_are_two_people() {
    let session = SessionId::from_bytes([1; 16]);
    let event = People::default().said("ada", "hello", talaria_domain::clock::Timestamp::ZERO);
    let actor = |event: &Event| Facts::of(event, session).actor;
    let mut elsewhere = event.clone();
    elsewhere.principal.account = "another bot".into();
    assert!(actor(&event).is_some());
    assert_ne!(actor(&event), actor(&elsewhere));
    let mut nobody = event.clone();
    nobody.principal.user = "".into();
    assert_eq!(actor(&nobody), None);
    let mut renamed = event.clone();
    renamed.principal.display_name = Some("Countess".to_owned());
    assert_eq!(actor(&event), actor(&renamed), "names are no identity");
}

#[test]
fn what_an_event_is_about_is_known_by_its_place() {
    let session = SessionId::from_bytes([1; 16]);
    let mut event = People::default().said("ada", "hello", talaria_domain::clock::Timestamp::ZERO);
    event.message = Some("42".into());
    let here = Facts::of(&event, session).subject.unwrap();
    assert_eq!(here.0.as_deref(), Some("message"));
    event.address.chat = "elsewhere".into();
    let there = Facts::of(&event, session).subject.unwrap();
    assert_ne!(
        here, there,
        "the same number in another chat is another message"
    );
    event.message = None;
    assert_eq!(Facts::of(&event, session).subject, None);
}
