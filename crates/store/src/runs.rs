//! Executions of runners: admitted with a frozen authority and a return address, journalled event by event before
//! anything is shown, ended in a named state. A run belongs to the lane that admitted it: whatever it still does
//! after its lane has a new owner is fenced off.

use talaria_domain::address::ReturnAddress;
use talaria_domain::authority::{Authority, Revocation};
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{EventId, RunId, SessionId};
use talaria_domain::machine::{Machine as _, RunState};
use talaria_domain::names::RunnerId;
pub use talaria_domain::run::Run;
use talaria_domain::run::{RunEvent, RunOutcome};

use crate::bind;
use crate::change::{found, legal};
use crate::error::{Conflict, Result};
use crate::kept::Kept;
use crate::leases::{self, Lease};
use crate::questions;
use crate::tx::{Row, Tx};
use crate::value::to_json;
use crate::wake::Wake;
use crate::whole;

macro_rules! columns {
    () => {
        "run_id, session_id, runner, state, epoch, attempt, authority, return_to, outcome, created_at, active_at, event_id"
    };
}

fn read(row: &Row<'_>) -> Result<Run> {
    let outcome = row.get::<Option<String>>(8)?;
    Ok(Run {
        id: row.get(0)?,
        session: row.get(1)?,
        runner: row.get(2)?,
        state: row.state(3)?,
        epoch: row.get(4)?,
        attempt: row.get(5)?,
        authority: row.json(6)?,
        return_to: row.json(7)?,
        outcome: outcome
            .map(|text| crate::value::from_json("outcome", &text))
            .transpose()?,
        created_at: row.get(9)?,
        active_at: row.get(10)?,
        event: row.get(11)?,
    })
}

/// What is fixed when a run is admitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Admission {
    /// Its id.
    pub id: RunId,
    /// What it answers.
    pub event: EventId,
    /// What thinks.
    pub runner: RunnerId,
    /// Which attempt at its event it is, from one.
    pub attempt: u32,
    /// What it may use.
    pub authority: Kept<Authority>,
    /// Where its answers go.
    pub return_to: Kept<ReturnAddress>,
    /// Now.
    pub at: Timestamp,
}

/// Admits a run under the lease of its lane.
pub fn record(tx: &mut Tx<'_>, lease: &Lease, admission: &Admission) -> Result<()> {
    leases::fence(tx, lease)?;
    insert(tx, lease, admission, (RunState::Queued, &[]))
}

/// Admits a run that starts at once, under a lease that was just claimed, with what it has yielded already.
pub fn record_running(
    tx: &mut Tx<'_>,
    lease: &Lease,
    admission: &Admission,
    yielded: &[RunEvent],
) -> Result<()> {
    insert(tx, lease, admission, (RunState::Running, yielded))
}

fn insert(
    tx: &mut Tx<'_>,
    lease: &Lease,
    admission: &Admission,
    (state, yielded): (RunState, &[RunEvent]),
) -> Result<()> {
    let Admission {
        id,
        event,
        runner,
        attempt,
        authority,
        return_to,
        at,
    } = admission;
    let (session, authority, return_to) = (return_to.session, authority.json()?, return_to.json()?);
    let next = 1 + i64::try_from(yielded.len()).unwrap_or(i64::MAX - 1);
    tx.execute(
        "INSERT INTO runs
             (run_id, session_id, event_id, runner, state, epoch, attempt, authority, return_to, next_seq, created_at,
              active_at)
         VALUES (?1, ?2, ?9, ?3, ?10, ?4, ?5, ?6, ?7, ?11, ?8, ?8)",
        bind![id, session, runner, lease.epoch, attempt, authority, return_to, at, event, state.as_str(), next],
    )?;
    write_down(tx, *id, 1, yielded, *at)
}

