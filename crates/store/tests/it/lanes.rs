//! A lane hands out its events in order, one at a time, to whoever has its lease.

use std::time::Duration;

use talaria_domain::ids::{DeadId, EventId, RunId};
use talaria_domain::machine::InboxState;
use talaria_store::dead::{self, Thing};
use talaria_store::inbox::{self, InboxRow};
use talaria_store::leases::{self, Lease};
use talaria_store::{Conflict, Result, StoreError};

use crate::world::World;

async fn try_claim(world: &World, lease: &Lease) -> Result<Option<InboxRow>> {
    let (lease, run, now) = (lease.clone(), world.id(RunId::from_bytes), world.now());
    world
        .ledger
        .write(move |tx| inbox::claim(tx, &lease, run, now))
        .await
}

async fn claim(world: &World, lease: &Lease) -> Option<EventId> {
    try_claim(world, lease)
        .await
        .unwrap()
        .map(|row| row.event.id)
}

async fn complete(world: &World, lease: &Lease, event: EventId) -> Result<()> {
    let (lease, now) = (lease.clone(), world.now());
    world
        .ledger
        .write(move |tx| inbox::complete(tx, &lease, event, now))
        .await
}

both_engines! {
    async fn events_are_claimed_in_order_and_one_at_a_time(world) {
        let (first, session) = world.says("ada", "one").await;
        let (second, _) = world.says("ada", "two").await;
        let lease = world.lane(session, "node").await;
        assert_eq!(claim(world, &lease).await, Some(first));
        assert_eq!(claim(world, &lease).await, None, "the first one is not done");
        complete(world, &lease, first).await.unwrap();
        assert_eq!(claim(world, &lease).await, Some(second));
        complete(world, &lease, second).await.unwrap();
        assert_eq!(claim(world, &lease).await, None);
        assert_eq!(world.read(inbox::open_lanes).await, []);
    }

    async fn an_event_put_back_waits_for_its_time_and_holds_the_lane(world) {
        let (first, session) = world.says("ada", "one").await;
        world.says("ada", "two").await;
        let lease = world.lane(session, "node").await;
        claim(world, &lease).await;
        let (put_back, at) = (lease.clone(), world.now().plus(Duration::from_secs(5)));
        world.write(move |tx| inbox::retry_at(tx, &put_back, first, at)).await;
        assert_eq!(claim(world, &lease).await, None, "not before its time, and nothing overtakes it");
        world.clock.advance(Duration::from_secs(5));
        let row = try_claim(world, &lease).await.unwrap().unwrap();
        assert_eq!((row.event.id, row.attempts, row.state), (first, 2, InboxState::Claimed));
    }

    async fn merged_and_discarded_events_are_never_claimed(world) {
        let (first, session) = world.says("ada", "one").await;
        let (second, _) = world.says("ada", "two").await;
        let (third, _) = world.says("ada", "three").await;
        let now = world.now();
        world.write(move |tx| inbox::merge(tx, second, first, now)).await;
        world.write(move |tx| inbox::discard(tx, third, "not wanted", now)).await;
        let lease = world.lane(session, "node").await;
        assert_eq!(claim(world, &lease).await, Some(first));
        complete(world, &lease, first).await.unwrap();
        assert_eq!(claim(world, &lease).await, None);
        assert_eq!(world.read(move |tx| inbox::get(tx, second)).await.merged_into, Some(first));
        let reason = world.read(move |tx| inbox::get(tx, third)).await.reason;
        assert_eq!(reason.as_deref(), Some("not wanted"));
    }

    async fn nobody_merges_across_conversations_or_backwards(world) {
        let (ada, _) = world.says("ada", "one").await;
        let (later, _) = world.says("ada", "two").await;
        let (bob, _) = world.says("bob", "one").await;
        let now = world.now();
        for (event, into) in [(bob, ada), (ada, later), (ada, ada)] {
            let refused = world.ledger.write(move |tx| inbox::merge(tx, event, into, now)).await;
            assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
        }
    }

    async fn what_is_given_up_is_a_dead_letter_that_can_be_replayed_or_dropped(world) {
        let (event, session) = world.says("ada", "one").await;
        let lease = world.lane(session, "node").await;
        for state in [InboxState::Queued, InboxState::Discarded] {
            claim(world, &lease).await.unwrap();
            let (letter, held) = (world.id(DeadId::from_bytes), lease.clone());
            world.write(move |tx| inbox::give_up(tx, &held, event, letter, "too often")).await;
            let listed = world.read(|tx| dead::list(tx, None, 10)).await;
            assert_eq!(listed.len(), 1);
            assert_eq!((listed[0].id, listed[0].thing), (letter, Thing::Event(event)));
            assert_eq!((listed[0].session, listed[0].reason.as_str()), (session, "too often"));
            let now = world.now();
            world.write(move |tx| match state {
                InboxState::Queued => dead::replay(tx, letter, now),
                _ => dead::drop(tx, letter, now),
            }).await;
            assert_eq!(world.read(move |tx| inbox::get(tx, event)).await.state, state);
            assert_eq!(world.read(|tx| dead::list(tx, None, 10)).await, []);
            let again = world.ledger.write(move |tx| dead::replay(tx, letter, now)).await;
            assert!(matches!(again, Err(StoreError::Conflict(Conflict::Transition { .. }))), "{again:?}");
        }
    }

    async fn a_lane_that_moved_on_answers_no_more_to_its_last_owner(world) {
        let (event, session) = world.says("ada", "one").await;
        let stale = world.lane(session, "first").await;
        claim(world, &stale).await.unwrap();
        world.clock.advance(crate::world::TTL);
        let fresh = world.lane(session, "second").await;
        let refused = complete(world, &stale, event).await;
        assert!(matches!(refused, Err(StoreError::Conflict(Conflict::Fenced { .. }))), "{refused:?}");
        let refused = try_claim(world, &stale).await;
        assert!(matches!(refused, Err(StoreError::Conflict(Conflict::Fenced { .. }))), "{refused:?}");
        let release = stale.clone();
        let refused = world.ledger.write(move |tx| leases::release(tx, &release)).await;
        assert!(matches!(refused, Err(StoreError::Conflict(Conflict::Fenced { .. }))), "{refused:?}");
        // What the last owner had claimed is where the new one can take it.
        let again = try_claim(world, &fresh).await.unwrap().unwrap();
        assert_eq!((again.event.id, again.attempts), (event, 2));
        complete(world, &fresh, event).await.unwrap();
    }

    async fn a_lane_that_is_given_back_holds_nothing(world) {
        let (event, session) = world.says("ada", "one").await;
        let lease = world.lane(session, "first").await;
        claim(world, &lease).await.unwrap();
        let release = lease.clone();
        world.write(move |tx| leases::release(tx, &release)).await;
        let refused = complete(world, &lease, event).await;
        assert!(matches!(refused, Err(StoreError::Conflict(Conflict::Fenced { .. }))), "{refused:?}");
        let next = world.lane(session, "second").await;
        assert_eq!(claim(world, &next).await, Some(event));
    }

    async fn a_dead_event_only_comes_back_through_its_letter(world) {
        let (event, session) = world.says("ada", "one").await;
        let lease = world.lane(session, "node").await;
        claim(world, &lease).await.unwrap();
        let (letter, held) = (world.id(DeadId::from_bytes), lease.clone());
        world.write(move |tx| inbox::give_up(tx, &held, event, letter, "too often")).await;
        let now = world.now();
        let refused = world.ledger.write(move |tx| inbox::retry_at(tx, &lease, event, now)).await;
        assert!(matches!(refused, Err(StoreError::Conflict(Conflict::Transition { .. }))), "{refused:?}");
        let refused = world.ledger.write(move |tx| inbox::discard(tx, event, "x", now)).await;
        assert!(matches!(refused, Err(StoreError::Conflict(Conflict::Transition { .. }))), "{refused:?}");
    }
}
