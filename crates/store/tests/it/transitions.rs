//! Every verb from every state: what the machines' tables have happens, and nothing else does.

use std::fmt::Debug;

use serde_json::json;
use talaria_domain::clock::Timestamp;
use talaria_domain::delivery::{Outcome, PartBody, Receipt, ReplyKind};
use talaria_domain::ids::{DeadId, EventId, JobId, PartId, ReplyId, RunId, SessionId};
use talaria_domain::job::{JobKind, Promise};
use talaria_domain::machine::{
    DeadState, InboxState, JobState, Machine, PartState, ReplyState, RunState, SessionState,
};
use talaria_domain::run::{FailureCode, RunOutcome, Usage};
use talaria_store::jobs::{self, Order};
use talaria_store::leases::{Ended, Lease, LeaseName};
use talaria_store::maintenance::rescue::rescue;
use talaria_store::outbox::{self, Attempt};
use talaria_store::sessions::Opening;
use talaria_store::{Conflict, Result, StoreError, Tx, bind, dead, inbox, runs, sessions};

use crate::world::{World, direct_chat, person};

/// One of everything that has a state.
#[derive(Clone)]
struct Cast {
    session: SessionId,
    opening: Opening,
    earlier: EventId,
    event: EventId,
    lane: Lease,
    target: Lease,
    run: RunId,
    reply: ReplyId,
    part: PartId,
    job: JobId,
    /// Dead letters about the event and about the part, and one to be written.
    letters: [DeadId; 3],
    at: Timestamp,
}

/// What a verb does, in terms of the table.
struct Verb<M> {
    name: &'static str,
    to: M,
    /// Where it deliberately does nothing and does not complain.
    skips: Vec<M>,
    act: fn(&mut Tx<'_>, &Cast) -> Result<()>,
}

/// One thing with a state: how to put it there, how to look at it, and what can be done to it.
struct Script<M> {
    put: fn(&mut Tx<'_>, &Cast, M) -> Result<u64>,
    look: fn(&mut Tx<'_>, &Cast) -> Result<(M, String)>,
    verbs: Vec<Verb<M>>,
}

fn verb<M>(name: &'static str, to: M, act: fn(&mut Tx<'_>, &Cast) -> Result<()>) -> Verb<M> {
    let skips = Vec::new();
    Verb {
        name,
        to,
        skips,
        act,
    }
}

impl<M: Machine> Verb<M> {
    fn skipping(self, skips: &[M]) -> Self {
        let skips = skips.to_vec();
        Self { skips, ..self }
    }

