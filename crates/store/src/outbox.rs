//! What goes out: the only way out of the process. A logical reply has one target; its parts wait in that target's
//! queue and leave one at a time, answers and notices before progress. Every attempt's outcome is kept; a delivered
//! part has its receipts.
//!
//! A part that is being sent, or that no answer came for, holds its queue: what comes after it cannot overtake it.

use talaria_domain::address::{ReturnAddress, TargetKey};
use talaria_domain::clock::Timestamp;
pub use talaria_domain::delivery::Reply;
use talaria_domain::delivery::{Outcome, Part, PartBody, Receipt, ReplyKind};
use talaria_domain::ids::{DeadId, EventId, PartId, ReplyId, RunId};
use talaria_domain::machine::{Machine as _, PartState, ReplyState};

use crate::bind;
use crate::change::{found, legal};
use crate::dead::{self, Thing};
use crate::error::{Conflict, Result, StoreError};
use crate::kept::Kept;
use crate::tx::{Row, Tx};
use crate::value::to_json;
use crate::wake::Wake;
use crate::whole;

/// A part and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedPart {
    /// What is shown.
    pub part: Part,
    /// The queue it waits in.
    pub target: TargetKey,
    /// Where it stands.
    pub state: PartState,
    /// How often it was handed to an adapter.
    pub attempts: u32,
    /// The epoch it was last claimed under.
    pub epoch: i64,
    /// Not sent before this time.
    pub not_before: Timestamp,
    /// How often what it shows was changed.
    pub revision: i64,
    /// The revision that was last handed to an adapter.
    pub sent: i64,
    /// When it was made.
    pub created_at: Timestamp,
}

macro_rules! part_columns {
    () => {
        "part_id, reply_id, ordinal, body, target, state, attempts, epoch, not_before, revision, sent, created_at"
    };
}

fn read_part(row: &Row<'_>) -> Result<QueuedPart> {
    Ok(QueuedPart {
        part: Part {
            id: row.get(0)?,
            reply: row.get(1)?,
            ordinal: row.get(2)?,
            body: row.json(3)?,
        },
        target: row.get(4)?,
        state: row.state(5)?,
        attempts: row.get(6)?,
        epoch: row.get(7)?,
        not_before: row.get(8)?,
        revision: row.get(9)?,
        sent: row.get(10)?,
        created_at: row.get(11)?,
    })
}

fn read_reply(row: &Row<'_>) -> Result<Reply> {
    let kind = row.get::<String>(3)?;
    let unknown = || StoreError::unreadable("reply", &format!("unknown kind {kind:?}"));
    Ok(Reply {
        id: row.get(0)?,
        session: row.get(1)?,
        run: row.get(2)?,
        kind: ReplyKind::parse(&kind).ok_or_else(unknown)?,
        state: row.state(4)?,
        return_to: row.json(5)?,
        text: row.get(6)?,
        revision: row.get(7)?,
    })
}

/// What is known when a reply begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyStart {
    /// Its id.
    pub id: ReplyId,
    /// The run that says it.
    pub run: Option<RunId>,
    /// What it is to the reader.
    pub kind: ReplyKind,
    /// Where it goes.
    pub return_to: Kept<ReturnAddress>,
    /// Now.
    pub at: Timestamp,
}

/// Begins a reply. Its text may still grow.
pub fn record(tx: &mut Tx<'_>, start: &ReplyStart) -> Result<()> {
    let return_to = start.return_to.json()?;
    let kind = start.kind.as_str();
    tx.execute(
        "INSERT INTO replies
             (reply_id, session_id, run_id, kind, state, return_to, text, revision, created_at)
         VALUES (?1, ?2, ?3, ?4, 'open', ?5, '', 0, ?6)",
        bind![
            start.id,
            start.return_to.session,
            start.run,
            kind,
            return_to,
            start.at
        ],
    )?;
    Ok(())
}

/// Records a reply for a surface that reads the ledger: what is recorded for it is there. It has no parts, as nothing
/// is sent.
pub fn record_shown(tx: &mut Tx<'_>, start: &ReplyStart, text: &str) -> Result<()> {
    let (return_to, kind) = (start.return_to.json()?, start.kind.as_str());
    tx.execute(
        "INSERT INTO replies
             (reply_id, session_id, run_id, kind, state, return_to, text, revision, created_at, ended_at)
         VALUES (?1, ?2, ?3, ?4, 'delivered', ?5, ?6, 1, ?7, ?7)",
        bind![start.id, start.return_to.session, start.run, kind, return_to, text, start.at],
    )?;
    Ok(())
}

