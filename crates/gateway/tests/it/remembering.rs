//! What is remembered for runs, on both engines: whose it is, who may, what is refused and why. Stories are named after
//! what they show.
#![expect(
    clippy::panic,
    reason = "an answer of another kind is a defect of the answer"
)]

use serde_json::{Value, json};
use talaria_domain::clock::Timestamp;
use talaria_domain::effects::{Memory, MemoryAnswer, MemoryRequest, Refusal, RefusalCode};
use talaria_domain::scope::{Snapshot, StatePolicy, StateScope};
use talaria_gateway::state::{self, rules};
use talaria_store::{Durability, Ledger, Settings};

use rules::{Drawers, Facts, Owner};

/// Makes a story into two tests, one for each engine.
macro_rules! both_engines {
    ($($(#[$attribute:meta])* async fn $name:ident($shelf:ident) $body:block)*) => {$(
        $(#[$attribute])*
        mod $name {
            use super::*;

            async fn story($shelf: &Shelf) $body

            #[tokio::test]
            async fn sqlite() {
                let directory = tempfile::tempdir().unwrap();
                let url = format!("sqlite:{}", directory.path().join("store.db").display());
                let shelf = Shelf::open(url).await;
                story(&shelf).await;
                shelf.ledger.close().await;
            }

            #[tokio::test]
            async fn postgres() {
                let made = tokio::task::spawn_blocking(talaria_sim::servers::fresh_database);
                let shelf = Shelf::open(made.await.unwrap().unwrap()).await;
                story(&shelf).await;
                shelf.ledger.close().await;
            }
        }
    )*};
}

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

/// A ledger to remember in.
struct Shelf {
    ledger: Ledger,
}

impl Shelf {
    async fn open(url: String) -> Self {
        let settings = Settings {
            url,
            durability: Durability::Process,
            clock: None,
        };
        let ledger = Ledger::open_with(settings).await.unwrap();
        Self { ledger }
    }

    async fn asks(
        &self,
        drawers: &Drawers,
        memory: Memory,
        request: MemoryRequest,
    ) -> Result<MemoryAnswer, Refusal> {
        let drawers = drawers.clone();
        let asked = move |tx: &mut talaria_store::Tx<'_>| {
            state::answer(tx, &drawers, (memory, &request), NOW)
        };
        self.ledger.write(asked).await.unwrap()
    }

    async fn sets(
        &self,
        drawers: &Drawers,
        memory: Memory,
        key: &str,
        value: Value,
    ) -> Result<i64, Refusal> {
        let set = MemoryRequest::Set {
            key: key.to_owned(),
            value,
            expected: None,
        };
        self.asks(drawers, memory, set)
            .await
            .map(|answer| match answer {
                MemoryAnswer::Stored { version } => version,
                other => panic!("{other:?}"),
            })
    }

    async fn gets(&self, drawers: &Drawers, memory: Memory, key: &str) -> Option<Value> {
        let key = key.to_owned();
        match self.asks(drawers, memory, MemoryRequest::Get { key }).await {
            Ok(MemoryAnswer::Found(found)) => found.map(|kept| kept.value),
            other => panic!("{other:?}"),
        }
    }

    async fn deletes(&self, drawers: &Drawers, memory: Memory, key: &str) -> bool {
        let key = key.to_owned();
        match self
            .asks(drawers, memory, MemoryRequest::Delete { key })
            .await
        {
            Ok(MemoryAnswer::Deleted(was_there)) => was_there,
            other => panic!("{other:?}"),
        }
    }

    async fn lists(
        &self,
        drawers: &Drawers,
        memory: Memory,
        (prefix, after, limit): (&str, Option<&str>, usize),
    ) -> (Vec<String>, bool) {
        let list = MemoryRequest::List {
            prefix: prefix.to_owned(),
            after: after.map(str::to_owned),
            limit,
        };
        match self.asks(drawers, memory, list).await {
            Ok(MemoryAnswer::Listed { kept, has_more }) => {
                (kept.into_iter().map(|(key, _)| key).collect(), has_more)
            }
            other => panic!("{other:?}"),
        }
    }

    async fn snapshot(&self, drawers: &Drawers) -> Snapshot {
        let drawers = drawers.clone();
        let read = self.ledger.read(move |tx| state::snapshot(tx, &drawers));
        read.await.unwrap()
    }
}

const CONVERSATION: Memory = Memory::State(StateScope::Conversation);
const ACTOR: Memory = Memory::State(StateScope::Actor);

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

fn talk(conversation: &str, thread: Option<&str>, actor: &str) -> Facts {
    Facts {
        conversation: Some(conversation.to_owned()),
        thread: thread.map(str::to_owned),
        actor: Some((None, actor.to_owned())),
        subject: Some((Some("message".to_owned()), "42".to_owned())),
    }
}

fn drawers() -> Drawers {
    Drawers::of(&owner("r", "b"), &talk("talk", None, "ada"))
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
    Drawers::of(&owner, &talk("talk", None, "ada"))
}

fn names(snapshot: &Snapshot, scope: StateScope) -> Vec<&str> {
    let values = &snapshot.scopes[&scope];
    values.keys().map(String::as_str).collect()
}

/// What the conversation is called, as a run is told.
async fn called(shelf: &Shelf, drawers: &Drawers) -> Value {
    let snapshot = shelf.snapshot(drawers).await;
    snapshot.scopes[&StateScope::Conversation]["external.conversation_id"].clone()
}

/// What begins so, after that one, at most so many: what is found, and whether there is more.
type Listing = (
    &'static str,
    Option<&'static str>,
    usize,
    &'static [&'static str],
    bool,
);

