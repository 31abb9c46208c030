//! What it costs to be on the platforms. One run, ratios within it: people at a simulated vendor write to the real binary
//! over real sockets and wait until the answer is shown; next to it, the same number of conversations ask the same model
//! directly. Vendor, model, people and gateway are processes of their own and share the machine. Also: memory with fifty
//! accounts connected, and what a healthy account notices of sick ones beside it.
//!
//! Where a platform publishes how much it takes, the accounts are configured for 1,000 messages a second (`rate`), so that
//! the gateway is measured and not that limit; a row with the usual limits stands below. Nothing else is widened: a message
//! still waits as long for more of the same sender as it always does. Every answer is counted: one for each message, in
//! the chat that asked, or the run ends.
//!
//! `cargo xtask bench platforms`. After `--`: `--quick` for a short run to see that it works, `--only rates`, `memory` or
//! `neighbours`, and `--one NAME` for one row of one platform, to look at with a profiler.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a benchmark prints, measures real time, and stops at the unexpected"
)]

#[path = "../shared/direct.rs"]
mod direct;
#[path = "../shared/model.rs"]
mod model;
#[path = "../shared/process.rs"]
mod process;
#[path = "../shared/sample.rs"]
mod sample;

mod memory;
mod neighbours;
mod people;
mod rates;
mod status;
mod vendor;

use std::time::Duration;

use talaria_sim::certify::Candidate;

/// What a run is made of.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// How long each measurement takes: so many rounds of so long.
    pub(crate) rounds: u32,
    pub(crate) round: Duration,
    /// People at once where the gateway is measured.
    pub(crate) people: &'static [usize],
    /// People at once where the usual limits are.
    pub(crate) limited: Option<usize>,
    /// Accounts for the measurement of memory.
    pub(crate) accounts: usize,
    /// People at once at an account with sick ones beside it.
    pub(crate) neighbours: usize,
}

const WHOLE: Plan = Plan {
    rounds: 4,
    round: Duration::from_secs(4),
    people: &[16, 512],
    limited: Some(64),
    accounts: 50,
    neighbours: 8,
};

/// One row, to look at with a profiler.
const ONE: Plan = Plan {
    rounds: 2,
    round: Duration::from_secs(10),
    people: &[512],
    limited: None,
    ..WHOLE
};

const QUICK: Plan = Plan {
    rounds: 1,
    round: Duration::from_secs(3),
    people: &[16],
    limited: None,
    accounts: 12,
    neighbours: 4,
};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        Some(&arguments[at + 1..])
    };
    if let Some(rest) = after(model::ROLE) {
        return runtime().block_on(model::serve(rest[0].parse().unwrap()));
    }
    if let Some(rest) = after(vendor::ROLE) {
        return runtime().block_on(vendor::serve(&rest[0], rest[1].parse().unwrap()));
    }
    if let Some(rest) = after("--one") {
        let mut all = platforms().into_iter();
        let one = all.find(|candidate| candidate.platform == rest[0]).unwrap();
        return runtime().block_on(rates::run(ONE, &[one]));
    }
    let plan = after("--quick").map_or(WHOLE, |_| QUICK);
    let is_wanted = |name: &str| after("--only").is_none_or(|rest| rest[0] == name);
    runtime().block_on(async {
        let all = platforms();
        if is_wanted("rates") {
            rates::run(plan, &all).await;
        }
        if is_wanted("memory") {
            memory::run(plan, &all).await;
        }
        if is_wanted("neighbours") {
            neighbours::run(plan, &all).await;
        }
    });
}

/// Every platform once, however many ways there are to be on it.
fn platforms() -> Vec<Candidate> {
    let mut all = talaria_sim::candidates();
    all.dedup_by_key(|candidate| candidate.platform);
    all
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
