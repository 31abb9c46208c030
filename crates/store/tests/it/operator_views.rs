//! What operators look at: lists in stretches, counts of what is open, and a trace that can begin anywhere.

use std::collections::BTreeMap;

use talaria_domain::authority::Authority;
use talaria_domain::delivery::{Outcome, ReplyKind};
use talaria_domain::ids::{DeadId, EventId, JobId, PartId, ReplyId, RunId, SessionId};
use talaria_domain::job::{JobKind, Promise};
use talaria_domain::machine::{InboxState, JobState, PartState, RunState};
use talaria_domain::run::{FailureCode, RunEvent, RunOutcome, Usage};
use talaria_store::dead::{self, Thing};
use talaria_store::inbox;
use talaria_store::jobs::{self, Order};
use talaria_store::leases::{self, Lease};
use talaria_store::outbox::{self, ReplyStart};
use talaria_store::runs::{self, Admission};
use talaria_store::views::{self, Counts, EventView, Found, Listed, Wanted};

use crate::world::World;

const fn first<C>(limit: u32) -> Wanted<C> {
    Wanted { after: None, limit }
}

/// A lane that is held, and the attempt that is under way in it.
struct Turn {
    event: EventId,
    session: SessionId,
    lane: Lease,
    run: RunId,
}

/// `who` writes, and a run begins to answer.
async fn begins(world: &World, who: &str) -> Turn {
    let (event, session) = world.says(who, "?").await;
    let lane = world.lane(session, "north").await;
    let run = tries(world, who, (event, &lane), 1).await;
    Turn {
        event,
        session,
        lane,
        run,
    }
}

/// The next attempt at what stands at the front of a lane.
async fn tries(world: &World, who: &str, (event, lane): (EventId, &Lease), attempt: u32) -> RunId {
    let leases::LeaseName::Lane(session) = lane.name else {
        panic!("{lane:?}")
    };
    let admission = Admission {
        id: world.id(RunId::from_bytes),
        event,
        runner: "local".into(),
        attempt,
        authority: Authority::default().into(),
        return_to: World::way_back(who, session).into(),
        at: world.now(),
    };
    let (run, lease, at) = (admission.id, lane.clone(), world.now());
    world
        .write(move |tx| {
            inbox::claim(tx, &lease, run, at)?;
            runs::record(tx, &lease, &admission)?;
            runs::start(tx, &lease, run, at)
        })
        .await;
    run
}

/// The run fails and its event is put back.
async fn fails(world: &World, turn: &Turn, run: RunId) {
    let (lease, event, at) = (turn.lane.clone(), turn.event, world.now());
    let reason = "no answer".to_owned();
    let outcome = RunOutcome::failed(FailureCode::Other, reason);
    world
        .write(move |tx| {
            runs::complete(tx, &lease, run, &outcome, at)?;
            inbox::retry_at(tx, &lease, event, at)
        })
        .await;
}

/// The run says something, and it and its event end.
async fn answers(world: &World, who: &str, turn: &Turn, run: RunId) -> (ReplyId, PartId) {
    let start = ReplyStart {
        id: world.id(ReplyId::from_bytes),
        run: Some(run),
        kind: ReplyKind::Final,
        return_to: World::way_back(who, turn.session).into(),
        at: world.now(),
    };
    let (reply, lease, event, at) = (start.id, turn.lane.clone(), turn.event, world.now());
    world
        .write(move |tx| {
            let text = "found".to_owned();
            runs::append(tx, &lease, run, &RunEvent::Log { text }, at)?;
            outbox::record(tx, &start)?;
            runs::complete(
                tx,
                &lease,
                run,
                &RunOutcome::completed(Usage::default()),
                at,
            )?;
            inbox::complete(tx, &lease, event, at)
        })
        .await;
    let part = world.shows(reply, "a heron").await;
    world.finishes(reply).await;
    (reply, part)
}

/// Every event of a list, walked in stretches of `limit`.
async fn walk(
    world: &World,
    state: Option<InboxState>,
    session: Option<SessionId>,
    limit: u32,
) -> Vec<EventId> {
    let mut wanted = first(limit);
    let mut seen = Vec::new();
    loop {
        let listed: Listed<EventView, i64> = world
            .read(move |tx| views::events(tx, state, session, wanted))
            .await;
        assert!(listed.rows.len() <= limit as usize);
        seen.extend(listed.rows.iter().map(|view| view.row.event.id));
        let Some(next) = listed.next else { return seen };
        wanted.after = Some(next);
    }
}

