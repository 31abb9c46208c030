//! Closures share a commit and nothing else: one that fails, fails alone; nobody is answered before the commit; and a
//! closure means the same whoever else is writing.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use serde_json::json;
use talaria_store::{Committed, Ledger, Result, StoreError, Tx, inbox, state};
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
    async fn what_is_told_ahead_is_committed_as_it_was_told(world) {
        let ahead = world.ledger.write_ahead(|tx| count_up(tx).map(|()| "told")).await.unwrap();
        assert_eq!(ahead.value, "told");
        assert_eq!(ahead.commit.await, Ok(Committed::AsTold));
        assert_eq!(counted(&world.ledger).await, 1);
        let nothing = || StoreError::NotFound { thing: "reason", id: "to go on".to_owned() };
        let refused = world.ledger.write_ahead(move |tx| count_up(tx).and(Err::<(), _>(nothing()))).await;
        assert_eq!(refused.err(), Some(nothing()), "what fails is told once");
        assert_eq!(counted(&world.ledger).await, 1);
    }

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

/// Holds the writer until it is let go.
fn hold(
    ledger: &Ledger,
) -> (
    mpsc::SyncSender<()>,
    impl Future<Output = Result<()>> + 'static,
) {
    let (go, held) = mpsc::sync_channel::<()>(1);
    let (ledger, held) = (ledger.clone(), Mutex::new(held));
    let holding = async move {
        ledger
            .write(move |_| {
                // It ends when there is nobody any more who could send.
                assert!(held.lock().unwrap().recv().is_err());
                Ok(())
            })
            .await
    };
    (go, holding)
}

/// A closure that is told ahead while another one, which comes after it in the same transaction, has not ended yet; and
/// what is known before and after that one does.
async fn told_before(fails: bool) -> (u32, i64, Committed<u32>, i64) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("store.db").display());
    let ledger = Ledger::open(&url).await.unwrap();
    let runs = Arc::new(AtomicU32::new(0));
    let (go_first, first) = hold(&ledger);
    let (go_last, last) = hold(&ledger);
    let ahead = ledger.write_ahead(move |tx| {
        count_up(tx)?;
        Ok(runs.fetch_add(1, Ordering::SeqCst) + 1)
    });
    let spoils = ledger.write(move |tx| {
        count_up(tx)?;
        let nothing = || StoreError::NotFound {
            thing: "reason",
            id: "to go on".to_owned(),
        };
        if fails { Err(nothing()) } else { Ok(()) }
    });
    let story = async {
        let ahead = ahead.await.unwrap();
        let before = counted(&ledger).await;
        drop(go_last);
        (ahead.value, before, ahead.commit.await.unwrap())
    };
    // All of them are queued, in this order, before the first one is let go.
    let (_, (told, before, committed), other, _, ()) =
        tokio::join!(biased; first, story, spoils, last, async { drop(go_first) });
    assert_eq!(other.is_err(), fails);
    let after = counted(&ledger).await;
    ledger.close().await;
    (told, before, committed, after)
}

#[tokio::test]
async fn whoever_asked_ahead_hears_before_the_commit() {
    let (told, before, committed, after) = told_before(false).await;
    assert_eq!((told, before), (1, 0), "told, and not there for others yet");
    assert_eq!((committed, after), (Committed::AsTold, 2));
}

#[tokio::test]
async fn whoever_was_told_what_somebody_else_spoilt_hears_what_it_came_to_then() {
    let (told, before, committed, after) = told_before(true).await;
    assert_eq!((told, before), (1, 0));
    assert_eq!((committed, after), (Committed::Anew(2), 1));
}
