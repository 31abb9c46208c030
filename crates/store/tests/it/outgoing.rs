//! What goes out: in order, one at a time per target, until there is a receipt or a dead letter.

use std::time::Duration;

use talaria_domain::delivery::{Outcome, Part, PartBody, Receipt, ReplyKind};
use talaria_domain::ids::{DeadId, PartId, ReplyId};
use talaria_domain::machine::{DeadState, PartState, ReplyState};
use talaria_sim::people::direct_chat;
use talaria_store::dead::{self, Thing};
use talaria_store::outbox::Head;
use talaria_store::{Conflict, StoreError, outbox};

use crate::world::World;

const SOON: Duration = Duration::from_secs(5);

/// A finished answer to `who`, and its parts.
async fn answer(world: &World, who: &str, kind: ReplyKind, parts: u32) -> (ReplyId, Vec<PartId>) {
    let (_, session) = world.says(who, "?").await;
    let reply = world.answers(who, session, kind).await;
    let mut shown = Vec::new();
    for number in 0..parts {
        shown.push(world.shows(reply, &format!("part {number}")).await);
    }
    world.finishes(reply).await;
    (reply, shown)
}

/// Sends everything that may be sent, one after the other, and gives the order.
async fn drain(world: &World) -> Vec<PartId> {
    let mut order = Vec::new();
    loop {
        let claimed = world.sends(1).await;
        assert_eq!(
            world.sends(1).await,
            [],
            "what is being sent holds its queue"
        );
        for part in &claimed {
            world.arrives(*part, 1).await;
        }
        if claimed.is_empty() {
            return order;
        }
        order.extend(claimed);
    }
}

async fn part_state(world: &World, part: PartId) -> PartState {
    world.read(move |tx| outbox::get_part(tx, part)).await.state
}

async fn reply_state(world: &World, reply: ReplyId) -> ReplyState {
    world.read(move |tx| outbox::get(tx, reply)).await.state
}

fn not_sent(detail: &str) -> Outcome {
    let detail = detail.to_owned();
    Outcome::NotSent {
        retry_after: Some(SOON),
        detail,
    }
}

fn no_answer() -> Outcome {
    Outcome::Unknown {
        detail: "no answer came".to_owned(),
    }
}

fn text(markdown: &str) -> PartBody {
    PartBody::Text {
        markdown: markdown.to_owned(),
    }
}

