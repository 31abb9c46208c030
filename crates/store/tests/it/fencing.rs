//! One owner at a time: whoever lost a lease commits nothing under it, whatever order things happen in.

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use talaria_store::leases::{self, Ended, Lease, LeaseName};
use talaria_store::maintenance::rescue;
use talaria_store::{Conflict, Ledger, Result, StoreError, Tx, state};
use tokio::task::JoinSet;

use crate::world::{TTL, World, scope};

fn name() -> LeaseName {
    LeaseName::Named("the connection".to_owned())
}

/// Work under a lease: adds its epoch to the list of what was committed.
async fn work(ledger: &Ledger, lease: &Lease) -> Result<()> {
    let lease = lease.clone();
    let written = ledger.write(move |tx| {
        leases::fence(tx, &lease)?;
        let list =
            state::get(tx, scope(), "epochs")?.map_or_else(|| json!([]), |found| found.value);
        let mut list: Vec<i64> = serde_json::from_value(list).unwrap();
        list.push(lease.epoch);
        let now = tx.now()?;
        state::set(tx, scope(), "epochs", &json!(list), now).map(drop)
    });
    written.await
}

async fn committed(ledger: &Ledger) -> Vec<i64> {
    let found = ledger
        .read(|tx| state::get(tx, scope(), "epochs"))
        .await
        .unwrap();
    found.map_or_else(Vec::new, |found| {
        serde_json::from_value(found.value).unwrap()
    })
}

async fn claim(ledger: &Ledger, owner: usize) -> Result<Lease> {
    let owner = format!("owner {owner}").as_str().into();
    ledger
        .write(move |tx| leases::claim(tx, &name(), &owner, TTL))
        .await
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Claim(usize),
    Work(usize),
    Renew(usize),
    Release(usize),
    Wait(u64),
    Rescue,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let owner = 0..3_usize;
    let step = prop_oneof![
        3 => owner.clone().prop_map(Step::Claim),
        4 => owner.clone().prop_map(Step::Work),
        1 => owner.clone().prop_map(Step::Renew),
        1 => owner.prop_map(Step::Release),
        2 => (1..40_u64).prop_map(Step::Wait),
        1 => Just(Step::Rescue),
    ];
    prop::collection::vec(step, 1..40)
}

/// What each owner believes to hold, and what is true.
#[derive(Default)]
struct Model {
    beliefs: [Option<Lease>; 3],
    latest: i64,
    commits: Vec<i64>,
}

impl Model {
    async fn take(&mut self, world: &World, step: Step) {
        match step {
            Step::Claim(owner) => {
                let Ok(lease) = claim(&world.ledger, owner).await else {
                    return;
                };
                assert!(lease.epoch > self.latest, "an epoch was used twice");
                self.latest = lease.epoch;
                self.beliefs[owner] = Some(lease);
            }
            Step::Work(owner) => {
                let Some(lease) = &self.beliefs[owner] else {
                    return;
                };
                let worked = work(&world.ledger, lease).await;
                self.check(lease, &worked);
                if worked.is_ok() {
                    self.commits.push(lease.epoch);
                }
            }
            Step::Renew(owner) => {
                let Some(lease) = self.beliefs[owner].clone() else {
                    return;
                };
                let renewed = lease.clone();
                let outcome = world
                    .ledger
                    .write(move |tx| leases::renew(tx, &renewed, TTL))
                    .await;
                self.check(&lease, &outcome);
            }
            Step::Release(owner) => {
                let Some(lease) = self.beliefs[owner].take() else {
                    return;
                };
                let released = lease.clone();
                let outcome = world
                    .ledger
                    .write(move |tx| leases::release(tx, &released))
                    .await;
                self.check(&lease, &outcome);
                // Giving it back ends its epoch.
                self.latest += i64::from(outcome.is_ok());
            }
            Step::Wait(seconds) => world.clock.advance(Duration::from_secs(seconds)),
            Step::Rescue => {
                let rescued = world.write(|tx| rescue::rescue(tx, &Ended::Expired)).await;
                self.latest += i64::try_from(rescued.leases).unwrap();
            }
        }
    }

    /// Only the latest epoch gets anything done, and it always does.
    fn check(&self, lease: &Lease, outcome: &Result<()>) {
        if lease.epoch == self.latest {
            assert_eq!(*outcome, Ok(()));
        } else {
            assert!(
                matches!(outcome, Err(StoreError::Conflict(Conflict::Fenced { .. }))),
                "{outcome:?}"
            );
        }
    }
}

