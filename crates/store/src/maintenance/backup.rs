//! Backup while the gateway runs: one unchanging state of the ledger, from either engine, as a SQLite store that can
//! be opened as it is.

use std::path::Path;

use crate::engine::sqlite::StoreCopy;
use crate::error::Result;
use crate::search;
use crate::tx::Tx;

macro_rules! tables {
    ($($name:literal),* $(,)?) => { [$(($name, concat!("SELECT * FROM ", $name))),*] };
}

/// Every table that is not derived from another.
const TABLES: [(&str, &str); 18] = tables![
    "session_keys",
    "sessions",
    "dedupe",
    "inbox",
    "leases",
    "runs",
    "run_events",
    "questions",
    "transcripts",
    "replies",
    "parts",
    "receipts",
    "attempts",
    "dead_letters",
    "state",
    "jobs",
    "schedules",
    "occurrences",
];

/// How many entries are indexed at a time.
const ENTRIES: u32 = 1_000;

/// Copies the ledger into a new file at `path`. For [`crate::Ledger::read`].
pub fn backup(tx: &mut Tx<'_>, path: &Path) -> Result<()> {
    let mut copy = StoreCopy::begin(path)?;
    for (table, all) in TABLES {
        tx.each_row(all, |row| copy.insert(table, row))?;
    }
    copy.derive(|tx| {
        let mut after = 0;
        while let Some(last) = search::rebuild_from(tx, after, ENTRIES)? {
            after = last;
        }
        Ok(())
    })?;
    copy.finish()
}
