//! Work that outlives its turn. A job is recorded with its return address before anything is started; its end is a
//! commit, whatever becomes of the turn that asked for it, and nothing stays "running" for ever.

use serde_json::Value as Json;
use talaria_domain::address::ReturnAddress;
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{JobId, RunId, SessionId};
pub use talaria_domain::job::Job;
use talaria_domain::job::JobKind;
use talaria_domain::machine::{JobState, Machine as _};

use crate::bind;
use crate::change::{found, legal};
use crate::error::{Result, StoreError};
use crate::tx::{Row, Tx};
use crate::value::{from_json, to_json};
use crate::wake::Wake;

macro_rules! columns {
    () => {
        "job_id, run_id, kind, state, return_to, work, handle, result, created_at"
    };
}

fn read(row: &Row<'_>) -> Result<Job> {
    let json = |column| -> Result<Option<Json>> {
        row.get::<Option<String>>(column)?
            .map(|text| from_json("job", &text))
            .transpose()
    };
    let kind = row.get::<String>(2)?;
    let unknown = || StoreError::unreadable("job", &format!("unknown kind {kind:?}"));
    Ok(Job {
        id: row.get(0)?,
        run: row.get(1)?,
        kind: JobKind::parse(&kind).ok_or_else(unknown)?,
        state: row.state(3)?,
        return_to: row.json(4)?,
        work: row.json(5)?,
        handle: json(6)?,
        result: json(7)?,
        created_at: row.get(8)?,
    })
}

/// What is fixed when a job is recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// Its id.
    pub id: JobId,
    /// The run that asks for it.
    pub run: Option<RunId>,
    /// What kind of work it is.
    pub kind: JobKind,
    /// Where its result goes.
    pub return_to: ReturnAddress,
    /// What is to be done.
    pub work: Json,
    /// Now.
    pub at: Timestamp,
}

/// Records a job. Nothing has started.
pub fn record(tx: &mut Tx<'_>, order: &Order) -> Result<()> {
    let Order {
        id,
        run,
        kind,
        return_to,
        work,
        at,
    } = order;
    tx.execute(
        "INSERT INTO jobs (job_id, session_id, run_id, kind, state, return_to, work, created_at)
         VALUES (?1, ?2, ?3, ?4, 'queued', ?5, ?6, ?7)",
        bind![
            id,
            return_to.session,
            run,
            kind.as_str(),
            to_json(return_to)?,
            to_json(work)?,
            at
        ],
    )?;
    tx.wake(Wake::Jobs);
    Ok(())
}

/// It runs; `handle` is how to find it again.
pub fn start(tx: &mut Tx<'_>, job: JobId, handle: &Json) -> Result<()> {
    let row = get(tx, job)?;
    legal(job, row.state, "start", JobState::Running)?;
    tx.execute(
        "UPDATE jobs SET state = 'running', handle = ?2 WHERE job_id = ?1",
        bind![job, to_json(handle)?],
    )?;
    Ok(())
}

/// It ended, in one of the states that are ends.
pub fn complete(
    tx: &mut Tx<'_>,
    job: JobId,
    end: JobState,
    result: &Json,
    at: Timestamp,
) -> Result<()> {
    let row = get(tx, job)?;
    let verb = match end {
        JobState::Completed => "complete",
        JobState::Failed => "fail",
        JobState::Cancelled => "cancel",
        JobState::Lost => "lose",
        JobState::Queued | JobState::Running => "end",
    };
    legal(job, row.state, verb, end)?;
    tx.execute(
        "UPDATE jobs SET state = ?2, result = ?3, ended_at = ?4 WHERE job_id = ?1",
        bind![job, end.as_str(), to_json(result)?, at],
    )?;
    tx.wake(Wake::Jobs);
    Ok(())
}

/// A job by its id.
pub fn get(tx: &mut Tx<'_>, job: JobId) -> Result<Job> {
    let sql = concat!("SELECT ", columns!(), " FROM jobs WHERE job_id = ?1");
    let row = tx.row(sql, bind![job], read)?;
    found("job", job, row)
}

/// Jobs that have not ended: all, or one session's.
pub fn open(tx: &mut Tx<'_>, session: Option<SessionId>) -> Result<Vec<Job>> {
    match session {
        Some(session) => tx.rows(
            concat!(
                "SELECT ",
                columns!(),
                " FROM jobs WHERE session_id = ?1 AND ended_at IS NULL ORDER BY job_id"
            ),
            bind![session],
            read,
        ),
        None => tx.rows(
            concat!(
                "SELECT ",
                columns!(),
                " FROM jobs WHERE ended_at IS NULL ORDER BY job_id"
            ),
            &[],
            read,
        ),
    }
}
