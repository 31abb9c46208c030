//! Accepted means recorded, once, in order, in the right conversation.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use talaria_domain::event::{Event, EventKind};
use talaria_domain::ids::{EventId, RunId};
use talaria_domain::machine::{InboxState, Machine as _};
use talaria_store::inbox::{self, Arrival, Met, Recorded};
use talaria_store::leases::{self, LeaseName};
use talaria_store::sessions::Led;
use talaria_store::{StoreError, sessions};

both_engines! {
    async fn what_is_delivered_again_is_accepted_once(world) {
        let event = world.said("ada", "hello");
        let first = event.id;
        let again = Event { id: world.id(EventId::from_bytes), ..event.clone() };
        let arrival = Arrival::of(event, world.opening("ada")).unwrap();
        let accepted = world.write(move |tx| inbox::record(tx, &arrival)).await;
        let Recorded::Accepted { session, .. } = accepted else { panic!("{accepted:?}") };
        let again = Arrival::of(again, world.opening("ada")).unwrap();
        let repeated = world.write(move |tx| inbox::record(tx, &again)).await;
        assert_eq!(repeated, Recorded::Duplicate { first });
        assert_eq!(world.read(move |tx| inbox::lane(tx, session)).await.len(), 1);
    }

    async fn what_is_taken_up_as_it_arrives_is_there_as_claimed_and_once(world) {
        let (event, run) = (world.said("ada", "hello"), world.id(RunId::from_bytes));
        let first = event.id;
        let arrival = Arrival::of(event, world.opening("ada")).unwrap();
        let again = arrival.clone();
        let (led, lease, row) = world.write(move |tx| {
            let Met::Now(led) = inbox::lead(tx, &arrival)? else { panic!("it is new") };
            let lease = leases::claim(tx, &LeaseName::Lane(led.session), &"north".into(), Duration::from_secs(9))?;
            let row = inbox::record_claimed(tx, &arrival, led.session, (&lease, run))?;
            Ok((led, lease, row))
        }).await;
        assert!(led.is_new && led.is_own && led.tail.last == 0, "{led:?}");
        assert_eq!(world.read(move |tx| inbox::get(tx, first)).await, row);
        assert_eq!((row.state, row.attempts, row.run), (InboxState::Claimed, 1, Some(run)));
        assert_eq!(world.write(move |tx| inbox::lead(tx, &again)).await, Met::Before { first });
        let at = world.now();
        world.write(move |tx| inbox::complete(tx, &lease, first, at)).await;
        let next = Arrival::of(world.said("ada", "and?"), world.opening("ada")).unwrap();
        let known = world.write(move |tx| {
            let met = inbox::lead(tx, &next)?;
            inbox::queue(tx, &next, led.session).map(|_| met)
        }).await;
        assert_eq!(known, Met::Now(Led { is_new: false, ..led }));
    }

    async fn the_same_delivery_from_many_sides_at_once_counts_once(world) {
        let mut tasks = tokio::task::JoinSet::new();
        let event = world.said("ada", "hello");
        for _ in 0..32 {
            let (ledger, id) = (world.ledger.clone(), world.id(EventId::from_bytes));
            let copy = Event { id, ..event.clone() };
            let arrival = Arrival::of(copy, world.opening("ada")).unwrap();
            tasks.spawn(async move { ledger.write(move |tx| inbox::record(tx, &arrival)).await });
        }
        let outcomes: Vec<Recorded> = tasks.join_all().await.into_iter().map(Result::unwrap).collect();
        let accepted = outcomes.iter().filter(|outcome| matches!(outcome, Recorded::Accepted { .. }));
        assert_eq!(accepted.count(), 1);
    }

    async fn no_two_events_have_one_number_however_they_arrive(world) {
        let mut tasks = tokio::task::JoinSet::new();
        for index in 0..60 {
            let ledger = world.ledger.clone();
            let arrival = world.arrival(if index % 2 == 0 { "ada" } else { "bob" }, "hello");
            tasks.spawn(async move { ledger.write(move |tx| inbox::record(tx, &arrival)).await });
        }
        let mut numbers = BTreeMap::<_, BTreeSet<i64>>::new();
        for outcome in tasks.join_all().await {
            let Recorded::Accepted { session, seq } = outcome.unwrap() else { panic!("not accepted") };
            numbers.entry(session).or_default().insert(seq);
        }
        assert_eq!(numbers.len(), 2, "each person has a conversation of their own");
        assert!(numbers.values().all(|numbers| numbers.len() == 30), "{numbers:?}");
        assert_eq!(numbers.into_values().flatten().collect::<BTreeSet<i64>>().len(), 60);
    }

    async fn a_session_has_its_events_in_the_order_of_their_numbers(world) {
        let mut numbers = Vec::new();
        let mut session = None;
        for (who, text) in [("ada", "one"), ("bob", "aside"), ("ada", "two"), ("ada", "three")] {
            let arrival = world.arrival(who, text);
            let recorded = world.write(move |tx| inbox::record(tx, &arrival)).await;
            let Recorded::Accepted { session: there, seq } = recorded else { panic!("{recorded:?}") };
            if who == "ada" {
                numbers.push(seq);
                session = Some(there);
            }
        }
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        let lane = world.read(move |tx| inbox::lane(tx, session.unwrap())).await;
        assert_eq!(lane.iter().map(|row| row.seq).collect::<Vec<_>>(), numbers);
    }

    async fn what_is_stored_comes_back_as_it_was(world) {
        let mut event = world.said("ada", "quotes ' \" and ? and \u{1f980} and \\");
        event.sent_at = Some(world.now());
        let expected = event.clone();
        let id = event.id;
        let arrival = Arrival::of(event, world.opening("ada")).unwrap();
        world.write(move |tx| inbox::record(tx, &arrival)).await;
        assert_eq!(world.read(move |tx| inbox::get(tx, id)).await.event, expected);
    }

    async fn a_reset_leads_on_and_leaves_the_old_session_where_it_was(world) {
        let (_, before) = world.says("ada", "one").await;
        let opening = world.opening("ada");
        let key = opening.key_id();
        let next = world.write(move |tx| sessions::reset(tx, &opening, "new")).await;
        assert_ne!(next, before);
        let (_, after) = world.says("ada", "three").await;
        assert_eq!(after, next);
        let old = world.read(move |tx| sessions::get(tx, before)).await;
        assert_eq!((old.state.is_end(), old.end_reason.as_deref()), (true, Some("new")));
        let young = world.read(move |tx| sessions::get(tx, next)).await;
        assert_eq!((young.generation, young.parent), (1, Some(before)));

        let (owner, now) = (old.owner, world.now());
        world.write(move |tx| sessions::resume(tx, key, owner, before, now)).await;
        assert_eq!(world.says("ada", "four").await.1, before);
    }

    async fn nobody_finds_anybody_elses_session(world) {
        let (_, ada) = world.says("ada", "mine").await;
        let (_, bob) = world.says("bob", "mine").await;
        let bob_key = crate::world::person("bob").key();
        let refused = world.ledger.read(move |tx| sessions::get_owned(tx, bob_key, ada)).await;
        assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
        let (key, now) = (world.opening("bob").key_id(), world.now());
        let refused = world.ledger.write(move |tx| sessions::resume(tx, key, bob_key, ada, now)).await;
        assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
        let refused = world.ledger.write(move |tx| sessions::set_title(tx, bob_key, ada, "x")).await;
        assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
        let listed = world.read(move |tx| sessions::list(tx, bob_key, None, 10)).await;
        assert_eq!(listed.iter().map(|session| session.id).collect::<Vec<_>>(), [bob]);
    }

    async fn a_nul_in_a_text_is_replaced_and_nothing_breaks(world) {
        let (_, session) = world.says("ada", "before \0 after").await;
        let owner = crate::world::person("ada").key();
        world.write(move |tx| sessions::set_title(tx, owner, session, "a\0b")).await;
        let title = world.read(move |tx| sessions::get(tx, session)).await.title;
        assert_eq!(title.as_deref(), Some("a\u{fffd}b"));
        let lane = world.read(move |tx| inbox::lane(tx, session)).await;
        let EventKind::Message(content) = &lane[0].event.kind else { panic!("{lane:?}") };
        assert_eq!(content.text, "before \0 after", "an event is kept as it came");
    }
}
