//! What accounts cost that are connected and quiet.

use std::time::Duration;

use talaria_sim::certify::Candidate;

use crate::model::Model;
use crate::process::{Process, READY, configuration};
use crate::vendor::Vendor;
use crate::{Plan, millis};

/// After so long nothing of the beginning is under way any more.
const SETTLED: Duration = Duration::from_secs(3);

pub(crate) async fn run(plan: Plan, platforms: &[Candidate]) {
    let model = Model::start(1).await;
    let of_many = |candidate: &&Candidate| candidate.several.is_some();
    let of_many: Vec<Candidate> = platforms.iter().filter(of_many).copied().collect();
    let (at_rest, _) = with(&model, &[], 0).await;
    println!("\nmemory: {:.1} MB without an account", at_rest / 1e3);
    let alone = of_many.iter().map(std::slice::from_ref);
    for candidates in [of_many.as_slice()].into_iter().chain(alone) {
        let (memory, ready_after) = with(&model, candidates, plan.accounts).await;
        let names: Vec<&str> = candidates.iter().map(|it| it.platform).collect();
        println!(
            "memory: {:.1} MB with {} accounts connected, {:.0} KB each ({}; all connected {:.0} ms after exec)",
            memory / 1e3,
            plan.accounts,
            (memory - at_rest) / plan.accounts as f64,
            names.join(", "),
            millis(ready_after)
        );
    }
}

/// Kilobytes with so many accounts, as many on each platform as on the others; and when all were connected.
async fn with(model: &Model, candidates: &[Candidate], accounts: usize) -> (f64, Duration) {
    let mut text = configuration(&model.url(), "process");
    let mut vendors = Vec::new();
    for (at, candidate) in candidates.iter().enumerate() {
        let bots = (accounts + at) / candidates.len();
        let vendor = Vendor::start(*candidate, bots).await;
        text.push_str(&vendor.greeting.accounts.concat());
        vendors.push(vendor);
    }
    let process = Process::start(&text, READY).await;
    tokio::time::sleep(SETTLED).await;
    let (memory, ready_after) = (process.memory(), process.ready_after);
    process.stop().await;
    (memory as f64, ready_after)
}
