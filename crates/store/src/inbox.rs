//! What was accepted. An event is recorded in one transaction with its dedupe key, its session and its number;
//! only then is the platform told "got it". A lane claims its events in order under a lease; each ends in a named
//! state, and what is given up becomes a dead letter.

mod rest;

use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Event, EventKind};
use talaria_domain::ids::{DeadId, EventId, RunId, SessionId};
use talaria_domain::machine::{InboxState, Machine as _};
use talaria_domain::profile::BusyPolicy;

use crate::bind;
use crate::change::{found, legal};
use crate::dead::{self, Thing};
use crate::dedupe;
use crate::error::{Conflict, Result};
use crate::leases::{self, Lease, LeaseName};
use crate::sessions::{self, Led, Opening};
use crate::tx::{Row, Tx};
use crate::wake::Wake;

pub(crate) use self::rest::event_columns;
pub use self::rest::read as read_event;

/// What became of an event that was handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// It is in the ledger.
    Accepted {
        /// The conversation it belongs to.
        session: SessionId,
        /// Its number in the order of arrival.
        seq: i64,
    },
    /// It was there before: acknowledge it again and do nothing.
    Duplicate {
        /// The one that counts.
        first: EventId,
    },
}

/// An accepted event.
#[derive(Debug, Clone, PartialEq)]
pub struct InboxRow {
    /// What arrived.
    pub event: Event,
    /// The conversation it belongs to.
    pub session: SessionId,
    /// Its number in the order of arrival, over all sessions: rising in each, with gaps.
    pub seq: i64,
    /// Where it stands.
    pub state: InboxState,
    /// How often it was claimed.
    pub attempts: u32,
    /// The epoch it was last claimed under.
    pub epoch: i64,
    /// The run that has it, or had it last.
    pub run: Option<RunId>,
    /// The event that it became part of.
    pub merged_into: Option<EventId>,
    /// Why it was discarded or given up.
    pub reason: Option<String>,
    /// What was decided about it because a turn was running when it came.
    pub busy: Option<BusyPolicy>,
    /// Not claimed before this time.
    pub not_before: Timestamp,
}

macro_rules! columns {
    () => {
        concat!(
            event_columns!(),
            ", session_id, seq, state, attempts, epoch, run_id, merged_into, reason, busy, not_before"
        )
    };
}

fn read(row: &Row<'_>) -> Result<InboxRow> {
    Ok(InboxRow {
        event: read_event(row, 0)?,
        session: row.get(5)?,
        seq: row.get(6)?,
        state: row.state(7)?,
        attempts: row.get(8)?,
        epoch: row.get(9)?,
        run: row.get(10)?,
        merged_into: row.get(11)?,
        reason: row.get(12)?,
        busy: row
            .get::<Option<String>>(13)?
            .as_deref()
            .and_then(BusyPolicy::parse),
        not_before: row.get(14)?,
    })
}

/// An event on its way in, with everything computed that needs no ledger: there is one writer, and there are many callers.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrival {
    event: Event,
    json: String,
    opening: Opening,
    not_before: Timestamp,
}

impl Arrival {
    /// What arrived, and the conversation it opens or goes on with.
    pub fn of(event: Event, opening: Opening) -> Result<Self> {
        Ok(Self {
            json: rest::write(&event)?,
            event,
            opening,
            not_before: Timestamp::ZERO,
        })
    }

    /// Not to be claimed before this time: more of the same sender may follow.
    #[must_use]
    pub const fn not_before(mut self, time: Timestamp) -> Self {
        self.not_before = time;
        self
    }

    /// Whether it is something to answer that may be claimed at once.
    pub fn is_due(&self) -> bool {
        self.not_before == Timestamp::ZERO
            && matches!(
                self.event.kind,
                EventKind::Message(_) | EventKind::Internal { .. }
            )
    }

    /// What arrived.
    pub const fn event(&self) -> &Event {
        &self.event
    }

