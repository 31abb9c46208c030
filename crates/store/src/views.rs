//! What operators look at: lists, counts and the threads of a trace. Nothing here changes anything.
//!
//! **Invariant:** no query walks a table that grows. Open rows are found through the indexes that hold nothing else;
//! everything else is looked at in windows of at most [`WINDOW`] rows, and a list says where to look on.

mod conversation;
mod counts;
mod lists;
mod trace;

use talaria_domain::clock::Timestamp;
use talaria_domain::delivery::{Outcome, Receipt};
use talaria_domain::ids::{DeadId, EventId, JobId, PartId, ReplyId, RunId, SessionId};
use talaria_domain::job::Job;
use talaria_domain::run::{Run, RunEvent};

pub use self::conversation::{notices, running, waiting};
pub use self::counts::{Counts, counts};
pub use self::lists::{Listed, Wanted, events, jobs, parts, runs};
pub use self::trace::{Found, about_job, find, find_message, letters_about, replies_to, tries};
use crate::bind;
use crate::dead::{self, DeadLetter};
use crate::error::Result;
use crate::inbox::{self, InboxRow};
use crate::outbox::{self, QueuedPart, Reply};
use crate::tx::Tx;
use crate::whole;

/// How many rows one look takes in at most.
pub const WINDOW: u32 = 2_000;

/// An event with its times.
#[derive(Debug, Clone, PartialEq)]
pub struct EventView {
    /// The event and where it stands.
    pub row: InboxRow,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// A run with its times.
#[derive(Debug, Clone, PartialEq)]
pub struct RunView {
    /// The run.
    pub run: Run,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// One line of a run's journal.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalLine {
    /// Its number.
    pub seq: i64,
    /// What happened.
    pub event: RunEvent,
    /// When.
    pub at: Timestamp,
}

/// A reply with its times.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyView {
    /// The reply.
    pub reply: Reply,
    /// When it began.
    pub created_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// A part with all that became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PartView {
    /// The part and where it stands.
    pub queued: QueuedPart,
    /// In which conversation.
    pub session: SessionId,
    /// Every attempt to send it, in order.
    pub attempts: Vec<(Outcome, Timestamp)>,
    /// The platform's proofs.
    pub receipts: Vec<Receipt>,
}

/// A job with its times and its last words.
#[derive(Debug, Clone, PartialEq)]
pub struct JobView {
    /// The job.
    pub job: Job,
    /// What is told about its end.
    pub told: Option<String>,
    /// When its conversation took the result by itself.
    pub consumed_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// A dead letter with its times.
#[derive(Debug, Clone, PartialEq)]
pub struct LetterView {
    /// The letter.
    pub letter: DeadLetter,
    /// When somebody dealt with it.
    pub ended_at: Option<Timestamp>,
}

/// An event by its id.
pub fn event(tx: &mut Tx<'_>, id: EventId) -> Result<EventView> {
    let row = inbox::get(tx, id)?;
    let sql = "SELECT ended_at FROM inbox WHERE event_id = ?1";
    let ended_at = tx.row(sql, bind![id], |row| row.get(0))?.flatten();
    Ok(EventView { row, ended_at })
}

/// A run by its id.
pub fn run(tx: &mut Tx<'_>, id: RunId) -> Result<RunView> {
    let run = crate::runs::get(tx, id)?;
    let sql = "SELECT ended_at FROM runs WHERE run_id = ?1";
    let ended_at = match tx.row(sql, bind![id], |row| row.get(0))? {
        Some(ended_at) => ended_at,
        None => whole::ended_at(tx, id)?,
    };
    Ok(RunView { run, ended_at })
}

/// A run's journal from its beginning.
pub fn journal(tx: &mut Tx<'_>, run: RunId, limit: u32) -> Result<Vec<JournalLine>> {
    let mut journal = tx.rows(
        "SELECT seq, event, at FROM run_events WHERE run_id = ?1 ORDER BY seq LIMIT ?2",
        bind![run, limit],
        |row| {
            Ok(JournalLine {
                seq: row.get(0)?,
                event: row.json(1)?,
                at: row.get(2)?,
            })
        },
    )?;
    if journal.len() < limit as usize {
        let rest = crate::runs::ending(tx, run, 0)?.into_iter();
        journal.extend(rest.map(|(seq, event, at)| JournalLine { seq, event, at }));
        journal.truncate(limit as usize);
    }
    Ok(journal)
}

/// A reply by its id.
pub fn reply(tx: &mut Tx<'_>, id: ReplyId) -> Result<ReplyView> {
    let reply = outbox::get(tx, id)?;
    let sql = "SELECT created_at, ended_at FROM replies WHERE reply_id = ?1";
    let times = tx.row(sql, bind![id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (created_at, ended_at) = if let Some(times) = times {
        times
    } else {
        let said_at = whole::ended_at(tx, id)?;
        (said_at.unwrap_or(Timestamp::ZERO), said_at)
    };
    Ok(ReplyView {
        reply,
        created_at,
        ended_at,
    })
}

/// A part by its id.
pub fn part(tx: &mut Tx<'_>, id: PartId) -> Result<PartView> {
    let queued = outbox::get_part(tx, id)?;
    let attempts = "SELECT outcome, at FROM attempts WHERE part_id = ?1 ORDER BY attempt";
    Ok(PartView {
        session: outbox::get(tx, queued.part.reply)?.session,
        attempts: tx.rows(attempts, bind![id], |row| Ok((row.json(0)?, row.get(1)?)))?,
        receipts: outbox::receipts(tx, id)?,
        queued,
    })
}

/// A job by its id.
pub fn job(tx: &mut Tx<'_>, id: JobId) -> Result<JobView> {
    let job = crate::jobs::get(tx, id)?;
    let sql = "SELECT told, consumed_at, ended_at FROM jobs WHERE job_id = ?1";
    let rest = tx.row(sql, bind![id], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    let (told, consumed_at, ended_at) = rest.unwrap_or_default();
    Ok(JobView {
        job,
        told,
        consumed_at,
        ended_at,
    })
}

/// A dead letter by its id.
pub fn letter(tx: &mut Tx<'_>, id: DeadId) -> Result<LetterView> {
    let letter = dead::get(tx, id)?;
    let sql = "SELECT ended_at FROM dead_letters WHERE dead_id = ?1";
    let ended_at = tx.row(sql, bind![id], |row| row.get(0))?.flatten();
    Ok(LetterView { letter, ended_at })
}