/// On one store, so that every case starts with the epochs of those before it.
fn a_stale_epoch_never_commits(world: &World, runtime: &tokio::runtime::Runtime, cases: u32) {
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let checked = runner.run(&steps(), |steps| {
        runtime.block_on(async {
            world.clock.advance(Duration::from_hours(1));
            world.write(|tx| rescue::rescue(tx, &Ended::Expired)).await;
            let mut model = Model {
                commits: committed(&world.ledger).await,
                ..Model::default()
            };
            for step in steps {
                model.take(world, step).await;
            }
            assert_eq!(committed(&world.ledger).await, model.commits);
        });
        Ok(())
    });
    checked.unwrap();
}

mod whatever_happens_a_stale_epoch_never_commits {
    use super::*;

    #[test]
    fn sqlite() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let world = runtime.block_on(World::sqlite());
        a_stale_epoch_never_commits(&world, &runtime, 200);
        runtime.block_on(world.end());
    }

    #[test]
    fn postgres() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let world = runtime.block_on(World::postgres());
        a_stale_epoch_never_commits(&world, &runtime, 60);
        runtime.block_on(world.end());
    }
}

both_engines! {
    async fn what_seems_to_be_new_may_have_had_an_owner(world) {
        let owner = || "owner 1".into();
        let claim_new = || world.ledger.write(move |tx| leases::claim_new(tx, &name(), &owner(), TTL));
        let first = claim_new().await.unwrap();
        assert!(matches!(claim_new().await, Err(StoreError::Conflict(Conflict::Held { .. }))));
        let handed_in = first.clone();
        world.write(move |tx| leases::hand_in(tx, &handed_in)).await;
        let second = claim_new().await.unwrap();
        assert!(second.epoch > first.epoch, "{second:?} after {first:?}");
        assert!(work(&world.ledger, &first).await.is_err());
        assert_eq!(work(&world.ledger, &second).await, Ok(()));
    }

    async fn owners_that_race_commit_in_the_order_of_their_epochs(world) {
        let mut tasks = JoinSet::new();
        for owner in 0..6 {
            let (ledger, clock) = (world.ledger.clone(), std::sync::Arc::clone(&world.clock));
            tasks.spawn(async move {
                let mut done = 0;
                for _ in 0..30 {
                    if let Ok(lease) = claim(&ledger, owner).await {
                        // Now the lease runs out under everybody's hands.
                        clock.advance(TTL);
                        tokio::task::yield_now().await;
                        done += usize::from(work(&ledger, &lease).await.is_ok());
                    }
                }
                done
            });
        }
        let done: usize = tasks.join_all().await.into_iter().sum();
        let epochs = committed(&world.ledger).await;
        assert_eq!(epochs.len(), done, "exactly what was acknowledged is there");
        assert!(epochs.is_sorted(), "a stale epoch committed after a later one: {epochs:?}");
        assert!(done > 0, "nobody got anything done");
    }

    async fn a_lease_has_one_owner_until_it_ends(world) {
        let first = claim(&world.ledger, 1).await.unwrap();
        let refused = claim(&world.ledger, 2).await;
        let until = world.now().plus(TTL);
        let held = Conflict::Held { name: name().to_string(), owner: "owner 1".to_owned(), until };
        assert_eq!(refused, Err(held.into()));
        assert!(claim(&world.ledger, 1).await.is_err(), "two tasks of one owner are two owners");
        let release = first.clone();
        world.write(move |tx| leases::release(tx, &release)).await;
        let second = claim(&world.ledger, 2).await.unwrap();
        assert!(second.epoch > first.epoch);
        assert_eq!(work(&world.ledger, &second).await, Ok(()));
    }
}

/// Without a clock in hand, PostgreSQL's own time is what counts, not the node's.
#[tokio::test]
async fn leases_expire_by_the_servers_clock() {
    let url = crate::world::fresh_database().await;
    let ledger = Ledger::open(&url).await.unwrap();
    let server_time = |tx: &mut Tx<'_>| tx.now();
    let now = ledger.write(server_time).await.unwrap();
    let here = talaria_domain::clock::Clock::now(&talaria_domain::clock::SystemClock);
    assert!(
        here.since(now).max(now.since(here)) < Duration::from_mins(1),
        "{now:?} and {here:?}"
    );
    let lease = claim(&ledger, 1).await.unwrap();
    assert!(claim(&ledger, 2).await.is_err());
    let expired = ledger.write(|tx| {
        tx.execute("UPDATE leases SET expires_at = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - 1", &[])
    });
    assert_eq!(expired.await, Ok(1));
    assert!(claim(&ledger, 2).await.unwrap().epoch > lease.epoch);
    ledger.close().await;
}
