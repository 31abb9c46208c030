//! What a healthy account notices of sick ones beside it: two gateways with the same healthy accounts, one of them also
//! with sick ones of every platform, measured in turns.

use std::time::{Duration, Instant};

use talaria_sim::certify::Candidate;

use crate::model::Model;
use crate::process::{Process, READY, configuration};
use crate::sample::{Sample, Summary};
use crate::vendor::Vendor;
use crate::{Plan, millis};

/// Says yes as soon as it runs, however its accounts are.
const ALIVE: &str = "/healthz";
/// Within this time a sick account says so.
const NOTICED: Duration = Duration::from_mins(1);
/// How often a measurement is begun for each that rates are measured.
const ROUNDS: u32 = 2;

/// A gateway, and a vendor for each of its healthy accounts.
struct House {
    process: Process,
    vendors: Vec<Vendor>,
}

impl House {
    async fn with(model: &Model, platforms: &[Candidate], sick: &str) -> Self {
        let mut text = configuration(&model.url(), "process");
        let mut vendors = Vec::new();
        for candidate in platforms {
            let vendor = Vendor::start(*candidate, 1).await;
            text.push_str(&vendor.greeting.widened(0));
            vendors.push(vendor);
        }
        let probe = if sick.is_empty() { READY } else { ALIVE };
        let process = Process::start(&(text + sick), probe).await;
        Self { process, vendors }
    }

    async fn measure(&mut self, plan: Plan, at: usize) -> Sample {
        let talking = self.vendors[at].talk(plan.neighbours, plan.round / ROUNDS);
        let heard = self.process.during(talking).await;
        Sample {
            waits: heard.into_iter().map(|it| it.wait).collect(),
            ..Sample::default()
        }
    }

    /// Stops it, if it is the process that was started, and counts once more.
    async fn end(mut self) {
        self.process.stop().await;
        for vendor in &mut self.vendors {
            vendor.recount().await;
        }
    }
}

pub(crate) async fn run(plan: Plan, platforms: &[Candidate]) {
    let model = Model::start(1).await;
    let mut alone = House::with(&model, platforms, "").await;
    let sick = sick(platforms).await;
    let text: String = sick.iter().map(accounts).collect();
    let mut beside = House::with(&model, platforms, &text).await;
    noticed(&beside.process, &sick).await;
    let samples = measure(plan, (&mut alone, &mut beside)).await;
    println!(
        "{:<13} {:>7} | {:>22} | {:>28} | {:>14}",
        "platform", "people", "alone p50, p99", "beside the sick p50, p99", "p50, p99 ratio"
    );
    for (candidate, (without, with)) in platforms.iter().zip(samples) {
        line(plan, candidate, (without.summary(), with.summary()));
    }
    alone.end().await;
    beside.end().await;
}

/// A vendor of every platform that says nothing any more.
async fn sick(platforms: &[Candidate]) -> Vec<Vendor> {
    let mut sick = Vec::new();
    for candidate in platforms.iter().filter(|it| it.several.is_some()) {
        // The first bot is the healthy one's.
        let mut vendor = Vendor::start(*candidate, 2).await;
        vendor.fall_mute().await;
        sick.push(vendor);
    }
    sick
}

/// What everybody waited in each house, for each platform.
async fn measure(plan: Plan, (alone, beside): (&mut House, &mut House)) -> Vec<(Sample, Sample)> {
    let mut samples: Vec<(Sample, Sample)> = Vec::new();
    samples.resize_with(alone.vendors.len(), Default::default);
    for round in 0..plan.rounds * ROUNDS {
        for (at, (without, with)) in samples.iter_mut().enumerate() {
            // In turns, and each as often first as the other.
            if round % 2 == 0 {
                without.add(alone.measure(plan, at).await);
                with.add(beside.measure(plan, at).await);
            } else {
                with.add(beside.measure(plan, at).await);
                without.add(alone.measure(plan, at).await);
            }
        }
    }
    samples
}

fn accounts(vendor: &Vendor) -> String {
    let greeting = &vendor.greeting;
    let name = |illness: &str| format!("{illness}-{}", vendor.candidate.platform);
    let usual = format!("{:?}", format!("{}2", vendor.candidate.platform));
    let mute = greeting.accounts[1].replace(&usual, &format!("{:?}", name("mute")));
    [&mute, &greeting.revoked, &greeting.nowhere]
        .map(String::as_str)
        .concat()
}

/// Waits until every sick account was seen to be sick.
async fn noticed(process: &Process, sick: &[Vendor]) {
    let start = Instant::now();
    let mut missing: Vec<(String, &str)> = Vec::new();
    for vendor in sick {
        let platform = vendor.candidate.platform;
        for (illness, state) in [
            ("revoked", "auth_failed"),
            ("nowhere", "degraded"),
            ("mute", "degraded"),
        ] {
            missing.push((format!("{illness}-{platform}"), state));
        }
    }
    println!();
    while let Some((account, expected)) = missing.pop() {
        let state = process.state(&account).await;
        if state == expected {
            let after = start.elapsed().as_secs_f64();
            println!("{account} says {state} within {after:.1} s");
            continue;
        }
        assert!(start.elapsed() < NOTICED, "{account} says {state}");
        missing.insert(0, (account, expected));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    println!();
}

fn line(plan: Plan, candidate: &Candidate, (alone, beside): (Summary, Summary)) {
    let ratio = |with: Duration, without: Duration| with.as_secs_f64() / without.as_secs_f64();
    println!(
        "{:<13} {:>7} | {:>7.1} ms {:>8.1} ms | {:>10.1} ms {:>11.1} ms | {:>6.2} {:>7.2}",
        candidate.title(),
        plan.neighbours,
        millis(alone.p50),
        millis(alone.p99),
        millis(beside.p50),
        millis(beside.p99),
        ratio(beside.p50, alone.p50),
        ratio(beside.p99, alone.p99),
    );
}
