//! What goes out: the only way out of the process. A logical reply has one target; its parts wait in that target's
//! queue and leave one at a time, finals before notices before progress. Every attempt's outcome is kept; a delivered
//! part has its receipts.
//!
//! A part that is being sent, or of which nobody knows whether it arrived, holds its queue: what comes after it
//! cannot overtake it.

use talaria_domain::address::{ReturnAddress, TargetKey};
use talaria_domain::clock::Timestamp;
pub use talaria_domain::delivery::Reply;
use talaria_domain::delivery::{Outcome, Part, PartBody, Receipt, ReplyKind};
use talaria_domain::ids::{DeadId, PartId, ReplyId, RunId};
use talaria_domain::machine::{Machine as _, PartState, ReplyState};

use crate::bind;
use crate::change::{found, legal};
use crate::dead::{self, Thing};
use crate::error::{Conflict, Result, StoreError};
use crate::tx::{Row, Tx};
use crate::value::to_json;
use crate::wake::Wake;

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
}

macro_rules! part_columns {
    () => {
        "part_id, reply_id, ordinal, body, target, state, attempts, epoch, not_before"
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
    pub return_to: ReturnAddress,
    /// Now.
    pub at: Timestamp,
}

/// Begins a reply. Its text may still grow.
pub fn record(tx: &mut Tx<'_>, start: &ReplyStart) -> Result<()> {
    let target = start.return_to.address.target();
    let return_to = to_json(&start.return_to)?;
    let kind = start.kind.as_str();
    tx.execute(
        "INSERT INTO replies
             (reply_id, session_id, run_id, kind, state, target, return_to, text, revision, created_at)
         VALUES (?1, ?2, ?3, ?4, 'open', ?5, ?6, '', 0, ?7)",
        bind![start.id, start.return_to.session, start.run, kind, target, return_to, start.at],
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
             (part_id, reply_id, ordinal, target, priority, state, body, attempts, epoch, not_before, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, 'queued', ?6, 0, 0, 0, ?7)",
        bind![part.id, part.reply, part.ordinal, target, priority(reply.kind), to_json(&part.body)?, at],
    )?;
    tx.wake(Wake::Outbox);
    Ok(())
}

const fn priority(kind: ReplyKind) -> i64 {
    match kind {
        ReplyKind::Final => 0,
        ReplyKind::Notice => 1,
        ReplyKind::Progress => 2,
    }
}

/// Makes a part that is there show something else.
pub fn revise(tx: &mut Tx<'_>, part: PartId, body: &PartBody) -> Result<()> {
    let row = get_part(tx, part)?;
    if row.state == PartState::Queued {
        tx.execute(
            "UPDATE parts SET body = ?2 WHERE part_id = ?1",
            bind![part, to_json(body)?],
        )?;
        return Ok(());
    }
    legal(part, row.state, "revise", PartState::Queued)?;
    tx.execute(
        "UPDATE parts SET body = ?2, state = 'queued', not_before = 0 WHERE part_id = ?1",
        bind![part, to_json(body)?],
    )?;
    tx.wake(Wake::Outbox);
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

/// Takes parts that may be sent now: the first of each queue that nothing holds.
pub fn claim(tx: &mut Tx<'_>, epoch: i64, now: Timestamp, limit: u32) -> Result<Vec<QueuedPart>> {
    let heads = tx.rows(
        "SELECT p.part_id FROM parts p
         WHERE p.state IN ('queued', 'retry') AND p.not_before <= ?1 AND NOT EXISTS (
             SELECT 1 FROM parts q
             WHERE q.target = p.target AND q.state IN ('queued', 'retry', 'sending', 'unknown') AND (
                 q.state IN ('sending', 'unknown')
                 OR q.priority < p.priority
                 OR (q.priority = p.priority AND q.part_id < p.part_id)))
         ORDER BY p.priority, p.part_id LIMIT ?2 /* skip locked */",
        bind![now, limit],
        |row| row.get::<PartId>(0),
    )?;
    heads
        .into_iter()
        .map(|part| {
            let row = get_part(tx, part)?;
            legal(part, row.state, "claim", PartState::Sending)?;
            tx.execute(
                "UPDATE parts SET state = 'sending', attempts = attempts + 1, epoch = ?2 WHERE part_id = ?1",
                bind![part, epoch],
            )?;
            get_part(tx, part)
        })
        .collect()
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
    tx.execute(
        "DELETE FROM receipts WHERE part_id = ?1",
        bind![attempt.part],
    )?;
    for (ordinal, receipt) in (0_u32..).zip(receipts) {
        tx.execute(
            "INSERT INTO receipts (part_id, ordinal, message, at) VALUES (?1, ?2, ?3, ?4)",
            bind![attempt.part, ordinal, receipt.message, receipt.at],
        )?;
    }
    settle_reply(tx, row.part.reply, attempt.at)
}

/// It certainly was not sent: tries again from `at` on.
pub fn retry_at(tx: &mut Tx<'_>, attempt: &Attempt, at: Timestamp) -> Result<()> {
    end_attempt(tx, attempt, PartState::Retry, at).map(drop)
}

/// Nobody knows whether it arrived: it holds its queue until that is settled.
pub fn doubt(tx: &mut Tx<'_>, attempt: &Attempt) -> Result<()> {
    end_attempt(tx, attempt, PartState::Unknown, Timestamp::ZERO).map(drop)
}

/// Gives a part up: it becomes a dead letter, and its reply has failed.
pub fn fail(tx: &mut Tx<'_>, attempt: &Attempt, letter: DeadId, reason: &str) -> Result<()> {
    let row = end_attempt(tx, attempt, PartState::Failed, Timestamp::ZERO)?;
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
    if row.epoch != attempt.epoch {
        let (name, held) = (format!("part {}", attempt.part), attempt.epoch);
        return Err(Conflict::Fenced {
            name,
            held,
            current: row.epoch,
        }
        .into());
    }
    let verb = match to {
        PartState::Delivered => "deliver",
        PartState::Retry => "retry_at",
        PartState::Unknown => "doubt",
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
    tx.wake(Wake::Outbox);
    Ok(row)
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
    let has_failed = states.contains(&PartState::Failed);
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

/// Sends a failed part on its way again, with its attempts kept.
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
    tx.wake(Wake::Outbox);
    Ok(())
}

/// Lays a failed part to rest.
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
        "UPDATE parts SET state = 'unknown' WHERE target = ?1 AND state = 'sending'",
        bind![target],
    )?;
    if rescued > 0 {
        tx.wake(Wake::Outbox);
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
