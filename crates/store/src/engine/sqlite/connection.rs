//! One SQLite connection: how it is set up, how values go in and out, and what its failures mean.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, ErrorCode, OpenFlags, Statement};
use talaria_domain::clock::{Clock, Timestamp};

use crate::engine::{Access, Durability};
use crate::error::{Refusal, Result, StoreError};
use crate::tx::{EachRow, Row};
use crate::value::{Value, storable};

/// Texts kept prepared per connection: more than the ledger has.
const STATEMENTS: usize = 256;

/// A connection and where it leads.
pub(crate) struct SqliteConnection {
    raw: rusqlite::Connection,
    path: PathBuf,
    clock: Arc<dyn Clock>,
}

impl SqliteConnection {
    /// Opens the file for `access`. Only a writer makes one.
    pub(crate) fn open(path: &Path, access: Access, clock: Arc<dyn Clock>) -> Result<Self> {
        let flags = match access {
            Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
            // Not READ_ONLY: a reader of a WAL store must be able to share its index in memory.
            Access::Read => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        let raw =
            rusqlite::Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
                .map_err(|error| classify(path, &error))?;
        set_up(&raw).map_err(|error| classify(path, &error))?;
        Ok(Self {
            raw,
            path: path.to_owned(),
            clock,
        })
    }

    /// A store in memory.
    pub(crate) fn in_memory(clock: Arc<dyn Clock>) -> Result<Self> {
        let path = PathBuf::from(":memory:");
        let raw =
            rusqlite::Connection::open_in_memory().map_err(|error| classify(&path, &error))?;
        set_up(&raw).map_err(|error| classify(&path, &error))?;
        Ok(Self { raw, path, clock })
    }

    /// Sets the connection up to write.
    pub(crate) fn prepare_writer(&mut self, durability: Durability) -> Result<()> {
        let synchronous = match durability {
            Durability::Power => "FULL",
            Durability::Process => "NORMAL",
        };
        // The engine looks through the pages that it holds after most commits; what it does not hold, the system does.
        self.run_batch(&format!(
            "PRAGMA busy_timeout = 5000;
             PRAGMA journal_mode = WAL;
             PRAGMA synchronous = {synchronous};
             PRAGMA temp_store = MEMORY;
             PRAGMA cache_size = -16384;
             PRAGMA wal_autocheckpoint = 0;
             PRAGMA journal_size_limit = 67108864;"
        ))
    }

    /// Sets the connection up to read and to do nothing else.
    pub(crate) fn prepare_reader(&mut self) -> Result<()> {
        self.run_batch(
            "PRAGMA busy_timeout = 5000;
             PRAGMA temp_store = MEMORY;
             PRAGMA query_only = ON;",
        )
    }

    /// Runs a short statement that is run often: the edges of transactions.
    pub(crate) fn edge(&mut self, sql: &'static str) -> Result<()> {
        self.execute_text(sql, &[]).map(drop)
    }

    /// Runs a statement whose text is made up on the spot.
    pub(super) fn execute_text(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        let mut statement = self.prepare(sql)?;
        execute(&mut statement, values).map_err(|error| self.classify(&error))
    }

    /// A statement, from those that are kept if it was run before.
    pub(super) fn prepare(&self, sql: &str) -> Result<CachedStatement<'_>> {
        let prepared = self.raw.prepare_cached(sql);
        prepared.map_err(|error| self.classify(&error))
    }

    /// What a failure means to the caller.
    pub(super) fn classify(&self, error: &rusqlite::Error) -> StoreError {
        classify(&self.path, error)
    }

    /// The number of the last row that was inserted.
    pub(super) fn last_number(&self) -> i64 {
        self.raw.last_insert_rowid()
    }

    /// Runs statements that take and return nothing.
    pub(super) fn run_batch(&self, sql: &str) -> Result<()> {
        let ran = self.raw.execute_batch(sql);
        ran.map_err(|error| self.classify(&error))
    }

