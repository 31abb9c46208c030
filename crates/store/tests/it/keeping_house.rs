//! What keeps the ledger in order: rescue from lost owners, pruning, looking for damage, and copies.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use talaria_domain::clock::ManualClock;
use talaria_domain::delivery::{PartBody, ReplyKind};
use talaria_domain::ids::{DeadId, EventId, JobId, PartId, ReplyId, RunId, SessionId};
use talaria_domain::job::{JobKind, Promise};
use talaria_domain::machine::{InboxState, JobState, PartState, RunState};
use talaria_domain::run::{RunEvent, RunOutcome, Usage};
use talaria_store::inbox::{self, Arrival, Recorded};
use talaria_store::jobs::{self, Order};
use talaria_store::leases::{self, Ended, Lease, LeaseName};
use talaria_store::maintenance::prune::{Retention, prune};
use talaria_store::maintenance::rescue::{Rescued, rescue};
use talaria_store::maintenance::{backup, integrity};
use talaria_store::transcripts::{self, Speaker, Utterance};
use talaria_store::{
    Conflict, Durability, Ledger, Refusal, Settings, StoreError, Tx, bind, dead, outbox, runs,
    search, state,
};

use crate::world::{TTL, World, direct_chat, person, scope};

const DAY: Duration = Duration::from_hours(24);
const SHORT: Retention = Retention(Duration::ZERO);

/// What is in use while somebody is answered.
#[derive(Clone)]
struct Turn {
    event: EventId,
    session: SessionId,
    lane: Lease,
    target: Lease,
    run: RunId,
    reply: ReplyId,
    part: PartId,
    job: JobId,
}

/// `node` answers `who`: the event is claimed, the run works, a part is being sent, a job runs.
async fn turn(world: &World, who: &str, node: &str) -> Turn {
    let (event, session) = world.says(who, "a heron?").await;
    let lane = world.lane(session, node).await;
    let run = world.admits(who, &lane).await;
    let (lease, at) = (lane.clone(), world.now());
    world
        .write(move |tx| {
            inbox::claim(tx, &lease, run, at)?;
            runs::start(tx, &lease, run, at)?;
            let text = "looking".to_owned();
            runs::append(tx, &lease, run, &RunEvent::Log { text }, at)?;
            let (speaker, text, detail) = (Speaker::User, "a heron?".to_owned(), json!(null));
            let run = Some(run);
            let said = Utterance {
                speaker,
                text,
                detail,
                run,
                at,
            };
            transcripts::append(tx, session, &said)
        })
        .await;
    let target = LeaseName::Target(direct_chat(who).target());
    let target = world.lease(target, node).await;
    let reply = world.answers(who, session, ReplyKind::Final).await;
    let part = world.shows(reply, "a heron").await;
    assert_eq!(world.sends(target.epoch).await, [part]);
    let job = starts_job(world, who, session).await;
    Turn {
        event,
        session,
        lane,
        target,
        run,
        reply,
        part,
        job,
    }
}

async fn starts_job(world: &World, who: &str, session: SessionId) -> JobId {
    let order = Order {
        id: world.id(JobId::from_bytes),
        run: None,
        kind: JobKind::Process,
        return_to: World::way_back(who, session),
        work: json!({}),
        promise: Promise::Nothing,
        node: "north".into(),
        at: world.now(),
    };
    let job = order.id;
    world
        .write(move |tx| {
            jobs::record(tx, &order)?;
            jobs::start(tx, job, &json!(17))
        })
        .await;
    job
}

