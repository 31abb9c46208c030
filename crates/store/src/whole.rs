//! Turns that were over before anything of them was written down. Such a turn has one row, its event's: what its run was
//! admitted with, what it came to and what it answered stand there. Run and answer have the event's own id; they are
//! read like all others, and nothing about them changes any more.
//!
//! **Invariant:** what a row cannot tell to the letter is written down in the usual way.

use talaria_domain::address::ReturnAddress;
use talaria_domain::clock::Timestamp;
use talaria_domain::delivery::ReplyKind;
use talaria_domain::event::Event;
use talaria_domain::ids::{ReplyId, RunId};
use talaria_domain::machine::{ReplyState, RunState};
use talaria_domain::names::ProfileName;
use talaria_domain::run::{RunEvent, RunOutcome};

use crate::bind;
use crate::error::Result;
use crate::inbox::{self, Arrival, event_columns};
use crate::outbox::Reply;
use crate::runs::{Admission, Conclusion, Run};
use crate::tx::{Row, Tx};
use crate::value::{Bind, is_storable, to_json};

/// All of a turn, made ready by whoever hands it over: there is one writer.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    admission: Admission,
    /// How it ended, as the ledger keeps it.
    outcome: String,
    answer: Option<String>,
}

impl Whole {
    /// The turn of `event`, with what was said in answer to it. None if there is more to it than its row can tell.
    pub fn of(
        event: &Event,
        admission: &Admission,
        conclusion: Conclusion<'_>,
        answer: Option<&str>,
    ) -> Result<Option<Self>> {
        let Conclusion {
            next,
            events,
            outcome,
        } = conclusion;
        let said = match events {
            [] => None,
            [RunEvent::MessageCompleted { text }] => Some(text.as_str()),
            _ => return Ok(None),
        };
        let is_plain = next == 1
            && said == answer
            && said.is_none_or(is_storable)
            && matches!(outcome, RunOutcome::Completed { .. })
            && is_first(event, admission)
            && is_said_back(event, &admission.return_to);
        if !is_plain {
            return Ok(None);
        }
        admission.authority.write_out()?;
        Ok(Some(Self {
            outcome: to_json(outcome)?,
            answer: answer.map(str::to_owned),
            admission: admission.clone(),
        }))
    }
}

/// Whether the run is the first of its event, and has its id.
fn is_first(event: &Event, admission: &Admission) -> bool {
    admission.id == event.id.begins()
        && admission.return_to.session == event.id.opens()
        && admission.attempt == 1
        && admission.at == event.received_at
}

/// Whether the answer goes exactly to where the event came from.
fn is_said_back(event: &Event, return_to: &ReturnAddress) -> bool {
    return_to.address == event.address && return_to.requester == event.principal
}

/// Writes a whole turn down, beside its conversation and what was said in it. It would have been admitted under this
/// epoch.
pub fn record(
    tx: &mut Tx<'_>,
    arrival: &Arrival,
    (epoch, whole): (i64, &Whole),
    at: Timestamp,
) -> Result<()> {
    let event = arrival.event();
    let Whole {
        admission,
        outcome,
        answer,
    } = whole;
    tx.execute(
        "INSERT INTO inbox (event_id, dedupe_key, session_id, state, kind, event, message, attempts, epoch, run_id,
             not_before, received_at, ended_at, runner, profile, authority, outcome, answer)
         VALUES (?1, ?2, ?1, 'completed', ?3, ?4, ?5, 1, ?6, ?1, 0, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        bind![
            event.id,
            event.dedupe,
            event.kind.as_str(),
            arrival.json(),
            event.message,
            epoch,
            event.received_at,
            at,
            admission.runner,
            admission.return_to.profile.as_str(),
            admission.authority.json()?,
            outcome,
            answer
        ],
    )?;
    Ok(())
}

/// Where the answers of a turn go whose event and profile are in the first columns.
fn return_to(row: &Row<'_>) -> Result<ReturnAddress> {
    let event = inbox::read_event(row, 0)?;
    Ok(ReturnAddress {
        session: event.id.opens(),
        address: event.address,
        requester: event.principal,
        profile: ProfileName::from(row.get::<String>(5)?),
    })
}

/// The run of a whole turn.
pub(crate) fn run(tx: &mut Tx<'_>, id: RunId) -> Result<Option<Run>> {
    tx.row(
        concat!(
            "SELECT ",
            event_columns!(),
            ", profile, runner, epoch, authority, outcome, ended_at FROM inbox
             WHERE event_id = ?1 AND outcome IS NOT NULL"
        ),
        bind![id],
        |row| {
            let return_to = return_to(row)?;
            Ok(Run {
                id,
                session: return_to.session,
                event: row.get(1)?,
                runner: row.get(6)?,
                state: RunState::Completed,
                epoch: row.get(7)?,
                attempt: 1,
                authority: row.json(8)?,
                return_to,
                outcome: Some(row.json(9)?),
                created_at: row.get(4)?,
                active_at: row.get(10)?,
            })
        },
    )
}

/// What the run of a whole turn said last and its end, each with its number and its time.
pub(crate) fn ending(
    tx: &mut Tx<'_>,
    id: RunId,
) -> Result<Option<Vec<(i64, RunEvent, Timestamp)>>> {
    let sql =
        "SELECT outcome, answer, ended_at FROM inbox WHERE event_id = ?1 AND outcome IS NOT NULL";
    tx.row(sql, bind![id], |row| {
        let said = row.get::<Option<String>>(1)?;
        let said = said.map(|text| RunEvent::MessageCompleted { text });
        let (end, at) = (RunEvent::Ended(row.json(0)?), row.get(2)?);
        let all = (1..).zip(said.into_iter().chain([end]));
        Ok(all.map(|(seq, what)| (seq, what, at)).collect())
    })
}

/// The answer of a whole turn, if it has one.
pub(crate) fn reply(tx: &mut Tx<'_>, id: ReplyId) -> Result<Option<Reply>> {
    tx.row(
        concat!(
            "SELECT ",
            event_columns!(),
            ", profile, run_id, answer FROM inbox WHERE event_id = ?1 AND answer IS NOT NULL"
        ),
        bind![id],
        |row| {
            let return_to = return_to(row)?;
            Ok(Reply {
                id,
                session: return_to.session,
                run: row.get(6)?,
                kind: ReplyKind::Final,
                state: ReplyState::Delivered,
                return_to,
                text: row.get(7)?,
                revision: 1,
            })
        },
    )
}

/// When a whole turn was over: its run and its answer ended then.
pub(crate) fn ended_at(tx: &mut Tx<'_>, id: impl Bind) -> Result<Option<Timestamp>> {
    let sql = "SELECT ended_at FROM inbox WHERE event_id = ?1 AND outcome IS NOT NULL";
    tx.row(sql, bind![id], |row| row.get(0))
}
