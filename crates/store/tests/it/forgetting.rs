//! Conversations that are erased with every word of them, others that go on from one, and what is remembered for a while
//! only.

use std::time::Duration;

use serde_json::{Value as Json, json};
use talaria_domain::delivery::ReplyKind;
use talaria_domain::ids::SessionId;
use talaria_domain::run::{RunEvent, RunOutcome, Usage};
use talaria_domain::session_key::SessionKeyId;
use talaria_store::erasure::{self, Erased, Estate};
use talaria_store::leases::{self, LeaseName};
use talaria_store::maintenance::integrity;
use talaria_store::maintenance::prune::{Retention, prune};
use talaria_store::passing::{self, Span};
use talaria_store::sessions::{Apart, Opening};
use talaria_store::transcripts::{self, Speaker, Stretch, Utterance, Visibility};
use talaria_store::{StoreError, bind, forking, inbox, keys, runs, search, sessions, state};

use crate::world::{World, direct_chat, person, scope};

fn said(world: &World, text: &str) -> Utterance {
    Utterance {
        speaker: Speaker::User,
        text: text.to_owned(),
        detail: Json::Null,
        run: None,
        at: world.now(),
    }
}

/// `who` says something and is answered, with something in every table.
async fn answered(world: &World, who: &str, text: &str) -> SessionId {
    let (event, session) = world.says(who, text).await;
    let lane = world.lane(session, "north").await;
    let run = world.admits(who, &lane).await;
    let (lease, at, words) = (lane.clone(), world.now(), said(world, text));
    world
        .write(move |tx| {
            inbox::claim(tx, &lease, run, at)?;
            runs::start(tx, &lease, run, at)?;
            let text = words.text.clone();
            runs::append(tx, &lease, run, &RunEvent::Log { text }, at)?;
            transcripts::append(tx, session, &words)
        })
        .await;
    let target = LeaseName::Target(direct_chat(who).target());
    let target = world.lease(target, "north").await;
    let reply = world.answers(who, session, ReplyKind::Final).await;
    let part = world.shows(reply, text).await;
    assert_eq!(world.sends(target.epoch).await, [part]);
    world.arrives(part, target.epoch).await;
    world.finishes(reply).await;
    world
        .write(move |tx| {
            let usage = Usage::default();
            let outcome = completed(usage);
            runs::complete(tx, &lane, run, &outcome, at)?;
            inbox::complete(tx, &lane, event, at)?;
            leases::release(tx, &target)?;
            leases::release(tx, &lane)
        })
        .await;
    session
}

fn completed(usage: Usage) -> RunOutcome {
    let outcome = json!({ "outcome": "completed", "usage": usage });
    serde_json::from_value(outcome).unwrap()
}

/// Another chat of ada's.
fn elsewhere(world: &World) -> Opening {
    let mut key = world.opening("ada").key().clone();
    key.chat = Some("elsewhere".into());
    let (owner, session) = (person("ada").key(), world.id(SessionId::from_bytes));
    Opening::of(key, owner, session, world.now())
}

/// Ada leads it to this conversation; gives its key and the conversation that it had.
async fn leads_elsewhere_to(world: &World, session: SessionId) -> (SessionKeyId, SessionId) {
    let here = elsewhere(world);
    let (key, owner, at) = (here.key_id(), person("ada").key(), world.now());
    let own = world.write(move |tx| {
        let own = sessions::resolve(tx, &here)?;
        sessions::resume(tx, key, owner, session, at)?;
        Ok(own)
    });
    (key, own.await)
}

async fn surveys(world: &World, who: &str, session: SessionId) -> Estate {
    let owner = person(who).key();
    world
        .read(move |tx| erasure::survey(tx, owner, session))
        .await
}

async fn erases(world: &World, who: &str, session: SessionId) -> Erased {
    let estate = surveys(world, who, session).await;
    world.write(move |tx| erasure::erase(tx, &estate)).await
}

/// How much there is in every table that a conversation has something in.
async fn rows(world: &World) -> Vec<i64> {
    world
        .read(|tx| {
            [
                "SELECT COUNT(*) FROM session_keys",
                "SELECT COUNT(*) FROM sessions",
                "SELECT COUNT(*) FROM inbox",
                "SELECT COUNT(*) FROM dedupe",
                "SELECT COUNT(*) FROM runs",
                "SELECT COUNT(*) FROM run_events",
                "SELECT COUNT(*) FROM transcripts",
                "SELECT COUNT(*) FROM replies",
                "SELECT COUNT(*) FROM parts",
                "SELECT COUNT(*) FROM receipts",
                "SELECT COUNT(*) FROM attempts",
            ]
            .into_iter()
            .map(|sql| Ok(tx.row(sql, bind![], |row| row.get(0))?.unwrap()))
            .collect()
        })
        .await
}

async fn finds(world: &World, who: &str, words: &str) -> Vec<String> {
    let (owner, words) = (person(who).key(), words.to_owned());
    let hits = world
        .read(move |tx| search::search(tx, owner, &words, 10))
        .await;
    hits.into_iter().map(|hit| hit.text).collect()
}