both_engines! {
    async fn events_are_listed_newest_first_by_state_and_session(world) {
        let turn = begins(world, "ada").await;
        let mut waiting = Vec::new();
        for text in ["one", "two", "three"] {
            waiting.insert(0, world.says("ada", text).await.0);
        }
        let (bob, bobs) = world.says("bob", "!").await;
        let ended = begins(world, "cyd").await;
        answers(world, "cyd", &ended, ended.run).await;
        let all = [vec![ended.event, bob], waiting.clone(), vec![turn.event]].concat();
        for limit in [1, 2, 5, 6, 7] {
            assert_eq!(walk(world, None, None, limit).await, all, "in stretches of {limit}");
        }
        let queued = [vec![bob], waiting.clone()].concat();
        assert_eq!(walk(world, Some(InboxState::Queued), None, 2).await, queued);
        assert_eq!(walk(world, Some(InboxState::Queued), Some(turn.session), 2).await, waiting);
        assert_eq!(walk(world, Some(InboxState::Claimed), None, 2).await, [turn.event]);
        assert_eq!(walk(world, Some(InboxState::Completed), None, 2).await, [ended.event]);
        assert_eq!(walk(world, Some(InboxState::Completed), Some(bobs), 2).await, []);
        assert_eq!(walk(world, None, Some(bobs), 2).await, [bob]);
        let waits = world.read(move |tx| views::waiting(tx, turn.session, 2)).await;
        let waits: Vec<EventId> = waits.iter().map(|row| row.event.id).collect();
        assert_eq!(waits, [waiting[2], waiting[1]], "in the order of their turn");
    }

    async fn runs_and_parts_are_listed_newest_first_by_state(world) {
        let ada = begins(world, "ada").await;
        let bob = begins(world, "bob").await;
        let (_, part) = answers(world, "ada", &ada, ada.run).await;
        let listed = |state, session| world.read(move |tx| {
            let rows = views::runs(tx, state, session, first(1))?;
            Ok((rows.rows.iter().map(|view| view.run.id).collect::<Vec<_>>(), rows.next))
        });
        assert_eq!(listed(None, None).await, (vec![bob.run], Some(bob.run)));
        assert_eq!(listed(Some(RunState::Running), None).await, (vec![bob.run], None));
        assert_eq!(listed(Some(RunState::Completed), None).await, (vec![ada.run], None));
        assert_eq!(listed(None, Some(ada.session)).await, (vec![ada.run], None));
        assert_eq!(listed(Some(RunState::Running), Some(ada.session)).await, (vec![], None));
        assert_eq!(world.read(move |tx| views::running(tx, bob.session)).await, Some(bob.run));
        assert_eq!(world.read(move |tx| views::running(tx, ada.session)).await, None);

        let parts = |state| world.read(move |tx| views::parts(tx, state, first(5)));
        let queued = parts(Some(PartState::Queued)).await;
        let [only] = queued.rows.as_slice() else { panic!("{queued:?}") };
        assert_eq!((only.queued.part.id, only.session, only.queued.created_at), (part, ada.session, world.now()));
        assert_eq!(world.sends(1).await, [part]);
        world.arrives(part, 1).await;
        assert_eq!(parts(Some(PartState::Queued)).await.rows, []);
        let delivered = parts(Some(PartState::Delivered)).await;
        let [only] = delivered.rows.as_slice() else { panic!("{delivered:?}") };
        assert_eq!((only.attempts.len(), only.receipts.len()), (1, 1));
        assert_eq!(parts(None).await, delivered);
    }

    async fn jobs_are_listed_newest_first_by_state_and_session_and_traced(world) {
        let turn = begins(world, "ada").await;
        let order = |who: &str, session: SessionId| Order {
            id: world.id(JobId::from_bytes),
            run: Some(turn.run),
            kind: JobKind::Process,
            return_to: World::way_back(who, session),
            work: serde_json::json!({}),
            promise: Promise::Wake,
            node: "north".into(),
            at: world.now(),
        };
        let (_, other) = world.says("bob", "hello").await;
        let orders = [order("ada", turn.session), order("bob", other), order("ada", turn.session)];
        let [first_job, second, third] = [orders[0].id, orders[1].id, orders[2].id];
        world.write(move |tx| orders.iter().try_for_each(|order| jobs::record(tx, order))).await;
        let (end, at) = (World::job_end(JobState::Lost, &serde_json::json!(null)), world.now());
        world.write(move |tx| jobs::complete(tx, second, &end, at)).await;
        let session = turn.session;
        let list = async |state: Option<JobState>, session: Option<SessionId>| {
            let listed = world.read(move |tx| views::jobs(tx, state, session, first(10))).await;
            listed.rows.iter().map(|view| view.job.id).collect::<Vec<_>>()
        };
        assert_eq!(list(None, None).await, [third, second, first_job]);
        assert_eq!(list(Some(JobState::Queued), None).await, [third, first_job]);
        assert_eq!(list(Some(JobState::Lost), None).await, [second]);
        assert_eq!(list(None, Some(session)).await, [third, first_job]);
        assert_eq!(list(Some(JobState::Lost), Some(session)).await, []);
        let view = world.read(move |tx| views::job(tx, second)).await;
        assert_eq!((view.told.as_deref(), view.ended_at), (Some("it is lost"), Some(at)));
        let found = world.read(move |tx| views::find(tx, *third.as_bytes())).await;
        assert_eq!(found, Some(Found::Job(third)));
        assert_eq!(world.read(move |tx| views::about_job(tx, third)).await, []);
        let news = world.said("ada", "it ended");
        let news = talaria_domain::event::Event { dedupe: jobs::end_key(third), ..news };
        let id = news.id;
        world.write(move |tx| inbox::record_pinned(tx, &news, session).map(drop)).await;
        assert_eq!(world.read(move |tx| views::about_job(tx, third)).await, [id]);
    }

    async fn what_is_open_is_counted(world) {
        assert_eq!(world.read(views::counts).await, Counts::default());
        let ada = begins(world, "ada").await;
        world.says("ada", "and?").await;
        let oldest = world.now();
        let reply = world.answers("ada", ada.session, ReplyKind::Final).await;
        let (doubted, _) = (world.shows(reply, "one").await, world.shows(reply, "two").await);
        world.finishes(reply).await;
        world.clock.advance(std::time::Duration::from_secs(1));
        assert_eq!(world.sends(1).await, [doubted]);
        let detail = "no answer came".to_owned();
        let attempt = world.attempt(doubted, 1, Outcome::Unknown { detail });
        let (doubt, letter) = (attempt.clone(), world.id(DeadId::from_bytes));
        world.write(move |tx| outbox::doubt(tx, &doubt)).await;
        let counts = Counts {
            inbox: BTreeMap::from([(InboxState::Queued, 1), (InboxState::Claimed, 1)]),
            lanes: 1,
            runs: BTreeMap::from([(RunState::Running, 1)]),
            outbox: BTreeMap::from([(PartState::Queued, 1), (PartState::Doubted, 1)]),
            oldest_undelivered: Some(oldest),
            unknown: 0,
            dead: 0,
        };
        assert_eq!(world.read(views::counts).await, counts);
        world.write(move |tx| outbox::settle(tx, &attempt, letter, "nobody knows")).await;
        let outbox = BTreeMap::from([(PartState::Queued, 1)]);
        assert_eq!(world.read(views::counts).await, Counts { outbox, unknown: 1, dead: 1, ..counts });
    }

    async fn a_trace_can_begin_with_any_of_our_ids(world) {
        let turn = begins(world, "ada").await;
        let (reply, part) = answers(world, "ada", &turn, turn.run).await;
        world.sends(1).await;
        let letter = world.gives_up(part, 1).await;
        let find = |id: [u8; 16]| world.read(move |tx| views::find(tx, id));
        assert_eq!(find(*turn.event.as_bytes()).await, Some(Found::Event(turn.event)));
        assert_eq!(find(*turn.run.as_bytes()).await, Some(Found::Run(turn.run)));
        assert_eq!(find(*reply.as_bytes()).await, Some(Found::Reply(reply)));
        assert_eq!(find(*part.as_bytes()).await, Some(Found::Part(part)));
        assert_eq!(find(*letter.as_bytes()).await, Some(Found::Part(part)), "a letter is about its part");
        assert_eq!(find(*turn.session.as_bytes()).await, None);
    }

    async fn a_trace_can_begin_with_the_platforms_id(world) {
        let event = world.said("ada", "hello");
        let (id, token) = (event.id, event.message.clone().unwrap());
        let arrival = inbox::Arrival::of(event, world.opening("ada")).unwrap();
        world.write(move |tx| inbox::record(tx, &arrival)).await;
        let turn = begins(world, "bob").await;
        let (_, part) = answers(world, "bob", &turn, turn.run).await;
        world.sends(1).await;
        let attempt = world.attempt(part, 1, world.delivered(&["sent-1", "sent-2"]));
        world.write(move |tx| outbox::deliver(tx, &attempt)).await;
        assert_eq!(world.read(move |tx| views::find_message(tx, &token)).await, Some(Found::Event(id)));
        for message in ["sent-1", "sent-2"] {
            let found = world.read(move |tx| views::find_message(tx, &message.into())).await;
            assert_eq!(found, Some(Found::Part(part)));
        }
        assert_eq!(world.read(|tx| views::find_message(tx, &"nobody".into())).await, None);
    }

    async fn every_attempt_at_an_event_leads_to_it_and_to_its_answer(world) {
        let before = begins(world, "ada").await;
        answers(world, "ada", &before, before.run).await;
        let (event, session) = world.says("ada", "again?").await;
        let run = tries(world, "ada", (event, &before.lane), 1).await;
        let turn = Turn { event, session, lane: before.lane.clone(), run };
        fails(world, &turn, turn.run).await;
        let second = tries(world, "ada", (event, &turn.lane), 2).await;
        let (reply, _) = answers(world, "ada", &turn, second).await;
        let found = world.read(move |tx| views::tries(tx, event)).await;
        let ended: Vec<_> = found.iter().map(|view| (view.run.id, view.ended_at)).collect();
        assert_eq!(ended, [(turn.run, Some(world.now())), (second, Some(world.now()))]);
        let replies = world.read(move |tx| views::replies_to(tx, session, (event, None), &found)).await;
        let replies: Vec<ReplyId> = replies.iter().map(|view| view.reply.id).collect();
        assert_eq!(replies, [reply], "and not what was said to the event before");
        assert_eq!(world.read(move |tx| views::journal(tx, second, 10)).await.len(), 1);
        assert_eq!(world.read(move |tx| views::event(tx, event)).await.ended_at, Some(world.now()));
    }

    async fn letters_are_found_by_what_they_are_about(world) {
        let turn = begins(world, "ada").await;
        let (_, part) = answers(world, "ada", &turn, turn.run).await;
        world.sends(1).await;
        let (letter, at) = (world.gives_up(part, 1).await, world.now());
        world.write(move |tx| dead::replay(tx, letter, at)).await;
        world.sends(2).await;
        let second = world.gives_up(part, 2).await;
        let letters = world.read(move |tx| views::letters_about(tx, Thing::Part(part))).await;
        let ended: Vec<_> = letters.iter().map(|view| (view.letter.id, view.ended_at)).collect();
        assert_eq!(ended, [(letter, Some(at)), (second, None)]);
        let about_event = world.read(move |tx| views::letters_about(tx, Thing::Event(turn.event))).await;
        assert_eq!(about_event, []);
    }

    async fn what_the_gateway_said_itself_is_found_by_session_and_by_event(world) {
        let mut event = world.said("ada", "/help");
        event.message = Some("m-1".into());
        let (asked, opening) = (event.id, world.opening("ada"));
        let arrival = inbox::Arrival::of(event, opening).unwrap();
        world.write(move |tx| inbox::record(tx, &arrival)).await;
        let session = world.read(move |tx| Ok(inbox::get(tx, asked)?.session)).await;
        let say = |id: ReplyId, anchor: &str, text: &'static str| {
            let mut return_to = World::way_back("ada", session);
            return_to.address.reply_to = Some(anchor.into());
            let at = world.now();
            let notice = ReplyStart { id, run: None, kind: ReplyKind::Notice, return_to: return_to.into(), at };
            world.write(move |tx| {
                outbox::record(tx, &notice)?;
                outbox::set_text(tx, id, text)?;
                outbox::finish(tx, id, at)
            })
        };
        say(ReplyId::from_bytes(*asked.as_bytes()), "another", "under the event's id").await;
        world.clock.advance(std::time::Duration::from_secs(1));
        say(world.id(ReplyId::from_bytes), "m-1", "anchored to it").await;
        say(world.id(ReplyId::from_bytes), "m-2", "to somebody else").await;
        let texts = |replies: Vec<views::ReplyView>| -> Vec<String> {
            replies.into_iter().map(|view| view.reply.text).collect()
        };
        let message = "m-1".into();
        let to_it = world.read(move |tx| views::replies_to(tx, session, (asked, Some(&message)), &[])).await;
        assert_eq!(texts(to_it), ["under the event's id", "anchored to it"]);
        let latest = world.read(move |tx| views::notices(tx, session, 2)).await;
        assert_eq!(texts(latest), ["anchored to it", "to somebody else"]);
    }
}
