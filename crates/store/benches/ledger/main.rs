//! How fast events are accepted. One run, ratios within it: the engine with many writers against the very same
//! statements in a bare loop, against one writer alone, and against itself with a thousand times the sessions stored.
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

use std::time::Duration;

use talaria_store::Durability;

use crate::load::Load;
use crate::stock::Place;

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
        time: Duration::from_secs(4),
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
        "{:<9} {:<8} {:>9} sessions  {:>8}  {:>8}  {:>9}  {:>9} | {:>8} {:>8} | {:>6} {:>7}",
        "engine",
        "survives",
        "stored",
        "bare/s",
        "one/s",
        "64/s",
        "per event",
        "p50",
        "p99",
        "64:bare",
        "64:one"
    );
    for durability in [Durability::Process, Durability::Power] {
        let mut first = None;
        for &sessions in plan.sessions {
            let store = place.prepare(sessions);
            let load = Load {
                durability,
                store: &store,
                plan,
            };
            let measured = load.measure();
            println!("{}", measured.line(place, durability, sessions));
            let cost = measured.cost();
            let first = *first.get_or_insert(cost);
            if sessions != plan.sessions[0] {
                println!(
                    "{:>28} costs {:.2} times what it does with {}",
                    "",
                    cost / first,
                    plan.sessions[0]
                );
            }
        }
    }
}