    fn only_from(self, states: &[M]) -> Self {
        let others = M::STATES.iter().filter(|state| !states.contains(state));
        let skips = others.copied().collect();
        Self { skips, ..self }
    }
}

async fn play<M: Machine + Debug + Send>(world: &World, script: Script<M>) {
    let cast = gather(world).await;
    let mut walked = Vec::new();
    for &from in M::STATES {
        for verb in &script.verbs {
            if tries(world, &cast, (&script, verb), from).await {
                walked.push((from, verb.name, verb.to));
            }
        }
    }
    for arrow in M::ARROWS {
        assert!(
            walked.contains(arrow),
            "nothing here takes the arrow {arrow:?}"
        );
    }
    let mend = cast.clone();
    world.write(move |tx| reset(tx, &mend)).await;
}

/// Tries a verb from a state; gives whether it took an arrow.
async fn tries<M: Machine + Debug + Send>(
    world: &World,
    cast: &Cast,
    (script, verb): (&Script<M>, &Verb<M>),
    from: M,
) -> bool {
    let (put, look, act) = (script.put, script.look, verb.act);
    let (a, b, c) = (cast.clone(), cast.clone(), cast.clone());
    let before = world.write(move |tx| {
        reset(tx, &a)?;
        assert_eq!(put(tx, &a, from)?, 1, "it is there");
        look(tx, &a)
    });
    let before = before.await;
    let outcome = world.ledger.write(move |tx| act(tx, &b)).await;
    let after = world.read(move |tx| look(tx, &c)).await;
    let (is_skipped, has_arrow) = (verb.skips.contains(&from), from.may(verb.name, verb.to));
    let what = format!("{} {} from {from:?}: {outcome:?}", verb.name, M::THING);
    if has_arrow && !is_skipped {
        assert_eq!((&outcome, after.0), (&Ok(()), verb.to), "{what}");
        return true;
    }
    assert_eq!(after, before, "{what}");
    match outcome {
        Ok(()) => assert!(is_skipped, "{what}"),
        Err(StoreError::Conflict(Conflict::Transition {
            thing, from: f, to, ..
        })) => {
            let (wrong, wanted) = ((thing, f, to), (M::THING, from.as_str(), verb.to.as_str()));
            assert!(!is_skipped && wrong == wanted, "{what}");
        }
        Err(error) => panic!("{what}: {error}"),
    }
    false
}

async fn gather(world: &World) -> Cast {
    let (earlier, session) = world.says("ada", "one").await;
    let (event, _) = world.says("ada", "two").await;
    let lane = world.lane(session, "north").await;
    let target = LeaseName::Target(direct_chat("ada").target());
    let target = world.lease(target, "north").await;
    let run = world.admits("ada", &lane).await;
    let reply = world.answers("ada", session, ReplyKind::Final).await;
    let order = Order {
        id: world.id(JobId::from_bytes),
        run: None,
        kind: JobKind::Process,
        return_to: World::way_back("ada", session),
        work: json!({}),
        promise: Promise::Nothing,
        node: "north".into(),
        at: world.now(),
    };
    let job = order.id;
    world.write(move |tx| jobs::record(tx, &order)).await;
    Cast {
        session,
        opening: world.opening("ada"),
        earlier,
        event,
        lane,
        target,
        run,
        reply,
        part: world.shows(reply, "text").await,
        job,
        letters: [(); 3].map(|()| world.id(DeadId::from_bytes)),
        at: world.now(),
    }
}

/// Everything is open, the letters too; nobody has ended anything.
fn reset(tx: &mut Tx<'_>, cast: &Cast) -> Result<()> {
    let Cast { session, at, .. } = cast;
    tx.execute(
        "UPDATE inbox SET state = 'queued', epoch = 0, ended_at = NULL, reason = NULL, merged_into = NULL",
        &[],
    )?;
    tx.execute(
        "UPDATE inbox SET state = 'completed', ended_at = ?2 WHERE event_id = ?1",
        bind![cast.earlier, at],
    )?;
    tx.execute(
        "DELETE FROM sessions WHERE session_id <> ?1",
        bind![session],
    )?;
    let only = "UPDATE session_keys SET session_id = ?1, made = 1, kept = 1, led = 0";
    tx.execute(only, bind![session])?;
    tx.execute(
        "UPDATE sessions SET state = 'active', end_reason = NULL",
        &[],
    )?;
    let queued = "UPDATE runs SET state = 'queued', ended_at = NULL, outcome = NULL";
    tx.execute(queued, &[])?;
    tx.execute("UPDATE replies SET state = 'open', ended_at = NULL", &[])?;
    let queued = "UPDATE parts SET state = 'queued', epoch = ?1, not_before = 0, sent = revision";
    tx.execute(queued, bind![cast.target.epoch])?;
    tx.execute("DELETE FROM dead_letters", &[])?;
    let [about_event, about_part, _] = cast.letters;
    let letter =
        "INSERT INTO dead_letters (dead_id, thing, thing_id, session_id, state, reason, at)
         VALUES (?1, ?2, ?3, ?4, 'open', 'given up', ?5)";
    tx.execute(letter, bind![about_event, "event", cast.event, session, at])?;
    tx.execute(letter, bind![about_part, "part", cast.part, session, at])?;
    for lease in [&cast.lane, &cast.target] {
        tx.execute(
            "UPDATE leases SET epoch = ?2, expires_at = 1 WHERE name = ?1",
            bind![lease.name.to_string(), lease.epoch],
        )?;
    }
    Ok(())
}

fn end_of<M: Machine>(cast: &Cast, state: M) -> Option<Timestamp> {
    state.is_end().then_some(cast.at)
}

fn attempt(cast: &Cast, outcome: Outcome) -> Attempt {
    Attempt {
        part: cast.part,
        epoch: cast.target.epoch,
        outcome,
        at: cast.at,
    }
}

fn delivered(cast: &Cast) -> Attempt {
    let (message, at) = ("m1".into(), cast.at);
    let receipts = vec![Receipt { message, at }];
    attempt(cast, Outcome::Delivered { receipts })
}

fn silence(cast: &Cast) -> Attempt {
    let detail = "no answer came".to_owned();
    attempt(cast, Outcome::Unknown { detail })
}

fn rescue_all(tx: &mut Tx<'_>, _: &Cast) -> Result<()> {
    rescue(tx, &Ended::OwnedBy("north".into())).map(drop)
}

fn ends_run(tx: &mut Tx<'_>, cast: &Cast, outcome: &RunOutcome) -> Result<()> {
    runs::complete(tx, &cast.lane, cast.run, outcome, cast.at)
}

fn ends_job(tx: &mut Tx<'_>, cast: &Cast, end: JobState) -> Result<()> {
    jobs::complete(tx, cast.job, &World::job_end(end, &json!(0)), cast.at)
}

fn events() -> Script<InboxState> {
    use InboxState::{Claimed, Completed, Dead, Discarded, Merged, Queued};
    Script {
        put: |tx, cast, state| {
            tx.execute(
                "UPDATE inbox SET state = ?2, ended_at = ?3, epoch = ?4 WHERE event_id = ?1",
                bind![
                    cast.event,
                    state.as_str(),
                    end_of(cast, state),
                    cast.lane.epoch
                ],
            )
        },
        look: |tx, cast| inbox::get(tx, cast.event).map(|row| (row.state, format!("{row:?}"))),
        verbs: vec![
            verb("claim", Claimed, |tx, cast| {
                inbox::claim(tx, &cast.lane, cast.run, cast.at).map(drop)
            })
            .only_from(&[Queued]),
            verb("complete", Completed, |tx, cast| {
                inbox::complete(tx, &cast.lane, cast.event, cast.at)
            }),
            verb("retry_at", Queued, |tx, cast| {
                inbox::retry_at(tx, &cast.lane, cast.event, cast.at)
            }),
            verb("give_up", Dead, |tx, cast| {
                inbox::give_up(tx, &cast.lane, cast.event, cast.letters[2], "no")
            }),
            verb("merge", Merged, |tx, cast| {
                inbox::merge(tx, cast.event, cast.earlier, cast.at)
            }),
            verb("discard", Discarded, |tx, cast| {
                inbox::discard(tx, cast.event, "spam", cast.at)
            }),
            verb("replay", Queued, |tx, cast| {
                dead::replay(tx, cast.letters[0], cast.at)
            }),
            verb("drop", Discarded, |tx, cast| {
                dead::drop(tx, cast.letters[0], cast.at)
            }),
            verb("execute", Completed, |tx, cast| {
                inbox::execute(tx, cast.event, cast.at)
            }),
            verb("rescue", Queued, rescue_all).only_from(&[Claimed]),
        ],
    }
}

fn conversations() -> Script<SessionState> {
    use SessionState::{Active, Ended};
    Script {
        put: |tx, cast, state| {
            let sql = "UPDATE sessions SET state = ?2 WHERE session_id = ?1";
            tx.execute(sql, bind![cast.session, state.as_str()])
        },
        look: |tx, cast| sessions::get(tx, cast.session).map(|row| (row.state, format!("{row:?}"))),
        verbs: vec![
            verb("end", Ended, |tx, cast| {
                sessions::end(tx, cast.session, "left", cast.at)
            }),
            verb("resume", Active, |tx, cast| {
                let (key, owner) = (cast.opening.key_id(), person("ada").key());
                sessions::resume(tx, key, owner, cast.session, cast.at)
            })
            .skipping(&[Active]),
            verb("end", Ended, |tx, cast| {
                sessions::reset(tx, &cast.opening, "fresh").map(drop)
            })
            .skipping(&[Ended]),
        ],
    }
}

fn executions() -> Script<RunState> {
    use RunState::{Cancelled, Completed, Failed, Interrupted, Queued, Running, Waiting};
    Script {
        put: |tx, cast, state| {
            let sql = "UPDATE runs SET state = ?2, ended_at = ?3 WHERE run_id = ?1";
            tx.execute(sql, bind![cast.run, state.as_str(), end_of(cast, state)])
        },
        look: |tx, cast| runs::get(tx, cast.run).map(|row| (row.state, format!("{row:?}"))),
        verbs: vec![
            verb("start", Running, |tx, cast| {
                runs::start(tx, &cast.lane, cast.run, cast.at)
            }),
            verb("wait", Waiting, |tx, cast| {
                runs::wait(tx, &cast.lane, cast.run, cast.at)
            }),
            verb("complete", Completed, |tx, cast| {
                let usage = Usage::default();
                ends_run(tx, cast, &RunOutcome::completed(usage))
            }),
            verb("fail", Failed, |tx, cast| {
                let failed = RunOutcome::failed(FailureCode::Other, "no model");
                ends_run(tx, cast, &failed)
            }),
            verb("cancel", Cancelled, |tx, cast| {
                ends_run(tx, cast, &RunOutcome::Cancelled)
            }),
            verb("interrupt", Interrupted, |tx, cast| {
                ends_run(tx, cast, &RunOutcome::Interrupted)
            }),
            verb("interrupt", Interrupted, rescue_all).only_from(&[Queued, Running, Waiting]),
        ],
    }
}

/// The one part of the reply is being sent.
fn answers() -> Script<ReplyState> {
    use ReplyState::{Delivered, Discarded, Failed, Finished};
    Script {
        put: |tx, cast, state| {
            tx.execute("UPDATE parts SET state = 'sending'", &[])?;
            let sql = "UPDATE replies SET state = ?2, ended_at = ?3 WHERE reply_id = ?1";
            tx.execute(sql, bind![cast.reply, state.as_str(), end_of(cast, state)])
        },
        look: |tx, cast| outbox::get(tx, cast.reply).map(|row| (row.state, format!("{row:?}"))),
        verbs: vec![
            verb("finish", Finished, |tx, cast| {
                outbox::finish(tx, cast.reply, cast.at)
            }),
            verb("discard", Discarded, |tx, cast| {
                outbox::withdraw(tx, cast.reply, cast.at)
            }),
            verb("deliver", Delivered, |tx, cast| {
                outbox::deliver(tx, &delivered(cast))
            })
            .only_from(&[Finished]),
            verb("fail", Failed, |tx, cast| {
                outbox::fail(tx, &silence(cast), cast.letters[2], "no")
            })
            .only_from(&[Finished]),
            verb("replay", Finished, |tx, cast| {
                tx.execute("UPDATE parts SET state = 'failed'", &[])?;
                dead::replay(tx, cast.letters[1], cast.at)
            })
            .only_from(&[Failed]),
        ],
    }
}

fn parts() -> Script<PartState> {
    use PartState::{Delivered, Discarded, Doubted, Failed, Queued, Retry, Sending, Unknown};
    Script {
        put: |tx, cast, state| {
            let sql = "UPDATE parts SET state = ?2, sent = revision WHERE part_id = ?1";
            tx.execute(sql, bind![cast.part, state.as_str()])
        },
        look: |tx, cast| {
            let row = outbox::get_part(tx, cast.part)?;
            Ok((row.state, format!("{:?} {}", row.part, row.attempts)))
        },
        verbs: vec![
            verb("claim", Sending, |tx, cast| {
                let target = direct_chat("ada").target();
                outbox::claim(tx, target, cast.target.epoch, cast.at).map(drop)
            })
            .only_from(&[Queued, Retry]),
            verb("deliver", Delivered, |tx, cast| {
                outbox::deliver(tx, &delivered(cast))
            }),
            verb("retry_at", Retry, |tx, cast| {
                outbox::retry_at(tx, &silence(cast), cast.at)
            }),
            verb("doubt", Doubted, |tx, cast| {
                outbox::doubt(tx, &silence(cast))
            }),
            verb("settle", Unknown, |tx, cast| {
                outbox::settle(tx, &silence(cast), cast.letters[2], "no")
            }),
            verb("fail", Failed, |tx, cast| {
                outbox::fail(tx, &silence(cast), cast.letters[2], "no")
            }),
            verb("revise", Queued, |tx, cast| {
                let markdown = "text".to_owned();
                outbox::revise(tx, cast.part, &PartBody::Text { markdown })
            })
            .skipping(&[Queued, Sending, Retry, Doubted, Failed, Unknown, Discarded]),
            verb("replay", Queued, |tx, cast| {
                dead::replay(tx, cast.letters[1], cast.at)
            }),
            verb("discard", Discarded, |tx, cast| {
                dead::drop(tx, cast.letters[1], cast.at)
            }),
            verb("discard", Discarded, |tx, cast| {
                outbox::withdraw(tx, cast.reply, cast.at)
            })
            .only_from(&[Queued, Retry]),
            verb("doubt", Doubted, rescue_all).only_from(&[Sending]),
        ],
    }
}

fn later_work() -> Script<JobState> {
    use JobState::{Cancelled, Completed, Failed, Lost, Running};
    Script {
        put: |tx, cast, state| {
            let sql = "UPDATE jobs SET state = ?2, ended_at = ?3, handle = NULL, result = NULL WHERE job_id = ?1";
            tx.execute(sql, bind![cast.job, state.as_str(), end_of(cast, state)])
        },
        look: |tx, cast| jobs::get(tx, cast.job).map(|row| (row.state, format!("{row:?}"))),
        verbs: vec![
            verb("start", Running, |tx, cast| {
                jobs::start(tx, cast.job, &json!(17))
            }),
            verb("complete", Completed, |tx, cast| {
                ends_job(tx, cast, Completed)
            }),
            verb("fail", Failed, |tx, cast| ends_job(tx, cast, Failed)),
            verb("cancel", Cancelled, |tx, cast| {
                ends_job(tx, cast, Cancelled)
            }),
            verb("lose", Lost, |tx, cast| ends_job(tx, cast, Lost)),
        ],
    }
}

/// The event that the letter is about is dead.
fn letters() -> Script<DeadState> {
    use DeadState::{Dropped, Replayed};
    Script {
        put: |tx, cast, state| {
            let sql = "UPDATE inbox SET state = 'dead', ended_at = ?2 WHERE event_id = ?1";
            tx.execute(sql, bind![cast.event, cast.at])?;
            let sql = "UPDATE dead_letters SET state = ?2, ended_at = ?3 WHERE dead_id = ?1";
            let ended_at = end_of(cast, state);
            tx.execute(sql, bind![cast.letters[0], state.as_str(), ended_at])
        },
        look: |tx, cast| dead::get(tx, cast.letters[0]).map(|row| (row.state, format!("{row:?}"))),
        verbs: vec![
            verb("replay", Replayed, |tx, cast| {
                dead::replay(tx, cast.letters[0], cast.at)
            }),
            verb("drop", Dropped, |tx, cast| {
                dead::drop(tx, cast.letters[0], cast.at)
            }),
        ],
    }
}

both_engines! {
    async fn events_follow_their_table(world) {
        play(world, events()).await;
    }

    async fn sessions_follow_their_table(world) {
        play(world, conversations()).await;
    }

    async fn runs_follow_their_table(world) {
        play(world, executions()).await;
    }

    async fn replies_follow_their_table(world) {
        play(world, answers()).await;
    }

    async fn parts_follow_their_table(world) {
        play(world, parts()).await;
    }

    async fn jobs_follow_their_table(world) {
        play(world, later_work()).await;
    }

    async fn dead_letters_follow_their_table(world) {
        play(world, letters()).await;
    }
}
