//! What happens at a time: each time is recorded once, and the schedule moves on with it.

use std::time::Duration;

use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{EventId, ReplyId, ScheduleId};
use talaria_domain::machine::{Machine as _, OccurrenceState, ScheduleState};
use talaria_domain::schedule::{Schedule, What, When, Zone};
use talaria_domain::session_key::SessionKeyId;
use talaria_store::erasure::{self, Erased};
use talaria_store::maintenance::integrity;
use talaria_store::maintenance::prune::{Retention, prune};
use talaria_store::schedules::{self, Outcome};
use talaria_store::{Conflict, StoreError, sessions};

use crate::world::{World, person};

async fn key_of(world: &World, who: &str) -> SessionKeyId {
    let (_, session) = world.says(who, "hello").await;
    world
        .read(move |tx| Ok(sessions::get(tx, session)?.key))
        .await
}

/// `who` wants to hear something every hour.
async fn plans(world: &World, who: &str) -> Schedule {
    let (_, session) = world.says(who, "every hour, please").await;
    let now = world.now();
    let schedule = Schedule {
        id: world.id(ScheduleId::from_bytes),
        name: "it's \"the hour\"".to_owned(),
        when: When::Every {
            period: Duration::from_hours(1),
            from: now,
        },
        zone: Zone::parse("Europe/Berlin").unwrap(),
        what: What::Say("another hour".to_owned()),
        return_to: World::way_back(who, session),
        key: key_of(world, who).await,
        state: ScheduleState::Active,
        next_at: Some(now.plus(Duration::from_hours(1))),
        created_at: now,
    };
    let recorded = schedule.clone();
    world
        .write(move |tx| schedules::record(tx, &recorded))
        .await;
    schedule
}

async fn stored(world: &World, id: ScheduleId) -> Schedule {
    world.read(move |tx| schedules::get(tx, id)).await
}

async fn next(world: &World) -> Option<(ScheduleId, Timestamp)> {
    world.read(schedules::next).await
}

async fn comes_to(world: &World, id: ScheduleId, due: Timestamp, outcome: Outcome) -> bool {
    let at = world.now();
    world
        .write(move |tx| schedules::record_occurrence(tx, (id, due), &outcome, at))
        .await
}

/// `who` has planned something, and it has happened once.
pub(crate) async fn happens(world: &World, who: &str) {
    let (schedule, event) = (plans(world, who).await, world.id(EventId::from_bytes));
    let due = schedule.next_at.unwrap();
    assert!(comes_to(world, schedule.id, due, Outcome::Event(event)).await);
}

/// What must not be, and how it is told.
const DAMAGE: [(&str, &str); 4] = [
    ("DELETE FROM schedules", "1 occurrences without a schedule"),
    (
        "UPDATE occurrences SET event_id = NULL",
        "1 occurrences that came to nothing",
    ),
    (
        "UPDATE schedules SET next_at = NULL",
        "1 schedules whose state and next time do not fit",
    ),
    (
        "UPDATE schedules SET state = 'done'",
        "1 schedules whose state and next time do not fit",
    ),
];

