//! What happens at a time: once, where it was asked for, whatever becomes of the chat or the process meanwhile.

use std::time::Duration;

use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::machine::{OccurrenceState, ScheduleState};
use talaria_domain::schedule::{Occurrence, Schedule, Zone};
use talaria_gateway::schedule::Change;
use talaria_sim::people::direct_chat;
use talaria_store::{Row, bind, schedules};

use crate::world::{Setup, World};

pub(crate) const SOON: Duration = Duration::from_secs(1);
pub(crate) const MINUTE: Duration = Duration::from_mins(1);
pub(crate) const HOUR: Duration = Duration::from_hours(1);

pub(crate) fn thread() -> Address {
    Address {
        chat_kind: ChatKind::Group,
        chat: "room".into(),
        thread: Some("one".into()),
        ..direct_chat("room")
    }
}

/// Every schedule that was ever made, oldest first.
pub(crate) async fn all(world: &World) -> Vec<Schedule> {
    let mut all = world.read(|tx| schedules::list(tx, None, None, 100)).await;
    all.reverse();
    all
}

/// Every time that was ever due, oldest first.
pub(crate) async fn occurrences(world: &World) -> Vec<Occurrence> {
    let mut found = Vec::new();
    for schedule in all(world).await {
        let id = schedule.id;
        found.extend(
            world
                .read(move |tx| schedules::occurrences(tx, id, 100_000))
                .await,
        );
    }
    found.sort_by_key(|it| (it.due, it.schedule));
    found
}

pub(crate) async fn states(world: &World) -> Vec<OccurrenceState> {
    let found = occurrences(world).await;
    found.into_iter().map(|it| it.state).collect()
}

/// Nothing is left to happen: a world that ends lets ten minutes pass.
pub(crate) async fn ends(world: &World) {
    for schedule in all(world).await {
        drop(
            world
                .gateway
                .schedules()
                .change(schedule.id, Change::Remove)
                .await,
        );
    }
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_planned_is_said_once_where_it_was_asked_for() {
    let world = World::begin(Setup::default()).await;
    world.says_at("ada", thread(), "/schedule add in 5m say stand up");
    world.passes(SOON).await;
    let [answer] = world.sees_in(&thread()).try_into().unwrap();
    assert!(answer.starts_with("Planned:\n- **stand up**"), "{answer}");
    world.passes(Duration::from_secs(5 * 60 - 2)).await;
    assert_eq!(world.sees_in(&thread()).len(), 1, "not before its time");
    world.passes(2 * SOON).await;
    assert_eq!(world.sees_in(&thread())[1..], ["stand up"]);
    world.passes(24 * HOUR).await;
    assert_eq!(world.sees_in(&thread()).len(), 2, "and not again");
    assert_eq!(states(&world).await, [OccurrenceState::Served]);
    assert_eq!(all(&world).await[0].state, ScheduleState::Done);
    ends(&world).await;
}

#[tokio::test(start_paused = true)]
async fn what_recurs_comes_at_each_of_its_times() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "/schedule add every 10m say water");
    world.passes(HOUR + SOON).await;
    assert_eq!(world.sees("ada")[1..], ["water"; 6]);
    assert_eq!(states(&world).await, [OccurrenceState::Served; 6]);
    ends(&world).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_becomes_a_turn_whose_answer_is_there() {
    let world = World::begin(Setup::default()).await;
    world.says_at("ada", thread(), "hello");
    world.says_at("ada", thread(), "/schedule add in 5m ask how are you?");
    world.passes(5 * MINUTE + SOON).await;
    let seen = world.sees_in(&thread());
    let answer = seen.last().unwrap();
    assert!(
        answer.starts_with("re: [It is time for the schedule"),
        "{seen:?}"
    );
    assert!(answer.contains("how are you?"), "{seen:?}");
    let turn = world.script.seen().last().unwrap().clone();
    assert!(turn.history.len() >= 2, "in the same conversation");
    let found = occurrences(&world).await;
    assert!(found[0].event.is_some() && found[0].reply.is_none());
    ends(&world).await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_fails_is_told_where_the_answer_would_have_been() {
    let world = World::begin(Setup::default()).await;
    world.says_at("ada", thread(), "/schedule add in 5m ask fail");
    world.passes(5 * MINUTE + SOON).await;
    let seen = world.sees_in(&thread());
    assert!(seen[1].starts_with("I could not finish this"), "{seen:?}");
    ends(&world).await;
}

#[tokio::test(start_paused = true)]
async fn it_happens_in_whatever_conversation_the_chat_has_by_then() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "hello");
    world.says("ada", "/schedule add in 5m ask how are you?");
    world.passes(SOON).await;
    world.says("ada", "/new");
    world.passes(5 * MINUTE).await;
    let turn = world.script.seen().last().unwrap().clone();
    assert!(turn.prompt.contains("how are you?"), "{turn:?}");
    assert_eq!(turn.history.len(), 0, "the new conversation");
    world.says("ada", "what was that?");
    world.passes(SOON).await;
    let turn = world.script.seen().last().unwrap().clone();
    assert_eq!(turn.history.len(), 2, "and it knows what was asked");
    ends(&world).await;
}