/// Everything about a turn ends well.
async fn ends(world: &World, turn: &Turn) {
    world.arrives(turn.part, turn.target.epoch).await;
    world.finishes(turn.reply).await;
    let (turn, at) = (turn.clone(), world.now());
    let usage = Usage::default();
    world
        .write(move |tx| {
            let outcome = RunOutcome::completed(usage);
            runs::complete(tx, &turn.lane, turn.run, &outcome, at)?;
            inbox::complete(tx, &turn.lane, turn.event, at)?;
            jobs::complete(
                tx,
                turn.job,
                &World::job_end(JobState::Completed, &json!(0)),
                at,
            )?;
            leases::release(tx, &turn.target)?;
            leases::release(tx, &turn.lane)
        })
        .await;
}

/// The event of a turn is given up, and its part.
async fn dies(world: &World, turn: &Turn) -> [DeadId; 2] {
    let part = world.gives_up(turn.part, turn.target.epoch).await;
    world.finishes(turn.reply).await;
    let (turn, event) = (turn.clone(), world.id(DeadId::from_bytes));
    world
        .write(move |tx| inbox::give_up(tx, &turn.lane, turn.event, event, "no model"))
        .await;
    [event, part]
}

async fn rescued(world: &World, ended: Ended) -> Rescued {
    world.write(move |tx| rescue(tx, &ended)).await
}

/// Where event, run and part of a turn stand.
async fn states(world: &World, turn: &Turn) -> (InboxState, RunState, PartState) {
    let turn = turn.clone();
    let read = world.read(move |tx| {
        let event = inbox::get(tx, turn.event)?.state;
        let run = runs::get(tx, turn.run)?.state;
        Ok((event, run, outbox::get_part(tx, turn.part)?.state))
    });
    read.await
}

/// How much there is in each of these tables.
async fn counts(ledger: &Ledger, tables: &[&str]) -> Vec<i64> {
    let count = |table: &&str| &*format!("SELECT COUNT(*) FROM {table}").leak();
    let texts: Vec<&'static str> = tables.iter().map(count).collect();
    let counted = ledger.read(move |tx| {
        let each = texts.iter().map(|text| {
            let count = tx.row(text, &[], |row| row.get::<i64>(0))?;
            Ok(count.unwrap())
        });
        each.collect()
    });
    counted.await.unwrap()
}

async fn prunes(world: &World, retention: Retention, limit: u32) -> u64 {
    let now = world.now();
    world
        .write(move |tx| prune(tx, retention, now, limit))
        .await
}

async fn prunes_all(world: &World, retention: Retention) {
    while prunes(world, retention, 100).await > 0 {}
}

/// What is pruned once it ended.
const PASSING: [&str; 10] = [
    "inbox",
    "dedupe",
    "runs",
    "run_events",
    "replies",
    "parts",
    "receipts",
    "attempts",
    "jobs",
    "leases",
];

/// What somebody damages, and what is found then.
const DAMAGE: [(&str, &[&str]); 9] = [
    (
        "DELETE FROM sessions",
        &[
            "1 events without a session",
            "1 keys that lead nowhere",
            "1 keys that do not know how many sessions they have",
            "1 entries without a session",
        ],
    ),
    (
        "UPDATE session_keys SET led = 1",
        &["1 keys that do not know whose session they lead to"],
    ),
    (
        "DELETE FROM inbox",
        &["1 events that were acknowledged and are not there"],
    ),
    (
        "DELETE FROM dedupe",
        &["1 events that nobody would recognise when they are delivered again"],
    ),
    (
        "UPDATE sessions SET last_seq = 0",
        &["1 entries past their session's last number"],
    ),
    (
        "UPDATE inbox SET state = 'dead'",
        &["1 dead events without a letter"],
    ),
    ("DELETE FROM replies", &["1 parts without a reply"]),
    (
        "DELETE FROM receipts",
        &["1 delivered parts without a receipt"],
    ),
    ("DELETE FROM runs", &["1 run events without a run"]),
];

/// Something in every table.
async fn fill(world: &World) {
    ends(world, &turn(world, "ada", "north").await).await;
    dies(world, &turn(world, "bob", "north").await).await;
    turn(world, "cyd", "south").await;
    crate::asking::asks(world, "dan").await;
    crate::scheduling::happens(world, "eve").await;
    let at = world.now();
    world
        .write(move |tx| state::set(tx, scope(), "tea", &json!("green"), at))
        .await;
}