async fn shown(world: &World, session: SessionId) -> Vec<String> {
    let entries = world
        .read(move |tx| transcripts::shown(tx, session, 0, 100))
        .await;
    entries.into_iter().map(|entry| entry.text).collect()
}

async fn forks(world: &World, who: &str, from: SessionId) -> SessionId {
    // Another chat of the same person.
    let (owner, opening) = (person(who).key(), world.opening(&format!("{who} again")));
    world
        .write(move |tx| forking::fork(tx, owner, from, &opening))
        .await
}

both_engines! {
    async fn a_conversation_is_erased_with_every_word_and_nothing_else(world) {
        answered(world, "bob", "a heron").await;
        let before = rows(world).await;
        let session = answered(world, "ada", "another heron").await;
        assert!(rows(world).await.iter().zip(&before).all(|(now, before)| now > before));
        assert_eq!(finds(world, "ada", "heron").await, ["another heron"]);
        assert_eq!(erases(world, "ada", session).await, Erased::Gone);
        assert_eq!(rows(world).await, before);
        assert_eq!(finds(world, "ada", "heron").await, Vec::<String>::new());
        assert_eq!(finds(world, "bob", "heron").await, ["a heron"]);
    }

    async fn a_conversation_with_something_open_is_left_as_it_is(world) {
        answered(world, "ada", "a heron").await;
        let (_, session) = world.says("ada", "and a stork").await;
        let before = rows(world).await;
        assert_eq!(erases(world, "ada", session).await, Erased::Busy);
        assert_eq!(rows(world).await, before);
    }

    async fn what_comes_while_it_is_looked_for_is_not_lost(world) {
        let session = answered(world, "ada", "a heron").await;
        let estate = surveys(world, "ada", session).await;
        answered(world, "ada", "and a stork").await;
        let before = rows(world).await;
        let erased = world.write(move |tx| erasure::erase(tx, &estate)).await;
        assert_eq!(erased, Erased::Moved);
        assert_eq!(rows(world).await, before);
        assert_eq!(erases(world, "ada", session).await, Erased::Gone);
    }

    async fn a_conversation_is_erased_by_its_owner_only(world) {
        let session = answered(world, "ada", "a heron").await;
        let (bob, estate) = (person("bob").key(), surveys(world, "ada", session).await);
        let refused = world.refusal(move |tx| erasure::survey(tx, bob, session)).await;
        assert!(matches!(refused, StoreError::NotFound { .. }), "{refused}");
        assert_eq!(world.write(move |tx| erasure::erase(tx, &estate)).await, Erased::Gone);
        let again = person("ada").key();
        let refused = world.refusal(move |tx| erasure::survey(tx, again, session)).await;
        assert!(matches!(refused, StoreError::NotFound { .. }), "{refused}");
    }

    async fn whoever_writes_after_that_begins_anew(world) {
        let first = answered(world, "ada", "a heron").await;
        let opening = world.opening("ada");
        let second = world.write(move |tx| sessions::reset(tx, &opening, "new")).await;
        assert_eq!(erases(world, "ada", second).await, Erased::Gone);
        let third = answered(world, "ada", "a stork").await;
        let session = world.read(move |tx| sessions::get(tx, third)).await;
        assert_eq!((session.generation, session.parent), (1, None));
        assert_eq!(shown(world, first).await, ["a heron"], "what was before stays");
        world.read(move |tx| keys::origin_of(tx, first)).await;
        assert_eq!(erases(world, "ada", first).await, Erased::Gone);
        world.read(move |tx| keys::origin_of(tx, third)).await;
        assert_eq!(erases(world, "ada", third).await, Erased::Gone);
        assert_eq!(rows(world).await, vec![0; 11]);
    }

    async fn a_chat_that_was_led_to_it_begins_anew(world) {
        let first = answered(world, "ada", "a heron").await;
        let (key, second) = leads_elsewhere_to(world, first).await;
        assert_eq!(world.read(integrity::check).await, Vec::<String>::new());
        assert_eq!(erases(world, "ada", first).await, Erased::Gone);
        assert_eq!(world.read(move |tx| keys::current(tx, key)).await, None);
        let next = elsewhere(world);
        let third = world.write(move |tx| {
            let third = sessions::resolve(tx, &next)?;
            sessions::get(tx, third)
        }).await;
        assert_eq!((third.generation, world.read(integrity::check).await), (1, Vec::new()));
        for session in [second, third.id] {
            assert_eq!(erases(world, "ada", session).await, Erased::Gone);
        }
        assert_eq!(rows(world).await, vec![0; 11]);
    }

    async fn a_chat_that_has_nothing_else_goes_with_what_it_was_led_to(world) {
        let first = answered(world, "ada", "a heron").await;
        let (key, second) = leads_elsewhere_to(world, first).await;
        assert_eq!(erases(world, "ada", second).await, Erased::Gone);
        assert_eq!(world.read(move |tx| keys::current(tx, key)).await, Some(first), "it leads there still");
        assert_eq!(world.read(integrity::check).await, Vec::<String>::new());
        assert_eq!(erases(world, "ada", first).await, Erased::Gone);
        assert_eq!(rows(world).await, vec![0; 11]);
    }

    async fn a_chat_that_has_a_conversation_is_not_opened_as_a_new_one(world) {
        let session = answered(world, "ada", "a heron").await;
        let (owner, opening) = (person("ada").key(), world.opening("ada"));
        let key = opening.key_id();
        let before = rows(world).await;
        let refused = world.refusal(move |tx| forking::fork(tx, owner, session, &opening)).await;
        assert!(matches!(refused, StoreError::NotFound { .. }), "{refused}");
        assert_eq!(rows(world).await, before);
        assert_eq!(world.read(move |tx| keys::current(tx, key)).await, Some(session));
    }

    async fn what_agents_did_for_it_goes_with_it(world) {
        let session = answered(world, "ada", "a heron").await;
        let apart = Apart {
            session: world.id(SessionId::from_bytes),
            parent: session,
            owner: person("ada").key(),
            at: world.now(),
        };
        let words = said(world, "look for herons");
        world
            .write(move |tx| {
                sessions::open_apart(tx, &apart)?;
                transcripts::append(tx, apart.session, &words)
            })
            .await;
        assert_eq!(erases(world, "ada", session).await, Erased::Gone);
        assert_eq!(rows(world).await, vec![0; 11]);
    }

    async fn what_goes_on_from_it_stays(world) {
        let session = answered(world, "ada", "a heron").await;
        let fork = forks(world, "ada", session).await;
        assert_eq!(erases(world, "ada", session).await, Erased::Gone);
        assert_eq!(shown(world, fork).await, ["a heron"]);
        let fork = world.read(move |tx| sessions::get(tx, fork)).await;
        assert_eq!(fork.parent, None, "it leads nowhere any more");
    }

    async fn a_fork_has_the_history_so_far_and_a_life_of_its_own(world) {
        let session = answered(world, "ada", "old").await;
        let all: Vec<Utterance> = ["summary", "undone", "last"].map(|text| said(world, text)).into();
        world
            .write(move |tx| {
                transcripts::append_all(tx, session, &all)?;
                let old = Stretch { from: 1, to: 1 };
                transcripts::hide(tx, session, &[old], Visibility::Compacted)?;
                let undone = Stretch { from: 3, to: 3 };
                transcripts::hide(tx, session, &[undone], Visibility::Undone)
            })
            .await;
        let fork = forks(world, "ada", session).await;
        assert_ne!(fork, session);
        assert_eq!(shown(world, fork).await, ["summary", "last"]);
        let entries = world.read(move |tx| transcripts::page(tx, fork, 0, 100)).await;
        let kept: Vec<(i64, &str)> = entries.iter().map(|entry| (entry.seq, entry.text.as_str())).collect();
        assert_eq!(kept, [(1, "old"), (2, "summary"), (3, "last")]);
        let more = said(world, "only here");
        world.write(move |tx| transcripts::append(tx, fork, &more)).await;
        assert_eq!(shown(world, session).await, ["summary", "last"]);
        let (of, owner) = (world.read(move |tx| sessions::get(tx, fork)).await, person("ada").key());
        assert_eq!(of.parent, Some(session));
        let bob = person("bob").key();
        let opening = world.opening("bob");
        let refused = world.refusal(move |tx| forking::fork(tx, bob, session, &opening)).await;
        assert!(matches!(refused, StoreError::NotFound { .. }), "{refused}");
        assert_eq!(world.read(move |tx| sessions::get_owned(tx, owner, session)).await.id, session);
    }

    async fn what_is_remembered_for_a_while_is_pruned_after_it_and_the_rest_stays(world) {
        let hour = Duration::from_hours(1);
        let at = world.now();
        world
            .write(move |tx| {
                let span = |hours| Span { at, until: at.plus(hour * hours) };
                passing::set(tx, scope(), "short", &json!(1), span(1))?;
                passing::set(tx, scope(), "again", &json!(1), span(1))?;
                passing::set(tx, scope(), "again", &json!(2), span(3))?;
                state::set(tx, scope(), "for ever", &json!(1), at).map(drop)
            })
            .await;
        let names = || world.read(|tx| {
            let all = state::list(tx, scope(), "")?;
            Ok(all.into_iter().map(|(name, _)| name).collect::<Vec<_>>())
        });
        let prunes = || {
            let now = world.now();
            world.write(move |tx| prune(tx, Retention::default(), now, 1))
        };
        world.clock.advance(hour);
        assert_eq!(prunes().await, 0, "its time is not over yet");
        world.clock.advance(Duration::from_millis(1));
        assert_eq!(prunes().await, 1);
        assert_eq!(names().await, ["again", "for ever"]);
        world.clock.advance(hour * 3);
        assert_eq!(prunes().await, 1);
        assert_eq!(prunes().await, 0);
        assert_eq!(names().await, ["for ever"]);
    }
}