    /// The time by which leases expire.
    pub(super) fn time(&self) -> Timestamp {
        self.clock.now()
    }

    /// Calls `hook` after each commit with the length of the write-ahead log, in pages.
    pub(super) fn on_commit(&mut self, hook: impl Fn(i32) + Send + 'static) -> Result<()> {
        let hooked = self
            .raw
            .wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages| {
                hook(pages);
                Ok(())
            }));
        hooked.map_err(|error| classify(&self.path, &error))
    }

    /// Copies what it can of the write-ahead log into the store; gives how many pages are left in it.
    pub(super) fn checkpoint(&self) -> Result<i64> {
        let mut left = 0;
        let mut copying = self.prepare("PRAGMA wal_checkpoint(PASSIVE)")?;
        let mut count = |row: &Row<'_>| {
            left = row.get::<i64>(1)? - row.get::<i64>(2)?;
            Ok(())
        };
        query(&mut copying, &[], &mut count, |error| self.classify(&error))?;
        Ok(left)
    }

    /// How many rows were ever changed: whoever wants to know whether something was, compares.
    pub(super) fn changes(&self) -> u64 {
        self.raw.total_changes()
    }

    /// Whether a transaction is open. A full disk can end one without being asked.
    pub(crate) fn is_in_transaction(&self) -> bool {
        !self.raw.is_autocommit()
    }
}

/// What every connection has.
fn set_up(raw: &rusqlite::Connection) -> rusqlite::Result<()> {
    raw.set_prepared_statement_cache_capacity(STATEMENTS);
    // Without it the engine plans a statement anew for each value that could prove a partial index useful, which is
    // a quarter of what a turn costs. Ours say what their indexes need in so many words.
    raw.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Runs a statement and says how many rows it changed.
pub(super) fn execute(
    statement: &mut Statement<'_>,
    values: &[Value<'_>],
) -> rusqlite::Result<u64> {
    bind_all(statement, values)?;
    Ok(statement.raw_execute()? as u64)
}

/// Runs a query and hands over each row.
pub(super) fn query(
    statement: &mut Statement<'_>,
    values: &[Value<'_>],
    each: &mut EachRow<'_>,
    failed: impl Fn(rusqlite::Error) -> StoreError,
) -> Result<()> {
    bind_all(statement, values).map_err(&failed)?;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(&failed)? {
        each(&Row::sqlite(row))?;
    }
    Ok(())
}

fn bind_all(statement: &mut Statement<'_>, values: &[Value<'_>]) -> rusqlite::Result<()> {
    for (index, value) in values.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, value)?;
    }
    Ok(())
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(number) => ValueRef::Integer(*number),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
            Self::Text(text) => match storable(text) {
                Cow::Borrowed(text) => ValueRef::Text(text.as_bytes()),
                Cow::Owned(text) => return Ok(text.into()),
            },
        }))
    }
}

/// What stands in a column.
pub(crate) fn read_value<'r>(row: &'r rusqlite::Row<'_>, column: usize) -> Result<Value<'r>> {
    let unreadable = |why: String| StoreError::unreadable("row", &why);
    match row
        .get_ref(column)
        .map_err(|error| unreadable(error.to_string()))?
    {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(number) => Ok(Value::Int(number)),
        ValueRef::Blob(bytes) => Ok(Value::Bytes(bytes)),
        ValueRef::Text(text) => std::str::from_utf8(text)
            .map(Value::Text)
            .map_err(|error| unreadable(error.to_string())),
        ValueRef::Real(_) => Err(unreadable(format!("a fraction in column {column}"))),
    }
}

/// What a failure means to the caller.
fn classify(path: &Path, error: &rusqlite::Error) -> StoreError {
    let detail = error.to_string();
    let path = path.display().to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Refusal::Full { path }.into(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Refusal::Corrupt { path, detail }.into()
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            Refusal::ReadOnly { path, detail }.into()
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::SystemIoFailure) => {
            StoreError::Retry { why: detail }
        }
        _ => StoreError::Broken { why: detail },
    }
}
