//! Migrations: numbered, checksummed, all in the transaction that opens the store. A store that a newer binary
//! made, or whose applied migrations differ from ours, is refused before anything is changed.

use std::path::Path;

use crate::bind;
use crate::dialect::Dialect;
use crate::error::{Refusal, Result};
use crate::tx::Tx;

/// One step. Most are the same text for both engines.
struct Migration {
    number: i64,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration {
        number: 1,
        name: "ledger",
        sqlite: include_str!("../migrations/0001_ledger.sql"),
        postgres: include_str!("../migrations/0001_ledger.sql"),
    },
    Migration {
        number: 2,
        name: "search",
        sqlite: include_str!("../migrations/0002_search.sqlite.sql"),
        postgres: include_str!("../migrations/0002_search.postgres.sql"),
    },
    Migration {
        number: 3,
        name: "jobs",
        sqlite: include_str!("../migrations/0003_jobs.sql"),
        postgres: include_str!("../migrations/0003_jobs.sql"),
    },
    Migration {
        number: 4,
        name: "questions",
        sqlite: include_str!("../migrations/0004_questions.sql"),
        postgres: include_str!("../migrations/0004_questions.sql"),
    },
    Migration {
        number: 5,
        name: "passing",
        sqlite: include_str!("../migrations/0005_passing.sql"),
        postgres: include_str!("../migrations/0005_passing.sql"),
    },
    Migration {
        number: 6,
        name: "fewer trees",
        sqlite: include_str!("../migrations/0006_fewer_trees.sql"),
        postgres: include_str!("../migrations/0006_fewer_trees.sql"),
    },
    Migration {
        number: 7,
        name: "since",
        sqlite: include_str!("../migrations/0007_since.sql"),
        postgres: include_str!("../migrations/0007_since.sql"),
    },
    Migration {
        number: 8,
        name: "schedules",
        sqlite: include_str!("../migrations/0008_schedules.sql"),
        postgres: include_str!("../migrations/0008_schedules.sql"),
    },
    Migration {
        number: 9,
        name: "keys by time",
        sqlite: include_str!("../migrations/0009_keys_by_time.sqlite.sql"),
        postgres: include_str!("../migrations/0009_keys_by_time.postgres.sql"),
    },
    Migration {
        number: 10,
        name: "last words",
        sqlite: include_str!("../migrations/0010_last_words.sql"),
        postgres: include_str!("../migrations/0010_last_words.sql"),
    },
    Migration {
        number: 11,
        name: "fewer pages",
        sqlite: include_str!("../migrations/0011_fewer_pages.sql"),
        postgres: include_str!("../migrations/0011_fewer_pages.sql"),
    },
    Migration {
        number: 12,
        name: "own chats",
        sqlite: include_str!("../migrations/0012_own_chats.sql"),
        postgres: include_str!("../migrations/0012_own_chats.sql"),
    },
    Migration {
        number: 13,
        name: "whole turns",
        sqlite: include_str!("../migrations/0013_whole_turns.sql"),
        postgres: include_str!("../migrations/0013_whole_turns.sql"),
    },
];

impl Migration {
    const fn text(&self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Sqlite => self.sqlite,
            Dialect::Postgres => self.postgres,
        }
    }

    fn checksum(&self, dialect: Dialect) -> String {
        blake3::hash(self.text(dialect).as_bytes())
            .to_hex()
            .to_string()
    }
}

const KNOWN: i64 = MIGRATIONS[MIGRATIONS.len() - 1].number;

/// Looks at a SQLite file without changing it: it must be empty, or ours and not newer than we are.
pub(crate) fn inspect(tx: &mut Tx<'_>, path: &Path) -> Result<()> {
    let tables = "SELECT COUNT(*), SUM(name = 'migrations') FROM sqlite_master";
    let (all, ours) = tx
        .row(tables, &[], |row| Ok((row.get(0)?, row.get(1)?)))?
        .unwrap_or((0, None));
    if all == 0_i64 {
        return Ok(());
    }
    if ours == Some(0_i64) {
        let detail = "it holds another program's tables".to_owned();
        let path = path.display().to_string();
        return Err(Refusal::Corrupt { path, detail }.into());
    }
    applied(tx).map(drop)
}

/// Brings the store up to date. Runs inside the caller's transaction.
pub(crate) fn migrate(tx: &mut Tx<'_>) -> Result<()> {
    tx.batch(
        "CREATE TABLE IF NOT EXISTS migrations (
            number     INTEGER PRIMARY KEY,
            name       TEXT    NOT NULL,
            checksum   TEXT    NOT NULL,
            applied_at INTEGER NOT NULL
        ) STRICT",
    )?;
    let applied = applied(tx)?;
    let now = tx.now()?;
    for migration in MIGRATIONS
        .iter()
        .filter(|migration| migration.number > applied)
    {
        tx.batch(migration.text(tx.dialect()))?;
        tx.execute(
            "INSERT INTO migrations (number, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)",
            bind![
                migration.number,
                migration.name,
                migration.checksum(tx.dialect()),
                now
            ],
        )?;
    }
    Ok(())
}

/// The last migration that the store has; refuses a store that is not ours to write.
fn applied(tx: &mut Tx<'_>) -> Result<i64> {
    let stored: Vec<(i64, String)> = tx.rows(
        "SELECT number, checksum FROM migrations ORDER BY number",
        &[],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let found = stored.last().map_or(0, |(number, _)| *number);
    if found > KNOWN {
        return Err(Refusal::Newer {
            found,
            known: KNOWN,
        }
        .into());
    }
    for (number, checksum) in stored {
        let ours = MIGRATIONS
            .iter()
            .find(|migration| migration.number == number);
        if ours.is_none_or(|migration| migration.checksum(tx.dialect()) != checksum) {
            return Err(Refusal::Different { number }.into());
        }
    }
    Ok(found)
}