/// Sets all of an open reply's text.
pub fn set_text(tx: &mut Tx<'_>, reply: ReplyId, text: &str) -> Result<()> {
    let row = get(tx, reply)?;
    if row.state != ReplyState::Open {
        return legal(reply, row.state, "rewrite", ReplyState::Open);
    }
    tx.execute(
        "UPDATE replies SET text = ?2, revision = revision + 1 WHERE reply_id = ?1",
        bind![reply, text],
    )?;
    Ok(())
}

/// Adds a part at the end of its target's queue.
pub fn add_part(tx: &mut Tx<'_>, part: &Part, at: Timestamp) -> Result<()> {
    let reply = get(tx, part.reply)?;
    if reply.state.is_end() {
        return legal(reply.id, reply.state, "extend", ReplyState::Open);
    }
    let target = reply.return_to.address.target();
    tx.execute(
        "INSERT INTO parts
             (part_id, reply_id, ordinal, target, priority, state, body, attempts, epoch, not_before, revision, sent,
              created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, 'queued', ?6, 0, 0, 0, 1, 0, ?7)",
        bind![part.id, part.reply, part.ordinal, target, priority(reply.kind), to_json(&part.body)?, at],
    )?;
    tx.wake(Wake::Target(target));
    Ok(())
}

const fn priority(kind: ReplyKind) -> i64 {
    match kind {
        // In the order in which they were said: a notice is about what comes after it.
        ReplyKind::Final | ReplyKind::Notice | ReplyKind::Prompt => 0,
        ReplyKind::Progress => 1,
    }
}

/// Makes a part show something else. One that is on its way is sent again when it has arrived; one that was given up
/// or dropped stays so, and is what its letter sends if it is replayed.
pub fn revise(tx: &mut Tx<'_>, part: PartId, body: &PartBody) -> Result<()> {
    let row = get_part(tx, part)?;
    tx.execute(
        "UPDATE parts SET body = ?2, revision = revision + 1 WHERE part_id = ?1",
        bind![part, to_json(body)?],
    )?;
    if row.state == PartState::Delivered {
        legal(part, row.state, "revise", PartState::Queued)?;
        show_again(tx, &row)?;
    }
    Ok(())
}

fn show_again(tx: &mut Tx<'_>, row: &QueuedPart) -> Result<()> {
    tx.execute(
        "UPDATE parts SET state = 'queued', not_before = 0 WHERE part_id = ?1",
        bind![row.part.id],
    )?;
    tx.wake(Wake::Target(row.target));
    Ok(())
}

/// The text is final. With nothing to show, it is delivered.
pub fn finish(tx: &mut Tx<'_>, reply: ReplyId, at: Timestamp) -> Result<()> {
    let row = get(tx, reply)?;
    set_reply_state(tx, &row, ("finish", ReplyState::Finished), at)?;
    settle_reply(tx, reply, at)
}

/// Withdraws a reply and those of its parts that are still waiting.
pub fn withdraw(tx: &mut Tx<'_>, reply: ReplyId, at: Timestamp) -> Result<()> {
    let row = get(tx, reply)?;
    tx.execute(
        "UPDATE parts SET state = 'discarded' WHERE reply_id = ?1 AND state IN ('queued', 'retry')",
        bind![reply],
    )?;
    set_reply_state(tx, &row, ("discard", ReplyState::Discarded), at)
}

/// What stands at the front of a target's queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// Nothing waits.
    Empty,
    /// Something is being sent already.
    Busy,
    /// The first has to wait until then.
    Later(Timestamp),
    /// Nobody knows whether the first arrived: that has to be settled before anything else is sent.
    Doubted(Box<Sending>),
    /// The first, taken to be sent.
    Claimed(Box<Sending>),
}

/// A part on its way, with all that sending it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sending {
    /// The part.
    pub queued: QueuedPart,
    /// The reply it belongs to.
    pub reply: Reply,
    /// What the platform shows of it already.
    pub receipts: Vec<Receipt>,
}