    /// What the ledger keeps of it beside its columns.
    pub const fn json(&self) -> &String {
        &self.json
    }

    /// The conversation that it opens or goes on with.
    pub const fn opening(&self) -> &Opening {
        &self.opening
    }
}

/// Accepts an event: dedupe, session, number, row. The one way in.
pub fn record(tx: &mut Tx<'_>, arrival: &Arrival) -> Result<Recorded> {
    match lead(tx, arrival)? {
        Met::Before { first } => Ok(Recorded::Duplicate { first }),
        Met::Now(led) => queue(tx, arrival, led.session),
    }
}

/// Whether an event was met before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Met {
    /// It was.
    Before {
        /// The one that counts.
        first: EventId,
    },
    /// It was not; this is its conversation.
    Now(Led),
}

/// The first half of accepting an event: dedupe, session. Its row has to follow in the same transaction.
pub fn lead(tx: &mut Tx<'_>, arrival: &Arrival) -> Result<Met> {
    let event = &arrival.event;
    if let Some(first) = dedupe::record(tx, event.dedupe, event.id)? {
        return Ok(Met::Before { first });
    }
    sessions::lead(tx, &arrival.opening).map(Met::Now)
}

/// The second half: its row, at the end of its lane.
pub fn queue(tx: &mut Tx<'_>, arrival: &Arrival, session: SessionId) -> Result<Recorded> {
    let Arrival {
        event,
        json,
        not_before,
        ..
    } = arrival;
    insert(tx, (event, json), session, *not_before)
}

/// The same for an event that is alone in its lane and whose turn begins at once, under a lease that was just claimed.
pub fn record_claimed(
    tx: &mut Tx<'_>,
    arrival: &Arrival,
    session: SessionId,
    (lease, run): (&Lease, RunId),
) -> Result<InboxRow> {
    let event = &arrival.event;
    let seq = tx.insert(
        "INSERT INTO inbox (event_id, dedupe_key, session_id, state, kind, event, message, attempts, epoch, run_id,
             not_before, received_at)
         VALUES (?1, ?2, ?3, 'claimed', ?4, ?5, ?6, 1, ?8, ?9, 0, ?7) RETURNING seq",
        bind![
            event.id,
            event.dedupe,
            session,
            event.kind.as_str(),
            arrival.json,
            event.message,
            event.received_at,
            lease.epoch,
            run
        ],
    )?;
    let row = to_be_claimed(arrival, session, (lease, run));
    Ok(InboxRow { seq, ..row })
}

/// What its row will say; it has no number yet.
pub fn to_be_claimed(
    arrival: &Arrival,
    session: SessionId,
    (lease, run): (&Lease, RunId),
) -> InboxRow {
    InboxRow {
        event: arrival.event.clone(),
        session,
        seq: 0,
        state: InboxState::Claimed,
        attempts: 1,
        epoch: lease.epoch,
        run: Some(run),
        merged_into: None,
        reason: None,
        busy: None,
        not_before: arrival.not_before,
    }
}

/// The same for an event that was answered before it was written down, by this run under this epoch.
pub fn record_completed(
    tx: &mut Tx<'_>,
    arrival: &Arrival,
    session: SessionId,
    (epoch, run): (i64, RunId),
    at: Timestamp,
) -> Result<()> {
    let event = &arrival.event;
    tx.execute(
        "INSERT INTO inbox (event_id, dedupe_key, session_id, state, kind, event, message, attempts, epoch, run_id,
             not_before, received_at, ended_at)
         VALUES (?1, ?2, ?3, 'completed', ?4, ?5, ?6, 1, ?8, ?9, 0, ?7, ?10)",
        bind![
            event.id,
            event.dedupe,
            session,
            event.kind.as_str(),
            arrival.json,
            event.message,
            event.received_at,
            epoch,
            run,
            at
        ],
    )?;
    Ok(())
}