/// Writes down a run that was over before anything of it was, with its journal; it would have been admitted under this
/// epoch.
pub fn record_ended(
    tx: &mut Tx<'_>,
    epoch: i64,
    admission: &Admission,
    conclusion: Conclusion<'_>,
    at: Timestamp,
) -> Result<()> {
    let Conclusion {
        next: first,
        events,
        outcome,
    } = conclusion;
    let Admission {
        id,
        event,
        runner,
        attempt,
        authority,
        return_to,
        at: admitted_at,
    } = admission;
    let (_, state) = end_of(outcome);
    let next = first + i64::try_from(events.len() + 1).unwrap_or(i64::MAX);
    let (events, last_words) = with_last_words(events);
    tx.execute(
        "INSERT INTO runs
             (run_id, session_id, event_id, runner, state, epoch, attempt, authority, return_to, outcome, next_seq,
              created_at, active_at, ended_at, last_words)
         VALUES (?1, ?2, ?9, ?3, ?10, ?4, ?5, ?6, ?7, ?11, ?12, ?8, ?13, ?13, ?14)",
        bind![
            id,
            return_to.session,
            runner,
            epoch,
            attempt,
            authority.json()?,
            return_to.json()?,
            admitted_at,
            event,
            state.as_str(),
            to_json(outcome)?,
            next,
            at,
            last_words
        ],
    )?;
    write_down(tx, *id, first, events, at)
}

/// The runner works, for the first time or after a person answered.
pub fn start(tx: &mut Tx<'_>, lease: &Lease, run: RunId, at: Timestamp) -> Result<()> {
    set_state(tx, lease, run, RunState::Running, at)
}

/// The runner waits for a person.
pub fn wait(tx: &mut Tx<'_>, lease: &Lease, run: RunId, at: Timestamp) -> Result<()> {
    set_state(tx, lease, run, RunState::Waiting, at)
}

fn set_state(
    tx: &mut Tx<'_>,
    lease: &Lease,
    run: RunId,
    to: RunState,
    at: Timestamp,
) -> Result<()> {
    let row = admitted_under(tx, lease, run)?;
    let verb = if to == RunState::Waiting {
        "wait"
    } else {
        "start"
    };
    legal(run, row.state, verb, to)?;
    tx.execute(
        "UPDATE runs SET state = ?2, active_at = ?3 WHERE run_id = ?1",
        bind![run, to.as_str(), at],
    )?;
    Ok(())
}

/// Ends a run. Its outcome says in which state.
pub fn complete(
    tx: &mut Tx<'_>,
    lease: &Lease,
    run: RunId,
    outcome: &RunOutcome,
    at: Timestamp,
) -> Result<()> {
    let (_, to) = end_of(outcome);
    let ended = tx.execute(
        "UPDATE runs SET state = ?2, outcome = ?3, active_at = ?4, ended_at = ?4
         WHERE run_id = ?1 AND epoch = ?5 AND state = 'running'
             AND EXISTS (SELECT 1 FROM leases WHERE name = ?6 AND epoch = ?5)",
        bind![
            run,
            to.as_str(),
            to_json(outcome)?,
            at,
            lease.epoch,
            lease.text
        ],
    )?;
    if ended == 1 {
        return Ok(());
    }
    let row = admitted_under(tx, lease, run)?;
    end(tx, &row, outcome, at)
}

const fn end_of(outcome: &RunOutcome) -> (&'static str, RunState) {
    match outcome {
        RunOutcome::Completed { .. } => ("complete", RunState::Completed),
        RunOutcome::Failed { .. } => ("fail", RunState::Failed),
        RunOutcome::Cancelled => ("cancel", RunState::Cancelled),
        RunOutcome::Interrupted => ("interrupt", RunState::Interrupted),
    }
}

fn end(tx: &mut Tx<'_>, run: &Run, outcome: &RunOutcome, at: Timestamp) -> Result<()> {
    let (verb, to) = end_of(outcome);
    legal(run.id, run.state, verb, to)?;
    if run.state == RunState::Waiting {
        questions::withdraw_all(tx, run.id, at)?;
    }
    tx.execute(
        "UPDATE runs SET state = ?2, outcome = ?3, active_at = ?4, ended_at = ?4 WHERE run_id = ?1",
        bind![run.id, to.as_str(), to_json(outcome)?, at],
    )?;
    Ok(())
}

