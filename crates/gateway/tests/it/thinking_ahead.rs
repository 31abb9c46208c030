//! A turn thinks while its beginning is still being committed. Nobody notices anything of it before that, and nobody ever
//! does if it turns out that there was no beginning.

use std::sync::Arc;
use std::time::Duration;

use talaria_domain::adapter::Intake as _;
use talaria_domain::event::EventKind;
use talaria_domain::machine::{InboxState, Machine as _};
use talaria_domain::runner::Said;
use talaria_sim::chat::{AlwaysFine, Offer, Vendor};
use talaria_store::ledger::Fate;
use talaria_store::{Ledger, Tx, inbox, outbox, transcripts};

use crate::world::{Setup, World, a_file};

const SOON: Duration = Duration::from_secs(1);
const LATER: Duration = Duration::from_secs(5);

const UNDONE: Fate = Fate::Undone {
    after: LATER,
    is_done_anew: false,
};
const ANEW: Fate = Fate::Undone {
    after: LATER,
    is_done_anew: true,
};

fn visible() -> Setup {
    Setup {
        offer: Offer::Edits,
        marks: true,
        ..Setup::default()
    }
}

/// What was said and answered in the one conversation there is.
async fn transcript(world: &World) -> Vec<String> {
    let session = world.recorded().await[0].session;
    let all = world.read(move |tx| transcripts::shown(tx, session, 0, 100));
    let said = all.await.into_iter();
    said.map(|entry| entry.text).collect()
}

/// A world at rest, in which this becomes of the next call.
async fn fated(setup: Setup, fate: Fate) -> World {
    let world = World::begin(setup).await;
    world.vendor.show_courtesies();
    world.passes(SOON).await;
    world.calls.next_is(fate);
    world
}

