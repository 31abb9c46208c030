//! A store with many conversations in it, made through the ledger itself.

use std::path::Path;

use talaria_domain::clock::{Clock as _, SystemClock};
use talaria_sim::people::People;
use talaria_store::{Durability, Ledger, Settings, sessions};

/// Conversations in one commit.
const BATCH: u64 = 2_000;

/// Fills the store of a data directory.
pub(crate) async fn fill(home: &Path, count: u64) {
    let settings = Settings {
        durability: Durability::Process,
        ..Settings::for_url(&format!("sqlite:{}", home.join("store.db").display()))
    };
    let ledger = Ledger::open_with(settings).await.unwrap();
    let people = People::default();
    for from in (0..count).step_by(BATCH as usize) {
        let now = SystemClock.now();
        let openings: Vec<_> = (from..(from + BATCH).min(count))
            .map(|who| people.opening(&who.to_string(), now))
            .collect();
        ledger
            .write(move |tx| {
                openings
                    .iter()
                    .try_for_each(|opening| sessions::resolve(tx, opening).map(drop))
            })
            .await
            .unwrap();
    }
    ledger.close().await;
}