both_engines! {
    async fn parts_leave_one_at_a_time_in_order_also_over_two_replies(world) {
        let (_, first) = answer(world, "ada", ReplyKind::Final, 2).await;
        let (_, second) = answer(world, "ada", ReplyKind::Final, 2).await;
        for expected in [first, second].concat() {
            assert_eq!(world.sends(1).await, [expected]);
            assert_eq!(world.sends(1).await, [], "one at a time");
            world.arrives(expected, 1).await;
        }
        assert_eq!(world.sends(1).await, []);
    }

    async fn answers_and_notices_leave_in_order_and_before_progress(world) {
        let (_, progress) = answer(world, "ada", ReplyKind::Progress, 2).await;
        let (_, notice) = answer(world, "ada", ReplyKind::Notice, 1).await;
        let (_, answered) = answer(world, "ada", ReplyKind::Final, 2).await;
        assert_eq!(drain(world).await, [notice, answered, progress].concat());
    }

    async fn two_targets_do_not_hold_each_other(world) {
        let (_, ada) = answer(world, "ada", ReplyKind::Progress, 2).await;
        let (_, bob) = answer(world, "bob", ReplyKind::Final, 2).await;
        assert_eq!(world.sends(1).await, [ada[0], bob[0]]);
        world.arrives(bob[0], 1).await;
        assert_eq!(world.sends(1).await, [bob[1]], "ada's is still being sent");
        world.arrives(ada[0], 1).await;
        assert_eq!(world.sends(1).await, [ada[1]]);
    }

    async fn the_head_of_a_queue_says_what_it_is(world) {
        let (target, now) = (direct_chat("ada").target(), world.now());
        let head = async || world.write(move |tx| outbox::claim(tx, target, 1, now)).await;
        assert_eq!(head().await, Head::Empty);
        let (reply, parts) = answer(world, "ada", ReplyKind::Final, 1).await;
        let Head::Claimed(sending) = head().await else { panic!("it waits") };
        assert_eq!((sending.queued.part.id, sending.reply.id, sending.receipts), (parts[0], reply, vec![]));
        assert_eq!(head().await, Head::Busy);
        let (doubt, due) = (world.attempt(parts[0], 1, no_answer()), now.plus(SOON));
        world.write(move |tx| outbox::doubt(tx, &doubt)).await;
        let Head::Doubted(doubted) = head().await else { panic!("it is in doubt") };
        assert_eq!(doubted.queued.part.id, parts[0]);
        let settled = world.attempt(parts[0], 1, not_sent("flood"));
        world.write(move |tx| outbox::retry_at(tx, &settled, due)).await;
        assert_eq!(head().await, Head::Later(due));
    }

    async fn what_nobody_can_know_is_listed_and_the_queue_moves_on(world) {
        let (reply, parts) = answer(world, "ada", ReplyKind::Final, 2).await;
        let (first, letter) = (parts[0], world.id(DeadId::from_bytes));
        world.sends(1).await;
        let (doubt, settled) = (world.attempt(first, 1, no_answer()), world.attempt(first, 1, no_answer()));
        world.write(move |tx| outbox::doubt(tx, &doubt)).await;
        world.write(move |tx| outbox::settle(tx, &settled, letter, "nobody can know")).await;
        assert_eq!(part_state(world, first).await, PartState::Unknown);
        assert_eq!(drain(world).await, [parts[1]]);
        assert_eq!(reply_state(world, reply).await, ReplyState::Failed);
        let letters = world.read(|tx| dead::list(tx, None, 10)).await;
        assert_eq!(letters.iter().map(|letter| letter.thing).collect::<Vec<_>>(), [Thing::Part(first)]);
    }

    async fn many_claimers_at_once_take_each_part_once(world) {
        let (_, ada) = answer(world, "ada", ReplyKind::Final, 2).await;
        let (_, bob) = answer(world, "bob", ReplyKind::Final, 2).await;
        let mut tasks = tokio::task::JoinSet::new();
        for epoch in 1..=16 {
            let (ledger, now) = (world.ledger.clone(), world.now());
            for who in ["ada", "bob"] {
                let (ledger, target) = (ledger.clone(), direct_chat(who).target());
                tasks.spawn(async move { ledger.write(move |tx| outbox::claim(tx, target, epoch, now)).await });
            }
        }
        let mut claimed = Vec::new();
        for head in tasks.join_all().await {
            match head.unwrap() {
                Head::Claimed(sending) => claimed.push(sending.queued.part.id),
                head => assert_eq!(head, Head::Busy),
            }
        }
        claimed.sort_unstable();
        assert_eq!(claimed, [ada[0], bob[0]]);
    }

    async fn a_part_of_which_nobody_knows_holds_even_what_is_more_urgent(world) {
        let (_, progress) = answer(world, "ada", ReplyKind::Progress, 1).await;
        assert_eq!(world.sends(1).await, progress);
        let (_, urgent) = answer(world, "ada", ReplyKind::Final, 1).await;
        assert_eq!(world.sends(1).await, [], "the progress is being sent");
        let attempt = world.attempt(progress[0], 1, no_answer());
        world.write(move |tx| outbox::doubt(tx, &attempt)).await;
        world.clock.advance(Duration::from_hours(24));
        assert_eq!(world.sends(1).await, [], "the progress may have arrived");
        world.arrives(progress[0], 1).await;
        assert_eq!(world.sends(1).await, urgent);
    }

    async fn a_doubt_that_is_settled_as_not_sent_is_sent_again(world) {
        let (_, parts) = answer(world, "ada", ReplyKind::Final, 1).await;
        world.sends(1).await;
        let (doubt, now) = (world.attempt(parts[0], 1, no_answer()), world.now());
        world.write(move |tx| outbox::doubt(tx, &doubt)).await;
        let settled = world.attempt(parts[0], 1, not_sent("it is not there"));
        world.write(move |tx| outbox::retry_at(tx, &settled, now)).await;
        assert_eq!(world.sends(2).await, parts);
    }

    async fn a_retry_waits_for_its_time_and_holds_what_is_behind_it(world) {
        let (_, parts) = answer(world, "ada", ReplyKind::Progress, 2).await;
        world.sends(1).await;
        let (attempt, due) = (world.attempt(parts[0], 1, not_sent("flood")), world.now().plus(SOON));
        world.write(move |tx| outbox::retry_at(tx, &attempt, due)).await;
        assert_eq!(world.sends(2).await, []);
        world.clock.advance(SOON.checked_sub(Duration::from_millis(1)).unwrap());
        assert_eq!(world.sends(2).await, [], "a millisecond early");
        let (_, urgent) = answer(world, "ada", ReplyKind::Final, 1).await;
        assert_eq!(drain(world).await, urgent, "what waits for its time does not hold what is more urgent");
        world.clock.advance(Duration::from_millis(1));
        assert_eq!(world.sends(2).await, [parts[0]]);
        let first = parts[0];
        let again = world.read(move |tx| outbox::get_part(tx, first)).await;
        assert_eq!((again.attempts, again.epoch, again.state), (2, 2, PartState::Sending));
        world.arrives(first, 2).await;
        assert_eq!(world.sends(2).await, [parts[1]]);
    }

    async fn receipts_and_every_attempts_outcome_are_kept_in_order(world) {
        let (_, parts) = answer(world, "ada", ReplyKind::Final, 1).await;
        let (part, now) = (parts[0], world.now());
        let outcomes = [not_sent("first"), not_sent("second"), no_answer(), world.delivered(&["m2", "m1"])];
        for (epoch, outcome) in (1..).zip(&outcomes[..2]) {
            assert_eq!(world.sends(epoch).await, [part]);
            let attempt = world.attempt(part, epoch, outcome.clone());
            world.write(move |tx| outbox::retry_at(tx, &attempt, now)).await;
        }
        world.sends(3).await;
        let [.., doubt, delivered] = outcomes.clone().map(|outcome| world.attempt(part, 3, outcome));
        world.write(move |tx| outbox::doubt(tx, &doubt)).await;
        world.write(move |tx| outbox::deliver(tx, &delivered)).await;
        assert_eq!(world.read(move |tx| outbox::attempts(tx, part)).await, outcomes);
        let receipts = ["m2", "m1"].map(|message| Receipt { message: message.into(), at: now });
        assert_eq!(world.read(move |tx| outbox::receipts(tx, part)).await, receipts);
    }

    async fn a_reply_is_delivered_when_its_last_part_is(world) {
        let (reply, parts) = answer(world, "ada", ReplyKind::Final, 2).await;
        for (part, after) in parts.into_iter().zip([ReplyState::Finished, ReplyState::Delivered]) {
            assert_eq!(world.sends(1).await, [part]);
            world.arrives(part, 1).await;
            assert_eq!(reply_state(world, reply).await, after);
        }
    }

    async fn a_reply_whose_parts_arrived_is_not_delivered_before_it_is_finished(world) {
        let (_, session) = world.says("ada", "?").await;
        let reply = world.answers("ada", session, ReplyKind::Final).await;
        let part = world.shows(reply, "early").await;
        world.sends(1).await;
        world.arrives(part, 1).await;
        assert_eq!(reply_state(world, reply).await, ReplyState::Open);
        world.finishes(reply).await;
        assert_eq!(reply_state(world, reply).await, ReplyState::Delivered);
    }

    async fn a_reply_without_parts_is_delivered_when_it_is_finished(world) {
        let (reply, _) = answer(world, "ada", ReplyKind::Final, 0).await;
        assert_eq!(reply_state(world, reply).await, ReplyState::Delivered);
    }

    async fn a_given_up_part_fails_its_reply_and_is_a_dead_letter(world) {
        let (reply, parts) = answer(world, "ada", ReplyKind::Final, 2).await;
        world.sends(1).await;
        let letter = world.gives_up(parts[0], 1).await;
        assert_eq!(reply_state(world, reply).await, ReplyState::Finished, "the rest is on its way");
        assert_eq!(drain(world).await, [parts[1]]);
        assert_eq!(reply_state(world, reply).await, ReplyState::Failed);
        let letters = world.read(|tx| dead::list(tx, None, 10)).await;
        let [found] = letters.as_slice() else { panic!("{letters:?}") };
        assert_eq!((found.id, found.thing, found.state), (letter, Thing::Part(parts[0]), DeadState::Open));
        assert_eq!((found.reason.as_str(), found.at), ("the chat is gone", world.now()));
        assert_eq!(world.read(move |tx| dead::list(tx, Some(letter), 10)).await, []);
    }

    async fn a_replayed_part_is_sent_again_and_its_reply_delivered(world) {
        let (reply, parts) = answer(world, "ada", ReplyKind::Final, 1).await;
        world.sends(1).await;
        let (letter, at) = (world.gives_up(parts[0], 1).await, world.now());
        world.write(move |tx| dead::replay(tx, letter, at)).await;
        assert_eq!(part_state(world, parts[0]).await, PartState::Queued);
        assert_eq!(reply_state(world, reply).await, ReplyState::Finished);
        assert_eq!(world.read(|tx| dead::list(tx, None, 10)).await, []);
        assert_eq!(world.sends(2).await, parts);
        world.arrives(parts[0], 2).await;
        assert_eq!(reply_state(world, reply).await, ReplyState::Delivered);
        let (part, again) = (parts[0], world.refusal(move |tx| dead::replay(tx, letter, at)).await);
        assert!(matches!(again, StoreError::Conflict(Conflict::Transition { .. })), "{again:?}");
        assert_eq!(world.read(move |tx| outbox::attempts(tx, part)).await.len(), 2, "its history is kept");
    }

    async fn a_reply_with_two_given_up_parts_is_delivered_only_after_both_are_replayed(world) {
        let (reply, parts) = answer(world, "ada", ReplyKind::Final, 2).await;
        let mut letters = Vec::new();
        for part in &parts {
            world.sends(1).await;
            letters.push(world.gives_up(*part, 1).await);
        }
        let at = world.now();
        for (letter, after) in letters.into_iter().zip([ReplyState::Failed, ReplyState::Delivered]) {
            world.write(move |tx| dead::replay(tx, letter, at)).await;
            drain(world).await;
            assert_eq!(reply_state(world, reply).await, after);
        }
    }

    async fn a_dropped_part_is_never_sent_again(world) {
        let (reply, parts) = answer(world, "ada", ReplyKind::Final, 1).await;
        world.sends(1).await;
        let (letter, at) = (world.gives_up(parts[0], 1).await, world.now());
        world.write(move |tx| dead::drop(tx, letter, at)).await;
        assert_eq!(part_state(world, parts[0]).await, PartState::Discarded);
        assert_eq!(reply_state(world, reply).await, ReplyState::Failed, "nobody saw it");
        assert_eq!(world.read(move |tx| dead::get(tx, letter)).await.state, DeadState::Dropped);
        assert_eq!(world.read(|tx| dead::list(tx, None, 10)).await, []);
        assert_eq!(world.sends(2).await, []);
        let replayed = world.refusal(move |tx| dead::replay(tx, letter, at)).await;
        assert!(matches!(replayed, StoreError::Conflict(Conflict::Transition { .. })), "{replayed:?}");
    }

    async fn a_dead_letter_that_does_not_exist_is_not_found(world) {
        let (letter, at) = (world.id(DeadId::from_bytes), world.now());
        let refused = world.refusal(move |tx| dead::replay(tx, letter, at)).await;
        assert!(matches!(refused, StoreError::NotFound { .. }), "{refused:?}");
    }

    async fn the_outcome_of_a_stale_epoch_is_fenced(world) {
        let (_, parts) = answer(world, "ada", ReplyKind::Final, 1).await;
        let (part, now) = (parts[0], world.now());
        world.sends(1).await;
        let attempt = world.attempt(part, 1, not_sent("flood"));
        world.write(move |tx| outbox::retry_at(tx, &attempt, now)).await;
        world.sends(2).await;
        let letter = world.id(DeadId::from_bytes);
        let stale = [world.delivered(&["late"]), not_sent("late"), no_answer(), no_answer()];
        for (way, outcome) in stale.into_iter().enumerate() {
            let attempt = world.attempt(part, 1, outcome);
            let fenced = world.refusal(move |tx| match way {
                0 => outbox::deliver(tx, &attempt),
                1 => outbox::retry_at(tx, &attempt, now),
                2 => outbox::doubt(tx, &attempt),
                _ => outbox::fail(tx, &attempt, letter, "late"),
            });
            let fenced = fenced.await;
            let is_fenced = matches!(fenced, StoreError::Conflict(Conflict::Fenced { held: 1, current: 2, .. }));
            assert!(is_fenced, "{fenced:?}");
        }
        assert_eq!(part_state(world, part).await, PartState::Sending);
        assert_eq!(world.read(move |tx| outbox::attempts(tx, part)).await, [not_sent("flood")]);
        assert_eq!(world.read(|tx| dead::list(tx, None, 10)).await, []);
    }

    async fn nothing_is_delivered_without_a_receipt(world) {
        let (reply, parts) = answer(world, "ada", ReplyKind::Final, 1).await;
        let part = parts[0];
        world.sends(1).await;
        for outcome in [world.delivered(&[]), no_answer(), not_sent("flood")] {
            let attempt = world.attempt(part, 1, outcome);
            let refused = world.refusal(move |tx| outbox::deliver(tx, &attempt)).await;
            assert!(matches!(refused, StoreError::Broken { .. }), "{refused:?}");
        }
        assert_eq!(part_state(world, part).await, PartState::Sending);
        assert_eq!(reply_state(world, reply).await, ReplyState::Finished);
        assert_eq!(world.read(move |tx| outbox::attempts(tx, part)).await, []);
    }

    async fn a_delivered_part_that_is_revised_is_sent_again_and_stays_one(world) {
        let (reply, parts) = answer(world, "ada", ReplyKind::Progress, 1).await;
        let part = parts[0];
        assert_eq!(drain(world).await, parts);
        world.write(move |tx| outbox::revise(tx, part, &text("half"))).await;
        world.write(move |tx| outbox::revise(tx, part, &text("all"))).await;
        let rows = world.read(move |tx| outbox::parts(tx, reply)).await;
        let [row] = rows.as_slice() else { panic!("{rows:?}") };
        assert_eq!((row.part.id, &row.part.body, row.state), (part, &text("all"), PartState::Queued));
        assert_eq!(world.read(move |tx| outbox::receipts(tx, part)).await.len(), 1, "what is shown is known");
        assert_eq!(world.sends(2).await, parts);
        let attempt = world.attempt(part, 2, world.delivered(&["edited"]));
        world.write(move |tx| outbox::deliver(tx, &attempt)).await;
        let receipts = world.read(move |tx| outbox::receipts(tx, part)).await;
        assert_eq!(receipts, [Receipt { message: "edited".into(), at: world.now() }]);
        assert_eq!(world.read(move |tx| outbox::attempts(tx, part)).await.len(), 2);
        assert_eq!(reply_state(world, reply).await, ReplyState::Delivered);
    }

    async fn what_is_revised_on_its_way_is_sent_again_when_it_has_arrived(world) {
        let (reply, parts) = answer(world, "ada", ReplyKind::Progress, 1).await;
        let part = parts[0];
        world.sends(1).await;
        world.write(move |tx| outbox::revise(tx, part, &text("more"))).await;
        assert_eq!(part_state(world, part).await, PartState::Sending);
        assert_eq!(world.sends(1).await, [], "it is still on its way");
        world.arrives(part, 1).await;
        assert_eq!(part_state(world, part).await, PartState::Queued, "what is shown is not the latest");
        assert_eq!(reply_state(world, reply).await, ReplyState::Finished);
        assert_eq!(world.sends(2).await, parts);
        world.arrives(part, 2).await;
        assert_eq!(part_state(world, part).await, PartState::Delivered);
        assert_eq!(reply_state(world, reply).await, ReplyState::Delivered);
    }

    async fn a_withdrawn_reply_discards_what_waits_and_nothing_else(world) {
        let (reply, parts) = answer(world, "ada", ReplyKind::Final, 3).await;
        world.sends(1).await;
        world.arrives(parts[0], 1).await;
        world.sends(1).await;
        let at = world.now();
        world.write(move |tx| outbox::withdraw(tx, reply, at)).await;
        assert_eq!(reply_state(world, reply).await, ReplyState::Discarded);
        let states = world.read(move |tx| outbox::parts(tx, reply)).await;
        let states: Vec<PartState> = states.iter().map(|part| part.state).collect();
        assert_eq!(states, [PartState::Delivered, PartState::Sending, PartState::Discarded]);
        world.arrives(parts[1], 1).await;
        assert_eq!(world.sends(1).await, []);
        assert_eq!(reply_state(world, reply).await, ReplyState::Discarded);
    }

    async fn the_text_of_a_reply_grows_until_it_is_finished(world) {
        let (_, session) = world.says("ada", "?").await;
        let reply = world.answers("ada", session, ReplyKind::Final).await;
        world.shows(reply, "so far").await;
        for text in ["so", "so far"] {
            world.write(move |tx| outbox::set_text(tx, reply, text)).await;
        }
        world.finishes(reply).await;
        let refused = world.refusal(move |tx| outbox::set_text(tx, reply, "more")).await;
        assert!(matches!(refused, StoreError::Conflict(Conflict::Transition { .. })), "{refused:?}");
        let stored = world.read(move |tx| outbox::get(tx, reply)).await;
        assert_eq!((stored.text.as_str(), stored.revision), ("so far", 2));
        assert_eq!(stored.return_to, World::way_back("ada", session));
    }

    async fn a_reply_that_ended_gets_no_more_parts(world) {
        let (reply, _) = answer(world, "ada", ReplyKind::Final, 1).await;
        drain(world).await;
        let (id, at) = (world.id(PartId::from_bytes), world.now());
        let part = Part { id, reply, ordinal: 1, body: text("more") };
        let refused = world.refusal(move |tx| outbox::add_part(tx, &part, at)).await;
        assert!(matches!(refused, StoreError::Conflict(Conflict::Transition { .. })), "{refused:?}");
        assert_eq!(world.read(move |tx| outbox::parts(tx, reply)).await.len(), 1);
    }
}