/// Takes the first part of a target's queue, if nothing holds it.
pub fn claim(tx: &mut Tx<'_>, target: TargetKey, epoch: i64, now: Timestamp) -> Result<Head> {
    let holding = concat!(
        "SELECT ",
        part_columns!(),
        " FROM parts WHERE target = ?1 AND state IN ('queued', 'retry', 'sending', 'doubted')
             AND state IN ('sending', 'doubted') LIMIT 1"
    );
    if let Some(held) = tx.row(holding, bind![target], read_part)? {
        if held.state == PartState::Sending {
            return Ok(Head::Busy);
        }
        return Ok(Head::Doubted(Box::new(sending(tx, held)?)));
    }
    let waiting = concat!(
        "SELECT ",
        part_columns!(),
        " FROM parts WHERE target = ?1 AND state IN ('queued', 'retry', 'sending', 'doubted')
         ORDER BY priority, part_id LIMIT 1"
    );
    let Some(first) = tx.row(waiting, bind![target], read_part)? else {
        return Ok(Head::Empty);
    };
    if first.not_before > now {
        return Ok(Head::Later(first.not_before));
    }
    legal(first.part.id, first.state, "claim", PartState::Sending)?;
    tx.execute(
        "UPDATE parts SET state = 'sending', attempts = attempts + 1, epoch = ?2, sent = revision WHERE part_id = ?1",
        bind![first.part.id, epoch],
    )?;
    let claimed = get_part(tx, first.part.id)?;
    Ok(Head::Claimed(Box::new(sending(tx, claimed)?)))
}

fn sending(tx: &mut Tx<'_>, queued: QueuedPart) -> Result<Sending> {
    Ok(Sending {
        reply: get(tx, queued.part.reply)?,
        receipts: receipts(tx, queued.part.id)?,
        queued,
    })
}

/// Where something that waits for a target goes.
pub fn waiting(tx: &mut Tx<'_>, target: TargetKey) -> Result<Option<ReturnAddress>> {
    tx.row(
        "SELECT r.return_to FROM parts p JOIN replies r ON r.reply_id = p.reply_id
         WHERE p.target = ?1 AND p.state IN ('queued', 'retry', 'sending', 'doubted') LIMIT 1",
        bind![target],
        |row| row.json(0),
    )
}

/// The queues that something waits in, or is stuck in.
pub fn open_targets(tx: &mut Tx<'_>) -> Result<Vec<TargetKey>> {
    tx.rows(
        "SELECT DISTINCT target FROM parts WHERE state IN ('queued', 'retry', 'sending', 'doubted') ORDER BY target",
        &[],
        |row| row.get(0),
    )
}

/// An attempt that ended: which part, under which epoch, with what outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The part.
    pub part: PartId,
    /// The epoch it was claimed under.
    pub epoch: i64,
    /// What the adapter said; kept.
    pub outcome: Outcome,
    /// Now.
    pub at: Timestamp,
}

/// The platform has it: keeps the receipts. When the last part of a finished reply is there, so is the reply.
pub fn deliver(tx: &mut Tx<'_>, attempt: &Attempt) -> Result<()> {
    let receipts = match &attempt.outcome {
        Outcome::Delivered { receipts } if !receipts.is_empty() => receipts,
        other => {
            return Err(StoreError::broken(&format!(
                "delivered without a receipt: {other:?}"
            )));
        }
    };
    let row = end_attempt(tx, attempt, PartState::Delivered, Timestamp::ZERO)?;
    keep_receipts(tx, attempt.part, receipts)?;
    if row.revision != row.sent {
        legal(
            attempt.part,
            PartState::Delivered,
            "revise",
            PartState::Queued,
        )?;
        return show_again(tx, &row);
    }
    settle_reply(tx, row.part.reply, attempt.at)
}

/// The platform shows something that will become the part: the next attempt changes that instead of sending again.
pub fn place(tx: &mut Tx<'_>, part: PartId, epoch: i64, receipts: &[Receipt]) -> Result<()> {
    let row = get_part(tx, part)?;
    fence(&row, epoch)?;
    keep_receipts(tx, part, receipts)
}

fn keep_receipts(tx: &mut Tx<'_>, part: PartId, receipts: &[Receipt]) -> Result<()> {
    tx.execute("DELETE FROM receipts WHERE part_id = ?1", bind![part])?;
    for (ordinal, receipt) in (0_u32..).zip(receipts) {
        tx.execute(
            "INSERT INTO receipts (part_id, ordinal, message, at) VALUES (?1, ?2, ?3, ?4)",
            bind![part, ordinal, receipt.message, receipt.at],
        )?;
    }
    Ok(())
}

