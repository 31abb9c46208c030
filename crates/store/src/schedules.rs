//! When something is to happen, and what came of each such time. A time is a row that can be recorded once; whoever
//! records it moves the schedule on in the same transaction, so that no time is lost and none comes twice.
//!
//! **Invariant:** a schedule has a next time exactly while it is active.

use talaria_domain::clock::Timestamp;
use talaria_domain::digest::Fields;
use talaria_domain::event::DedupeKey;
use talaria_domain::ids::{EventId, ReplyId, ScheduleId};
use talaria_domain::machine::{Machine as _, OccurrenceState, ScheduleState};
use talaria_domain::principal::PrincipalKey;
pub use talaria_domain::schedule::{Occurrence, Schedule};
use talaria_domain::schedule::{What, Zone};
use talaria_domain::session_key::SessionKeyId;

use crate::bind;
use crate::change::{found, legal};
use crate::error::{Result, StoreError};
use crate::tx::{Row, Tx};
use crate::value::to_json;
use crate::wake::Wake;

macro_rules! columns {
    () => {
        "schedule_id, key_id, name, rule, zone, what, words, return_to, state, next_at, created_at"
    };
}

fn read(row: &Row<'_>) -> Result<Schedule> {
    let unreadable = |why: &str| StoreError::unreadable("schedule", &why);
    let what = row.get::<String>(5)?;
    let unknown = || unreadable(&format!("unknown deed {what:?}"));
    Ok(Schedule {
        id: row.get(0)?,
        key: row.get(1)?,
        name: row.get(2)?,
        when: row.json(3)?,
        zone: Zone::parse(&row.get::<String>(4)?).map_err(|why| unreadable(&why))?,
        what: What::of(&what, row.get(6)?).ok_or_else(unknown)?,
        return_to: row.json(7)?,
        state: row.state(8)?,
        next_at: row.get(9)?,
        created_at: row.get(10)?,
    })
}