/// Journals an event of a run that is under way; gives its number.
pub fn append(
    tx: &mut Tx<'_>,
    lease: &Lease,
    run: RunId,
    event: &RunEvent,
    at: Timestamp,
) -> Result<i64> {
    append_all(tx, lease, run, std::slice::from_ref(event), at)
}

/// Journals several events of a run that is under way; gives the number of the first.
pub fn append_all(
    tx: &mut Tx<'_>,
    lease: &Lease,
    run: RunId,
    events: &[RunEvent],
    at: Timestamp,
) -> Result<i64> {
    // A run writes many of these: its row is looked at only if something is wrong.
    let count = i64::try_from(events.len()).unwrap_or(i64::MAX);
    let first = next_seq(tx, run)?;
    let is_under_way = tx.execute(
        "UPDATE runs SET next_seq = ?6 + ?4, active_at = ?2
         WHERE run_id = ?1 AND epoch = ?3 AND ended_at IS NULL AND next_seq = ?6
             AND EXISTS (SELECT 1 FROM leases WHERE name = ?5 AND epoch = ?3)",
        bind![run, at, lease.epoch, count, lease.text, first],
    )? == 1;
    if !is_under_way {
        let row = admitted_under(tx, lease, run)?;
        return legal(run, row.state, "journal", RunState::Running).map(|()| 0);
    }
    write_down(tx, run, first, events, at)?;
    Ok(first)
}

/// Takes something away from a run that has not ended, whoever has its lane; gives the number of that in its journal.
/// Unlike everything else that is journalled it is not the run's own deed, so it needs no lease.
pub fn revoke(tx: &mut Tx<'_>, run: RunId, what: &Revocation, at: Timestamp) -> Result<i64> {
    let row = get(tx, run)?;
    if row.state.is_end() {
        return legal(run, row.state, "revoke", row.state).map(|()| 0);
    }
    let seq = next_seq(tx, run)?;
    tx.execute(
        "UPDATE runs SET next_seq = ?2 WHERE run_id = ?1",
        bind![run, seq + 1],
    )?;
    let what = what.clone();
    write_down(tx, run, seq, &[RunEvent::Revoked { what }], at)?;
    tx.wake(Wake::Revoked(run));
    Ok(seq)
}

/// What was taken away from a run.
pub fn revocations(tx: &mut Tx<'_>, run: RunId) -> Result<Vec<Revocation>> {
    let events = tx.rows(
        "SELECT event FROM run_events WHERE run_id = ?1 AND kind = 'revoked' ORDER BY seq",
        bind![run],
        |row| row.json(0),
    )?;
    Ok(taken(events))
}

/// What was taken away from any run for an event: it stays away from the next one.
pub fn revocations_for(tx: &mut Tx<'_>, event: EventId) -> Result<Vec<Revocation>> {
    let events = tx.rows(
        "SELECT e.event FROM runs r JOIN run_events e ON e.run_id = r.run_id
         WHERE r.event_id = ?1 AND e.kind = 'revoked' ORDER BY e.run_id, e.seq",
        bind![event],
        |row| row.json(0),
    )?;
    Ok(taken(events))
}

fn taken(events: Vec<RunEvent>) -> Vec<Revocation> {
    let events = events.into_iter();
    let taken = events.filter_map(|event| match event {
        RunEvent::Revoked { what } => Some(what),
        _ => None,
    });
    taken.collect()
}

/// The number of the next event. Read before it is changed: `RETURNING` would make SQLite build a table for it.
fn next_seq(tx: &mut Tx<'_>, run: RunId) -> Result<i64> {
    let sql = "SELECT next_seq FROM runs WHERE run_id = ?1";
    let next = tx.row(sql, bind![run], |row| row.get(0))?;
    found("run", run, next)
}

fn write_down(
    tx: &mut Tx<'_>,
    run: RunId,
    first: i64,
    events: &[RunEvent],
    at: Timestamp,
) -> Result<()> {
    for (seq, event) in (first..).zip(events) {
        tx.execute(
            "INSERT INTO run_events (run_id, seq, kind, event, at) VALUES (?1, ?2, ?3, ?4, ?5)",
            bind![run, seq, event.as_str(), to_json(event)?, at],
        )?;
    }
    Ok(())
}