/// It certainly was not sent: tries again from `at` on.
pub fn retry_at(tx: &mut Tx<'_>, attempt: &Attempt, at: Timestamp) -> Result<()> {
    end_attempt(tx, attempt, PartState::Retry, at).map(drop)
}

/// No answer came: it holds its queue until it is settled what that means.
pub fn doubt(tx: &mut Tx<'_>, attempt: &Attempt) -> Result<()> {
    end_attempt(tx, attempt, PartState::Doubted, Timestamp::ZERO).map(drop)
}

/// Nobody can know whether it arrived: a dead letter says so, and the queue moves on.
pub fn settle(tx: &mut Tx<'_>, attempt: &Attempt, letter: DeadId, reason: &str) -> Result<()> {
    let row = end_attempt(tx, attempt, PartState::Unknown, Timestamp::ZERO)?;
    bury(tx, &row, attempt, letter, reason)
}

/// Gives a part up: it becomes a dead letter, and its reply has failed.
pub fn fail(tx: &mut Tx<'_>, attempt: &Attempt, letter: DeadId, reason: &str) -> Result<()> {
    let row = end_attempt(tx, attempt, PartState::Failed, Timestamp::ZERO)?;
    bury(tx, &row, attempt, letter, reason)
}

fn bury(
    tx: &mut Tx<'_>,
    row: &QueuedPart,
    attempt: &Attempt,
    letter: DeadId,
    reason: &str,
) -> Result<()> {
    let reply = get(tx, row.part.reply)?;
    let burial = dead::Burial {
        id: letter,
        thing: Thing::Part(attempt.part),
        session: reply.session,
        reason,
    };
    dead::record(tx, &burial, attempt.at)?;
    settle_reply(tx, row.part.reply, attempt.at)
}

fn end_attempt(
    tx: &mut Tx<'_>,
    attempt: &Attempt,
    to: PartState,
    not_before: Timestamp,
) -> Result<QueuedPart> {
    let row = get_part(tx, attempt.part)?;
    fence(&row, attempt.epoch)?;
    let verb = match to {
        PartState::Delivered => "deliver",
        PartState::Retry => "retry_at",
        PartState::Doubted => "doubt",
        PartState::Unknown => "settle",
        _ => "fail",
    };
    legal(attempt.part, row.state, verb, to)?;
    tx.execute(
        "UPDATE parts SET state = ?2, not_before = ?3 WHERE part_id = ?1",
        bind![attempt.part, to.as_str(), not_before],
    )?;
    tx.execute(
        "INSERT INTO attempts (part_id, attempt, outcome, at)
         SELECT ?1, COUNT(*) + 1, ?2, ?3 FROM attempts WHERE part_id = ?1",
        bind![attempt.part, to_json(&attempt.outcome)?, attempt.at],
    )?;
    tx.wake(Wake::Target(row.target));
    Ok(row)
}

fn fence(row: &QueuedPart, held: i64) -> Result<()> {
    if row.epoch == held {
        return Ok(());
    }
    let (name, current) = (format!("part {}", row.part.id), row.epoch);
    Err(Conflict::Fenced {
        name,
        held,
        current,
    }
    .into())
}

/// Ends a finished reply once all of its parts have ended.
fn settle_reply(tx: &mut Tx<'_>, reply: ReplyId, at: Timestamp) -> Result<()> {
    let row = get(tx, reply)?;
    let states = tx.rows(
        "SELECT state FROM parts WHERE reply_id = ?1",
        bind![reply],
        |row| row.state::<PartState>(0),
    )?;
    if row.state != ReplyState::Finished || states.iter().any(|state| !state.is_end()) {
        return Ok(());
    }
    let has_failed = [PartState::Failed, PartState::Unknown]
        .iter()
        .any(|lost| states.contains(lost));
    let change = if has_failed {
        ("fail", ReplyState::Failed)
    } else {
        ("deliver", ReplyState::Delivered)
    };
    set_reply_state(tx, &row, change, at)
}