both_engines! {
    async fn a_fresh_snapshot_has_all_four_scopes_and_the_seeded_external_id(shelf) {
        let snapshot = shelf.snapshot(&drawers()).await;
        assert_eq!(snapshot.scopes.len(), 4);
        assert_eq!(names(&snapshot, StateScope::Conversation), ["external.conversation_id"]);
        let seeded = &snapshot.scopes[&StateScope::Conversation]["external.conversation_id"];
        assert_eq!(*seeded, json!("talk"));
        assert_eq!(shelf.gets(&drawers(), CONVERSATION, "external.conversation_id").await, None, "it is not kept");
    }

    async fn what_was_set_is_in_the_next_snapshot_nested_as_it_was(shelf) {
        let nested = json!({ "steps": [1, { "deep": null }, "ä"], "is": true, "ratio": 0.5 });
        for scope in StateScope::ALL {
            assert_eq!(shelf.sets(&drawers(), Memory::State(scope), "plan", nested.clone()).await, Ok(1));
        }
        let snapshot = shelf.snapshot(&drawers()).await;
        for scope in StateScope::ALL {
            assert_eq!(snapshot.scopes[&scope]["plan"], nested, "{scope:?}");
            assert_eq!(shelf.gets(&drawers(), Memory::State(scope), "plan").await, Some(nested.clone()));
        }
    }

    async fn a_snapshot_is_a_copy(shelf) {
        shelf.sets(&drawers(), ACTOR, "tea", json!({ "kind": "green" })).await.unwrap();
        let mut snapshot = shelf.snapshot(&drawers()).await;
        let values = snapshot.scopes.get_mut(&StateScope::Actor).unwrap();
        values.insert("tea".to_owned(), json!("none"));
        values.insert("milk".to_owned(), json!(true));
        let again = shelf.snapshot(&drawers()).await;
        assert_eq!(again.scopes[&StateScope::Actor], [("tea".to_owned(), json!({ "kind": "green" }))].into());
        shelf.sets(&drawers(), ACTOR, "tea", json!("black")).await.unwrap();
        assert_eq!(again.scopes[&StateScope::Actor]["tea"], json!({ "kind": "green" }), "a later change is not in it");
    }

    async fn the_alias_is_the_external_key_in_get_set_delete_and_list(shelf) {
        let own = drawers();
        shelf.sets(&own, CONVERSATION, "conversation_id", json!("theirs")).await.unwrap();
        shelf.sets(&own, CONVERSATION, "conversation_ids", json!("another")).await.unwrap();
        assert_eq!(shelf.gets(&own, CONVERSATION, "conversation_id").await, Some(json!("theirs")));
        assert_eq!(shelf.gets(&own, CONVERSATION, "external.conversation_id").await, Some(json!("theirs")));
        let (found, has_more) = shelf.lists(&own, CONVERSATION, ("conversation_id", None, 10)).await;
        assert_eq!((found, has_more), (vec!["external.conversation_id".to_owned()], false));
        assert!(shelf.deletes(&own, CONVERSATION, "conversation_id").await);
        assert_eq!(shelf.gets(&own, CONVERSATION, "external.conversation_id").await, None);
    }

    async fn the_external_id_is_a_value_and_never_part_of_a_key(shelf) {
        let own = drawers();
        shelf.sets(&own, CONVERSATION, "plan", json!("kept")).await.unwrap();
        shelf.sets(&own, CONVERSATION, "external.conversation_id", json!("theirs")).await.unwrap();
        let snapshot = shelf.snapshot(&drawers()).await;
        let values = &snapshot.scopes[&StateScope::Conversation];
        assert_eq!(values["plan"], json!("kept"), "nothing moved");
        assert_eq!(values["external.conversation_id"], json!("theirs"), "and the seed does not overwrite it");
        assert_eq!(shelf.sets(&own, CONVERSATION, "external.conversation_id", json!("later")).await, Ok(2));
        assert_eq!(shelf.gets(&own, CONVERSATION, "plan").await, Some(json!("kept")));
    }

    async fn two_runners_bindings_conversations_threads_actors_and_subjects_are_isolated(shelf) {
        shelf.sets(&drawers(), CONVERSATION, "it", json!("ours")).await.unwrap();
        shelf.sets(&drawers(), ACTOR, "it", json!("ours")).await.unwrap();
        shelf.sets(&drawers(), Memory::State(StateScope::Subject), "it", json!("ours")).await.unwrap();
        shelf.sets(&drawers(), Memory::State(StateScope::Runner), "it", json!("ours")).await.unwrap();
        let sees = async |drawers: &Drawers| {
            let snapshot = shelf.snapshot(drawers).await;
            StateScope::ALL.map(|scope| snapshot.scopes[&scope].contains_key("it"))
        };
        let here = || talk("talk", None, "ada");
        let subject = Facts { subject: Some((None, "43".to_owned())), ..here() };
        assert_eq!(sees(&drawers()).await, [true; 4]);
        assert_eq!(sees(&Drawers::of(&owner("s", "b"), &here())).await, [false; 4]);
        assert_eq!(sees(&Drawers::of(&owner("r", "c"), &here())).await, [false; 4]);
        let own = owner("r", "b");
        assert_eq!(sees(&Drawers::of(&own, &talk("other", None, "ada"))).await, [false, true, true, true]);
        assert_eq!(sees(&Drawers::of(&own, &talk("talk", None, "bob"))).await, [true, false, true, true]);
        assert_eq!(sees(&Drawers::of(&own, &subject)).await, [true, true, false, true]);
    }

    async fn conversation_state_is_scoped_by_thread(shelf) {
        let own = owner("r", "b");
        let [none, one, two] = [None, Some("1"), Some("2")].map(|it| Drawers::of(&own, &talk("talk", it, "ada")));
        shelf.sets(&one, CONVERSATION, "topic", json!("tea")).await.unwrap();
        assert_eq!(shelf.gets(&one, CONVERSATION, "topic").await, Some(json!("tea")));
        assert_eq!(shelf.gets(&two, CONVERSATION, "topic").await, None);
        assert_eq!(shelf.gets(&none, CONVERSATION, "topic").await, None);
    }

    async fn disabled_state_gives_four_empty_scopes_and_refuses_updates(shelf) {
        shelf.sets(&drawers(), ACTOR, "tea", json!("green")).await.unwrap();
        let off = with_policy(false, &StateScope::ALL);
        assert_eq!(shelf.snapshot(&off).await, Snapshot::default());
        let refusal = shelf.sets(&off, ACTOR, "tea", json!("black")).await.unwrap_err();
        assert_eq!(refusal.code, RefusalCode::Disabled);
        assert!(refusal.reason.contains("disabled"), "{refusal}");
        assert_eq!(shelf.gets(&drawers(), ACTOR, "tea").await, Some(json!("green")));
    }

    async fn a_scope_outside_the_policy_is_empty_and_refuses_updates(shelf) {
        shelf.sets(&drawers(), CONVERSATION, "plan", json!(1)).await.unwrap();
        shelf.sets(&drawers(), ACTOR, "tea", json!("green")).await.unwrap();
        let few = with_policy(true, &[StateScope::Actor]);
        let snapshot = shelf.snapshot(&few).await;
        assert_eq!(names(&snapshot, StateScope::Conversation), [""; 0], "not even the seed");
        assert_eq!(names(&snapshot, StateScope::Actor), ["tea"]);
        let refusal = shelf.sets(&few, CONVERSATION, "plan", json!(2)).await.unwrap_err();
        assert!(refusal.reason.contains("not enabled"), "{refusal}");
        assert_eq!(shelf.gets(&drawers(), CONVERSATION, "plan").await, Some(json!(1)));
    }

    async fn a_missing_identity_gives_an_empty_scope_and_refuses_updates(shelf) {
        let nobody = Drawers::of(&owner("r", "b"), &Facts::default());
        let snapshot = shelf.snapshot(&nobody).await;
        assert_eq!(snapshot.scopes, Snapshot::default().scopes);
        assert_eq!(snapshot.open, [StateScope::Runner].into(), "nobody in particular is always there");
        for scope in [StateScope::Conversation, StateScope::Actor, StateScope::Subject] {
            let refusal = shelf.sets(&nobody, Memory::State(scope), "it", json!(1)).await.unwrap_err();
            assert_eq!(refusal.code, RefusalCode::NotFound);
        }
        shelf.sets(&nobody, Memory::State(StateScope::Runner), "it", json!(1)).await.unwrap();
        assert_eq!(names(&shelf.snapshot(&nobody).await, StateScope::Runner), ["it"]);
    }

    async fn the_scopes_that_are_open_are_those_that_are_allowed_and_held(shelf) {
        let open = async |drawers: &Drawers| shelf.snapshot(drawers).await.open.into_iter().collect::<Vec<_>>();
        assert_eq!(open(&drawers()).await, StateScope::ALL);
        let few = with_policy(true, &[StateScope::Actor, StateScope::Runner]);
        assert_eq!(open(&few).await, [StateScope::Actor, StateScope::Runner]);
        assert_eq!(open(&with_policy(true, &[])).await, []);
        assert_eq!(open(&with_policy(false, &StateScope::ALL)).await, []);
        let nameless = Facts { actor: None, ..talk("talk", None, "ada") };
        let nameless = Drawers::of(&owner("r", "b"), &nameless);
        assert_eq!(open(&nameless).await, [StateScope::Conversation, StateScope::Subject, StateScope::Runner]);
    }

    async fn an_external_id_renames_the_live_conversation_for_all_of_its_runners(shelf) {
        let own = drawers();
        let colleague = Drawers::of(&owner("s", "c"), &talk("talk", None, "bob"));
        assert_eq!(called(shelf, &colleague).await, json!("talk"));
        shelf.sets(&own, CONVERSATION, "conversation_id", json!("theirs")).await.unwrap();
        assert_eq!(called(shelf, &own).await, json!("theirs"));
        assert_eq!(called(shelf, &colleague).await, json!("theirs"), "one that keeps none is told the same");
        assert_eq!(shelf.gets(&colleague, CONVERSATION, "external.conversation_id").await, None, "and keeps none");
        shelf.sets(&colleague, CONVERSATION, "external.conversation_id", json!("mine")).await.unwrap();
        assert_eq!(called(shelf, &colleague).await, json!("mine"));
        assert_eq!(called(shelf, &own).await, json!("theirs"), "what a runner keeps is its own");
        shelf.deletes(&own, CONVERSATION, "conversation_id").await;
        assert_eq!(called(shelf, &own).await, json!("talk"), "forgotten is forgotten");
        assert_eq!(called(shelf, &colleague).await, json!("mine"));
    }

    async fn only_an_id_in_the_conversations_own_scope_renames_it(shelf) {
        let own = drawers();
        let seen = Drawers::of(&owner("s", "c"), &talk("talk", None, "bob"));
        for memory in [ACTOR, Memory::State(StateScope::Runner), Memory::Plugin, Memory::Workspace] {
            shelf.sets(&own, memory, "external.conversation_id", json!("no")).await.unwrap();
        }
        shelf.sets(&own, CONVERSATION, "plan", json!("no")).await.unwrap();
        for odd in [json!(""), json!(7), json!(null), json!({ "id": "no" })] {
            shelf.sets(&own, CONVERSATION, "external.conversation_id", odd).await.unwrap();
        }
        assert_eq!(called(shelf, &seen).await, json!("talk"));
        shelf.sets(&own, CONVERSATION, "external.conversation_id", json!("theirs")).await.unwrap();
        for (conversation, thread) in [("other", None), ("talk", Some("1"))] {
            let elsewhere = Drawers::of(&owner("s", "c"), &talk(conversation, thread, "bob"));
            assert_eq!(called(shelf, &elsewhere).await, json!(conversation), "{thread:?}");
        }
        let blind = with_policy(true, &[StateScope::Actor]);
        assert_eq!(names(&shelf.snapshot(&blind).await, StateScope::Conversation), [""; 0]);
        let refusal = shelf.sets(&blind, CONVERSATION, "external.conversation_id", json!("no")).await;
        assert!(refusal.is_err());
        assert_eq!(called(shelf, &seen).await, json!("theirs"), "what is refused renames nothing");
    }

    async fn clearing_what_a_runner_keeps_does_not_rename_the_conversation_back(shelf) {
        let own = drawers();
        shelf.sets(&own, CONVERSATION, "external.conversation_id", json!("theirs")).await.unwrap();
        shelf.sets(&own, CONVERSATION, "plan", json!("long")).await.unwrap();
        shelf.asks(&own, CONVERSATION, MemoryRequest::Clear).await.unwrap();
        assert_eq!(names(&shelf.snapshot(&own).await, StateScope::Conversation), ["external.conversation_id"]);
        assert_eq!(called(shelf, &own).await, json!("theirs"), "it is what the conversation is called");
    }

    async fn a_seed_never_stands_for_an_id_that_was_too_much_to_show(shelf) {
        let own = drawers();
        let place = own.key(StateScope::Conversation).unwrap();
        let fill = move |tx: &mut talaria_store::Tx<'_>| {
            (0..300).try_for_each(|number| {
                let key = format!("a {number:05}");
                talaria_store::state::set(tx, place, &key, &json!(number), NOW).map(drop)
            })
        };
        shelf.ledger.write(fill).await.unwrap();
        shelf.sets(&own, CONVERSATION, "external.conversation_id", json!("theirs")).await.unwrap();
        let snapshot = shelf.snapshot(&own).await;
        assert!(!snapshot.is_whole);
        assert_eq!(snapshot.scopes[&StateScope::Conversation]["external.conversation_id"], json!("theirs"));
    }

    async fn a_conversation_is_known_by_its_life_and_the_same_in_every_snapshot(shelf) {
        let own = owner("r", "b");
        let [before, after] = ["life 1", "life 2"].map(|life| Drawers::of(&own, &talk(life, None, "ada")));
        shelf.sets(&before, CONVERSATION, "plan", json!("long")).await.unwrap();
        for _ in 0..2 {
            let again = Drawers::of(&own, &talk("life 1", None, "ada"));
            assert_eq!(shelf.snapshot(&again).await.scopes[&StateScope::Conversation]["plan"], json!("long"));
        }
        assert_eq!(names(&shelf.snapshot(&after).await, StateScope::Conversation), ["external.conversation_id"]);
        assert_eq!(called(shelf, &after).await, json!("life 2"));
    }

    async fn actor_subject_and_runner_memory_go_beyond_one_conversation(shelf) {
        let scopes = [StateScope::Actor, StateScope::Subject, StateScope::Runner];
        for scope in scopes {
            shelf.sets(&drawers(), Memory::State(scope), "it", json!("ours")).await.unwrap();
        }
        let elsewhere = Drawers::of(&owner("r", "b"), &talk("another", Some("7"), "ada"));
        for scope in scopes {
            assert_eq!(shelf.gets(&elsewhere, Memory::State(scope), "it").await, Some(json!("ours")), "{scope:?}");
        }
    }

    async fn the_alias_counts_in_every_scope(shelf) {
        for scope in StateScope::ALL {
            let memory = Memory::State(scope);
            shelf.sets(&drawers(), memory, "conversation_id", json!("theirs")).await.unwrap();
            let kept = shelf.gets(&drawers(), memory, "external.conversation_id").await;
            assert_eq!(kept, Some(json!("theirs")), "{scope:?}");
        }
    }

    async fn a_value_is_kept_with_the_times_it_was_first_and_last_set(shelf) {
        shelf.sets(&drawers(), ACTOR, "tea", json!("green")).await.unwrap();
        let (own, later) = (drawers(), Timestamp::from_millis(NOW.as_millis() + 60_000));
        let set = MemoryRequest::Set { key: "tea".to_owned(), value: json!("black"), expected: None };
        let set = move |tx: &mut talaria_store::Tx<'_>| state::answer(tx, &own, (ACTOR, &set), later);
        shelf.ledger.write(set).await.unwrap().unwrap();
        let get = MemoryRequest::Get { key: "tea".to_owned() };
        let Ok(MemoryAnswer::Found(Some(kept))) = shelf.asks(&drawers(), ACTOR, get).await else {
            panic!("it is gone");
        };
        assert_eq!((kept.created_at, kept.updated_at, kept.version), (NOW, later, 2));
    }

    async fn clearing_a_scope_leaves_the_others_alone(shelf) {
        for memory in [CONVERSATION, ACTOR] {
            for key in ["one", "two"] {
                shelf.sets(&drawers(), memory, key, json!(1)).await.unwrap();
            }
        }
        let cleared = shelf.asks(&drawers(), ACTOR, MemoryRequest::Clear).await;
        assert_eq!(cleared, Ok(MemoryAnswer::Cleared(2)));
        let snapshot = shelf.snapshot(&drawers()).await;
        assert_eq!(names(&snapshot, StateScope::Actor), [""; 0]);
        assert_eq!(names(&snapshot, StateScope::Conversation), ["external.conversation_id", "one", "two"]);
    }

    async fn delete_says_whether_there_was_one_and_it_is_gone(shelf) {
        shelf.sets(&drawers(), ACTOR, "tea", json!("green")).await.unwrap();
        assert!(shelf.deletes(&drawers(), ACTOR, "tea").await);
        assert!(!shelf.deletes(&drawers(), ACTOR, "tea").await);
        assert_eq!(names(&shelf.snapshot(&drawers()).await, StateScope::Actor), [""; 0]);
    }

    async fn null_is_a_value_and_absent_is_not(shelf) {
        shelf.sets(&drawers(), ACTOR, "tea", Value::Null).await.unwrap();
        assert_eq!(shelf.gets(&drawers(), ACTOR, "tea").await, Some(Value::Null));
        assert_eq!(shelf.gets(&drawers(), ACTOR, "milk").await, None);
        assert_eq!(shelf.snapshot(&drawers()).await.scopes[&StateScope::Actor]["tea"], Value::Null);
    }

    async fn a_list_has_literal_prefixes_pages_and_says_whether_there_is_more(shelf) {
        for key in ["a_1", "a%2", "ab3", "b", "ä"] {
            shelf.sets(&drawers(), ACTOR, key, json!(key)).await.unwrap();
        }
        let table: [Listing; 7] = [
            ("", None, 10, &["a%2", "a_1", "ab3", "b", "ä"], false),
            ("", None, 5, &["a%2", "a_1", "ab3", "b", "ä"], false),
            ("", None, 2, &["a%2", "a_1"], true),
            ("", Some("a_1"), 2, &["ab3", "b"], true),
            ("a_", None, 10, &["a_1"], false),
            ("a%", None, 10, &["a%2"], false),
            ("c", None, 10, &[], false),
        ];
        for (prefix, after, limit, expected, more) in table {
            let (found, has_more) = shelf.lists(&drawers(), ACTOR, (prefix, after, limit)).await;
            let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
            assert_eq!((found, has_more), (expected, more), "{prefix} {after:?}");
        }
    }

    async fn a_value_or_key_that_is_too_large_is_refused_and_changes_nothing(shelf) {
        shelf.sets(&drawers(), ACTOR, "tea", json!("green")).await.unwrap();
        let refusal = shelf.sets(&drawers(), ACTOR, "tea", json!("x".repeat(300 * 1_024))).await.unwrap_err();
        assert!(refusal.code == RefusalCode::TooLarge && refusal.reason.contains("exceeds the limit"), "{refusal}");
        let refusal = shelf.sets(&drawers(), ACTOR, &"k".repeat(256), json!(1)).await.unwrap_err();
        assert_eq!(refusal.code, RefusalCode::TooLarge);
        assert_eq!(shelf.gets(&drawers(), ACTOR, "tea").await, Some(json!("green")));
        let longest = "k".repeat(255);
        assert_eq!(shelf.sets(&drawers(), ACTOR, &longest, json!("x".repeat(rules::LARGEST_VALUE - 2))).await, Ok(1));
    }

    async fn there_is_an_end_to_how_much_one_place_keeps(shelf) {
        let own = drawers();
        let most = i64::try_from(rules::MOST_KEYS).unwrap();
        let filled = own.key(StateScope::Actor).unwrap();
        let fill = move |tx: &mut talaria_store::Tx<'_>| {
            (0..most).try_for_each(|number| {
                let key = format!("key {number:05}");
                talaria_store::state::set(tx, filled, &key, &json!(number), NOW).map(drop)
            })
        };
        shelf.ledger.write(fill).await.unwrap();
        let refusal = shelf.sets(&own, ACTOR, "one more", json!(1)).await.unwrap_err();
        assert_eq!(refusal.code, RefusalCode::TooLarge);
        assert_eq!(shelf.gets(&own, ACTOR, "one more").await, None);
        assert_eq!(shelf.sets(&own, ACTOR, "key 00000", json!("again")).await, Ok(2), "what is there can change");
        let snapshot = shelf.snapshot(&own).await;
        assert!(!snapshot.is_whole && snapshot.scopes[&StateScope::Actor].len() <= 256);
    }

    async fn a_snapshot_leaves_large_values_to_be_asked_for_and_says_so(shelf) {
        shelf.sets(&drawers(), ACTOR, "small", json!(1)).await.unwrap();
        assert!(shelf.snapshot(&drawers()).await.is_whole);
        shelf.sets(&drawers(), ACTOR, "large", json!("x".repeat(200_000))).await.unwrap();
        let snapshot = shelf.snapshot(&drawers()).await;
        assert!(!snapshot.is_whole);
        assert_eq!(names(&snapshot, StateScope::Actor), ["small"]);
        assert!(shelf.gets(&drawers(), ACTOR, "large").await.is_some());
    }

    async fn compare_and_set_counts_once(shelf) {
        let swap = |expected: i64, value: i64| MemoryRequest::Set {
            key: "count".to_owned(),
            value: json!(value),
            expected: Some(expected),
        };
        assert_eq!(shelf.asks(&drawers(), ACTOR, swap(0, 1)).await, Ok(MemoryAnswer::Stored { version: 1 }));
        let refusal = shelf.asks(&drawers(), ACTOR, swap(0, 2)).await.unwrap_err();
        assert_eq!(refusal.code, RefusalCode::Conflict);
        assert!(refusal.reason.contains("expected version 0, found 1"), "{refusal}");
        assert_eq!(shelf.asks(&drawers(), ACTOR, swap(1, 2)).await, Ok(MemoryAnswer::Stored { version: 2 }));
        assert_eq!(shelf.gets(&drawers(), ACTOR, "count").await, Some(json!(2)));
    }

    async fn eight_first_writes_at_once_all_succeed_and_one_value_is_left(shelf) {
        let own = drawers();
        let writes = (0..8).map(|number| shelf.sets(&own, ACTOR, "first", json!(number)));
        let outcomes = futures::future::join_all(writes).await;
        let mut versions: Vec<i64> = outcomes.into_iter().map(Result::unwrap).collect();
        versions.sort_unstable();
        assert_eq!(versions, [1, 2, 3, 4, 5, 6, 7, 8]);
        let kept = shelf.gets(&own, ACTOR, "first").await.unwrap();
        assert!((0..8).any(|number| kept == json!(number)), "{kept}");
    }

    async fn plugin_and_workspace_are_stores_of_their_own(shelf) {
        let here = talk("talk", None, "ada");
        let there = talk("elsewhere", Some("7"), "bob");
        let own = Drawers::of(&owner("r", "b"), &here);
        shelf.sets(&own, Memory::Plugin, "token", json!("a")).await.unwrap();
        shelf.sets(&own, Memory::Workspace, "token", json!("b")).await.unwrap();
        let everywhere = Drawers::of(&owner("r", "c"), &there);
        assert_eq!(shelf.gets(&everywhere, Memory::Plugin, "token").await, Some(json!("a")), "in every conversation");
        let colleague = Drawers::of(&owner("s", "b"), &here);
        assert_eq!(shelf.gets(&colleague, Memory::Plugin, "token").await, None, "the runner's own");
        assert_eq!(shelf.gets(&colleague, Memory::Workspace, "token").await, Some(json!("b")), "its profile's");
        let stranger = Drawers::of(&Owner { profile: "other".into(), ..owner("r", "b") }, &here);
        assert_eq!(shelf.gets(&stranger, Memory::Plugin, "token").await, None);
        assert_eq!(shelf.gets(&stranger, Memory::Workspace, "token").await, None);
        assert_eq!(shelf.gets(&own, ACTOR, "token").await, None, "and no state");
        shelf.sets(&own, Memory::Plugin, "conversation_id", json!(1)).await.unwrap();
        assert_eq!(shelf.gets(&own, Memory::Plugin, "external.conversation_id").await, None, "no alias in a store");
    }

    async fn a_set_get_list_delete_round_comes_out_even(shelf) {
        let own = drawers();
        assert_eq!(shelf.sets(&own, ACTOR, "tea", json!({ "kind": "green" })).await, Ok(1));
        assert_eq!(shelf.gets(&own, ACTOR, "tea").await, Some(json!({ "kind": "green" })));
        assert_eq!(shelf.lists(&own, ACTOR, ("t", None, 10)).await, (vec!["tea".to_owned()], false));
        assert!(shelf.deletes(&own, ACTOR, "tea").await);
        assert_eq!(shelf.lists(&own, ACTOR, ("", None, 10)).await, (Vec::new(), false));
    }
}
