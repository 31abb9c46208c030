//! How fast events are accepted. One run, ratios within it: the engine with many writers against the very same
//! statements in a bare loop, against one writer alone, and against itself with a thousand times the sessions stored,
//! first with as many people writing as before, then with everybody.
//!
//! `cargo xtask bench ledger` starts a durable PostgreSQL for it. After `--`: `--sqlite` or `--postgres` for one engine,
//! `--small` for a thousand sessions only, `--quick` for a short run to see that it works.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a benchmark prints, measures real time, and stops at the unexpected"
)]

mod bare;
mod load;
mod stock;
mod texts;

use std::time::Duration;

use talaria_store::Durability;

use crate::load::{Load, Rounds};
use crate::stock::{Place, Store};

/// Writers at once.
pub(crate) const WRITERS: usize = 64;

/// What a run is made of.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// How long each measurement takes.
    pub(crate) time: Duration,
    /// How many sessions are stored.
    pub(crate) sessions: &'static [u64],
    /// How often each pair is measured; the median counts.
    pub(crate) rounds: usize,
}

fn main() {
    let is_given = |wanted: &str| std::env::args().any(|argument| argument == wanted);
    let mut plan = Plan {
        time: Duration::from_secs(2),
        sessions: &[1_000, 100_000, 1_000_000],
        rounds: 3,
    };
    if is_given("--small") {
        plan.sessions = &[1_000];
    }
    if is_given("--quick") {
        plan = Plan {
            time: Duration::from_millis(300),
            sessions: &[1_000, 4_000],
            rounds: 1,
        };
    }
    let directory = tempfile::tempdir_in("/var/tmp").expect("a directory on a real disk");
    println!("accepting an inbound event: dedupe, session and inbox row, one closure\n");
    if !is_given("--postgres") {
        measure(plan, &Place::Sqlite(directory.path().to_owned()));
    }
    if !is_given("--sqlite") {
        match std::env::var("TALARIA_TEST_POSTGRES") {
            Ok(server) => measure(plan, &Place::Postgres(server)),
            Err(_) => println!(
                "postgres: not measured, TALARIA_TEST_POSTGRES is not set: use `cargo xtask bench ledger`"
            ),
        }
    }
}

fn measure(plan: Plan, place: &Place) {
    println!(
        "{:<9} {:<8} {:>8} {:>8}  {:>8}  {:>8}  {:>9}  {:>9} | {:>8} {:>8} | {:>6} {:>7} | {:>5}",
        "engine",
        "survives",
        "stored",
        "active",
        "bare/s",
        "one/s",
        "64/s",
        "per event",
        "p50",
        "p99",
        "64:bare",
        "64:one",
        "cost"
    );
    for durability in [Durability::Process, Durability::Power] {
        place.clear();
        let stores: Vec<Store> = plan
            .sessions
            .iter()
            .map(|sessions| place.prepare(*sessions))
            .collect();
        let mut rounds: Vec<(Load<'_>, Rounds)> = loads(durability, &stores, plan)
            .map(|load| (load, Rounds::default()))
            .collect();
        // In turns, so that a machine that gets slower does so for all of them.
        for _ in 0..plan.rounds {
            for (load, rounds) in &mut rounds {
                load.measure(rounds);
            }
        }
        let mut first = None;
        for (load, rounds) in rounds {
            let measured = rounds.median();
            let first = *first.get_or_insert(measured.cost());
            println!(
                "{} | {:>5.2}",
                measured.line(place, &load),
                measured.cost() / first
            );
        }
    }
}

/// The same number of people write, however many are stored; at last, everybody does.
fn loads(durability: Durability, stores: &[Store], plan: Plan) -> impl Iterator<Item = Load<'_>> {
    let few = plan.sessions[0];
    let load = move |store, active| Load {
        durability,
        store,
        active,
        plan,
    };
    let everybody = stores.last().map(|store| load(store, store.sessions));
    stores
        .iter()
        .map(move |store| load(store, few))
        .chain(everybody)
}
