//! Closures share a commit and nothing else: one that fails, fails alone; nobody is answered before the commit; and a
//! closure means the same whoever else is writing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use talaria_store::{Ledger, Result, StoreError, Tx, inbox, state};
use tokio::task::JoinSet;

use crate::world::scope;

/// Adds one to a number by reading and writing it: wrong if anybody else writes in between.
fn count_up(tx: &mut Tx<'_>) -> Result<()> {
    let found = state::get(tx, scope(), "n")?
        .and_then(|found| found.value.as_i64())
        .unwrap_or(0);
    let now = tx.now()?;
    state::set(tx, scope(), "n", &json!(found + 1), now).map(drop)
}

async fn counted(ledger: &Ledger) -> i64 {
    let found = ledger
        .read(|tx| state::get(tx, scope(), "n"))
        .await
        .unwrap();
    found.and_then(|found| found.value.as_i64()).unwrap_or(0)
}

both_engines! {
    async fn one_that_fails_fails_alone(world) {
        let mut tasks = JoinSet::new();
        for index in 0..90 {
            let ledger = world.ledger.clone();
            tasks.spawn(async move {
                let written = ledger.write(move |tx| {
                    count_up(tx)?;
                    match index % 3 {
                        0 => Ok(()),
                        1 => Err(StoreError::NotFound { thing: "reason", id: "to go on".to_owned() }),
                        _ => panic!("a defect in a closure"),
                    }
                });
                (index, written.await)
            });
        }
        for (index, written) in tasks.join_all().await {
            match index % 3 {
                0 => assert_eq!(written, Ok(())),
                1 => assert!(matches!(written, Err(StoreError::NotFound { .. })), "{written:?}"),
                _ => assert!(matches!(&written, Err(StoreError::Broken { why }) if why.contains("a defect"))),
            }
        }
        assert_eq!(counted(&world.ledger).await, 30, "exactly those that succeeded count");
    }

    async fn a_statement_that_the_engine_refuses_undoes_its_closure_and_no_other(world) {
        let (good, bad) = (world.arrival("ada", "one"), world.arrival("bob", "two"));
        let (broken, written) = tokio::join!(
            world.ledger.write(move |tx| {
                inbox::record(tx, &bad)?;
                tx.execute("INSERT INTO leases (name) VALUES ('half a row')", &[])
            }),
            world.ledger.write(move |tx| inbox::record(tx, &good)),
        );
        assert!(matches!(broken, Err(StoreError::Broken { .. })), "{broken:?}");
        assert!(written.is_ok(), "{written:?}");
        let count = "SELECT COUNT(*) FROM inbox";
        assert_eq!(world.read(move |tx| tx.row(count, &[], |row| row.get::<i64>(0))).await, Some(1));
    }

    async fn a_closure_that_hides_a_failed_statement_is_not_half_committed(world) {
        let outcome = world.ledger.write(|tx| {
            count_up(tx)?;
            // Caught and ignored, as no closure should.
            drop(tx.execute("INSERT INTO leases (name) VALUES ('half a row')", &[]));
            Ok(())
        });
        let expected = i64::from(outcome.await.is_ok());
        assert_eq!(counted(&world.ledger).await, expected, "all of it or nothing");
    }

    async fn read_and_write_in_one_closure_are_one_step(world) {
        let mut tasks = JoinSet::new();
        for _ in 0..100 {
            let ledger = world.ledger.clone();
            tasks.spawn(async move { ledger.write(count_up).await });
        }
        assert!(tasks.join_all().await.into_iter().all(|written| written.is_ok()));
        assert_eq!(counted(&world.ledger).await, 100);
    }

    async fn a_reader_cannot_write_and_sees_one_state(world) {
        world.write(count_up).await;
        let refused = world.ledger.read(count_up).await;
        assert!(refused.is_err(), "a reader wrote");
        assert_eq!(counted(&world.ledger).await, 1);
        // The reader is as good as before.
        assert_eq!(counted(&world.ledger).await, 1);
    }

    async fn what_was_queued_is_finished_and_what_comes_later_is_refused(world) {
        let settings = world.settings.clone();
        world.ledger.close().await;
        let ledger = Ledger::open_with(settings.clone()).await.unwrap();
        let mut tasks = JoinSet::new();
        let accepted = Arc::new(AtomicU32::new(0));
        for _ in 0..50 {
            let (ledger, accepted) = (ledger.clone(), Arc::clone(&accepted));
            tasks.spawn(async move {
                match ledger.write(count_up).await {
                    Ok(()) => drop(accepted.fetch_add(1, Ordering::Relaxed)),
                    Err(error) => assert_eq!(error, StoreError::Closed),
                }
            });
        }
        tokio::task::yield_now().await;
        ledger.close().await;
        assert_eq!(ledger.write(count_up).await, Err(StoreError::Closed));
        tasks.join_all().await;
        let again = Ledger::open_with(settings).await.unwrap();
        assert_eq!(counted(&again).await, i64::from(accepted.load(Ordering::Relaxed)));
        again.close().await;
    }
}
