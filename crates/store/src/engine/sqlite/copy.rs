//! A copy of a ledger in a file of its own: written beside its final name and renamed when it is whole.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use talaria_domain::clock::SystemClock;

use super::connection::SqliteConnection;
use super::desk::Desk;
use crate::engine::{Access, Durability};
use crate::error::{Refusal, Result};
use crate::migrate;
use crate::tx::{Row, Tx};

/// A copy under way. Dropped before it is finished, it leaves nothing.
pub(crate) struct StoreCopy {
    connection: Option<SqliteConnection>,
    partial: PathBuf,
    path: PathBuf,
}

impl StoreCopy {
    /// Starts a copy that will be at `path`, where nothing may be yet.
    pub(crate) fn begin(path: &Path) -> Result<Self> {
        let refused = |detail: &str| Refusal::ReadOnly {
            path: path.display().to_string(),
            detail: detail.to_owned(),
        };
        if path.exists() {
            return Err(refused("there is a file of that name already").into());
        }
        let mut partial = OsString::from(path);
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        // What an interrupted copy left behind.
        drop(std::fs::remove_file(&partial));
        let connection = SqliteConnection::open(&partial, Access::Write, Arc::new(SystemClock))?;
        let mut copy = Self {
            connection: Some(connection),
            partial,
            path: path.to_owned(),
        };
        copy.with(|connection| {
            connection.prepare_writer(Durability::Power)?;
            // One file, so that there is one thing to rename.
            connection.run_batch("PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE")?;
            migrate::migrate(&mut Tx::on(&mut Desk::at(connection)))
        })?;
        Ok(copy)
    }

    /// Puts a row into a table of the same shape.
    pub(crate) fn insert(&mut self, table: &str, row: &Row<'_>) -> Result<()> {
        let values = row.values()?;
        let places: Vec<String> = (1..=values.len())
            .map(|place| format!("?{place}"))
            .collect();
        let sql = format!("INSERT INTO {table} VALUES ({})", places.join(", "));
        self.with(|connection| connection.execute_text(&sql, &values).map(drop))
    }

    /// Does what derived tables need.
    pub(crate) fn derive<T>(&mut self, work: impl FnOnce(&mut Tx<'_>) -> Result<T>) -> Result<T> {
        self.with(|connection| work(&mut Tx::on(&mut Desk::at(connection))))
    }

    /// Makes it whole and gives it its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.with(|connection| connection.run_batch("COMMIT"))?;
        self.connection = None;
        let named = std::fs::rename(&self.partial, &self.path);
        named.map_err(|error| {
            let (path, detail) = (self.path.display().to_string(), error.to_string());
            Refusal::ReadOnly { path, detail }.into()
        })
    }

    fn with<T>(&mut self, work: impl FnOnce(&mut SqliteConnection) -> Result<T>) -> Result<T> {
        match &mut self.connection {
            Some(connection) => work(connection),
            None => Err(crate::StoreError::Closed),
        }
    }
}

impl Drop for StoreCopy {
    fn drop(&mut self) {
        self.connection = None;
        // Renamed or never made: then there is nothing to remove.
        drop(std::fs::remove_file(&self.partial));
    }
}
