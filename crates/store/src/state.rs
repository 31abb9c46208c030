//! Scoped memory that the host keeps for runners: values by scope and name, with a version for compare-and-set.
//! Which scopes a run may use is decided before it comes here.

use serde_json::Value as Json;
use talaria_domain::clock::Timestamp;
use talaria_domain::scope::ScopeKey;

use crate::bind;
use crate::error::{Conflict, Result};
use crate::tx::Tx;
use crate::value::to_json;

/// A remembered value.
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    /// The value.
    pub value: Json,
    /// How often it was set.
    pub version: i64,
}

/// What is remembered under a name.
pub fn get(tx: &mut Tx<'_>, scope: ScopeKey, name: &str) -> Result<Option<Remembered>> {
    tx.row(
        "SELECT value, version FROM state WHERE scope_key = ?1 AND name = ?2",
        bind![scope, name],
        |row| {
            Ok(Remembered {
                value: row.json(0)?,
                version: row.get(1)?,
            })
        },
    )
}

/// Remembers a value; the last write wins. Gives its version.
pub fn set(
    tx: &mut Tx<'_>,
    scope: ScopeKey,
    name: &str,
    value: &Json,
    at: Timestamp,
) -> Result<i64> {
    let version = tx.row(
        "INSERT INTO state (scope_key, name, value, version, updated_at) VALUES (?1, ?2, ?3, 1, ?4)
         ON CONFLICT (scope_key, name) DO UPDATE SET
             value = excluded.value, version = state.version + 1, updated_at = excluded.updated_at
         RETURNING version",
        bind![scope, name, to_json(value)?, at],
        |row| row.get(0),
    )?;
    Ok(version.unwrap_or(0))
}

/// A change that counts only if nobody else was first.
#[derive(Debug, Clone, PartialEq)]
pub struct Swap {
    /// The version that the caller knows; zero if there is none yet.
    pub expected: i64,
    /// The value to remember.
    pub value: Json,
    /// Now.
    pub at: Timestamp,
}

/// Remembers a value if the version is still the expected one. Gives the next version.
pub fn compare_and_set(tx: &mut Tx<'_>, scope: ScopeKey, name: &str, swap: &Swap) -> Result<i64> {
    let found = get(tx, scope, name)?.map_or(0, |remembered| remembered.version);
    if found != swap.expected {
        return Err(Conflict::Version {
            expected: swap.expected,
            found,
        }
        .into());
    }
    set(tx, scope, name, &swap.value, swap.at)
}

/// Forgets a value. Gives whether there was one.
pub fn delete(tx: &mut Tx<'_>, scope: ScopeKey, name: &str) -> Result<bool> {
    let sql = "DELETE FROM state WHERE scope_key = ?1 AND name = ?2";
    tx.execute(sql, bind![scope, name])
        .map(|deleted| deleted > 0)
}

/// What is remembered under names that begin with exactly `prefix`, by name.
pub fn list(tx: &mut Tx<'_>, scope: ScopeKey, prefix: &str) -> Result<Vec<(String, Remembered)>> {
    tx.rows(
        "SELECT name, value, version FROM state
         WHERE scope_key = ?1 AND substr(name, 1, length(?2)) = ?2 ORDER BY name",
        bind![scope, prefix],
        |row| {
            Ok((
                row.get(0)?,
                Remembered {
                    value: row.json(1)?,
                    version: row.get(2)?,
                },
            ))
        },
    )
}

/// Forgets everything in a scope. Gives how many values that were.
pub fn clear(tx: &mut Tx<'_>, scope: ScopeKey) -> Result<u64> {
    tx.execute("DELETE FROM state WHERE scope_key = ?1", bind![scope])
}
