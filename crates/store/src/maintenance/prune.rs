//! Prunes what has ended and is old enough, a little at a time, so that no message waits for it. What is open is
//! never pruned, and a dead letter keeps its thing.

use std::time::Duration;

use talaria_domain::clock::Timestamp;

use crate::bind;
use crate::error::Result;
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

/// Prunes at most `limit` rows of each kind. Gives how many that were: zero means that all is done.
pub fn prune(tx: &mut Tx<'_>, retention: Retention, now: Timestamp, limit: u32) -> Result<u64> {
    let ended_before = now.minus(retention.0.max(FLOOR));
    ENDED.iter().try_fold(0, |pruned, sql| {
        Ok(pruned + tx.execute(sql, bind![ended_before, limit])?)
    })
}

/// What belongs to a row goes first, then the row.
const ENDED: [&str; 10] = [
    "DELETE FROM dedupe WHERE dedupe_key IN (
         SELECT dedupe_key FROM inbox WHERE ended_at < ?1 AND state <> 'dead' ORDER BY ended_at, event_id LIMIT ?2)",
    "DELETE FROM inbox WHERE event_id IN (
         SELECT event_id FROM inbox WHERE ended_at < ?1 AND state <> 'dead' ORDER BY ended_at, event_id LIMIT ?2)",
    "DELETE FROM run_events WHERE run_id IN (SELECT run_id FROM runs WHERE ended_at < ?1 LIMIT ?2)",
    "DELETE FROM runs WHERE run_id IN (
         SELECT run_id FROM runs WHERE ended_at < ?1
             AND NOT EXISTS (SELECT 1 FROM run_events e WHERE e.run_id = runs.run_id) LIMIT ?2)",
    "DELETE FROM receipts WHERE part_id IN (
         SELECT p.part_id FROM parts p JOIN replies r ON r.reply_id = p.reply_id
         WHERE r.ended_at < ?1 AND r.state <> 'failed' LIMIT ?2)",
    "DELETE FROM attempts WHERE part_id IN (
         SELECT p.part_id FROM parts p JOIN replies r ON r.reply_id = p.reply_id
         WHERE r.ended_at < ?1 AND r.state <> 'failed' LIMIT ?2)",
    "DELETE FROM parts WHERE part_id IN (
         SELECT p.part_id FROM parts p JOIN replies r ON r.reply_id = p.reply_id
         WHERE r.ended_at < ?1 AND r.state <> 'failed'
             AND NOT EXISTS (SELECT 1 FROM receipts e WHERE e.part_id = p.part_id)
             AND NOT EXISTS (SELECT 1 FROM attempts e WHERE e.part_id = p.part_id) LIMIT ?2)",
    "DELETE FROM replies WHERE reply_id IN (
         SELECT reply_id FROM replies WHERE ended_at < ?1 AND state <> 'failed'
             AND NOT EXISTS (SELECT 1 FROM parts p WHERE p.reply_id = replies.reply_id) LIMIT ?2)",
    "DELETE FROM jobs WHERE job_id IN (SELECT job_id FROM jobs WHERE ended_at < ?1 LIMIT ?2)",
    "DELETE FROM leases WHERE name IN (
         SELECT name FROM leases WHERE expires_at = 0 AND epoch < ?1 LIMIT ?2)",
];