/// How a run comes to its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conclusion<'a> {
    /// The number that its next event has, as far as its owner knows.
    pub next: i64,
    /// Its last events.
    pub events: &'a [RunEvent],
    /// How it ends.
    pub outcome: &'a RunOutcome,
}

/// The last events of a run without what it said at the very end, which its own row keeps.
fn with_last_words(events: &[RunEvent]) -> (&[RunEvent], Option<&str>) {
    match events.split_last() {
        Some((RunEvent::MessageCompleted { text }, before)) => (before, Some(text)),
        _ => (events, None),
    }
}

/// Journals the last events of a run and ends it; gives the number of the first. The end itself has the number after
/// them and no row, and so has what the run said right before it: the run's own row has both.
pub fn conclude(
    tx: &mut Tx<'_>,
    lease: &Lease,
    run: RunId,
    conclusion: Conclusion<'_>,
    at: Timestamp,
) -> Result<i64> {
    let Conclusion {
        next: first,
        events,
        outcome,
    } = conclusion;
    let (_, to) = end_of(outcome);
    let count = i64::try_from(events.len() + 1).unwrap_or(i64::MAX);
    let (before, last_words) = with_last_words(events);
    let is_ended = tx.execute(
        "UPDATE runs SET next_seq = ?8 + ?7, state = ?2, outcome = ?3, active_at = ?4, ended_at = ?4, last_words = ?9
         WHERE run_id = ?1 AND epoch = ?5 AND state = 'running' AND next_seq = ?8
             AND EXISTS (SELECT 1 FROM leases WHERE name = ?6 AND epoch = ?5)",
        bind![
            run,
            to.as_str(),
            to_json(outcome)?,
            at,
            lease.epoch,
            lease.text,
            count,
            first,
            last_words
        ],
    )? == 1;
    if is_ended {
        write_down(tx, run, first, before, at)?;
        return Ok(first);
    }
    // It is not simply running, or somebody else wrote into its journal: every step is looked at.
    let first = append_all(tx, lease, run, events, at)?;
    let mut row = admitted_under(tx, lease, run)?;
    if row.state == RunState::Waiting {
        // Whoever comes to an end does not wait any more.
        questions::withdraw_all(tx, run, at)?;
        set_state(tx, lease, run, RunState::Running, at)?;
        row.state = RunState::Running;
    }
    end(tx, &row, outcome, at)?;
    tx.execute(
        "UPDATE runs SET next_seq = next_seq + 1 WHERE run_id = ?1",
        bind![run],
    )?;
    Ok(first)
}

/// A run's journal from after `after`, in order, each event with its number.
pub fn journal(
    tx: &mut Tx<'_>,
    run: RunId,
    after: i64,
    limit: u32,
) -> Result<Vec<(i64, RunEvent)>> {
    let mut journal = tx.rows(
        "SELECT seq, event FROM run_events WHERE run_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
        bind![run, after, limit],
        |row| Ok((row.get(0)?, row.json(1)?)),
    )?;
    if journal.len() < limit as usize {
        let rest = ending(tx, run, after)?.into_iter();
        journal.extend(rest.map(|(seq, event, _)| (seq, event)));
        journal.truncate(limit as usize);
    }
    Ok(journal)
}

/// What a run that was concluded said last and its end, each with its number and its time, as far as that is after
/// `after`: the last numbers have no rows of their own then.
pub(crate) fn ending(
    tx: &mut Tx<'_>,
    run: RunId,
    after: i64,
) -> Result<Vec<(i64, RunEvent, Timestamp)>> {
    let sql = "SELECT r.next_seq - 1, r.outcome, r.ended_at, r.last_words FROM runs r
               WHERE r.run_id = ?1 AND r.outcome IS NOT NULL AND r.next_seq > 1 AND r.next_seq - 1 > ?2
                   AND NOT EXISTS (SELECT 1 FROM run_events e WHERE e.run_id = r.run_id AND e.seq = r.next_seq - 1)";
    let read = tx.row(sql, bind![run, after], |row| {
        let (last, at) = (row.get::<i64>(0)?, row.get(2)?);
        let said = row.get::<Option<String>>(3)?;
        let said = said.map(|text| (last - 1, RunEvent::MessageCompleted { text }, at));
        let end = (last, RunEvent::Ended(row.json(1)?), at);
        Ok(said.into_iter().chain([end]).collect::<Vec<_>>())
    })?;
    let all = match read {
        Some(all) => all,
        None => whole::ending(tx, run)?.unwrap_or_default(),
    };
    let all = all.into_iter();
    Ok(all.filter(|(seq, ..)| *seq > after).collect())
}