/// Accepts an event of the gateway's own for one session, whichever one its chat has moved on to.
pub fn record_pinned(tx: &mut Tx<'_>, event: &Event, session: SessionId) -> Result<Recorded> {
    if let Some(first) = dedupe::record(tx, event.dedupe, event.id)? {
        return Ok(Recorded::Duplicate { first });
    }
    insert(tx, (event, &rest::write(event)?), session, Timestamp::ZERO)
}

fn insert(
    tx: &mut Tx<'_>,
    (event, json): (&Event, &String),
    session: SessionId,
    not_before: Timestamp,
) -> Result<Recorded> {
    let kind = event.kind.as_str();
    let seq = tx.insert(
        "INSERT INTO inbox (event_id, dedupe_key, session_id, state, kind, event, message, attempts, epoch,
             not_before, received_at)
         VALUES (?1, ?2, ?3, 'queued', ?4, ?5, ?6, 0, 0, ?8, ?7) RETURNING seq",
        bind![event.id, event.dedupe, session, kind, json, event.message, event.received_at, not_before],
    )?;
    tx.wake(Wake::Lane(session));
    Ok(Recorded::Accepted { session, seq })
}

/// Takes the next event of the lane that `lease` is for, if one is due.
pub fn claim(
    tx: &mut Tx<'_>,
    lease: &Lease,
    run: RunId,
    now: Timestamp,
) -> Result<Option<InboxRow>> {
    leases::fence(tx, lease)?;
    let LeaseName::Lane(session) = &lease.name else {
        return Ok(None);
    };
    let Some(head) =
        head(tx, *session)?.filter(|row| row.state == InboxState::Queued && row.not_before <= now)
    else {
        return Ok(None);
    };
    take(tx, lease, head, run).map(Some)
}

/// Takes an event that was just found at the front of a lane whose lease was just claimed.
pub fn take(tx: &mut Tx<'_>, lease: &Lease, head: InboxRow, run: RunId) -> Result<InboxRow> {
    legal(head.event.id, head.state, "claim", InboxState::Claimed)?;
    tx.execute(
        "UPDATE inbox SET state = 'claimed', attempts = attempts + 1, epoch = ?2, run_id = ?3 WHERE event_id = ?1",
        bind![head.event.id, lease.epoch, run],
    )?;
    Ok(InboxRow {
        state: InboxState::Claimed,
        attempts: head.attempts + 1,
        epoch: lease.epoch,
        run: Some(run),
        ..head
    })
}

/// What stands at the front of a lane. Commands do not wait there: they take the control path.
pub fn head(tx: &mut Tx<'_>, session: SessionId) -> Result<Option<InboxRow>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM inbox WHERE session_id = ?1 AND state IN ('queued', 'claimed') AND kind <> 'command'
         ORDER BY seq LIMIT 1"
    );
    tx.row(sql, bind![session], read)
}

/// Whether something waits in a lane, or is being worked on.
pub fn is_open(tx: &mut Tx<'_>, session: SessionId) -> Result<bool> {
    let sql = "SELECT seq FROM inbox
               WHERE session_id = ?1 AND state IN ('queued', 'claimed') AND kind <> 'command' LIMIT 1";
    let found = tx.row(sql, bind![session], |row| row.get::<i64>(0))?;
    Ok(found.is_some())
}

/// A command was carried out, or an event that needs no turn was dealt with.
pub fn execute(tx: &mut Tx<'_>, event: EventId, at: Timestamp) -> Result<()> {
    let row = get(tx, event)?;
    set_state(tx, &row, ("execute", InboxState::Completed), None, at)
}

/// Commands that were accepted and not carried out, oldest first.
pub fn open_commands(tx: &mut Tx<'_>) -> Result<Vec<InboxRow>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM inbox WHERE state IN ('queued', 'claimed') AND kind = 'command' ORDER BY seq"
    );
    tx.rows(sql, &[], read)
}

/// How full a lane is. Commands do not count: they do not wait there. The gateway's own events are counted apart: people
/// neither wait behind a limit for them nor hear of them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    /// The event that a turn has.
    pub claimed: Option<EventId>,
    /// Events that wait.
    pub waiting: usize,
    /// Those of them that came while a turn ran.
    pub came_while_busy: usize,
    /// The gateway's own events that wait.
    pub internal: usize,
}

