//! A store that cannot be used is one clear sentence, and stays as it was. A second process, a full disk and a directory
//! that cannot be written need processes of their own: they are in the simulated world's tests.

use std::path::{Path, PathBuf};

use talaria_domain::address::ChatKind;
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::SessionId;
use talaria_domain::session_key::{SessionKey, Sharing, Source};
use talaria_store::maintenance::integrity;
use talaria_store::sessions::{self, Opening};
use talaria_store::{Ledger, Refusal, Result, StoreError, Tx, keys};

use crate::world::{World, person};

fn add_a_newer_migration(tx: &mut Tx<'_>) -> Result<u64> {
    tx.execute(
        "INSERT INTO migrations (number, name, checksum, applied_at) VALUES (99, 'later', 'x', 0)",
        &[],
    )
}

fn change_a_checksum(tx: &mut Tx<'_>) -> Result<u64> {
    tx.execute(
        "UPDATE migrations SET checksum = 'another' WHERE number = 1",
        &[],
    )
}

async fn refused(url: &str) -> StoreError {
    match Ledger::open(url).await {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    }
}

/// A chat that we named ourselves.
fn web_chat(world: &World) -> Opening {
    let session = world.id(SessionId::from_bytes);
    let source = Source {
        platform: "web".into(),
        account: "default".into(),
        chat_kind: ChatKind::Direct,
        chat: Some("0198c0de-0000-7000-8000-000000000001".into()),
        thread: None,
        participant: None,
    };
    let key = SessionKey::derive(&"assistant".into(), &source, Sharing::default());
    let owner = person("ada").key();
    Opening::of(key, owner, session, world.now())
}

both_engines! {
    async fn a_newer_store_is_refused_and_untouched(world) {
        world.says("ada", "hello").await;
        world.write(add_a_newer_migration).await;
        world.ledger.close().await;
        let known = 13;
        let error = refused(&world.settings.url).await;
        assert_eq!(error, Refusal::Newer { found: 99, known }.into());
        let sentence = "the store has schema 99, this binary knows up to 13: use the newer binary, or restore a backup";
        assert_eq!(error.to_string(), sentence);
        undo(&world.settings.url, "DELETE FROM migrations WHERE number = 99").await;
    }

    async fn a_store_made_by_other_migrations_is_refused(world) {
        world.write(change_a_checksum).await;
        world.ledger.close().await;
        assert_eq!(refused(&world.settings.url).await, Refusal::Different { number: 1 }.into());
        let checksum = blake3::hash(include_bytes!("../../migrations/0001_ledger.sql")).to_hex();
        undo(&world.settings.url, &format!("UPDATE migrations SET checksum = '{checksum}' WHERE number = 1")).await;
    }

    async fn a_chat_whose_key_did_not_begin_with_its_time_is_found_after_an_update(world) {
        let opening = web_chat(world);
        let (first, next) = (opening.clone(), web_chat(world));
        // Two that were made for it, the first of which it leads to again.
        let (session, second) = world.write(move |tx| {
            let session = sessions::resolve(tx, &first)?;
            let second = sessions::reset(tx, &next, "new")?;
            let (owner, at) = (first.owner(), Timestamp::ZERO);
            sessions::resume(tx, first.key_id(), owner, session, at)?;
            Ok((session, second))
        }).await;
        world.ledger.close().await;
        let old = if world.settings.url.starts_with("sqlite:") {
            "CAST(x'fafbfcfdfeff' || SUBSTR(key_id, 7) AS BLOB)"
        } else {
            "DECODE('fafbfcfdfeff', 'hex') || SUBSTR(key_id, 7)"
        };
        undo(&world.settings.url, SINCE_THEN).await;
        for table in ["session_keys", "session_origins", "sessions"] {
            undo(&world.settings.url, &format!("UPDATE {table} SET key_id = {old}")).await;
        }
        let again = Ledger::open_with(world.settings.clone()).await.unwrap();
        let found = again.write(move |tx| {
            let key = opening.key_id();
            Ok((sessions::resolve(tx, &opening)?, sessions::get(tx, session)?.key == key, keys::origin(tx, key)?))
        }).await.unwrap();
        assert_eq!((found.0, found.1), (session, true));
        assert_eq!(found.2.platform.as_str(), "web");
        assert_eq!(again.read(integrity::check).await.unwrap(), Vec::<String>::new());
        let later = web_chat(world);
        let third = again.write(move |tx| {
            let third = sessions::reset(tx, &later, "new")?;
            Ok((sessions::get(tx, second)?.generation, sessions::get(tx, third)?.generation))
        });
        assert_eq!(third.await.unwrap(), (1, 2));
        again.close().await;
    }

    async fn opening_again_changes_nothing(world) {
        let (event, session) = world.says("ada", "hello").await;
        world.ledger.close().await;
        let again = Ledger::open_with(world.settings.clone()).await.unwrap();
        let row = again.read(move |tx| talaria_store::inbox::get(tx, event)).await.unwrap();
        assert_eq!(row.session, session);
        again.close().await;
    }
}

