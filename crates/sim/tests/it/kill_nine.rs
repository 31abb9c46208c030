//! kill -9 in the middle of 64 writers, fifty times over on one store: after each, the store opens, holds together, and
//! has every acknowledged event and no half of one.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use talaria_domain::ids::EventId;
use talaria_sim::servers::fresh_database;
use talaria_store::Ledger;
use talaria_store::maintenance::integrity;

const ROUNDS: usize = 50;

#[tokio::test]
async fn sqlite() {
    let directory = tempfile::tempdir().unwrap();
    survives_fifty_kills(&format!(
        "sqlite:{}",
        directory.path().join("store.db").display()
    ))
    .await;
}

#[tokio::test]
async fn postgres() {
    let url = tokio::task::spawn_blocking(fresh_database)
        .await
        .unwrap()
        .unwrap();
    survives_fifty_kills(&url).await;
}

async fn survives_fifty_kills(url: &str) {
    let mut acknowledged = BTreeSet::new();
    for round in 0..ROUNDS {
        let child_url = url.to_owned();
        // From the first acknowledgement to the thick of it, differently each time.
        let patience = 1 + (round * 37) % 400;
        let told = tokio::task::spawn_blocking(move || killed_after(&child_url, patience));
        acknowledged.extend(told.await.unwrap());

        let ledger = Ledger::open(url).await.unwrap();
        assert_eq!(
            ledger.read(integrity::check).await.unwrap(),
            Vec::<String>::new(),
            "round {round}"
        );
        let stored = ledger.read(|tx| tx.rows("SELECT event_id FROM inbox", &[], |row| row.get(0)));
        let stored: BTreeSet<EventId> = stored.await.unwrap().into_iter().collect();
        let missing: Vec<&EventId> = acknowledged.difference(&stored).collect();
        assert!(
            missing.is_empty(),
            "round {round}: acknowledged and not there: {missing:?}"
        );
        ledger.close().await;
    }
    assert!(acknowledged.len() > ROUNDS, "the writers hardly wrote");
}

/// Starts the writers, kills them after so many acknowledgements, and gives all that were told until the end.
fn killed_after(url: &str, patience: usize) -> Vec<EventId> {
    let mut child = Command::new(crate::SIM)
        .args(["writers", "--writers", "64", "--store", url])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut told: Vec<EventId> = Vec::new();
    for line in lines.by_ref().take(patience) {
        told.push(line.unwrap().parse().unwrap());
    }
    assert_eq!(told.len(), patience, "the writers ended by themselves");
    child.kill().unwrap();
    child.wait().unwrap();
    // The last line may be half of one: killed while it was told.
    told.extend(lines.map_while(|line| line.ok()?.parse::<EventId>().ok()));
    told
}