/// How full a lane is.
pub fn occupancy(tx: &mut Tx<'_>, session: SessionId) -> Result<Occupancy> {
    let mut lane = Occupancy::default();
    let rows = tx.rows(
        "SELECT event_id, state, busy, kind FROM inbox
         WHERE session_id = ?1 AND state IN ('queued', 'claimed') AND kind <> 'command' ORDER BY seq",
        bind![session],
        |row| {
            let busy: Option<String> = row.get(2)?;
            Ok((row.get(0)?, row.state::<InboxState>(1)?, busy, row.get::<String>(3)?))
        },
    )?;
    for (event, state, busy, kind) in rows {
        if state == InboxState::Claimed {
            lane.claimed = Some(event);
        } else if kind == "internal" {
            lane.internal += 1;
        } else {
            lane.waiting += 1;
            lane.came_while_busy += usize::from(busy.is_some());
        }
    }
    Ok(lane)
}

/// What became part of an event, in order.
pub fn merged(tx: &mut Tx<'_>, event: EventId) -> Result<Vec<InboxRow>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM inbox WHERE merged_into = ?1 ORDER BY seq"
    );
    tx.rows(sql, bind![event], read)
}

/// Keeps what was decided about an event because a turn was running when it came.
pub fn set_busy(tx: &mut Tx<'_>, event: EventId, policy: BusyPolicy) -> Result<()> {
    tx.execute(
        "UPDATE inbox SET busy = ?2 WHERE event_id = ?1",
        bind![event, policy.as_str()],
    )?;
    Ok(())
}

/// The event was answered, or deliberately not.
pub fn complete(tx: &mut Tx<'_>, lease: &Lease, event: EventId, at: Timestamp) -> Result<()> {
    let completed = tx.execute(
        "UPDATE inbox SET state = 'completed', ended_at = ?3 WHERE event_id = ?1 AND state = 'claimed' AND epoch = ?2
             AND EXISTS (SELECT 1 FROM leases WHERE name = ?4 AND epoch = ?2)",
        bind![event, lease.epoch, at, lease.text],
    )?;
    if completed == 1 {
        return Ok(());
    }
    // Looked at only if something is wrong.
    let row = claimed_under(tx, lease, event)?;
    set_state(tx, &row, ("complete", InboxState::Completed), None, at)
}

/// Puts a claimed event back, to be claimed again from `at` on.
pub fn retry_at(tx: &mut Tx<'_>, lease: &Lease, event: EventId, at: Timestamp) -> Result<()> {
    let row = claimed_under(tx, lease, event)?;
    legal(event, row.state, "retry_at", InboxState::Queued)?;
    tx.execute(
        "UPDATE inbox SET state = 'queued', not_before = ?2 WHERE event_id = ?1",
        bind![event, at],
    )?;
    tx.wake(Wake::Lane(row.session));
    Ok(())
}

/// Gives a claimed event up: it becomes a dead letter.
pub fn give_up(
    tx: &mut Tx<'_>,
    lease: &Lease,
    event: EventId,
    letter: DeadId,
    reason: &str,
) -> Result<()> {
    let row = claimed_under(tx, lease, event)?;
    let at = tx.now()?;
    set_state(tx, &row, ("give_up", InboxState::Dead), Some(reason), at)?;
    dead::record(
        tx,
        &dead::Burial {
            id: letter,
            thing: Thing::Event(event),
            session: row.session,
            reason,
        },
        at,
    )
}