#[tokio::test(start_paused = true)]
async fn it_thinks_before_it_is_written_down_and_is_noticed_afterwards() {
    let slow = Fate::Slow {
        before: Duration::ZERO,
        after: LATER,
    };
    let world = fated(visible(), slow).await;
    world.says("ada", "hang");
    world.passes(SOON).await;
    assert_eq!(world.script.seen().len(), 1, "it has begun to think");
    assert!(world.vendor.courtesies().is_empty(), "no sign, no mark");
    assert_eq!(world.vendor.backlog(), 1, "nothing is acknowledged");
    world.passes(LATER).await;
    assert!(!world.vendor.courtesies().is_empty());
    assert_eq!(world.vendor.backlog(), 0);
    world.says("ada", "/stop");
    world.ends().await;
    assert_eq!(world.script.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_never_began_is_never_seen_and_comes_again() {
    for text in ["one", "think 2", "tool 2", "hang"] {
        let world = fated(visible(), UNDONE).await;
        world.says("ada", text);
        world.passes(3 * SOON).await;
        assert_eq!(world.script.seen().len(), 1, "{text}");
        assert!(world.script.effects().is_empty(), "{text}");
        assert!(world.sees("ada").is_empty(), "{text}");
        assert!(world.vendor.courtesies().is_empty(), "{text}");
        assert!(world.recorded().await.is_empty(), "{text}");
        assert_eq!(world.vendor.backlog(), 1, "{text}");
        world.passes(LATER).await;
        let seen = world.script.seen();
        assert_eq!(seen.len(), 2, "{text}: it came again");
        assert_ne!(seen[0].run, seen[1].run, "{text}");
        if text == "hang" {
            world.says("ada", "/stop");
            world.passes(LATER).await;
        }
        world.ends().await;
        assert_eq!(world.gateway.load().turns, 0, "{text}");
        let effects = world.script.effects();
        assert!(effects.iter().all(|(run, _)| *run == seen[1].run), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_has_files_to_fetch_begins_only_once_it_is_written_down() {
    let world = fated(visible(), UNDONE).await;
    let mut event = world.draft("ada", "one");
    if let EventKind::Message(content) = &mut event.kind {
        content.attachments = vec![a_file()];
    }
    world.writes(event);
    world.passes(SOON).await;
    assert!(world.script.seen().is_empty(), "it waits");
    world.ends().await;
    assert_eq!(world.script.seen().len(), 1, "what never began never ran");
    assert_eq!(world.sees("ada").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_beginning_that_is_made_anew_is_the_one_that_counts() {
    for text in ["one", "think 2", "tool 2"] {
        let world = fated(visible(), ANEW).await;
        world.says("ada", text);
        world.ends().await;
        let seen = world.script.seen();
        assert_eq!(seen.len(), 2, "{text}");
        let rows = world.recorded().await;
        assert_eq!(rows.len(), 1, "{text}");
        assert_eq!(rows[0].state, InboxState::Completed, "{text}");
        assert_eq!(rows[0].run, Some(seen[1].run), "{text}");
        let answers = world.sees("ada");
        assert_eq!(answers.len(), 1, "{text}: {answers:?}");
        let asked = transcript(&world).await.into_iter();
        assert_eq!(asked.filter(|said| said == text).count(), 1, "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_goes_on_talking_meanwhile_is_told_what_was_said_before() {
    let world = fated(Setup::default(), ANEW).await;
    world.says("ada", "one");
    world.passes(SOON).await;
    world.says("ada", "two");
    world.ends().await;
    assert_eq!(world.sees("ada"), ["re: one", "re: two"]);
    let last = world.script.seen().pop().unwrap();
    let before: Vec<&str> = last.history.iter().map(|said: &Said| &*said.text).collect();
    assert_eq!(before, ["one", "re: one"]);
}

#[tokio::test(start_paused = true)]
async fn who_knocked_at_a_turn_that_never_was_is_heard() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "zero");
    world.passes(SOON).await;
    world.calls.next_is(UNDONE);
    let event = world.draft("ada", "one");
    let first = world.gateway.accept(event);
    let second = async {
        world.passes(SOON).await;
        world.says("ada", "two");
    };
    let (refused, ()) = tokio::join!(first, second);
    assert!(refused.is_err(), "{refused:?}");
    world.passes(SOON).await;
    assert_eq!(world.sees("ada"), ["re: zero", "re: two"]);
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn who_hands_something_in_and_goes_away_is_answered_all_the_same() {
    let slow = Fate::Slow {
        before: SOON,
        after: SOON,
    };
    let world = fated(Setup::default(), slow).await;
    tokio::select! {
        biased;
        accepted = world.gateway.accept(world.draft("ada", "one")) => panic!("too soon: {accepted:?}"),
        () = std::future::ready(()) => {}
    }
    world.passes(LATER).await;
    assert_eq!(
        world.sees("ada"),
        ["re: one"],
        "long before its lease is over"
    );
    world.ends().await;
}

#[tokio::test]
async fn where_nothing_is_told_ahead_everybody_is_answered_all_the_same() {
    let made = tokio::task::spawn_blocking(talaria_sim::servers::fresh_database);
    let url = made.await.unwrap().unwrap();
    let vendor = Vendor::offering(Offer::Keys, Arc::new(AlwaysFine));
    let ledger = Ledger::open(&url).await.unwrap();
    let world = World::beside(Setup::default(), &vendor, ledger).await;
    for round in ["one", "two"] {
        let before = vendor.all().len();
        let everybody = ["ada", "bob", "cyd"].map(|who| world.says(who, round).id);
        let is_over = move |tx: &mut Tx<'_>| {
            let is_open = !outbox::open_targets(tx)?.is_empty();
            let mut events = everybody.iter().map(|event| inbox::get(tx, *event));
            Ok(!is_open && events.all(|row| row.is_ok_and(|row| row.state.is_end())))
        };
        let all_over = async { while !world.ledger.read(is_over).await.unwrap() {} };
        tokio::time::timeout(Duration::from_mins(1), all_over)
            .await
            .unwrap();
        assert_eq!(vendor.all().len(), before + 3);
    }
    for who in ["ada", "bob", "cyd"] {
        assert_eq!(world.sees(who), ["re: one", "re: two"]);
    }
    world.gateway.drain().await;
    world.ledger.close().await;
}
