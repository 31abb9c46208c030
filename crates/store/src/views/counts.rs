//! How much is open, by state: for status pages and meters.

use std::collections::BTreeMap;

use talaria_domain::clock::Timestamp;
use talaria_domain::machine::{InboxState, Machine, PartState, RunState};

use crate::error::Result;
use crate::tx::Tx;

/// How much is open. States that nothing is in are left out.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Counts {
    /// Events by state.
    pub inbox: BTreeMap<InboxState, i64>,
    /// Lanes with an open event.
    pub lanes: i64,
    /// Runs by state.
    pub runs: BTreeMap<RunState, i64>,
    /// Parts by state.
    pub outbox: BTreeMap<PartState, i64>,
    /// When the part was added that waits longest.
    pub oldest_undelivered: Option<Timestamp>,
    /// Parts of which nobody can know whether they arrived, and nobody has looked at them.
    pub unknown: i64,
    /// Dead letters that nobody has looked at.
    pub dead: i64,
}

/// How much is open.
pub fn counts(tx: &mut Tx<'_>) -> Result<Counts> {
    let inbox =
        "SELECT state, COUNT(*) FROM inbox WHERE state IN ('queued', 'claimed') GROUP BY state";
    let lanes = "SELECT COUNT(DISTINCT session_id) FROM inbox WHERE state IN ('queued', 'claimed')";
    let runs = "SELECT r.state, COUNT(*) FROM inbox i JOIN runs r ON r.run_id = i.run_id
                WHERE i.state = 'claimed' AND r.ended_at IS NULL GROUP BY r.state";
    let outbox = "SELECT state, COUNT(*) FROM parts
                  WHERE state IN ('queued', 'retry', 'sending', 'doubted') GROUP BY state";
    let oldest = "SELECT MIN(created_at) FROM parts WHERE state IN ('queued', 'retry', 'sending', 'doubted')";
    let unknown = "SELECT COUNT(*) FROM dead_letters d JOIN parts p ON p.part_id = d.thing_id
                   WHERE d.ended_at IS NULL AND p.state = 'unknown'";
    let dead = "SELECT COUNT(*) FROM dead_letters WHERE ended_at IS NULL";
    Ok(Counts {
        inbox: by_state(tx, inbox)?,
        lanes: count(tx, lanes)?,
        runs: by_state(tx, runs)?,
        outbox: by_state(tx, outbox)?,
        oldest_undelivered: tx.row(oldest, &[], |row| row.get(0))?.flatten(),
        unknown: count(tx, unknown)?,
        dead: count(tx, dead)?,
    })
}

fn by_state<M>(tx: &mut Tx<'_>, sql: &'static str) -> Result<BTreeMap<M, i64>>
where
    M: Machine + Ord,
{
    let counted = tx.rows(sql, &[], |row| Ok((row.state::<M>(0)?, row.get(1)?)))?;
    Ok(counted.into_iter().collect())
}

fn count(tx: &mut Tx<'_>, sql: &'static str) -> Result<i64> {
    Ok(tx.row(sql, &[], |row| row.get(0))?.unwrap_or(0))
}
