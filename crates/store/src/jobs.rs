//! Work that outlives its turn. A job is recorded with its return address before anything is started; its end is a
//! commit, whatever becomes of the turn that asked for it, and nothing stays "running" for ever.

use serde_json::Value as Json;
use talaria_domain::address::ReturnAddress;
use talaria_domain::clock::Timestamp;
use talaria_domain::digest::Fields;
use talaria_domain::event::DedupeKey;
use talaria_domain::ids::{JobId, RunId, SessionId};
pub use talaria_domain::job::Job;
use talaria_domain::job::{JobEnd, JobKind, Promise};
use talaria_domain::machine::{JobState, Machine as _};
use talaria_domain::names::NodeName;

use crate::bind;
use crate::change::{found, legal};
use crate::error::{Result, StoreError};
use crate::tx::{Row, Tx};
use crate::value::{from_json, to_json};
use crate::wake::Wake;

macro_rules! columns {
    () => {
        "job_id, run_id, kind, state, return_to, work, handle, result, created_at, promise"
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
        promise: promise(row)?,
    })
}

fn promise(row: &Row<'_>) -> Result<Promise> {
    let name = row.get::<String>(9)?;
    let unknown = || StoreError::unreadable("job", &format!("unknown promise {name:?}"));
    Promise::parse(&name).ok_or_else(unknown)
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
    /// What was promised about its end.
    pub promise: Promise,
    /// The process, of those on this store, that does it.
    pub node: NodeName,
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
        promise,
        node,
        at,
    } = order;
    tx.execute(
        "INSERT INTO jobs (job_id, session_id, run_id, kind, state, return_to, work, promise, node, created_at)
         VALUES (?1, ?2, ?3, ?4, 'queued', ?5, ?6, ?7, ?9, ?8)",
        bind![
            id,
            return_to.session,
            run,
            kind.as_str(),
            to_json(return_to)?,
            to_json(work)?,
            promise.as_str(),
            at,
            node
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
pub fn complete(tx: &mut Tx<'_>, job: JobId, end: &JobEnd, at: Timestamp) -> Result<()> {
    let row = get(tx, job)?;
    let verb = match end.state {
        JobState::Completed => "complete",
        JobState::Failed => "fail",
        JobState::Cancelled => "cancel",
        JobState::Lost => "lose",
        JobState::Queued | JobState::Running => "end",
    };
    legal(job, row.state, verb, end.state)?;
    tx.execute(
        "UPDATE jobs SET state = ?2, result = ?3, told = ?4, ended_at = ?5 WHERE job_id = ?1",
        bind![job, end.state.as_str(), to_json(&end.result)?, end.text, at],
    )?;
    tx.wake(Wake::Jobs);
    Ok(())
}

/// How it ended; none while it has not.
pub fn end_of(tx: &mut Tx<'_>, job: JobId) -> Result<Option<JobEnd>> {
    let row = get(tx, job)?;
    if !row.state.is_end() {
        return Ok(None);
    }
    let sql = "SELECT told FROM jobs WHERE job_id = ?1";
    let told: Option<String> = tx.row(sql, bind![job], |row| row.get(0))?.flatten();
    Ok(Some(JobEnd {
        state: row.state,
        text: told.unwrap_or_default(),
        result: row.result.unwrap_or(Json::Null),
    }))
}

/// Its conversation takes the result by itself. The first time counts.
pub fn consume(tx: &mut Tx<'_>, job: JobId, at: Timestamp) -> Result<()> {
    let sql = "UPDATE jobs SET consumed_at = COALESCE(consumed_at, ?2) WHERE job_id = ?1 RETURNING job_id";
    let consumed = tx.row(sql, bind![job, at], |row| row.get::<JobId>(0))?;
    found("job", job, consumed).map(drop)
}

/// Whether its conversation takes, or took, the result by itself.
pub fn is_consumed(tx: &mut Tx<'_>, job: JobId) -> Result<bool> {
    let sql = "SELECT consumed_at FROM jobs WHERE job_id = ?1";
    let at: Option<Timestamp> = tx.row(sql, bind![job], |row| row.get(0))?.flatten();
    Ok(at.is_some())
}

/// What makes the news of a job's end itself: however often it is told, it is recorded once.
pub fn end_key(job: JobId) -> DedupeKey {
    let fields = Fields::of("job").text(&job.to_string());
    DedupeKey(fields.text("end").digest())
}

/// The same for what the agent that does a job begins with.
pub fn task_key(job: JobId) -> DedupeKey {
    let fields = Fields::of("job").text(&job.to_string());
    DedupeKey(fields.text("task").digest())
}

/// The same for what a job reports before its end.
pub fn report_key(job: JobId, token: u64) -> DedupeKey {
    let fields = Fields::of("job").text(&job.to_string());
    DedupeKey(fields.text("report").text(&token.to_string()).digest())
}

/// A job by its id.
pub fn get(tx: &mut Tx<'_>, job: JobId) -> Result<Job> {
    let row = find(tx, job)?;
    found("job", job, row)
}

/// A job by its id, if there is one.
pub fn find(tx: &mut Tx<'_>, job: JobId) -> Result<Option<Job>> {
    let sql = concat!("SELECT ", columns!(), " FROM jobs WHERE job_id = ?1");
    tx.row(sql, bind![job], read)
}

/// The processes that a node was doing and that have not ended.
pub fn open_processes(tx: &mut Tx<'_>, node: &NodeName) -> Result<Vec<Job>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM jobs WHERE ended_at IS NULL AND kind = 'process' AND node = ?1
         ORDER BY COALESCE(job_id, job_id)"
    );
    tx.rows(sql, bind![node], read)
}

/// How many of a session's jobs have not ended.
pub fn count_open(tx: &mut Tx<'_>, session: SessionId) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM jobs WHERE session_id = ?1 AND ended_at IS NULL";
    Ok(tx.row(sql, bind![session], |row| row.get(0))?.unwrap_or(0))
}

/// A session's last jobs, newest first.
pub fn recent(tx: &mut Tx<'_>, session: SessionId, limit: u32) -> Result<Vec<Job>> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM jobs WHERE session_id = ?1 ORDER BY job_id DESC LIMIT ?2"
    );
    tx.rows(sql, bind![session, limit], read)
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
                // By an expression and not by the key: by its key, the whole table would be walked for a few open rows.
                " FROM jobs WHERE ended_at IS NULL ORDER BY COALESCE(job_id, job_id)"
            ),
            &[],
            read,
        ),
    }
}