async fn copy_to(world: &World, path: &Path) -> Result<(), StoreError> {
    let path = path.to_owned();
    let copied = world.ledger.read(move |tx| backup::backup(tx, &path));
    copied.await
}

async fn open_copy(world: &World, path: &Path) -> Ledger {
    let settings = Settings {
        url: format!("sqlite:{}", path.display()),
        durability: Durability::Process,
        clock: Some(Arc::<ManualClock>::clone(&world.clock)),
    };
    Ledger::open_with(settings).await.unwrap()
}

fn room() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("copy.db");
    (directory, path)
}

fn is_fenced<T>(outcome: &Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::Conflict(Conflict::Fenced { .. })))
}

both_engines! {
    async fn what_a_lost_owner_held_is_rescued(world) {
        let lost = turn(world, "ada", "north").await;
        assert_eq!(rescued(world, Ended::Expired).await, Rescued::default(), "not before the lease has expired");
        world.clock.advance(TTL);
        assert_eq!(rescued(world, Ended::Expired).await, Rescued { leases: 2, events: 1, runs: 1, parts: 1 });
        let after = states(world, &lost).await;
        assert_eq!(after, (InboxState::Queued, RunState::Interrupted, PartState::Doubted));
        assert_eq!(rescued(world, Ended::Expired).await, Rescued::default(), "once is enough");

        let (former, at) = (lost.clone(), world.now());
        let outcome = world.ledger.write(move |tx| inbox::complete(tx, &former.lane, former.event, at)).await;
        assert!(is_fenced(&outcome), "{outcome:?}");
        let former = lost.clone();
        let outcome = RunOutcome::Cancelled;
        let outcome = world.ledger.write(move |tx| runs::complete(tx, &former.lane, former.run, &outcome, at)).await;
        assert!(is_fenced(&outcome), "{outcome:?}");
        let lane = world.lane(lost.session, "south").await;
        let run = world.admits("ada", &lane).await;
        let again = world.write(move |tx| inbox::claim(tx, &lane, run, at)).await.unwrap();
        assert_eq!((again.event.id, again.attempts), (lost.event, 2));
    }

    async fn a_lease_that_is_still_good_is_left_alone(world) {
        let (lost, good) = (turn(world, "ada", "north").await, turn(world, "bob", "north").await);
        world.clock.advance(TTL.checked_sub(Duration::from_millis(1)).unwrap());
        let renewed = good.clone();
        world.write(move |tx| leases::renew(tx, &renewed.lane, TTL)).await;
        let renewed = good.clone();
        world.write(move |tx| leases::renew(tx, &renewed.target, TTL)).await;
        assert_eq!(rescued(world, Ended::Expired).await, Rescued::default(), "a millisecond is left");
        world.clock.advance(Duration::from_millis(1));
        assert_eq!(rescued(world, Ended::Expired).await, Rescued { leases: 2, events: 1, runs: 1, parts: 1 });
        assert_eq!(states(world, &lost).await.0, InboxState::Queued);
        let untouched = (InboxState::Claimed, RunState::Running, PartState::Sending);
        assert_eq!(states(world, &good).await, untouched);
        ends(world, &good).await;
    }

    async fn a_node_that_is_known_to_be_gone_is_rescued_from_at_once(world) {
        let (lost, good) = (turn(world, "ada", "north").await, turn(world, "bob", "south").await);
        let all = Rescued { leases: 2, events: 1, runs: 1, parts: 1 };
        assert_eq!(rescued(world, Ended::OwnedBy("nor".into())).await, Rescued::default());
        assert_eq!(rescued(world, Ended::OwnedBy("north".into())).await, all);
        let after = states(world, &lost).await;
        assert_eq!(after, (InboxState::Queued, RunState::Interrupted, PartState::Doubted));
        let untouched = (InboxState::Claimed, RunState::Running, PartState::Sending);
        assert_eq!(states(world, &good).await, untouched);
        ends(world, &good).await;
        assert_eq!(rescued(world, Ended::OwnedBy("south".into())).await, Rescued::default(), "it gave back its leases");
    }

    async fn a_part_whose_sender_was_lost_holds_its_queue_until_that_is_settled(world) {
        let lost = turn(world, "ada", "north").await;
        let next = world.shows(lost.reply, "and a crane").await;
        rescued(world, Ended::OwnedBy("north".into())).await;
        assert_eq!(world.sends(2).await, []);
        world.arrives(lost.part, lost.target.epoch).await;
        assert_eq!(world.sends(2).await, [next]);
    }

    async fn what_ended_before_the_retention_is_pruned_with_all_that_belongs_to_it(world) {
        ends(world, &turn(world, "ada", "north").await).await;
        assert_eq!(counts(&world.ledger, &PASSING).await, [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
        world.clock.advance(90 * DAY);
        assert_eq!(prunes(world, Retention::default(), 100).await, 0, "not on the last day");
        // A lease that was given back is one epoch ahead of the time it was made.
        world.clock.advance(Duration::from_millis(2));
        assert_eq!(prunes(world, Retention::default(), 100).await, 11);
        assert_eq!(counts(&world.ledger, &PASSING).await, [0; 10]);
        let kept = ["sessions", "session_keys", "transcripts"];
        assert_eq!(counts(&world.ledger, &kept).await, [1; 3]);
    }

    async fn nothing_that_is_open_is_pruned(world) {
        let open = turn(world, "ada", "north").await;
        world.says("ada", "and a crane?").await;
        let before = counts(&world.ledger, &PASSING).await;
        world.clock.advance(1_000 * DAY);
        assert_eq!(prunes(world, SHORT, 100).await, 0);
        assert_eq!(counts(&world.ledger, &PASSING).await, before);
        ends(world, &open).await;
    }

    async fn a_dead_letter_keeps_its_thing(world) {
        let letters = dies(world, &turn(world, "ada", "north").await).await;
        world.clock.advance(1_000 * DAY);
        prunes_all(world, SHORT).await;
        assert_eq!(world.read(|tx| dead::list(tx, None, 10)).await.len(), 2);
        for letter in letters {
            let at = world.now();
            world.write(move |tx| dead::replay(tx, letter, at)).await;
        }
        assert_eq!(world.sends(7).await.len(), 1);
        assert_eq!(world.read(inbox::open_lanes).await.len(), 1);
    }

    async fn a_dead_letter_keeps_its_part_when_the_reply_was_withdrawn(world) {
        let lost = turn(world, "ada", "north").await;
        let [_, letter] = dies(world, &lost).await;
        let (reply, at) = (lost.reply, world.now());
        world.write(move |tx| outbox::withdraw(tx, reply, at)).await;
        world.clock.advance(1_000 * DAY);
        prunes_all(world, SHORT).await;
        let at = world.now();
        world.write(move |tx| dead::drop(tx, letter, at)).await;
        prunes_all(world, SHORT).await;
        assert_eq!(counts(&world.ledger, &["replies", "parts", "attempts"]).await, [0; 3], "nothing holds it any more");
    }

    async fn a_part_that_is_revised_is_open_again_and_kept(world) {
        let done = turn(world, "ada", "north").await;
        ends(world, &done).await;
        let (part, markdown) = (done.part, "a crane".to_owned());
        world.write(move |tx| outbox::revise(tx, part, &PartBody::Text { markdown: markdown.clone() })).await;
        world.clock.advance(1_000 * DAY);
        prunes_all(world, SHORT).await;
        assert_eq!(world.sends(2).await, [done.part]);
        world.arrives(done.part, 2).await;
        prunes_all(world, SHORT).await;
        assert_eq!(counts(&world.ledger, &["replies", "parts", "receipts", "attempts"]).await, [0; 4]);
    }

    async fn what_was_laid_to_rest_is_pruned_like_the_rest(world) {
        for letter in dies(world, &turn(world, "ada", "north").await).await {
            let at = world.now();
            world.write(move |tx| dead::drop(tx, letter, at)).await;
        }
        world.clock.advance(8 * DAY);
        prunes_all(world, SHORT).await;
        assert_eq!(counts(&world.ledger, &["inbox", "dedupe", "replies", "parts", "attempts"]).await, [0; 5]);
    }

    async fn pruning_does_a_little_at_a_time_and_leaves_no_halves(world) {
        for who in ["ada", "bob", "cyd"] {
            let turn = turn(world, who, "north").await;
            let reply = turn.reply;
            world.shows(reply, "never sent").await;
            ends(world, &turn).await;
            let at = world.now();
            world.write(move |tx| outbox::withdraw(tx, reply, at)).await;
        }
        world.clock.advance(8 * DAY);
        let mut before = counts(&world.ledger, &PASSING).await;
        assert_eq!(before, [3, 3, 3, 3, 3, 6, 3, 3, 3, 6]);
        while prunes(world, SHORT, 1).await > 0 {
            assert_eq!(world.read(integrity::check).await, Vec::<String>::new());
            let after = counts(&world.ledger, &PASSING).await;
            assert!(before.iter().zip(&after).all(|(before, after)| before - after <= 1), "{before:?} {after:?}");
            before = after;
        }
        assert_eq!(before, [0; 10]);
    }

    async fn no_event_younger_than_a_week_is_pruned_whatever_is_configured(world) {
        ends(world, &turn(world, "ada", "north").await).await;
        let before = counts(&world.ledger, &PASSING).await;
        world.clock.advance(7 * DAY);
        assert_eq!(prunes(world, SHORT, 100).await, 0);
        assert_eq!(counts(&world.ledger, &PASSING).await, before);
        world.clock.advance(Duration::from_millis(2));
        prunes_all(world, SHORT).await;
        assert_eq!(counts(&world.ledger, &PASSING).await, [0; 10]);
    }

    async fn an_event_is_recognised_for_as_long_as_it_is_kept(world) {
        let (event, at) = (world.said("ada", "a heron?"), world.now());
        let (first, arrival) = (event.id, Arrival::of(event, world.opening("ada")).unwrap());
        let again = arrival.clone();
        world.write(move |tx| inbox::record(tx, &arrival)).await;
        world.write(move |tx| inbox::discard(tx, first, "spam", at)).await;
        for (days, expected) in [(7, true), (1, false)] {
            world.clock.advance(days * DAY);
            prunes_all(world, SHORT).await;
            let again = again.clone();
            let recorded = world.write(move |tx| inbox::record(tx, &again)).await;
            assert_eq!(recorded == Recorded::Duplicate { first }, expected, "{recorded:?}");
        }
    }

    async fn a_pruned_lease_never_gives_an_epoch_a_second_time(world) {
        let mut latest = 0;
        for _ in 0..3 {
            for _ in 0..3 {
                let lease = world.lease(LeaseName::Named("slot".to_owned()), "north").await;
                assert!(lease.epoch > latest, "{} after {latest}", lease.epoch);
                latest = lease.epoch;
                world.write(move |tx| leases::release(tx, &lease)).await;
            }
            world.clock.advance(8 * DAY);
            prunes_all(world, SHORT).await;
            assert_eq!(counts(&world.ledger, &["leases"]).await, [0]);
        }
    }

    async fn a_lease_whose_epochs_are_ahead_of_the_clock_is_not_pruned(world) {
        world.lease(LeaseName::Named("slot".to_owned()), "north").await;
        let ahead = world.now().plus(30 * DAY);
        world.write(move |tx| tx.execute("UPDATE leases SET epoch = ?1, expires_at = 0", bind![ahead])).await;
        world.clock.advance(8 * DAY);
        prunes_all(world, SHORT).await;
        let lease = world.lease(LeaseName::Named("slot".to_owned()), "north").await;
        assert!(lease.epoch > ahead.as_millis());
    }

    async fn damage_is_found(world) {
        ends(world, &turn(world, "ada", "north").await).await;
        assert_eq!(world.read(integrity::check).await, Vec::<String>::new());
        for (damage, expected) in DAMAGE {
            // What is returned as a failure is rolled back, so that the next damage meets a healthy ledger.
            let found = world.refusal::<()>(move |tx| {
                tx.execute(damage, &[])?;
                Err(StoreError::Broken { why: integrity::check(tx)?.join(", ") })
            });
            assert_eq!(found.await, StoreError::Broken { why: expected.join(", ") }, "{damage}");
        }
    }

    async fn a_copy_holds_everything_and_can_be_opened(world) {
        fill(world).await;
        let (_directory, path) = room();
        copy_to(world, &path).await.unwrap();
        let copy = open_copy(world, &path).await;
        assert_eq!(copy.read(integrity::check).await.unwrap(), Vec::<String>::new());
        let tables = "SELECT name FROM sqlite_schema WHERE type = 'table'";
        let tables = copy.read(move |tx| tx.rows(tables, &[], |row| row.get::<String>(0)));
        let tables = tables.await.unwrap();
        let is_copied = |name: &&str| *name != "migrations" && !name.contains("search");
        let tables: Vec<&str> = tables.iter().map(String::as_str).filter(is_copied).collect();
        assert!(PASSING.iter().all(|table| tables.contains(table)), "{tables:?}");
        let copied = counts(&copy, &tables).await;
        assert_eq!(copied, counts(&world.ledger, &tables).await, "{tables:?}");
        for (table, count) in tables.iter().zip(copied) {
            assert!(count > 0, "{table} is empty, so nobody knows whether it was copied");
        }
        copy.close().await;
    }

    async fn a_copy_goes_on_where_it_was_made(world) {
        fill(world).await;
        let (_directory, path) = room();
        copy_to(world, &path).await.unwrap();
        let copy = open_copy(world, &path).await;
        let owner = person("ada").key();
        let find = move |tx: &mut Tx<'_>| search::search(tx, owner, "heron", 10);
        assert_eq!(copy.read(find).await, world.ledger.read(find).await);
        let found = copy.read(find).await.unwrap();
        let [hit] = found.as_slice() else { panic!("{found:?}") };
        let (session, at) = (hit.session, world.now());
        let (speaker, text, detail) = (Speaker::User, "another heron".to_owned(), json!(null));
        let said = Utterance { speaker, text, detail, run: None, at };
        copy.write(move |tx| transcripts::append(tx, session, &said)).await.unwrap();
        assert_eq!(copy.read(find).await.unwrap().len(), 2);
        let arrival = world.arrival("ada", "one more");
        let recorded = copy.write(move |tx| inbox::record(tx, &arrival)).await.unwrap();
        assert!(matches!(recorded, Recorded::Accepted { session: there, .. } if there == session), "{recorded:?}");
        copy.close().await;
    }

    async fn a_copy_never_takes_the_place_of_a_file(world) {
        let (directory, path) = room();
        std::fs::write(&path, "somebody's").unwrap();
        let refused = copy_to(world, &path).await;
        assert!(matches!(refused, Err(StoreError::Refuse(Refusal::ReadOnly { .. }))), "{refused:?}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "somebody's");
        let refused = copy_to(world, &directory.path().join("nowhere/copy.db")).await;
        assert!(matches!(refused, Err(StoreError::Refuse(_))), "{refused:?}");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left beside it");
    }
}
