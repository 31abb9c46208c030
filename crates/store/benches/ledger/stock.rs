//! Stores with many sessions in them, filled in bulk, fresh for each measurement.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use talaria_domain::clock::{Clock as _, SystemClock};
use talaria_domain::digest::Digest;
use talaria_domain::ids::{Ids as _, RandomIds, SessionId};
use talaria_sim::people::{People, person};
use talaria_store::Ledger;

/// Where stores are made.
pub(crate) enum Place {
    /// Files in a directory.
    Sqlite(PathBuf),
    /// Databases on a server.
    Postgres(String),
}

/// A store and how many sessions it holds.
pub(crate) struct Store {
    pub(crate) url: String,
    pub(crate) sessions: u64,
}

impl Place {
    /// Makes room: what was measured is not needed any more.
    pub(crate) fn clear(&self) {
        let Self::Sqlite(directory) = self else {
            return;
        };
        for entry in std::fs::read_dir(directory).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
    }

    /// A store with this many sessions.
    pub(crate) fn prepare(&self, sessions: u64) -> Store {
        let name = format!(
            "bench_{}",
            RandomIds::default().next(SystemClock.now()).simple()
        );
        let url = match self {
            Self::Sqlite(directory) => {
                format!("sqlite:{}", directory.join(name).display())
            }
            Self::Postgres(server) => {
                let mut client = postgres::Client::connect(server, postgres::NoTls).unwrap();
                client
                    .batch_execute(&format!("CREATE DATABASE {name}"))
                    .unwrap();
                format!("{}/{name}", server.rsplit_once('/').unwrap().0)
            }
        };
        migrate(&url);
        match self {
            Self::Sqlite(_) => fill_sqlite(&url, sessions),
            Self::Postgres(_) => fill_postgres(&url, sessions),
        }
        Store { url, sessions }
    }

    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "sqlite",
            Self::Postgres(_) => "postgres",
        }
    }
}

fn migrate(url: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async { Ledger::open(url).await.unwrap().close().await });
}

/// One stored session.
struct Stored {
    key: Digest,
    session: SessionId,
    owner: Digest,
    /// What the key was made of.
    made_of: String,
}

fn stored(people: &People, who: u64) -> Stored {
    let (who, at) = (who.to_string(), SystemClock.now());
    let opening = people.opening(&who, at);
    Stored {
        key: opening.key_id().0,
        session: SessionId::next(people.ids(), at),
        owner: person(&who).key().0,
        made_of: serde_json::to_string(opening.key()).unwrap(),
    }
}

fn fill_sqlite(url: &str, sessions: u64) {
    let (people, at) = (People::default(), SystemClock.now().as_millis());
    let mut connection = rusqlite::Connection::open(url.strip_prefix("sqlite:").unwrap()).unwrap();
    connection
        .execute_batch("PRAGMA cache_size = -400000")
        .unwrap();
    let transaction = connection.transaction().unwrap();
    for who in 0..sessions {
        let Stored {
            key,
            session,
            owner,
            made_of,
        } = stored(&people, who);
        let (key, session, owner) = (key.as_bytes(), session.as_bytes(), owner.as_bytes());
        let insert = |sql| transaction.prepare_cached(sql).unwrap();
        insert("INSERT INTO session_keys VALUES (?1, ?2, ?3, 1, 1, 0)")
            .execute((key, session, made_of))
            .unwrap();
        insert(
            "INSERT INTO sessions (session_id, key_id, owner, state, generation, last_seq, created_at, updated_at)
             VALUES (?1, ?2, ?3, 'active', 0, 0, ?4, ?4)",
        )
        .execute((session, key, owner, at))
        .unwrap();
    }
    transaction.commit().unwrap();
    connection
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
}

fn fill_postgres(url: &str, sessions: u64) {
    let (people, at) = (People::default(), SystemClock.now().as_millis());
    let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
    let mut rows = String::new();
    let mut keys = client.copy_in("COPY session_keys FROM STDIN").unwrap();
    for who in 0..sessions {
        let Stored {
            key,
            session,
            owner,
            made_of,
        } = stored(&people, who);
        let session = session.to_string().replace('-', "");
        writeln!(keys, "\\\\x{key}\t\\\\x{session}\t{made_of}\t1\t1\t0").unwrap();
        writeln!(
            rows,
            "\\\\x{session}\t\\\\x{key}\t\\\\x{owner}\tactive\t0\t0\t{at}\t{at}"
        )
        .unwrap();
    }
    keys.finish().unwrap();
    let mut table = client
        .copy_in(
            "COPY sessions (session_id, key_id, owner, state, generation, last_seq, created_at, updated_at) FROM STDIN",
        ).unwrap();
    table.write_all(rows.as_bytes()).unwrap();
    table.finish().unwrap();
    client.batch_execute("VACUUM ANALYZE").unwrap();
    client.batch_execute("CHECKPOINT").unwrap();
}
