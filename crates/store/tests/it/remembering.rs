//! What was said stays in order, is found again by those who said it and by nobody else, and what a runner remembers
//! is kept by name.

use serde_json::{Value as Json, json};
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{RunId, SessionId};
use talaria_domain::scope::{ScopeHolder, ScopeIdentity, ScopeKey};
use talaria_store::search::{self, Hit};
use talaria_store::sessions::{self, Tail};
use talaria_store::state::{self, Page, Remembered, Swap};
use talaria_store::transcripts::{self, Entry, Speaker, Stretch, Utterance, Visibility};
use talaria_store::{Conflict, StoreError};

use crate::world::{World, person};

fn utterance(world: &World, text: &str) -> Utterance {
    Utterance {
        speaker: Speaker::User,
        text: text.to_owned(),
        detail: Json::Null,
        run: None,
        at: world.now(),
    }
}

/// Appends to a session; gives the entry's number.
async fn says(world: &World, session: SessionId, text: &str) -> i64 {
    let said = utterance(world, text);
    world
        .write(move |tx| transcripts::append(tx, session, &said))
        .await
}

/// A session of `who` in which all of this was said.
async fn said(world: &World, who: &str, texts: &[&str]) -> SessionId {
    let opening = world.opening(who);
    let session = world.write(move |tx| sessions::resolve(tx, &opening)).await;
    for text in texts {
        says(world, session, text).await;
    }
    session
}

async fn hits(world: &World, who: &str, words: &str) -> Vec<Hit> {
    let (owner, words) = (person(who).key(), words.to_owned());
    world
        .read(move |tx| search::search(tx, owner, &words, 100))
        .await
}

/// The texts that `who` finds.
async fn found(world: &World, who: &str, words: &str) -> Vec<String> {
    let hits = hits(world, who, words).await;
    hits.into_iter().map(|hit| hit.text).collect()
}

async fn shown(world: &World, session: SessionId) -> Vec<String> {
    let shown = world
        .read(move |tx| transcripts::shown(tx, session, 0, 100))
        .await;
    shown.into_iter().map(|entry| entry.text).collect()
}

async fn index_entries(world: &World) -> i64 {
    let count = world
        .read(|tx| {
            tx.row("SELECT COUNT(*) FROM transcript_search", &[], |row| {
                row.get(0)
            })
        })
        .await;
    count.unwrap()
}

async fn rebuild(world: &World) {
    let mut after = 0;
    while let Some(last) = world
        .write(move |tx| search::rebuild_from(tx, after, 2))
        .await
    {
        after = last;
    }
}

fn scope(id: &str) -> ScopeKey {
    let (kind, id) = ("user".to_owned(), id.to_owned());
    let (runner, binding) = ("local".into(), "b".into());
    let holder = ScopeHolder::Actor { kind, id };
    ScopeIdentity {
        runner,
        binding,
        holder,
    }
    .key()
}

async fn remembers(world: &World, scope: ScopeKey, name: &str, value: Json) -> i64 {
    let (name, at) = (name.to_owned(), world.now());
    world
        .write(move |tx| state::set(tx, scope, &name, &value, at))
        .await
}

async fn names(world: &World, scope: ScopeKey, prefix: &'static str) -> Vec<String> {
    let listed = world.read(move |tx| state::list(tx, scope, prefix)).await;
    listed.into_iter().map(|(name, _)| name).collect()
}

