//! Programs wait on the line while the ledger is slow, loses answers or dies with the process, in any order. Whoever was
//! told that their question is in has its answer in the end; whoever was told nothing has it once or not at all.

use std::time::Duration;

use talaria_domain::adapter::{Accepted, NotAccepted};
use talaria_domain::event::{EventKind, Hearing};
use talaria_domain::ids::{EventId, ReplyId};
use talaria_domain::machine::{InboxState, Machine as _};
use talaria_store::ledger::Fate;
use talaria_store::{inbox, outbox, runs};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::asking_at_random::Dice;
use crate::on_the_line::{asked_and, line};
use crate::world::World;

const TEXTS: [&str; 8] = [
    "one at once",
    "two at once",
    "three at once",
    "in pieces",
    "think 1 at once",
    "tool 1 at once",
    "fail",
    "silent",
];

type Call = (EventId, JoinHandle<Result<Accepted, NotAccepted>>);

fn call(world: &World, text: &str, hearing: Hearing) -> Call {
    let event = asked_and(world, text, hearing);
    let (id, intake) = (event.id, world.gateway.intake());
    let answer = TaskTracker::new().spawn(async move { intake.accept(event).await });
    (id, answer)
}

fn fate(dice: &mut Dice) -> Fate {
    let time = |dice: &mut Dice| Duration::from_millis(dice.roll(60));
    match dice.roll(8) {
        0 => Fate::LostBefore,
        1 => Fate::LostAfter,
        2 => Fate::Uncertain,
        3 | 4 => Fate::Slow {
            before: time(dice),
            after: time(dice),
        },
        _ => Fate::Answered,
    }
}

/// Something happens to programs that wait.
async fn shake(world: &mut World, dice: &mut Dice, calls: &mut Vec<Call>) {
    let is_lost = (0..=dice.roll(3)).any(|_| {
        let fate = fate(dice);
        world.calls.next_is(fate);
        matches!(fate, Fate::LostBefore | Fate::LostAfter)
    });
    for _ in 0..=dice.roll(3) {
        let text = TEXTS[usize::try_from(dice.roll(8)).unwrap_or(0)];
        let hearing = match dice.roll(2) {
            0 => Hearing::AsItGrows,
            _ => Hearing::AtItsEnd,
        };
        calls.push(call(world, text, hearing));
        if dice.roll(2) == 0 {
            world.passes(Duration::from_millis(dice.roll(40))).await;
        }
        if dice.roll(6) == 0 {
            // Whoever asked goes away.
            calls[calls.len() - 1].1.abort();
        }
    }
    // A process that was lost says nothing any more.
    if is_lost || dice.roll(6) == 0 {
        world.passes(Duration::from_millis(dice.roll(100))).await;
        world.calls.forget();
        world.crash().await;
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_was_told_that_it_is_in_is_answered_once() {
    let (mut told, mut untold, mut absent) = (0, 0, 0);
    for seed in 0..150 {
        let mut world = World::begin(line()).await;
        let (mut dice, mut calls) = (Dice(seed), Vec::new());
        for _ in 0..6 {
            shake(&mut world, &mut dice, &mut calls).await;
        }
        world.calls.forget();
        world.passes(Duration::from_mins(5)).await;
        for (event, answer) in calls {
            let is_told =
                answer.is_finished() && matches!(answer.await, Ok(Ok(Accepted::Recorded { .. })));
            let reply = ReplyId::from_bytes(*event.as_bytes());
            let look = move |tx: &mut talaria_store::Tx<'_>| {
                let row = inbox::get(tx, event)?;
                let run = runs::last(tx, row.session)?;
                Ok((row, run, outbox::get(tx, reply).ok()))
            };
            let Ok((row, run, reply)) = world.ledger.read(look).await else {
                assert!(!is_told, "seed {seed}: {event} was taken in and is gone");
                absent += 1;
                continue;
            };
            let (told_now, untold_now) = if is_told { (1, 0) } else { (0, 1) };
            (told, untold) = (told + told_now, untold + untold_now);
            assert!(
                row.state.is_end(),
                "seed {seed}: {event} is {:?}",
                row.state
            );
            let run = run.filter(|run| run.state.is_end());
            assert!(run.is_some(), "seed {seed}: the run of {event} goes on");
            let is_silent =
                matches!(&row.event.kind, EventKind::Message(said) if said.text == "silent");
            if row.state == InboxState::Completed && !is_silent {
                assert!(reply.is_some(), "seed {seed}: {event} has no answer");
            }
        }
        assert_eq!(world.gateway.load().turns, 0, "seed {seed}");
        world.ends().await;
    }
    // Each of them happens.
    assert!(
        told > 300 && untold > 20 && absent > 20,
        "{told} {untold} {absent}"
    );
}