/// Records a schedule, with its next time if it is active.
pub fn record(tx: &mut Tx<'_>, schedule: &Schedule) -> Result<()> {
    tx.execute(
        "INSERT INTO schedules
             (schedule_id, key_id, owner, name, rule, zone, what, words, return_to, state, next_at, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        bind![
            schedule.id,
            schedule.key,
            schedule.owner(),
            schedule.name,
            to_json(&schedule.when)?,
            schedule.zone.as_str(),
            schedule.what.as_str(),
            schedule.what.text(),
            to_json(&schedule.return_to)?,
            schedule.state.as_str(),
            schedule.next_at,
            schedule.created_at
        ],
    )?;
    tx.wake(Wake::Schedules);
    Ok(())
}

/// The active schedule whose time is next.
pub fn next(tx: &mut Tx<'_>) -> Result<Option<(ScheduleId, Timestamp)>> {
    let sql = "SELECT schedule_id, next_at FROM schedules WHERE next_at IS NOT NULL ORDER BY next_at, schedule_id LIMIT 1";
    tx.row(sql, &[], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// The active schedules whose time has come, those that have waited longest first.
pub fn due(tx: &mut Tx<'_>, now: Timestamp, limit: u32) -> Result<Vec<ScheduleId>> {
    let sql = "SELECT schedule_id FROM schedules WHERE next_at <= ?1 ORDER BY next_at, schedule_id LIMIT ?2";
    tx.rows(sql, bind![now, limit], |row| row.get(0))
}

/// Moves it on to its next time, or to its end where there is none.
pub fn advance(
    tx: &mut Tx<'_>,
    schedule: ScheduleId,
    next_at: Option<Timestamp>,
    at: Timestamp,
) -> Result<()> {
    if next_at.is_none() {
        let done = ("finish", ScheduleState::Done);
        return set_state(tx, schedule, done, (None, at));
    }
    let sql = "UPDATE schedules SET next_at = ?2 WHERE schedule_id = ?1 AND state = 'active'";
    tx.execute(sql, bind![schedule, next_at])?;
    tx.wake(Wake::Schedules);
    Ok(())
}

/// Nothing of it is due any more.
pub fn pause(tx: &mut Tx<'_>, schedule: ScheduleId, at: Timestamp) -> Result<()> {
    set_state(tx, schedule, ("pause", ScheduleState::Paused), (None, at))
}

/// It is in force again, and this is its next time.
pub fn resume(
    tx: &mut Tx<'_>,
    schedule: ScheduleId,
    next_at: Timestamp,
    at: Timestamp,
) -> Result<()> {
    let to = ("resume", ScheduleState::Active);
    set_state(tx, schedule, to, (Some(next_at), at))
}

/// Somebody ended it. What came of it so far stays.
pub fn remove(tx: &mut Tx<'_>, schedule: ScheduleId, at: Timestamp) -> Result<()> {
    set_state(tx, schedule, ("remove", ScheduleState::Done), (None, at))
}

fn set_state(
    tx: &mut Tx<'_>,
    schedule: ScheduleId,
    (verb, to): (&'static str, ScheduleState),
    (next_at, at): (Option<Timestamp>, Timestamp),
) -> Result<()> {
    let row = get(tx, schedule)?;
    legal(schedule, row.state, verb, to)?;
    let ended_at = to.is_end().then_some(at);
    tx.execute(
        "UPDATE schedules SET state = ?2, next_at = ?3, ended_at = ?4 WHERE schedule_id = ?1",
        bind![schedule, to.as_str(), next_at, ended_at],
    )?;
    tx.wake(Wake::Schedules);
    Ok(())
}

/// A schedule by its id, for work that already belongs to it and for operators.
pub fn get(tx: &mut Tx<'_>, schedule: ScheduleId) -> Result<Schedule> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM schedules WHERE schedule_id = ?1"
    );
    let row = tx.row(sql, bind![schedule], read)?;
    found("schedule", schedule, row)
}

/// An owner's schedules in one chat that have not ended, oldest first.
pub fn open_in(tx: &mut Tx<'_>, owner: PrincipalKey, key: SessionKeyId) -> Result<Vec<Schedule>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM schedules WHERE owner = ?1 AND key_id = ?2 AND ended_at IS NULL ORDER BY schedule_id"
    );
    tx.rows(sql, bind![owner, key], read)
}

/// How many of an owner's schedules have not ended, wherever they are.
pub fn count_open(tx: &mut Tx<'_>, owner: PrincipalKey) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM schedules WHERE owner = ?1 AND ended_at IS NULL";
    Ok(tx.row(sql, bind![owner], |row| row.get(0))?.unwrap_or(0))
}

/// What an occurrence comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It became an event.
    Event(EventId),
    /// It became a message.
    Reply(ReplyId),
    /// It was passed over, and why.
    Skipped(String),
}

/// Records one time that a schedule was due, and what it comes to. False if it was recorded before: then nothing was
/// done, and nothing may be.
pub fn record_occurrence(
    tx: &mut Tx<'_>,
    (schedule, due): (ScheduleId, Timestamp),
    outcome: &Outcome,
    at: Timestamp,
) -> Result<bool> {
    let (verb, state) = match outcome {
        Outcome::Event(_) | Outcome::Reply(_) => ("serve", OccurrenceState::Served),
        Outcome::Skipped(_) => ("skip", OccurrenceState::Skipped),
    };
    legal(schedule, OccurrenceState::Due, verb, state)?;
    let (event, reply, reason) = match outcome {
        Outcome::Event(event) => (Some(*event), None, None),
        Outcome::Reply(reply) => (None, Some(*reply), None),
        Outcome::Skipped(reason) => (None, None, Some(reason.as_str())),
    };
    let recorded = tx.execute(
        "INSERT INTO occurrences (schedule_id, due_at, state, event_id, reply_id, reason, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (schedule_id, due_at) DO NOTHING",
        bind![schedule, due, state.as_str(), event, reply, reason, at],
    )?;
    Ok(recorded == 1)
}

/// What makes the event of an occurrence itself.
pub fn key_of(schedule: ScheduleId, due: Timestamp) -> DedupeKey {
    let fields = Fields::of("schedule").text(&schedule.to_string());
    DedupeKey(fields.text(&due.as_millis().to_string()).digest())
}

fn read_occurrence(row: &Row<'_>) -> Result<Occurrence> {
    Ok(Occurrence {
        schedule: row.get(0)?,
        due: row.get(1)?,
        state: row.state(2)?,
        event: row.get(3)?,
        reply: row.get(4)?,
        reason: row.get(5)?,
        at: row.get(6)?,
    })
}

macro_rules! occurrence_columns {
    () => {
        "schedule_id, due_at, state, event_id, reply_id, reason, at"
    };
}

/// Whether this time was recorded, and what came of it.
pub fn occurrence(
    tx: &mut Tx<'_>,
    schedule: ScheduleId,
    due: Timestamp,
) -> Result<Option<Occurrence>> {
    let sql = concat!(
        "SELECT ",
        occurrence_columns!(),
        " FROM occurrences WHERE schedule_id = ?1 AND due_at = ?2"
    );
    tx.row(sql, bind![schedule, due], read_occurrence)
}

/// The occurrence that became this message.
pub fn occurrence_of(tx: &mut Tx<'_>, reply: ReplyId) -> Result<Option<Occurrence>> {
    let sql = concat!(
        "SELECT ",
        occurrence_columns!(),
        " FROM occurrences WHERE reply_id = ?1"
    );
    tx.row(sql, bind![reply], read_occurrence)
}

/// The last times of a schedule, newest first.
pub fn occurrences(tx: &mut Tx<'_>, schedule: ScheduleId, limit: u32) -> Result<Vec<Occurrence>> {
    let sql = concat!(
        "SELECT ",
        occurrence_columns!(),
        " FROM occurrences WHERE schedule_id = ?1 ORDER BY due_at DESC LIMIT ?2"
    );
    tx.rows(sql, bind![schedule, limit], read_occurrence)
}

/// Schedules in one state or all, newest first, from before `before`.
pub fn list(
    tx: &mut Tx<'_>,
    state: Option<ScheduleState>,
    before: Option<ScheduleId>,
    limit: u32,
) -> Result<Vec<Schedule>> {
    let before = before.unwrap_or_else(|| ScheduleId::from_bytes([0xff; 16]));
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM schedules WHERE schedule_id < ?1 AND (state = ?2 OR ?2 = '')
         ORDER BY schedule_id DESC LIMIT ?3"
    );
    let state = state.map_or("", ScheduleState::as_str);
    tx.rows(sql, bind![before, state, limit], read)
}