both_engines! {
    async fn damage_is_found(world) {
        happens(world, "ada").await;
        for (damage, expected) in DAMAGE {
            let found = world.refusal::<()>(move |tx| {
                tx.execute(damage, &[])?;
                Err(StoreError::Broken { why: integrity::check(tx)?.join(", ") })
            });
            assert_eq!(found.await, StoreError::Broken { why: expected.to_owned() }, "{damage}");
        }
    }

    async fn what_is_planned_in_a_chat_is_erased_with_its_last_conversation(world) {
        let schedule = plans(world, "ada").await;
        let (id, at, owner) = (schedule.id, world.now(), person("ada").key());
        comes_to(world, id, at, Outcome::Skipped("late".to_owned())).await;
        let first = schedule.return_to.session;
        let fresh = world.opening("ada");
        let second = world.write(move |tx| sessions::reset(tx, &fresh, "new")).await;
        for (session, is_left) in [(first, true), (second, false)] {
            world.write(move |tx| tx.execute("UPDATE inbox SET state = 'completed', ended_at = 1", &[])).await;
            let estate = world.read(move |tx| erasure::survey(tx, owner, session)).await;
            let erased = world.write(move |tx| erasure::erase(tx, &estate)).await;
            assert_eq!(erased, Erased::Gone);
            let found = world.ledger.read(move |tx| schedules::get(tx, id)).await;
            assert_eq!(found.is_ok(), is_left, "{found:?}");
        }
        assert_eq!(world.read(move |tx| schedules::occurrences(tx, id, 10)).await, []);
    }

    async fn a_schedule_is_kept_as_it_was_made(world) {
        let schedule = plans(world, "ada").await;
        assert_eq!(stored(world, schedule.id).await, schedule);
        assert_eq!(next(world).await, Some((schedule.id, schedule.next_at.unwrap())));
        let unknown = world.id(ScheduleId::from_bytes);
        let refused = world.ledger.read(move |tx| schedules::get(tx, unknown)).await;
        assert!(matches!(refused, Err(StoreError::NotFound { thing: "schedule", .. })), "{refused:?}");
    }

    async fn a_time_is_recorded_once(world) {
        let (schedule, event) = (plans(world, "ada").await, world.id(EventId::from_bytes));
        let (id, due) = (schedule.id, schedule.next_at.unwrap());
        assert!(comes_to(world, id, due, Outcome::Event(event)).await);
        let second = Outcome::Event(world.id(EventId::from_bytes));
        assert!(!comes_to(world, id, due, second).await, "the second does nothing");
        assert!(!comes_to(world, id, due, Outcome::Skipped("late".to_owned())).await);
        let kept = world.read(move |tx| schedules::occurrence(tx, id, due)).await.unwrap();
        assert_eq!((kept.state, kept.event), (OccurrenceState::Served, Some(event)));
        assert!(comes_to(world, id, due.plus(Duration::from_hours(1)), Outcome::Skipped("late".to_owned())).await);
        let all = world.read(move |tx| schedules::occurrences(tx, id, 10)).await;
        let states: Vec<_> = all.iter().map(|it| it.state).collect();
        assert_eq!(states, [OccurrenceState::Skipped, OccurrenceState::Served], "the newest first");
        assert_eq!(all[0].reason.as_deref(), Some("late"));
    }

    async fn an_occurrence_is_found_by_the_message_that_it_became(world) {
        let (schedule, reply) = (plans(world, "ada").await, world.id(ReplyId::from_bytes));
        let (id, due) = (schedule.id, schedule.next_at.unwrap());
        comes_to(world, id, due, Outcome::Reply(reply)).await;
        let kept = world.read(move |tx| schedules::occurrence_of(tx, reply)).await.unwrap();
        assert_eq!((kept.schedule, kept.due), (id, due));
        let other = world.id(ReplyId::from_bytes);
        assert_eq!(world.read(move |tx| schedules::occurrence_of(tx, other)).await, None);
    }

    async fn a_schedule_moves_on_and_ends_with_its_last_time(world) {
        let first = plans(world, "ada").await;
        let (id, at) = (first.id, world.now());
        let later = first.next_at.unwrap().plus(Duration::from_hours(1));
        world.write(move |tx| schedules::advance(tx, id, Some(later), at)).await;
        assert_eq!(next(world).await, Some((id, later)));
        let sooner = plans(world, "bob").await;
        assert_eq!(next(world).await.unwrap().0, sooner.id, "whose time is next");
        world.write(move |tx| schedules::advance(tx, id, None, at)).await;
        let row = stored(world, id).await;
        assert_eq!((row.state, row.next_at), (ScheduleState::Done, None));
        assert_eq!(next(world).await.unwrap().0, sooner.id);
    }

    async fn what_is_paused_is_not_due(world) {
        let schedule = plans(world, "ada").await;
        let (id, at) = (schedule.id, world.now());
        world.write(move |tx| schedules::pause(tx, id, at)).await;
        assert_eq!(next(world).await, None);
        let (later, owner) = (at.plus(Duration::from_hours(9)), schedule.owner());
        world.write(move |tx| schedules::advance(tx, id, Some(later), at)).await;
        assert_eq!(next(world).await, None, "whoever was late moves nothing");
        assert_eq!(world.read(move |tx| schedules::count_open(tx, owner)).await, 1);
        world.write(move |tx| schedules::resume(tx, id, later, at)).await;
        assert_eq!(next(world).await, Some((id, later)));
        world.write(move |tx| schedules::remove(tx, id, at)).await;
        assert_eq!(next(world).await, None);
        assert_eq!(world.read(move |tx| schedules::count_open(tx, owner)).await, 0);
        let refused = world.refusal(move |tx| schedules::resume(tx, id, later, at)).await;
        assert!(matches!(refused, StoreError::Conflict(Conflict::Transition { .. })), "{refused:?}");
    }

    async fn people_find_their_own_schedules_in_the_chat_that_they_made_them_in(world) {
        let (ada, bob) = (plans(world, "ada").await, plans(world, "bob").await);
        let open = |owner, key| world.read(move |tx| schedules::open_in(tx, owner, key));
        let found = open(person("ada").key(), ada.key).await;
        assert_eq!(found.iter().map(|it| it.id).collect::<Vec<_>>(), [ada.id]);
        assert_eq!(open(person("bob").key(), ada.key).await, []);
        assert_eq!(open(person("ada").key(), bob.key).await, []);
    }

    async fn schedules_are_listed_in_stretches(world) {
        let (first, second) = (plans(world, "ada").await, plans(world, "bob").await);
        let (gone, at) = (first.id, world.now());
        world.write(move |tx| schedules::remove(tx, gone, at)).await;
        let listed = |state, before, limit| async move {
            let found = world.read(move |tx| schedules::list(tx, state, before, limit)).await;
            found.iter().map(|it| it.id).collect::<Vec<_>>()
        };
        assert_eq!(listed(None, None, 10).await, [second.id, first.id]);
        assert_eq!(listed(None, None, 1).await, [second.id]);
        assert_eq!(listed(None, Some(second.id), 1).await, [first.id]);
        assert_eq!(listed(Some(ScheduleState::Done), None, 10).await, [first.id]);
    }

    async fn what_came_of_a_schedule_goes_before_the_schedule(world) {
        let schedule = plans(world, "ada").await;
        let (id, at) = (schedule.id, world.now());
        comes_to(world, id, at, Outcome::Skipped("late".to_owned())).await;
        world.write(move |tx| schedules::remove(tx, id, at)).await;
        let later = at.plus(Retention::default().0).plus(Duration::from_millis(1));
        world.write(move |tx| prune(tx, Retention::default(), at, 10)).await;
        assert_eq!(stored(world, id).await.state, ScheduleState::Done, "not yet");
        while world.write(move |tx| prune(tx, Retention::default(), later, 10)).await > 0 {}
        let gone = world.ledger.read(move |tx| schedules::get(tx, id)).await;
        assert!(matches!(gone, Err(StoreError::NotFound { .. })), "{gone:?}");
        assert_eq!(world.read(move |tx| schedules::occurrences(tx, id, 10)).await, []);
    }

    async fn every_arrow_of_a_schedule_and_no_other_can_be_walked(world) {
        for from in ScheduleState::STATES.iter().copied() {
            for (verb, to) in [("pause", ScheduleState::Paused), ("resume", ScheduleState::Active), ("remove", ScheduleState::Done)] {
                let (id, at) = (plans(world, "ada").await.id, world.now());
                match from {
                    ScheduleState::Active => {}
                    ScheduleState::Paused => world.write(move |tx| schedules::pause(tx, id, at)).await,
                    ScheduleState::Done => world.write(move |tx| schedules::remove(tx, id, at)).await,
                }
                let walked = world.ledger.write(move |tx| match verb {
                    "pause" => schedules::pause(tx, id, at),
                    "resume" => schedules::resume(tx, id, at, at),
                    _ => schedules::remove(tx, id, at),
                }).await;
                assert_eq!(walked.is_ok(), from.may(verb, to), "{from:?} {verb}: {walked:?}");
            }
        }
    }
}