/// Takes back what came after keys that did not begin with a time.
const SINCE_THEN: &str = "
    DELETE FROM migrations WHERE number >= 9;
    ALTER TABLE inbox DROP COLUMN runner;
    ALTER TABLE inbox DROP COLUMN profile;
    ALTER TABLE inbox DROP COLUMN authority;
    ALTER TABLE inbox DROP COLUMN outcome;
    ALTER TABLE inbox DROP COLUMN answer;
    ALTER TABLE sessions DROP COLUMN own_chat;
    ALTER TABLE runs DROP COLUMN last_words;
    CREATE TABLE session_origins AS SELECT key_id, session_key FROM session_keys;
    ALTER TABLE session_keys DROP COLUMN session_key;
    ALTER TABLE session_keys DROP COLUMN made;
    ALTER TABLE session_keys DROP COLUMN kept;
    DROP INDEX session_keys_led;
    ALTER TABLE session_keys DROP COLUMN led;
    ALTER TABLE replies ADD COLUMN target TEXT;
    CREATE INDEX sessions_by_key ON sessions (key_id, generation);
    DELETE FROM session_keys WHERE session_id IS NULL";

/// Past the ledger, which would not open the store.
async fn undo(url: &str, sql: &str) {
    let (url, sql) = (url.to_owned(), sql.to_owned());
    let undone = tokio::task::spawn_blocking(move || match url.strip_prefix("sqlite:") {
        Some(path) => rusqlite::Connection::open(path)
            .unwrap()
            .execute_batch(&sql)
            .unwrap(),
        None => postgres::Client::connect(&url, postgres::NoTls)
            .unwrap()
            .batch_execute(&sql)
            .unwrap(),
    });
    undone.await.unwrap();
}

fn url_of(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

fn a_file(directory: &tempfile::TempDir, content: &[u8]) -> PathBuf {
    let path = directory.path().join("store.db");
    std::fs::write(&path, content).unwrap();
    path
}

#[tokio::test]
async fn a_file_that_is_no_store_is_refused_and_untouched() {
    let directory = tempfile::tempdir().unwrap();
    let content = b"Dear diary, this is not a database at all, it only has its name.".repeat(100);
    let path = a_file(&directory, &content);
    let error = refused(&url_of(&path)).await.to_string();
    let start = format!("the store {} is corrupt (", path.display());
    assert!(
        error.starts_with(&start) && error.ends_with("): move it away and restore a backup"),
        "{error}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), content);
}

#[tokio::test]
async fn another_programs_store_is_refused_and_untouched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let theirs = rusqlite::Connection::open(&path).unwrap();
    theirs
        .execute_batch("CREATE TABLE recipes (name TEXT)")
        .unwrap();
    theirs.close().unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = refused(&url_of(&path)).await.to_string();
    assert!(
        error.contains("it holds another program's tables"),
        "{error}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_page_gone_bad_is_found_and_named() {
    let world = World::sqlite().await;
    for index in 0..200 {
        world
            .says(&format!("person {index}"), &"words ".repeat(50))
            .await;
    }
    let url = world.settings.url.clone();
    world.ledger.close().await;
    let path = PathBuf::from(url.strip_prefix("sqlite:").unwrap());
    let mut content = std::fs::read(&path).unwrap();
    let middle = content.len() / 2;
    content[middle..middle + 8_192].fill(0xa5);
    std::fs::write(&path, &content).unwrap();

    let ledger = Ledger::open(&url).await.unwrap();
    match ledger.read(integrity::check).await {
        Ok(findings) => assert!(!findings.is_empty(), "nobody noticed"),
        Err(StoreError::Refuse(Refusal::Corrupt { .. })) => {}
        Err(other) => panic!("{other:?}"),
    }
    ledger.close().await;
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_one_sentence_without_the_password() {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let error = refused(&format!("postgres://user:hunter2@127.0.0.1:{port}/store"))
        .await
        .to_string();
    let start = format!("PostgreSQL at 127.0.0.1:{port} cannot be reached (");
    assert!(error.starts_with(&start), "{error}");
    assert!(
        error.ends_with("): check that it runs and that the address is right"),
        "{error}"
    );
    assert!(!error.contains("hunter2"), "{error}");
}

#[tokio::test]
async fn a_server_that_says_no_is_one_sentence() {
    let url = format!(
        "{}_and_no_such_database",
        crate::world::fresh_database().await
    );
    let error = refused(&url).await.to_string();
    assert!(error.contains(" refuses us ("), "{error}");
    assert!(
        error.ends_with("): check user, password and database in the store's url"),
        "{error}"
    );
}

#[tokio::test]
async fn an_url_that_names_no_store_is_told_without_repeating_it() {
    for url in [
        "",
        "sqlite:",
        "mysql://user:hunter2@host/x",
        "postgres://user:hunter2@host:99999999/x",
    ] {
        let error = refused(url).await.to_string();
        assert!(
            error.starts_with("expected a store url like sqlite:PATH or postgres://"),
            "{url}: {error}"
        );
        assert!(!error.contains("hunter2"), "{error}");
    }
}