/// Makes a queued event part of an earlier one of the same session.
pub fn merge(tx: &mut Tx<'_>, event: EventId, into: EventId, at: Timestamp) -> Result<()> {
    let (row, target) = (get(tx, event)?, get(tx, into)?);
    if row.session != target.session || row.seq <= target.seq {
        let (thing, id) = ("event to merge into", into.to_string());
        return Err(crate::StoreError::NotFound { thing, id });
    }
    set_state(tx, &row, ("merge", InboxState::Merged), None, at)?;
    tx.execute(
        "UPDATE inbox SET merged_into = ?2 WHERE event_id = ?1",
        bind![event, into],
    )?;
    Ok(())
}

/// Drops an event for a reason that is kept.
pub fn discard(tx: &mut Tx<'_>, event: EventId, reason: &str, at: Timestamp) -> Result<()> {
    let row = get(tx, event)?;
    set_state(
        tx,
        &row,
        ("discard", InboxState::Discarded),
        Some(reason),
        at,
    )
}

/// Drops a dead event, together with its letter.
pub(crate) fn lay_to_rest(tx: &mut Tx<'_>, event: EventId, at: Timestamp) -> Result<()> {
    let row = get(tx, event)?;
    let reason = Some("dropped by an operator");
    set_state(tx, &row, ("drop", InboxState::Discarded), reason, at)
}

/// Sends a dead event on its way again, with its attempts forgotten.
pub(crate) fn replay(tx: &mut Tx<'_>, event: EventId) -> Result<()> {
    let row = get(tx, event)?;
    legal(event, row.state, "replay", InboxState::Queued)?;
    tx.execute(
        "UPDATE inbox SET state = 'queued', attempts = 0, not_before = 0, reason = NULL, ended_at = NULL
         WHERE event_id = ?1",
        bind![event],
    )?;
    tx.wake(Wake::Lane(row.session));
    Ok(())
}

/// Puts back what a lane's lost owner had claimed. Gives how many.
pub(crate) fn rescue(tx: &mut Tx<'_>, session: SessionId) -> Result<u64> {
    let rescued = tx.execute(
        "UPDATE inbox SET state = 'queued' WHERE session_id = ?1 AND state = 'claimed'",
        bind![session],
    )?;
    if rescued > 0 {
        tx.wake(Wake::Lane(session));
    }
    Ok(rescued)
}

/// An event by its id.
pub fn get(tx: &mut Tx<'_>, event: EventId) -> Result<InboxRow> {
    let sql = concat!("SELECT ", columns!(), " FROM inbox WHERE event_id = ?1");
    let row = tx.row(sql, bind![event], read)?;
    found("event", event, row)
}

/// What is open in a lane, in order.
pub fn lane(tx: &mut Tx<'_>, session: SessionId) -> Result<Vec<InboxRow>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM inbox WHERE session_id = ?1 AND state IN ('queued', 'claimed') ORDER BY seq"
    );
    tx.rows(sql, bind![session], read)
}

/// The lanes that have something open.
pub fn open_lanes(tx: &mut Tx<'_>) -> Result<Vec<SessionId>> {
    tx.rows(
        "SELECT DISTINCT session_id FROM inbox WHERE state IN ('queued', 'claimed') ORDER BY session_id",
        &[],
        |row| row.get(0),
    )
}

fn claimed_under(tx: &mut Tx<'_>, lease: &Lease, event: EventId) -> Result<InboxRow> {
    leases::fence(tx, lease)?;
    let row = get(tx, event)?;
    if row.state == InboxState::Claimed && row.epoch != lease.epoch {
        let (name, held) = (lease.text.clone(), lease.epoch);
        return Err(Conflict::Fenced {
            name,
            held,
            current: row.epoch,
        }
        .into());
    }
    Ok(row)
}

fn set_state(
    tx: &mut Tx<'_>,
    row: &InboxRow,
    (verb, to): (&'static str, InboxState),
    reason: Option<&str>,
    at: Timestamp,
) -> Result<()> {
    legal(row.event.id, row.state, verb, to)?;
    tx.execute(
        "UPDATE inbox SET state = ?2, reason = ?3, ended_at = ?4 WHERE event_id = ?1",
        bind![row.event.id, to.as_str(), reason, at],
    )?;
    Ok(())
}