#[tokio::test(start_paused = true)]
async fn of_what_was_missed_the_last_is_served_and_says_that_it_is_late() {
    let mut world = World::begin(Setup::default()).await;
    world.says("ada", "/schedule add every 1h say water");
    world.passes(SOON).await;
    world.crash_for(5 * HOUR + 30 * MINUTE).await;
    world.passes(SOON).await;
    let [_, late] = world.sees("ada").try_into().unwrap();
    assert!(late.starts_with("water\n\n(30 minutes late"), "{late}");
    let expected = [
        &[OccurrenceState::Skipped; 4][..],
        &[OccurrenceState::Served],
    ]
    .concat();
    assert_eq!(states(&world).await, expected);
    world.passes(HOUR).await;
    assert_eq!(world.sees("ada")[2..], ["water"], "and goes on as usual");
    ends(&world).await;
}

#[tokio::test(start_paused = true)]
async fn what_was_missed_once_is_served_however_late() {
    let mut world = World::begin(Setup::default()).await;
    world.says("ada", "/schedule add in 10m say water");
    world.says("ada", "/schedule add in 20m ask how are you?");
    world.passes(SOON).await;
    world.crash_for(72 * HOUR).await;
    world.passes(SOON).await;
    let seen = world.sees("ada")[2..].join("\n");
    assert!(seen.contains("water\n\n(2 days late"), "{seen}");
    assert!(seen.contains("It is 2 days late"), "{seen}");
    assert_eq!(states(&world).await, [OccurrenceState::Served; 2]);
    ends(&world).await;
}

#[tokio::test(start_paused = true)]
async fn a_long_absence_is_caught_up_with_in_several_steps() {
    let mut world = World::begin(Setup::default()).await;
    world.says("ada", "/schedule add every 1m say tick");
    world.passes(SOON).await;
    world.crash_for(24 * HOUR).await;
    world.passes(SOON).await;
    assert_eq!(world.sees("ada").len(), 2, "one for all of them");
    let found = states(&world).await;
    let served = found.iter().filter(|it| **it == OccurrenceState::Served);
    assert_eq!((found.len(), served.count()), (24 * 60, 1));
    ends(&world).await;
}

