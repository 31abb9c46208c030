//! The threads of a trace: from any one thing to what it came from and what came of it. Ids sort by time, so what
//! followed from a thing is looked for from its own id on.

use talaria_domain::ids::{DeadId, EventId, JobId, PartId, ReplyId, RunId, SessionId};
use talaria_domain::names::MessageId;

use super::{LetterView, ReplyView, RunView, WINDOW, letter, reply, run};
use crate::bind;
use crate::dead::{self, Thing};
use crate::error::Result;
use crate::runs;
use crate::tx::Tx;
use crate::value::Bind as _;
use crate::{dedupe, jobs, outbox, whole};

/// Something that a trace can begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Found {
    /// Something that arrived.
    Event(EventId),
    /// One execution of a runner.
    Run(RunId),
    /// One logical answer.
    Reply(ReplyId),
    /// One visible piece of an answer.
    Part(PartId),
    /// Work that outlives its turn.
    Job(JobId),
}

/// What one of our ids stands for. A dead letter stands for its thing.
pub fn find(tx: &mut Tx<'_>, id: [u8; 16]) -> Result<Option<Found>> {
    let sql = "SELECT event_id FROM inbox WHERE event_id = ?1";
    if let Some(found) = tx.row(sql, bind![EventId::from_bytes(id)], |row| row.get(0))? {
        return Ok(Some(Found::Event(found)));
    }
    let sql = "SELECT run_id FROM runs WHERE run_id = ?1";
    if let Some(found) = tx.row(sql, bind![RunId::from_bytes(id)], |row| row.get(0))? {
        return Ok(Some(Found::Run(found)));
    }
    let sql = "SELECT reply_id FROM replies WHERE reply_id = ?1";
    if let Some(found) = tx.row(sql, bind![ReplyId::from_bytes(id)], |row| row.get(0))? {
        return Ok(Some(Found::Reply(found)));
    }
    let sql = "SELECT part_id FROM parts WHERE part_id = ?1";
    if let Some(found) = tx.row(sql, bind![PartId::from_bytes(id)], |row| row.get(0))? {
        return Ok(Some(Found::Part(found)));
    }
    let sql = "SELECT job_id FROM jobs WHERE job_id = ?1";
    if let Some(found) = tx.row(sql, bind![JobId::from_bytes(id)], |row| row.get(0))? {
        return Ok(Some(Found::Job(found)));
    }
    let sql = "SELECT dead_id FROM dead_letters WHERE dead_id = ?1";
    let letter: Option<DeadId> = tx.row(sql, bind![DeadId::from_bytes(id)], |row| row.get(0))?;
    let Some(letter) = letter else {
        return Ok(None);
    };
    Ok(Some(match dead::get(tx, letter)?.thing {
        Thing::Event(event) => Found::Event(event),
        Thing::Part(part) => Found::Part(part),
    }))
}

/// How far back a platform's own message id is looked for: these ids have no index, and most who ask do so soon.
const RECENT: u32 = 20_000;

/// What a platform's message id stands for: the newest event or part with it among the recent ones.
pub fn find_message(tx: &mut Tx<'_>, message: &MessageId) -> Result<Option<Found>> {
    let event = tx.rows(
        "SELECT event_id FROM (SELECT event_id, message, seq FROM inbox ORDER BY seq DESC LIMIT ?2) AS recent
         WHERE message = ?1 ORDER BY seq DESC LIMIT 1",
        bind![message, RECENT],
        |row| row.get(0),
    )?;
    let part = tx.rows(
        "SELECT part_id FROM (SELECT part_id, message FROM receipts ORDER BY part_id DESC LIMIT ?2) AS recent
         WHERE message = ?1 ORDER BY part_id DESC LIMIT 1",
        bind![message, RECENT],
        |row| row.get(0),
    )?;
    let event = event.first().copied().map(Found::Event);
    Ok(event.or_else(|| part.first().copied().map(Found::Part)))
}

/// The events about a job, in order: the one that the agent that does it begins with, and the one that tells its end.
pub fn about_job(tx: &mut Tx<'_>, job: JobId) -> Result<Vec<EventId>> {
    let keys = [jobs::task_key(job), jobs::end_key(job)];
    let found = keys.into_iter().map(|key| dedupe::first(tx, key));
    found.filter_map(Result::transpose).collect()
}

/// Every run that tried to answer an event, in order.
pub fn tries(tx: &mut Tx<'_>, event: EventId) -> Result<Vec<RunView>> {
    let tries = runs::for_event(tx, event)?;
    tries.into_iter().map(|found| run(tx, found.id)).collect()
}

/// What was said to an event, in order: by its runs, and by the gateway itself, which answers under the event's own id
/// or anchors what it says to the event's message.
pub fn replies_to(
    tx: &mut Tx<'_>,
    session: SessionId,
    (event, message): (EventId, Option<&MessageId>),
    runs: &[RunView],
) -> Result<Vec<ReplyView>> {
    let since = ReplyId::from_bytes(shortly_before(*event.as_bytes()));
    let said: Vec<(ReplyId, Option<RunId>)> = tx.rows(
        "SELECT reply_id, run_id FROM (
             SELECT reply_id, run_id FROM replies WHERE session_id = ?1 AND reply_id <> session_id AND reply_id > ?2
             ORDER BY reply_id LIMIT ?3) AS later
         UNION ALL SELECT reply_id, run_id FROM replies WHERE reply_id = ?1",
        bind![session, since, WINDOW],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let mut replies = Vec::new();
    if let Some(answer) = whole::reply(tx, ReplyId::from_bytes(*event.as_bytes()))? {
        replies.push(reply(tx, answer.id)?);
    }
    for (id, run) in said {
        let is_own = id.as_bytes() == event.as_bytes();
        let is_of_run = runs.iter().any(|view| Some(view.run.id) == run);
        let is_anchored = |tx: &mut Tx<'_>| -> Result<bool> {
            let anchor = outbox::get(tx, id)?.return_to.address.reply_to;
            Ok(message.is_some() && anchor.as_ref() == message)
        };
        if is_own || is_of_run || (run.is_none() && is_anchored(tx)?) {
            replies.push(reply(tx, id)?);
        }
    }
    replies.sort_by_key(|view| (view.created_at, view.reply.id));
    Ok(replies)
}

/// The letters about a thing, oldest first.
pub fn letters_about(tx: &mut Tx<'_>, thing: Thing) -> Result<Vec<LetterView>> {
    let id = match thing {
        Thing::Event(event) => *event.as_bytes(),
        Thing::Part(part) => *part.as_bytes(),
    };
    let since = DeadId::from_bytes(shortly_before(id));
    let letters: Vec<DeadId> = tx.rows(
        "SELECT dead_id FROM (
             SELECT dead_id, thing_id FROM dead_letters WHERE dead_id > ?1 ORDER BY dead_id LIMIT ?3) AS later
         WHERE thing_id = ?2 ORDER BY dead_id",
        &[since.bind(), thing.bind(), RECENT.bind()],
        |row| row.get(0),
    )?;
    letters.into_iter().map(|id| letter(tx, id)).collect()
}

/// The least id of a minute before: what followed from a thing has a greater one, whichever node made it.
fn shortly_before(id: [u8; 16]) -> [u8; 16] {
    let mut millis = [0; 8];
    millis[2..].copy_from_slice(&id[..6]);
    let before = u64::from_be_bytes(millis)
        .saturating_sub(60_000)
        .to_be_bytes();
    let mut least = [0; 16];
    least[..6].copy_from_slice(&before[2..]);
    least
}
