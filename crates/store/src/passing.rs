//! What is remembered for a while only: a value of [`crate::state`] with a time after which it may be forgotten. Pruning
//! forgets it; until then it is there like any other.

use serde_json::Value as Json;
use talaria_domain::clock::Timestamp;
use talaria_domain::scope::ScopeKey;

use crate::bind;
use crate::error::Result;
use crate::state;
use crate::tx::Tx;

/// From when to when something is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Now.
    pub at: Timestamp,
    /// When it may be forgotten.
    pub until: Timestamp,
}

/// Remembers a value for a while; the last write wins, and its time with it.
pub fn set(tx: &mut Tx<'_>, scope: ScopeKey, name: &str, value: &Json, span: Span) -> Result<()> {
    state::set(tx, scope, name, value, span.at)?;
    tx.execute(
        "UPDATE state SET expires_at = ?3 WHERE scope_key = ?1 AND name = ?2",
        bind![scope, name, span.until],
    )?;
    Ok(())
}

/// Forgets at most `limit` of those whose time is over. Gives how many that were.
pub(crate) fn prune(tx: &mut Tx<'_>, now: Timestamp, limit: u32) -> Result<u64> {
    tx.execute(
        "DELETE FROM state WHERE (scope_key, name) IN (
             SELECT scope_key, name FROM state WHERE expires_at < ?1 ORDER BY expires_at LIMIT ?2)",
        bind![now, limit],
    )
}
