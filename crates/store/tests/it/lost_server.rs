//! A PostgreSQL that goes away is an error that says "later", and comes back by itself: nobody restarts the gateway,
//! nothing that was acknowledged is lost, and nothing is stored twice.

use std::time::Duration;

use talaria_sim::people::People;
use talaria_sim::servers::OwnServer;
use talaria_store::inbox::{self, Arrival, Recorded};
use talaria_store::maintenance::integrity;
use talaria_store::{Ledger, Result, StoreError, Wake};
use tokio::time::timeout;

const NOW: talaria_domain::clock::Timestamp = crate::world::START;
const PATIENCE: Duration = Duration::from_mins(1);

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

async fn accept(ledger: &Ledger, arrival: &Arrival) -> Result<Recorded> {
    let arrival = arrival.clone();
    ledger.write(move |tx| inbox::record(tx, &arrival)).await
}

/// What a caller does: the same work again, until it is done.
async fn accept_at_last(ledger: &Ledger, arrival: &Arrival) -> Recorded {
    let accepted = timeout(PATIENCE, async {
        loop {
            match accept(ledger, arrival).await {
                Ok(recorded) => return recorded,
                Err(StoreError::Retry { .. } | StoreError::Uncertain { .. }) => {
                    tokio::task::yield_now().await;
                }
                Err(other) => panic!("{other:?}"),
            }
        }
    });
    accepted.await.expect("the ledger did not come back")
}

async fn count(ledger: &Ledger) -> i64 {
    let count = ledger.read(|tx| tx.row("SELECT COUNT(*) FROM inbox", &[], |row| row.get(0)));
    count.await.unwrap().unwrap()
}

#[tokio::test]
async fn it_comes_back_by_itself() {
    let mut server = blocking(|| OwnServer::start().unwrap()).await;
    let ledger = Ledger::open(&server.url()).await.unwrap();
    let people = People::default();
    let before = people.arrival("ada", "before", NOW).unwrap();
    accept(&ledger, &before).await.unwrap();
    let mut wakes = ledger.subscribe();

    let mut server = blocking(move || {
        server.kill().unwrap();
        server
    })
    .await;
    let during = people.arrival("ada", "during", NOW).unwrap();
    for _ in 0..20 {
        let refused = accept(&ledger, &during).await;
        assert!(
            matches!(refused, Err(StoreError::Retry { .. })),
            "{refused:?}"
        );
    }

    let server = blocking(move || {
        server.resume().unwrap();
        server
    })
    .await;
    let recorded = accept_at_last(&ledger, &during).await;
    assert!(
        matches!(recorded, Recorded::Accepted { .. }),
        "{recorded:?}"
    );
    assert_eq!(count(&ledger).await, 2);
    // The listener is back as well, and tells that something may have been missed.
    let told = timeout(PATIENCE, async {
        while wakes.next().await != Some(Wake::Everything) {}
    });
    told.await.expect("nobody was told to look at everything");
    ledger.close().await;
    drop(server);
}

#[tokio::test]
async fn killed_again_and_again_under_load_it_loses_nothing_and_doubles_nothing() {
    let mut server = blocking(|| OwnServer::start().unwrap()).await;
    let ledger = Ledger::open(&server.url()).await.unwrap();
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..16_u64 {
        let ledger = ledger.clone();
        writers.spawn(async move {
            let people = People::starting_at(writer << 32);
            for message in 0..60 {
                let arrival = people
                    .arrival(&format!("w{writer}"), &message.to_string(), NOW)
                    .unwrap();
                accept_at_last(&ledger, &arrival).await;
            }
        });
    }
    for _ in 0..3 {
        let seen = count_at_last(&ledger).await;
        while count_at_last(&ledger).await < seen + 20 && !writers.is_empty() {
            tokio::task::yield_now().await;
        }
        server = blocking(move || {
            server.kill().unwrap();
            server.resume().unwrap();
            server
        })
        .await;
    }
    writers.join_all().await;
    assert_eq!(count_at_last(&ledger).await, 16 * 60);
    assert_eq!(
        ledger.read(integrity::check).await.unwrap(),
        Vec::<String>::new()
    );
    ledger.close().await;
    drop(server);
}

async fn count_at_last(ledger: &Ledger) -> i64 {
    let counted = timeout(PATIENCE, async {
        loop {
            let count =
                ledger.read(|tx| tx.row("SELECT COUNT(*) FROM inbox", &[], |row| row.get(0)));
            match count.await {
                Ok(count) => return count.unwrap_or(0),
                Err(StoreError::Retry { .. }) => tokio::task::yield_now().await,
                Err(other) => panic!("{other:?}"),
            }
        }
    });
    counted.await.expect("the ledger did not come back")
}