/// Interrupts what a lane's lost owner was running. Gives how many.
pub(crate) fn rescue(tx: &mut Tx<'_>, session: SessionId, at: Timestamp) -> Result<u64> {
    end_open(tx, session, &RunOutcome::Interrupted, at)
}

/// Cancels what runs in a lane whose lease was seized. Gives how many.
pub fn cancel(tx: &mut Tx<'_>, session: SessionId, at: Timestamp) -> Result<u64> {
    end_open(tx, session, &RunOutcome::Cancelled, at)
}

fn end_open(
    tx: &mut Tx<'_>,
    session: SessionId,
    outcome: &RunOutcome,
    at: Timestamp,
) -> Result<u64> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM runs WHERE session_id = ?1 AND run_id <> session_id AND ended_at IS NULL UNION ALL SELECT ",
        columns!(),
        " FROM runs WHERE run_id = ?1 AND ended_at IS NULL ORDER BY run_id"
    );
    let open = tx.rows(sql, bind![session], read)?;
    open.iter().try_for_each(|run| end(tx, run, outcome, at))?;
    Ok(open.len() as u64)
}

/// A run by its id.
pub fn get(tx: &mut Tx<'_>, run: RunId) -> Result<Run> {
    let sql = concat!("SELECT ", columns!(), " FROM runs WHERE run_id = ?1");
    let row = tx.row(sql, bind![run], read)?;
    let row = or_whole(tx, row, run)?;
    found("run", run, row)
}

/// A run that was looked for, or the one that has no row of its own.
fn or_whole(tx: &mut Tx<'_>, found: Option<Run>, run: RunId) -> Result<Option<Run>> {
    found.map_or_else(|| whole::run(tx, run), |run| Ok(Some(run)))
}

/// The last run of a session.
pub fn last(tx: &mut Tx<'_>, session: SessionId) -> Result<Option<Run>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM runs WHERE session_id = ?1 AND run_id <> session_id ORDER BY run_id DESC LIMIT 1"
    );
    if let Some(last) = tx.row(sql, bind![session], read)? {
        return Ok(Some(last));
    }
    // The one that has the session's own id is its first.
    let sql = concat!("SELECT ", columns!(), " FROM runs WHERE run_id = ?1");
    let first = tx.row(sql, bind![session], read)?;
    or_whole(tx, first, RunId::from_bytes(*session.as_bytes()))
}

/// The runs for an event, in order: one for each attempt.
pub fn for_event(tx: &mut Tx<'_>, event: EventId) -> Result<Vec<Run>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM runs WHERE event_id = ?1 AND run_id <> event_id UNION ALL SELECT ",
        columns!(),
        " FROM runs WHERE run_id = ?1 ORDER BY run_id"
    );
    let tries = tx.rows(sql, bind![event], read)?;
    if tries.is_empty() {
        // One that is over before anybody could try again has been tried once.
        return Ok(whole::run(tx, event.begins())?.into_iter().collect());
    }
    Ok(tries)
}

fn admitted_under(tx: &mut Tx<'_>, lease: &Lease, run: RunId) -> Result<Run> {
    leases::fence(tx, lease)?;
    let row = get(tx, run)?;
    if row.epoch == lease.epoch {
        return Ok(row);
    }
    let (name, held) = (lease.text.clone(), lease.epoch);
    Err(Conflict::Fenced {
        name,
        held,
        current: row.epoch,
    }
    .into())
}