fn set_reply_state(
    tx: &mut Tx<'_>,
    reply: &Reply,
    (verb, to): (&'static str, ReplyState),
    at: Timestamp,
) -> Result<()> {
    legal(reply.id, reply.state, verb, to)?;
    let ended_at = to.is_end().then_some(at);
    tx.execute(
        "UPDATE replies SET state = ?2, ended_at = ?3 WHERE reply_id = ?1",
        bind![reply.id, to.as_str(), ended_at],
    )?;
    Ok(())
}

/// The answer to an event has the event's own id. What was said when the event was given up is kept under its letter's,
/// so that the event can have an answer after all.
pub(crate) fn set_aside(tx: &mut Tx<'_>, event: EventId, letter: DeadId) -> Result<()> {
    tx.execute(
        "UPDATE replies SET reply_id = ?2 WHERE reply_id = ?1",
        bind![event, letter],
    )?;
    tx.execute(
        "UPDATE parts SET reply_id = ?2 WHERE reply_id = ?1",
        bind![event, letter],
    )?;
    Ok(())
}

/// Sends a part that was given up on its way again, with its attempts kept.
pub(crate) fn replay(tx: &mut Tx<'_>, part: PartId) -> Result<()> {
    let row = get_part(tx, part)?;
    legal(part, row.state, "replay", PartState::Queued)?;
    tx.execute(
        "UPDATE parts SET state = 'queued', not_before = 0 WHERE part_id = ?1",
        bind![part],
    )?;
    let reply = get(tx, row.part.reply)?;
    if reply.state == ReplyState::Failed {
        set_reply_state(
            tx,
            &reply,
            ("replay", ReplyState::Finished),
            Timestamp::ZERO,
        )?;
    }
    tx.wake(Wake::Target(row.target));
    Ok(())
}

/// Lays a part that was given up to rest.
pub(crate) fn discard(tx: &mut Tx<'_>, part: PartId, at: Timestamp) -> Result<()> {
    let row = get_part(tx, part)?;
    legal(part, row.state, "discard", PartState::Discarded)?;
    tx.execute(
        "UPDATE parts SET state = 'discarded' WHERE part_id = ?1",
        bind![part],
    )?;
    settle_reply(tx, row.part.reply, at)
}

/// What a target's lost owner was sending may or may not have arrived. Gives how many.
pub(crate) fn rescue(tx: &mut Tx<'_>, target: TargetKey) -> Result<u64> {
    let rescued = tx.execute(
        "UPDATE parts SET state = 'doubted' WHERE target = ?1 AND state = 'sending'",
        bind![target],
    )?;
    if rescued > 0 {
        tx.wake(Wake::Target(target));
    }
    Ok(rescued)
}

/// A reply by its id.
pub fn get(tx: &mut Tx<'_>, reply: ReplyId) -> Result<Reply> {
    let row = tx.row(
        "SELECT reply_id, session_id, run_id, kind, state, return_to, text, revision
         FROM replies WHERE reply_id = ?1",
        bind![reply],
        read_reply,
    )?;
    let row = match row {
        Some(row) => Some(row),
        None => whole::reply(tx, reply)?,
    };
    found("reply", reply, row)
}

/// A part by its id.
pub fn get_part(tx: &mut Tx<'_>, part: PartId) -> Result<QueuedPart> {
    let sql = concat!("SELECT ", part_columns!(), " FROM parts WHERE part_id = ?1");
    let row = tx.row(sql, bind![part], read_part)?;
    found("part", part, row)
}

/// A reply's parts, in order.
pub fn parts(tx: &mut Tx<'_>, reply: ReplyId) -> Result<Vec<QueuedPart>> {
    let sql = concat!(
        "SELECT ",
        part_columns!(),
        " FROM parts WHERE reply_id = ?1 ORDER BY ordinal"
    );
    tx.rows(sql, bind![reply], read_part)
}

/// A part's receipts, in order.
pub fn receipts(tx: &mut Tx<'_>, part: PartId) -> Result<Vec<Receipt>> {
    tx.rows(
        "SELECT message, at FROM receipts WHERE part_id = ?1 ORDER BY ordinal",
        bind![part],
        |row| {
            Ok(Receipt {
                message: row.get(0)?,
                at: row.get(1)?,
            })
        },
    )
}

/// What became of each attempt to send a part, in order.
pub fn attempts(tx: &mut Tx<'_>, part: PartId) -> Result<Vec<Outcome>> {
    let sql = "SELECT outcome FROM attempts WHERE part_id = ?1 ORDER BY attempt";
    tx.rows(sql, bind![part], |row| row.json(0))
}
