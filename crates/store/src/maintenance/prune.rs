//! Prunes what has ended and is old enough, a little at a time, so that no message waits for it. What is open is
//! never pruned, and a dead letter keeps its thing. What is remembered for a while only says itself for how long.

use std::time::Duration;

use talaria_domain::clock::Timestamp;
use talaria_domain::ids::EventId;

use crate::bind;
use crate::error::{Result, StoreError};
use crate::passing;
use crate::tx::Tx;

/// For how long what has ended is kept: events and the keys by which they are recognised, runs, replies and jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention(pub Duration);

impl Default for Retention {
    fn default() -> Self {
        Self(Duration::from_hours(90 * 24))
    }
}

/// Never shorter, whatever is configured: platforms deliver again that late.
const FLOOR: Duration = Duration::from_hours(7 * 24);

/// Prunes at most `limit` of each kind, with what belongs to each. Gives how many rows that were: zero means that all
/// is done.
pub fn prune(tx: &mut Tx<'_>, retention: Retention, now: Timestamp, limit: u32) -> Result<u64> {
    let ended_before = now.minus(retention.0.max(FLOOR));
    // Whatever ended before then was also made before then, and ids sort by time: nothing younger is looked at.
    let made_before = first_id_of(ended_before);
    let passed = passing::prune(tx, now, limit)?;
    let by_id = BY_ID.iter().try_fold(passed, |pruned, sql| {
        Ok::<u64, StoreError>(pruned + tx.execute(sql, bind![ended_before, limit, made_before])?)
    })?;
    BY_TIME.iter().try_fold(by_id, |pruned, sql| {
        Ok(pruned + tx.execute(sql, bind![ended_before, limit])?)
    })
}

/// The smallest id that something made at this time can have. Ids of all kinds begin alike.
fn first_id_of(time: Timestamp) -> EventId {
    let millis = u64::try_from(time.as_millis()).unwrap_or(0);
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&(millis << 16).to_be_bytes());
    EventId::from_bytes(bytes)
}

macro_rules! ended_events {
    () => {
        "inbox WHERE event_id < ?3 AND ended_at < ?1 AND state <> 'dead' ORDER BY event_id LIMIT ?2"
    };
}

macro_rules! ended_runs {
    () => {
        "SELECT run_id FROM runs WHERE run_id < ?3 AND ended_at < ?1 ORDER BY run_id LIMIT ?2"
    };
}

// A reply that ended may still have a part that did not: one in doubt, one that is revised, one with a dead letter.
macro_rules! settled_replies {
    () => {
        "r.reply_id < ?3 AND r.ended_at < ?1 AND NOT EXISTS (
             SELECT 1 FROM parts o WHERE o.reply_id = r.reply_id AND o.state NOT IN ('delivered', 'discarded'))"
    };
}

macro_rules! settled_parts {
    () => {
        concat!(
            "SELECT p.part_id FROM parts p JOIN replies r ON r.reply_id = p.reply_id WHERE ",
            settled_replies!(),
            " ORDER BY r.reply_id, p.part_id LIMIT ?2"
        )
    };
}

/// What belongs to a row goes first, then the row: the same ones, because they are picked in the same order.
const BY_ID: [&str; 8] = [
    concat!(
        "DELETE FROM dedupe WHERE dedupe_key IN (SELECT dedupe_key FROM ",
        ended_events!(),
        ")"
    ),
    concat!(
        "DELETE FROM inbox WHERE event_id IN (SELECT event_id FROM ",
        ended_events!(),
        ")"
    ),
    concat!(
        "DELETE FROM run_events WHERE run_id IN (",
        ended_runs!(),
        ")"
    ),
    concat!("DELETE FROM runs WHERE run_id IN (", ended_runs!(), ")"),
    concat!(
        "DELETE FROM receipts WHERE part_id IN (",
        settled_parts!(),
        ")"
    ),
    concat!(
        "DELETE FROM attempts WHERE part_id IN (",
        settled_parts!(),
        ")"
    ),
    concat!(
        "DELETE FROM parts WHERE part_id IN (",
        settled_parts!(),
        ")"
    ),
    concat!(
        "DELETE FROM replies WHERE reply_id IN (SELECT r.reply_id FROM replies r WHERE ",
        settled_replies!(),
        " AND NOT EXISTS (SELECT 1 FROM parts p WHERE p.reply_id = r.reply_id) ORDER BY r.reply_id LIMIT ?2)"
    ),
];

/// What there is little of.
const BY_TIME: [&str; 6] = [
    "DELETE FROM questions WHERE question_id IN (
         SELECT question_id FROM questions WHERE ended_at < ?1 LIMIT ?2)",
    "DELETE FROM dead_letters WHERE dead_id IN (
         SELECT dead_id FROM dead_letters WHERE ended_at < ?1 LIMIT ?2)",
    "DELETE FROM jobs WHERE job_id IN (SELECT job_id FROM jobs WHERE ended_at < ?1 LIMIT ?2)",
    "DELETE FROM occurrences WHERE (schedule_id, due_at) IN (
         SELECT o.schedule_id, o.due_at FROM occurrences o WHERE o.at < ?1 LIMIT ?2)",
    "DELETE FROM schedules WHERE schedule_id IN (
         SELECT s.schedule_id FROM schedules s WHERE s.ended_at < ?1 AND NOT EXISTS (
             SELECT 1 FROM occurrences o WHERE o.schedule_id = s.schedule_id) LIMIT ?2)",
    "DELETE FROM leases WHERE name IN (
         SELECT name FROM leases WHERE expires_at = 0 AND epoch < ?1 LIMIT ?2)",
];