#[tokio::test(start_paused = true)]
async fn wherever_the_process_dies_each_time_has_one_outcome() {
    // The process dies after each of its first steps around the time that something is due.
    for step in 0..12 {
        let mut world = World::begin(Setup::default()).await;
        world.says("ada", "/schedule add in 5m say one");
        world.says("ada", "/schedule add in 5m ask two");
        world.passes(Duration::from_secs(5 * 60 - 1)).await;
        let before = world.calls.count();
        let mut waited = 0;
        while world.calls.count() < before + step && waited < 5_000 {
            world.passes(Duration::from_millis(1)).await;
            waited += 1;
        }
        world.crash().await;
        world.passes(MINUTE).await;
        let seen = world.sees("ada");
        let count = |text: &str| {
            seen.iter()
                .filter(|it| it.contains(text) && !it.contains("Planned"))
                .count()
        };
        assert_eq!((count("one"), count("\ntwo")), (1, 1), "{step}: {seen:?}");
        assert_eq!(states(&world).await, [OccurrenceState::Served; 2], "{step}");
        ends(&world).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_commit_whose_answer_was_lost_is_not_done_again() {
    for lost in 0..4 {
        let world = World::begin(Setup::default()).await;
        world.says("ada", "/schedule add in 5m say one");
        world.passes(Duration::from_secs(5 * 60 - 1)).await;
        for _ in 0..lost {
            world.passes(Duration::from_millis(250)).await;
        }
        world.calls.lose_next_answer();
        world.passes(MINUTE).await;
        assert_eq!(world.sees("ada")[1..], ["one"], "{lost}");
        ends(&world).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_paused_does_not_happen_until_it_is_resumed() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "/schedule add every 10m say water");
    world.passes(11 * MINUTE).await;
    world.says("ada", "/schedule pause water");
    world.passes(HOUR).await;
    let seen = world.sees("ada");
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert!(seen[2].starts_with("Paused:"), "{seen:?}");
    world.says("ada", "/schedule resume WATER");
    world.passes(20 * MINUTE).await;
    let seen = world.sees("ada");
    assert!(seen[3].starts_with("In force again:"), "{seen:?}");
    assert_eq!(seen[4..], ["water"; 2], "what passed meanwhile is over");
    world.says("ada", "/schedule remove water");
    world.passes(HOUR).await;
    assert_eq!(world.sees("ada").len(), 7);
    world.says("ada", "/schedule");
    world.passes(SOON).await;
    let seen = world.sees("ada");
    assert!(seen[7].starts_with("You have no schedules"), "{seen:?}");
    ends(&world).await;
}

#[tokio::test(start_paused = true)]
async fn nine_o_clock_stays_nine_o_clock_when_the_clocks_change() {
    // The world begins on 2023-11-14; Europe/Berlin goes from +1 to +2 on 2024-03-31.
    let zone = Zone::parse("Europe/Berlin").unwrap();
    let world = World::begin(Setup {
        zone: zone.clone(),
        ..Setup::default()
    })
    .await;
    world.says("ada", "/schedule add 0 9 30,31 3 * say morning");
    world.passes(Duration::from_hours(24 * 140)).await;
    let found = occurrences(&world).await;
    let shown: Vec<String> = found.iter().map(|it| zone.show(it.due)).collect();
    assert_eq!(
        shown,
        [
            "2024-03-30 09:00 Europe/Berlin",
            "2024-03-31 09:00 Europe/Berlin"
        ]
    );
    let [before, after] = found.try_into().unwrap();
    assert_eq!(after.due.since(before.due), 23 * HOUR);
    assert!(after.at.since(after.due) < SOON, "and it was on time");
    ends(&world).await;
}

#[tokio::test(start_paused = true)]
async fn a_row_that_cannot_be_read_does_not_keep_the_others_waiting() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "/schedule add in 4m say broken");
    world.says("ada", "/schedule add in 5m say whole");
    world.passes(SOON).await;
    let broken = all(&world).await[0].id;
    let sql = "UPDATE schedules SET rule = 'nonsense' WHERE schedule_id = ?1";
    world
        .ledger
        .write(move |tx| tx.execute(sql, bind![broken]))
        .await
        .unwrap();
    world.passes(6 * MINUTE).await;
    assert_eq!(world.sees("ada")[2..], ["whole"]);
    let sql = "DELETE FROM schedules WHERE schedule_id = ?1";
    world
        .ledger
        .write(move |tx| tx.execute(sql, bind![broken]))
        .await
        .unwrap();
    let left = |row: &Row<'_>| row.get::<Timestamp>(0);
    let left = world
        .read(move |tx| {
            tx.rows(
                "SELECT next_at FROM schedules WHERE next_at IS NOT NULL",
                bind![],
                left,
            )
        })
        .await;
    assert_eq!(left, []);
    ends(&world).await;
}
