//! Scoped memory that the host keeps for runners: values by scope and name, with a version for compare-and-set.
//! Which scopes a run may use is decided before it comes here.

use serde_json::Value as Json;
use talaria_domain::clock::Timestamp;
use talaria_domain::scope::ScopeKey;

use crate::bind;
use crate::error::{Conflict, Result};
use crate::tx::{Row, Tx};
use crate::value::{from_json, to_json};

/// A remembered value.
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    /// The value.
    pub value: Json,
    /// How often it was set.
    pub version: i64,
    /// When it was first set, and that was not forgotten since.
    pub created_at: Timestamp,
    /// When it was last set.
    pub updated_at: Timestamp,
}

/// A value in a row that has its columns from here on.
fn remembered(row: &Row<'_>, first: usize) -> Result<Remembered> {
    Ok(Remembered {
        value: row.json(first)?,
        version: row.get(first + 1)?,
        created_at: row.get(first + 2)?,
        updated_at: row.get(first + 3)?,
    })
}

/// What is remembered under a name.
pub fn get(tx: &mut Tx<'_>, scope: ScopeKey, name: &str) -> Result<Option<Remembered>> {
    tx.row(
        "SELECT value, version, created_at, updated_at FROM state WHERE scope_key = ?1 AND name = ?2",
        bind![scope, name],
        |row| remembered(row, 0),
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
        "INSERT INTO state (scope_key, name, value, version, created_at, updated_at) VALUES (?1, ?2, ?3, 1, ?4, ?4)
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
        "SELECT name, value, version, created_at, updated_at FROM state
         WHERE scope_key = ?1 AND substr(name, 1, length(?2)) = ?2 ORDER BY name",
        bind![scope, prefix],
        |row| Ok((row.get(0)?, remembered(row, 1)?)),
    )
}

/// Some of what is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Names that begin with exactly this.
    pub prefix: String,
    /// Only those after this one.
    pub after: Option<String>,
    /// At most so many.
    pub limit: u32,
}

/// A page of what is remembered, by name.
pub fn page(tx: &mut Tx<'_>, scope: ScopeKey, page: &Page) -> Result<Vec<(String, Remembered)>> {
    tx.rows(
        "SELECT name, value, version, created_at, updated_at FROM state
         WHERE scope_key = ?1 AND substr(name, 1, length(?2)) = ?2 AND name > ?3 ORDER BY name LIMIT ?4",
        bind![
            scope,
            page.prefix,
            // No name is empty: every name comes after that.
            page.after.as_deref().unwrap_or_default(),
            page.limit
        ],
        |row| Ok((row.get(0)?, remembered(row, 1)?)),
    )
}

/// How many values a scope has.
pub fn count(tx: &mut Tx<'_>, scope: ScopeKey) -> Result<u64> {
    let sql = "SELECT COUNT(*) FROM state WHERE scope_key = ?1";
    let count: Option<i64> = tx.row(sql, bind![scope], |row| row.get(0))?;
    Ok(u64::try_from(count.unwrap_or(0)).unwrap_or(0))
}

/// What of several scopes is small enough to be shown at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// Each with its scope and its name.
    pub values: Vec<(ScopeKey, String, Json)>,
    /// Whether that is everything.
    pub is_whole: bool,
}

/// The first values of up to five scopes, none of them larger than so many bytes.
pub fn shown(tx: &mut Tx<'_>, scopes: &[ScopeKey], most: u32, largest: u32) -> Result<Shown> {
    let Some(first) = scopes.first() else {
        let values = Vec::new();
        let is_whole = true;
        return Ok(Shown { values, is_whole });
    };
    let scope = |index: usize| *scopes.get(index).unwrap_or(first);
    let rows: Vec<(ScopeKey, String, Option<String>)> = tx.rows(
        "SELECT scope_key, name, CASE WHEN CAST(length(value) AS INTEGER) <= ?6 THEN value END FROM state
         WHERE scope_key IN (?1, ?2, ?3, ?4, ?7) ORDER BY scope_key, name LIMIT ?5",
        bind![
            scope(0),
            scope(1),
            scope(2),
            scope(3),
            most + 1,
            largest,
            scope(4)
        ],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    let is_few = rows.len() <= most as usize;
    let is_small = rows.iter().all(|(_, _, value)| value.is_some());
    let values = rows
        .into_iter()
        .take(most as usize)
        .filter_map(|(scope, name, value)| Some((scope, name, value?)))
        .map(|(scope, name, value)| Ok((scope, name, from_json("state", &value)?)));
    Ok(Shown {
        values: values.collect::<Result<_>>()?,
        is_whole: is_few && is_small,
    })
}

/// Forgets everything in a scope. Gives how many values that were.
pub fn clear(tx: &mut Tx<'_>, scope: ScopeKey) -> Result<u64> {
    tx.execute("DELETE FROM state WHERE scope_key = ?1", bind![scope])
}
