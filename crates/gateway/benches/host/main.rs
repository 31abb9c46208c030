//! What it costs to be a host: asking the registry with ten thousand runs under way, remembering directly in the ledger,
//! and remembering for an agent outside, through a real process and a real ledger. The same calls in Python, if it is
//! there, in the same run.
//!
//! `cargo xtask bench host`. After `--`: `--quick` for a short run to see that it works. `--runner` is this program as
//! the agent outside.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark prints, measures real time, and stops at the unexpected"
)]

mod python;
mod registry;
mod runner;
mod state;
mod through;

use std::path::Path;

use talaria_store::ledger::Settings;
use talaria_store::{Durability, Ledger};

/// What a run is made of.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// Runs under way.
    pub(crate) runs: u32,
    /// Questions to the registry.
    pub(crate) checks: u32,
    /// Values that are set or read.
    pub(crate) values: u32,
}

const WHOLE: Plan = Plan {
    runs: 10_000,
    checks: 2_000_000,
    values: 200_000,
};

const QUICK: Plan = Plan {
    runs: 1_000,
    checks: 20_000,
    values: 4_000,
};

/// How many are under way at once.
pub(crate) const WINDOW: usize = 1_000;
/// How many keys are used.
pub(crate) const KEYS: u32 = 100;
/// How many grants the runs have that are asked.
pub(crate) const GRANTS: u32 = 250;

/// What answers survive.
const DURABILITIES: [(&str, Durability); 2] = [
    ("process", Durability::Process),
    ("power", Durability::Power),
];

fn main() {
    let is_given = |wanted: &str| std::env::args().any(|argument| argument == wanted);
    if is_given("--runner") {
        return runner::serve();
    }
    let plan = if is_given("--quick") { QUICK } else { WHOLE };
    let checks = registry::measure(plan);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(remember(plan));
    python::measure(plan, checks);
}

async fn remember(plan: Plan) {
    // Where a commit that has to reach the disk reaches one.
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    println!("\nstate, half set and half get, {WINDOW} under way");
    for (name, durability) in DURABILITIES {
        let ledger = open(directory.path(), &format!("direct-{name}"), durability).await;
        let direct = state::measure(plan, &ledger).await;
        ledger.close().await;
        let ledger = open(directory.path(), &format!("through-{name}"), durability).await;
        let through = through::measure(plan, &ledger).await;
        ledger.close().await;
        println!("survives {name:<8} in the ledger:              {direct:>9.0} a second");
        println!(
            "survives {name:<8} through the process runner: {through:>9.0} a second (target: at least 20000)"
        );
    }
}

async fn open(directory: &Path, name: &str, durability: Durability) -> Ledger {
    let path = directory.join(format!("{name}.db"));
    let settings = Settings {
        durability,
        ..Settings::for_url(&format!("sqlite:{}", path.display()))
    };
    Ledger::open_with(settings).await.unwrap()
}
