//! What is refused, broken or given up in the middle of a turn: the turn ends all the same, its lane goes on, and what an
//! operator sends on its way again arrives.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use talaria_domain::ids::ReplyId;
use talaria_domain::machine::{Machine as _, ReplyState};
use talaria_sim::chat::{Mood, Moods, Offer};
use talaria_store::{dead, outbox};

use crate::world::{Setup, World};

const SOON: Duration = Duration::from_secs(1);

/// A vendor that refuses the first thing it is asked.
#[derive(Default)]
struct RefusesFirst(AtomicUsize);

impl Moods for RefusesFirst {
    fn next(&self) -> Mood {
        match self.0.fetch_add(1, Ordering::SeqCst) {
            0 => Mood::Refusing,
            _ => Mood::Fine,
        }
    }
}

fn refused() -> Setup {
    Setup {
        offer: Offer::Edits,
        moods: Arc::new(RefusesFirst::default()),
        ..Setup::default()
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_turns_out_to_be_silence_is_ended() {
    let setup = Setup {
        offer: Offer::Edits,
        ..Setup::default()
    };
    let world = World::begin(setup).await;
    let event = world.says("ada", "think 5 silent");
    world.ends().await;
    let id = ReplyId::from_bytes(*event.id.as_bytes());
    let reply = world.read(move |tx| outbox::get(tx, id)).await;
    assert_eq!(reply.state, ReplyState::Delivered);
    assert_eq!(world.sees("ada"), ["hm… "], "what people saw stays");
}

#[tokio::test(start_paused = true)]
async fn an_answer_whose_first_words_were_refused_is_kept_and_the_lane_goes_on() {
    for turn in ["think 5", "think 5 fail", "think 5 panic", "think 5 silent"] {
        let world = World::begin(refused()).await;
        let event = world.says("ada", turn);
        world.passes(SOON).await;
        world.says("ada", "next");
        world.ends().await;
        let seen = world.sees("ada");
        assert_eq!(seen.last().map(String::as_str), Some("re: next"), "{turn}");
        let id = ReplyId::from_bytes(*event.id.as_bytes());
        let reply = world.read(move |tx| outbox::get(tx, id)).await;
        assert_eq!(reply.state, ReplyState::Failed, "{turn}");
        let letters = world.read(|tx| dead::list(tx, None, 10)).await;
        assert!(!letters.is_empty(), "{turn}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_letter_that_is_settled_while_its_turn_runs_does_not_hold_the_turn() {
    for is_replayed in [true, false] {
        let world = World::begin(refused()).await;
        world.says("ada", "think 5");
        world.passes(SOON).await;
        let now = world.now();
        let settled = world.ledger.write(move |tx| {
            let letter = dead::list(tx, None, 1)?[0].id;
            if is_replayed {
                dead::replay(tx, letter, now)
            } else {
                dead::drop(tx, letter, now)
            }
        });
        settled.await.unwrap();
        world.says("ada", "next");
        world.ends().await;
        let seen = world.sees("ada");
        assert_eq!(seen.last().unwrap(), "re: next");
        assert_eq!(seen.contains(&"re: think 5".to_owned()), is_replayed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_about_to_be_tried_again_is_stopped_like_one_that_runs() {
    for (command, told) in [
        ("/stop", "Stopped."),
        ("/new", "This is a new conversation"),
    ] {
        let setup = Setup {
            offer: Offer::Edits,
            ..Setup::default()
        };
        let world = World::begin(setup).await;
        let event = world.says("ada", "think 1 panic");
        world.passes(SOON * 2).await;
        world.says("ada", command);
        world.ends().await;
        let seen = world.sees("ada");
        assert_eq!(seen[0], "hm… \n\n(stopped)", "{command}");
        assert!(seen[1].starts_with(told), "{seen:?}");
        assert_eq!(world.script.seen().len(), 1, "it is not tried again");
        let id = ReplyId::from_bytes(*event.id.as_bytes());
        let reply = world.read(move |tx| outbox::get(tx, id)).await;
        assert!(reply.state.is_end(), "{command} {:?}", reply.state);
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_replayed_is_answered_with_all_that_was_merged_into_it() {
    for offer in [Offer::Keys, Offer::Edits] {
        let setup = Setup {
            offer,
            merge_window: Duration::from_secs(2),
            ..Setup::default()
        };
        let mut world = World::begin(setup).await;
        world.says("ada", "think 60");
        world.says("ada", "and more");
        for _ in 0..4 {
            world.passes(SOON * 5).await;
            world.crash().await;
        }
        world.passes(SOON).await;
        let told = world.sees("ada");
        assert!(told[0].starts_with("I could not answer this"), "{told:?}");
        let now = world.now();
        let replayed = world.ledger.write(move |tx| {
            let letter = dead::list(tx, None, 1)?[0].id;
            dead::replay(tx, letter, now)
        });
        replayed.await.unwrap();
        world.ends().await;
        let seen = world.sees("ada");
        assert_eq!(seen.len(), 2, "{seen:?}");
        assert_eq!(seen[1], "re: think 60\n\nand more", "{offer:?}");
    }
}