both_engines! {
    async fn sessions_count_their_entries_for_themselves(world) {
        let (_, session) = world.says("ada", "hello").await;
        assert_eq!(says(world, session, "one").await, 1);
        assert_eq!(says(world, session, "two").await, 2);
        world.says("ada", "are you there?").await;
        assert_eq!(says(world, session, "three").await, 3);
        assert_eq!(says(world, world.says("bob", "hello").await.1, "one").await, 1);
        assert_eq!(world.read(move |tx| sessions::get(tx, session)).await.last_seq, 3);
        assert_eq!(shown(world, session).await, ["one", "two", "three"]);
    }

    async fn an_entry_comes_back_as_it_was_said(world) {
        let session = said(world, "ada", &[]).await;
        let mut expected = Vec::new();
        for (seq, speaker) in (1..).zip([Speaker::System, Speaker::User, Speaker::Assistant, Speaker::Tool]) {
            let (text, run) = ("quotes ' \" and ? and \u{1f980}\n".to_owned(), Some(world.id(RunId::from_bytes)));
            let (detail, at) = (json!({ "calls": [{ "id": "c1", "weight": 0.5 }] }), world.now());
            let said = Utterance { speaker, text: text.clone(), detail: detail.clone(), run, at };
            assert_eq!(world.write(move |tx| transcripts::append(tx, session, &said)).await, seq);
            expected.push(Entry { seq, speaker, text, detail, run, visibility: Visibility::Shown, at });
        }
        assert_eq!(world.read(move |tx| transcripts::page(tx, session, 0, 100)).await, expected);
        let middle = world.read(move |tx| transcripts::page(tx, session, 1, 2)).await;
        assert_eq!(middle, expected[1..3]);
    }

    async fn a_conversation_has_a_history_once_something_was_said_in_it_or_in_one_before_it(world) {
        let opening = world.opening("ada");
        let key = opening.key_id();
        assert!(!world.read(move |tx| sessions::has_history(tx, key)).await, "there is none");
        let (_, session) = world.says("ada", "hello").await;
        assert!(!world.read(move |tx| sessions::has_history(tx, key)).await, "nobody has answered");
        says(world, session, "hello").await;
        assert!(world.read(move |tx| sessions::has_history(tx, key)).await);
        let next = world.opening("ada");
        world.write(move |tx| sessions::reset(tx, &next, "new")).await;
        assert!(world.read(move |tx| sessions::has_history(tx, key)).await, "another one came before");
        let other = world.opening("bob").key_id();
        assert!(!world.read(move |tx| sessions::has_history(tx, other)).await);
    }

    async fn what_was_said_meanwhile_is_not_written_over(world) {
        let (_, session) = world.says("ada", "hello").await;
        let owner = world.read(move |tx| sessions::get(tx, session)).await.owner;
        let told = |last, text| {
            let said = [utterance(world, text)];
            world.write(move |tx| transcripts::append_after(tx, (session, Tail { owner, last }), &said))
        };
        assert_eq!(told(0, "one").await, 1);
        assert_eq!(told(1, "two").await, 2);
        assert_eq!(told(0, "three").await, 3, "it had come further");
        assert_eq!(shown(world, session).await, ["one", "two", "three"]);
    }

    async fn what_is_not_in_the_index_yet_is_found_however_it_is_written(world) {
        let all = ["a HERON", "the \u{212a}iwi", "he日本ron", "herons", "50% of_it"];
        said(world, "ada", &all).await;
        for (words, expected) in [("heron", vec![2, 0]), ("kiwi", vec![1]), ("日", vec![2]), ("of it", vec![4]), ("iwi", vec![])] {
            let expected: Vec<&str> = expected.into_iter().map(|at: usize| all[at]).collect();
            assert_eq!(found(world, "ada", words).await, expected, "{words}");
        }
    }

    async fn nothing_is_said_in_a_session_that_does_not_exist(world) {
        let (session, said) = (world.id(SessionId::from_bytes), utterance(world, "hello?"));
        let refused = world.refusal(move |tx| transcripts::append(tx, session, &said)).await;
        assert!(matches!(refused, StoreError::NotFound { .. }), "{refused:?}");
    }

    async fn what_is_undone_or_compacted_is_out_of_sight_and_still_there(world) {
        let session = said(world, "ada", &["a", "b", "c", "d", "e"]).await;
        let hide = |from, to, what| world.write(move |tx| transcripts::hide(tx, session, &[Stretch { from, to }], what));
        assert_eq!(hide(1, 2, Visibility::Compacted).await, 2);
        assert_eq!(hide(2, 4, Visibility::Undone).await, 2, "what is out of sight stays as it is");
        assert_eq!(shown(world, session).await, ["e"]);
        let lines = world.read(move |tx| transcripts::lines(tx, session, 100)).await;
        assert_eq!(lines.iter().map(|line| (line.seq, line.text.as_str())).collect::<Vec<_>>(), [(5, "e")]);
        let last = world.read(move |tx| sessions::get(tx, session)).await.last_seq;
        assert_eq!(last, 7, "whatever changes what is shown takes a number");
        let several = [Stretch::one(5), Stretch::one(5), Stretch::one(6)];
        world.write(move |tx| transcripts::hide(tx, session, &several, Visibility::Shown)).await;
        let last = world.read(move |tx| sessions::get(tx, session)).await.last_seq;
        assert_eq!(last, 8, "one number, however much is hidden at once");
        assert_eq!(world.read(move |tx| transcripts::shown(tx, session, 5, 100)).await, []);
        let all = world.read(move |tx| transcripts::page(tx, session, 0, 100)).await;
        let all: Vec<_> = all.iter().map(|entry| (entry.text.as_str(), entry.visibility)).collect();
        let (compacted, undone) = (Visibility::Compacted, Visibility::Undone);
        assert_eq!(all, [("a", compacted), ("b", compacted), ("c", undone), ("d", undone), ("e", Visibility::Shown)]);
    }

    async fn nobody_finds_anybody_elses_words(world) {
        let ada = said(world, "ada", &["the heron is blue, canaryada"]).await;
        said(world, "bob", &["the heron is blue, canarybob"]).await;
        assert_eq!(found(world, "ada", "heron blue").await, ["the heron is blue, canaryada"]);
        assert_eq!(found(world, "bob", "heron blue").await, ["the heron is blue, canarybob"]);
        assert_eq!(found(world, "ada", "canarybob").await, Vec::<String>::new());
        assert_eq!(found(world, "cyd", "heron").await, Vec::<String>::new());
        let key = person("bob").key().0.to_string();
        for words in [key.clone(), format!("owner:{key}"), format!("heron\" OR owner : \"{key}")] {
            assert_eq!(found(world, "ada", &words).await, Vec::<String>::new(), "{words}");
        }
        let hit = hits(world, "ada", "canaryada").await.remove(0);
        assert_eq!((hit.session, hit.seq, hit.at), (ada, 1, world.now()));
    }

    async fn all_words_must_be_there_in_any_order_and_case(world) {
        said(world, "ada", &["The Ledger keeps every durable fact", "the ledger forgets"]).await;
        let expected = [("ledger", 2), ("FACT ledger", 1), ("Durable, FACT!", 1), ("ledger nothing", 0), ("ledge", 0)];
        for (words, count) in expected {
            assert_eq!(found(world, "ada", words).await.len(), count, "{words}");
        }
    }

    async fn writing_without_spaces_is_found_by_its_characters(world) {
        said(world, "ada", &["東京は日本の首都です", "我爱北京", "สวัสดีครับ", "カタカナ and latin"]).await;
        let expected = [("京", 2), ("日本", 1), ("東北", 0), ("北京", 1), ("で", 1), ("ว", 1), ("カナ latin", 1), ("首x", 0)];
        for (words, count) in expected {
            assert_eq!(found(world, "ada", words).await.len(), count, "{words}");
        }
    }

    async fn words_of_any_writing_are_whole_words_on_both_engines(world) {
        let texts = ["Übung macht", "İstanbul", "हिन्दी भाषा", "Ⓐ anarchy", "ⅷ kings", "１２ drummers", "nai\u{308}ve"];
        said(world, "ada", &texts).await;
        let expected = [
            ("ÜBUNG", 1), ("ubung", 0), ("istanbul", 1), ("भाषा", 1), ("भ", 0), ("ष", 0), ("Ⓐ", 1), ("ⓐ", 1),
            ("Ⅷ", 1), ("१", 0), ("１２", 1), ("12", 0), ("ⓑ", 0), ("naïve", 0), ("\u{1f980}", 0),
        ];
        for (words, count) in expected {
            assert_eq!(found(world, "ada", words).await.len(), count, "{words}");
        }
    }

    async fn signs_in_a_query_mean_nothing(world) {
        said(world, "ada", &["heron or crane", "not near"]).await;
        let harmless = [
            "heron*", "\"heron\"", "'heron'", "heron:", "heron & crane", "heron | crane", "!heron", "-heron", "^heron",
            "(heron", "heron)", "{heron}", "\\heron\\", "heron''crane", "heron\"\"crane", "heron:*", "heron <-> crane",
            "%heron%", "heron;--", "heron\u{0}crane", "$1 heron ?1",
        ];
        for words in harmless {
            let expected = usize::from(!words.contains('1'));
            assert_eq!(found(world, "ada", words).await.len(), expected, "{words}");
        }
        for words in ["heron NOT crane", "heron AND crane", "NEAR(heron crane)", "terms:heron", "owner:heron"] {
            assert_eq!(found(world, "ada", words).await, Vec::<String>::new(), "{words}: its words are words");
        }
        assert_eq!(found(world, "ada", "heron OR crane").await, ["heron or crane"]);
    }

    async fn nothing_is_found_by_a_query_without_words(world) {
        said(world, "ada", &["heron", ""]).await;
        for words in ["", "   ", "*", "\"\"", "!&|:", "\u{1f980}"] {
            assert_eq!(found(world, "ada", words).await, Vec::<String>::new(), "{words:?}");
        }
    }

    async fn what_was_undone_is_not_found_and_what_was_compacted_is(world) {
        let session = said(world, "ada", &["heron one", "heron two", "heron three"]).await;
        for (seq, what) in [(1, Visibility::Undone), (2, Visibility::Compacted)] {
            let stretch = Stretch { from: seq, to: seq };
            world.write(move |tx| transcripts::hide(tx, session, &[stretch], what)).await;
        }
        assert_eq!(found(world, "ada", "heron").await, ["heron three", "heron two"]);
    }

    async fn the_newest_is_found_first_over_all_sessions_of_its_owner(world) {
        let before = said(world, "ada", &["heron 1", "heron 2"]).await;
        let opening = world.opening("ada");
        let after = world.write(move |tx| sessions::reset(tx, &opening, "fresh")).await;
        said(world, "bob", &["heron 3"]).await;
        says(world, after, "heron 4").await;
        says(world, before, "heron 5").await;
        assert_eq!(found(world, "ada", "heron").await, ["heron 5", "heron 4", "heron 2", "heron 1"]);
        let owner = person("ada").key();
        let newest = world.read(move |tx| search::search(tx, owner, "heron", 2)).await;
        assert_eq!(newest.iter().map(|hit| hit.session).collect::<Vec<_>>(), [before, after]);
    }

    async fn what_is_in_the_index_and_what_is_not_yet_is_found_once(world) {
        let (_, session) = world.says("ada", "hello").await;
        let at = world.now();
        world.write(move |tx| {
            for number in 0..600 {
                let (speaker, text) = (Speaker::User, format!("heron {number}"));
                let said = Utterance { speaker, text, detail: json!(null), run: None, at };
                transcripts::append(tx, session, &said)?;
            }
            Ok(())
        }).await;
        let owner = person("ada").key();
        let mut is_more = true;
        while is_more {
            let hits = world.read(move |tx| search::search(tx, owner, "heron", 1_000)).await;
            let numbers: Vec<i64> = hits.iter().map(|hit| hit.seq).collect();
            assert_eq!(numbers, (1..=600).rev().collect::<Vec<i64>>(), "newest first, each once");
            for (words, expected) in [("heron 3", 4), ("heron 599", 600), ("crane", 0)] {
                let hits = world.read(move |tx| search::search(tx, owner, words, 10)).await;
                assert_eq!(hits.first().map_or(0, |hit| hit.seq), expected, "{words}");
            }
            is_more = world.write(search::catch_up).await;
        }
        assert_eq!(index_entries(world).await, 600, "all of them have arrived there");
    }

    async fn an_erased_session_leaves_neither_text_nor_index(world) {
        let session = said(world, "ada", &["heron one", "heron two", "..."]).await;
        said(world, "bob", &["heron three"]).await;
        world.write(|tx| search::rebuild_from(tx, 0, 100)).await;
        assert_eq!(world.write(move |tx| transcripts::erase(tx, session)).await, 3);
        assert_eq!(world.read(move |tx| transcripts::page(tx, session, 0, 100)).await, []);
        assert_eq!(found(world, "ada", "heron").await, Vec::<String>::new());
        assert_eq!(index_entries(world).await, 1);
        assert_eq!(found(world, "bob", "heron").await, ["heron three"]);
        assert_eq!(says(world, session, "crane").await, 4, "numbers are not used twice");
        assert_eq!(found(world, "ada", "heron").await, Vec::<String>::new());
        assert_eq!(found(world, "ada", "crane").await, ["crane"]);
    }

    async fn a_rebuilt_index_finds_the_same(world) {
        said(world, "ada", &["heron one", "crane two", "", "heron three", "鶴"]).await;
        said(world, "bob", &["heron four"]).await;
        let queries = [("ada", "heron"), ("ada", "crane"), ("bob", "heron"), ("ada", "鶴")];
        let mut before = Vec::new();
        for (who, words) in queries {
            before.push(hits(world, who, words).await);
        }
        world.write(search::clear).await;
        assert_eq!(hits(world, "ada", "heron").await, []);
        rebuild(world).await;
        for ((who, words), before) in queries.into_iter().zip(before) {
            assert!(!before.is_empty());
            assert_eq!(hits(world, who, words).await, before, "{who}: {words}");
        }
    }

    async fn what_is_said_while_the_index_is_rebuilt_is_found_once(world) {
        let session = said(world, "ada", &["heron one", "heron two"]).await;
        world.write(search::clear).await;
        says(world, session, "heron three").await;
        rebuild(world).await;
        assert_eq!(found(world, "ada", "heron").await, ["heron three", "heron two", "heron one"]);
        world.write(move |tx| transcripts::erase(tx, session)).await;
        assert_eq!(index_entries(world).await, 0);
        for _ in 0..3 {
            says(world, session, "crane").await;
        }
        assert_eq!(found(world, "ada", "heron").await, Vec::<String>::new(), "nothing stayed behind");
    }

    async fn a_very_long_text_is_stored_whole_and_found_by_an_early_word(world) {
        let mut words = vec!["heron".to_owned(), "x".repeat(100_000)];
        words.extend((0..120_000).map(|number| format!("w{number:07}")));
        let (text, giant) = (words.join(" "), words[1].clone());
        assert!(text.len() > 1_000_000);
        let session = said(world, "ada", &[&text]).await;
        let stored = world.read(move |tx| transcripts::page(tx, session, 0, 1)).await;
        assert!(stored[0].text == text, "it is not what was said");
        for words in ["heron", "w0000017 heron", giant.as_str()] {
            assert_eq!(found(world, "ada", words).await.len(), 1, "{}", &words[..5]);
        }
        assert_eq!(found(world, "ada", "crane").await.len(), 0);
    }

    async fn a_very_long_query_is_answered(world) {
        said(world, "ada", &["heron"]).await;
        let words: Vec<String> = (0..50_000).map(|number| format!("w{number}")).collect();
        assert_eq!(found(world, "ada", &words.join(" ")).await, Vec::<String>::new());
        assert_eq!(found(world, "ada", &"heron ".repeat(50_000)).await, ["heron"]);
    }

    async fn a_value_is_remembered_with_its_version(world) {
        let ada = scope("ada");
        assert_eq!(world.read(move |tx| state::get(tx, ada, "tea")).await, None);
        for (version, value) in (1..).zip([json!("green"), json!({ "kinds": ["black", null] }), Json::Null]) {
            assert_eq!(remembers(world, ada, "tea", value.clone()).await, version);
            let remembered = world.read(move |tx| state::get(tx, ada, "tea")).await;
            let remembered = remembered.unwrap();
            assert_eq!((remembered.value, remembered.version), (value, version));
        }
        let bob = scope("bob");
        assert_eq!(world.read(move |tx| state::get(tx, bob, "tea")).await, None);
    }

    async fn a_change_counts_only_if_nobody_was_first(world) {
        let (ada, at) = (scope("ada"), world.now());
        let swap = |expected, value| {
            let swap = Swap { expected, value, at };
            world.ledger.write(move |tx| state::compare_and_set(tx, ada, "tea", &swap))
        };
        assert_eq!(swap(0, json!("green")).await, Ok(1));
        assert_eq!(swap(1, json!("black")).await, Ok(2));
        for expected in [0, 1, 3] {
            let found = 2;
            assert_eq!(swap(expected, json!("white")).await, Err(Conflict::Version { expected, found }.into()));
        }
        let remembered = world.read(move |tx| state::get(tx, ada, "tea")).await.unwrap();
        assert_eq!((remembered.value, remembered.version), (json!("black"), 2));
    }

    async fn of_many_changes_at_once_one_counts(world) {
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..16 {
            let (ledger, ada) = (world.ledger.clone(), scope("ada"));
            let swap = Swap { expected: 0, value: json!(number), at: world.now() };
            tasks.spawn(async move { ledger.write(move |tx| state::compare_and_set(tx, ada, "tea", &swap)).await });
        }
        let outcomes = tasks.join_all().await;
        let lost = Err(Conflict::Version { expected: 0, found: 1 }.into());
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == Ok(1)).count(), 1, "{outcomes:?}");
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == lost).count(), 15, "{outcomes:?}");
    }

    async fn a_forgotten_value_is_gone(world) {
        let ada = scope("ada");
        remembers(world, ada, "tea", json!("green")).await;
        remembers(world, ada, "teapot", json!("red")).await;
        assert!(world.write(move |tx| state::delete(tx, ada, "tea")).await);
        assert!(!world.write(move |tx| state::delete(tx, ada, "tea")).await);
        assert_eq!(names(world, ada, "").await, ["teapot"]);
    }

    async fn names_are_listed_by_their_bytes_under_exactly_their_prefix(world) {
        let ada = scope("ada");
        for name in ["b", "a", "B", "a%c", "abc", "a_c", "ä", "äpfel", "A%c", "茶", "茶碗"] {
            remembers(world, ada, name, json!(name)).await;
        }
        remembers(world, scope("bob"), "a%bob", json!(1)).await;
        let expected: [(&str, &[&str]); 8] = [
            ("", &["A%c", "B", "a", "a%c", "a_c", "abc", "b", "ä", "äpfel", "茶", "茶碗"]),
            ("a", &["a", "a%c", "a_c", "abc"]),
            ("a%", &["a%c"]),
            ("a_", &["a_c"]),
            ("%", &[]),
            ("ä", &["ä", "äpfel"]),
            ("茶", &["茶", "茶碗"]),
            ("abcd", &[]),
        ];
        for (prefix, names_with_it) in expected {
            assert_eq!(names(world, ada, prefix).await, names_with_it, "{prefix}");
        }
        let listed = world.read(move |tx| state::list(tx, ada, "B")).await;
        let at = world.now();
        let remembered = Remembered { value: json!("B"), version: 1, created_at: at, updated_at: at };
        assert_eq!(listed, [("B".to_owned(), remembered)]);
    }

    async fn a_value_knows_when_it_was_first_and_last_set_until_it_is_forgotten(world) {
        let ada = scope("ada");
        let set = async |at: i64| {
            let at = Timestamp::from_millis(at);
            world.write(move |tx| state::set(tx, ada, "tea", &json!(1), at)).await
        };
        let times = async || {
            let listed = world.read(move |tx| state::list(tx, ada, "")).await;
            let kept = world.read(move |tx| state::get(tx, ada, "tea")).await.unwrap();
            assert_eq!(listed, [("tea".to_owned(), kept.clone())]);
            (kept.created_at.as_millis(), kept.updated_at.as_millis())
        };
        set(1_000).await;
        assert_eq!(times().await, (1_000, 1_000));
        set(5_000).await;
        assert_eq!(times().await, (1_000, 5_000));
        let swap = Swap { expected: 2, value: json!(2), at: Timestamp::from_millis(7_000) };
        world.write(move |tx| state::compare_and_set(tx, ada, "tea", &swap)).await;
        assert_eq!(times().await, (1_000, 7_000));
        world.write(move |tx| state::delete(tx, ada, "tea")).await;
        set(9_000).await;
        assert_eq!(times().await, (9_000, 9_000), "forgetting is forgetting");
    }

    async fn a_page_goes_on_where_the_last_one_ended(world) {
        let ada = scope("ada");
        for name in ["a_1", "a_2", "a%3", "b"] {
            remembers(world, ada, name, json!(name)).await;
        }
        remembers(world, scope("bob"), "a_9", json!(9)).await;
        let page = async |prefix: &str, after: Option<&str>, limit: u32| {
            let page = Page { prefix: prefix.to_owned(), after: after.map(str::to_owned), limit };
            let found = world.read(move |tx| state::page(tx, ada, &page)).await;
            found.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(page("", None, 2).await, ["a%3", "a_1"]);
        assert_eq!(page("", Some("a_1"), 2).await, ["a_2", "b"]);
        assert_eq!(page("a_", None, 10).await, ["a_1", "a_2"]);
        assert_eq!(page("a_", Some("a_2"), 10).await, [""; 0]);
        assert_eq!(world.read(move |tx| state::count(tx, ada)).await, 4);
        assert_eq!(world.read(|tx| state::count(tx, scope("cyd"))).await, 0);
    }

    async fn several_scopes_are_shown_at_once_and_what_is_too_much_is_left_out(world) {
        let [ada, bob] = ["ada", "bob"].map(scope);
        remembers(world, ada, "tea", json!("green")).await;
        remembers(world, bob, "tea", json!("x".repeat(50))).await;
        remembers(world, scope("cyd"), "tea", json!("hers")).await;
        let shown = async |scopes: Vec<ScopeKey>, most: u32, largest: u32| {
            let shown = world.read(move |tx| state::shown(tx, &scopes, most, largest)).await;
            let values: Vec<_> = shown.values.into_iter().map(|(scope, _, value)| (scope, value)).collect();
            (values, shown.is_whole)
        };
        assert_eq!(shown(vec![], 10, 100).await, (vec![], true));
        assert_eq!(shown(vec![ada], 10, 100).await, (vec![(ada, json!("green"))], true));
        let (both, is_whole) = shown(vec![ada, bob], 10, 100).await;
        assert_eq!((both.len(), is_whole), (2, true));
        assert_eq!(shown(vec![ada, bob], 10, 20).await, (vec![(ada, json!("green"))], false), "one is too large");
        let (few, is_whole) = shown(vec![ada, bob], 1, 100).await;
        assert_eq!((few.len(), is_whole), (1, false), "there are more");
    }

    async fn the_newest_before_a_number_come_in_order_without_what_was_undone(world) {
        let session = said(world, "ada", &["one", "two", "three", "four", "five"]).await;
        let stretch = Stretch { from: 2, to: 2 };
        world.write(move |tx| transcripts::hide(tx, session, &[stretch], Visibility::Undone)).await;
        let stretch = Stretch { from: 3, to: 3 };
        world.write(move |tx| transcripts::hide(tx, session, &[stretch], Visibility::Compacted)).await;
        let before = async |number: i64, limit: u32| {
            let found = world.read(move |tx| transcripts::before(tx, session, number, limit)).await;
            found.into_iter().map(|entry| entry.text).collect::<Vec<_>>()
        };
        assert_eq!(before(i64::MAX, 2).await, ["four", "five"]);
        assert_eq!(before(4, 10).await, ["one", "three"]);
        let numbered = world.read(move |tx| transcripts::numbered(tx, session, &[5, 2, 1, 99])).await;
        let texts: Vec<_> = numbered.into_iter().map(|entry| entry.text).collect();
        assert_eq!(texts, ["one", "five"]);
    }

    async fn a_search_in_one_session_finds_nothing_of_another(world) {
        let own = said(world, "ada", &["red apples", "pears", "green apples"]).await;
        said(world, "bob", &["apples"]).await;
        let opening = world.opening("ada");
        let later = world.write(move |tx| sessions::reset(tx, &opening, "new")).await;
        says(world, later, "apples again").await;
        let owner = person("ada").key();
        let find = async |session: SessionId, limit: u32| {
            let hits = world.read(move |tx| search::search_in(tx, (owner, session), "apples", limit)).await;
            hits.into_iter().map(|hit| hit.text).collect::<Vec<_>>()
        };
        assert_eq!(find(own, 10).await, ["green apples", "red apples"]);
        assert_eq!(find(own, 1).await, ["green apples"]);
        assert_eq!(find(later, 10).await, ["apples again"]);
        rebuild(world).await;
        assert_eq!(find(own, 10).await, ["green apples", "red apples"], "from the index, too");
        assert_eq!(find(later, 10).await, ["apples again"]);
    }

    async fn clearing_a_scope_leaves_the_others(world) {
        for who in ["ada", "bob"] {
            remembers(world, scope(who), "tea", json!("green")).await;
            remembers(world, scope(who), "milk", json!(false)).await;
        }
        assert_eq!(world.write(|tx| state::clear(tx, scope("ada"))).await, 2);
        assert_eq!(names(world, scope("ada"), "").await, Vec::<String>::new());
        assert_eq!(names(world, scope("bob"), "").await, ["milk", "tea"]);
    }
}

/// On the engine where they wait.
#[tokio::test]
async fn entries_that_nobody_has_time_for_are_indexed_by_the_writer_before_they_are_too_many() {
    let world = World::sqlite().await;
    let (_, session) = world.says("ada", "hello").await;
    let at = world.now();
    let mut waiting = Vec::new();
    for round in 1..=4_i64 {
        let append = move |tx: &mut talaria_store::Tx<'_>| {
            let said = (0..50_000).map(|_| Utterance {
                speaker: Speaker::User,
                text: "heron".to_owned(),
                detail: json!(null),
                run: None,
                at,
            });
            let said: Vec<Utterance> = said.collect();
            transcripts::append_all(tx, session, &said).map(drop)
        };
        world.write(append).await;
        waiting.push(round * 50_000 - index_entries(&world).await);
    }
    assert_eq!(waiting[..2], [50_000, 100_000], "at first they wait");
    assert!(waiting.iter().all(|count| *count < 132_000), "{waiting:?}");
    world.end().await;
}
