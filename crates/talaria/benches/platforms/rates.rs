//! Messages a second, from the vendor through a turn and back.

use std::time::Duration;

use talaria_sim::certify::Candidate;

use crate::model::Model;
use crate::people::Heard;
use crate::process::{Process, READY, configuration};
use crate::sample::Sample;
use crate::vendor::Vendor;
use crate::{Plan, direct, millis};

/// The part of a round that is not counted: nobody has waited for more of anybody yet.
const WARM: Duration = Duration::from_secs(1);

pub(crate) async fn run(plan: Plan, platforms: &[Candidate]) {
    println!(
        "{:<13} {:>7} {:<12} | {:>8} {:>10} {:>6} {:>6} | {:>9} {:>9} {:>9} | {:>13}",
        "platform",
        "people",
        "limits",
        "direct/s",
        "messages/s",
        "most",
        "share",
        "window",
        "p50",
        "p99",
        "cpu a message"
    );
    let model = Model::start(1).await;
    for candidate in platforms {
        for &people in plan.people {
            row(plan, &model, *candidate, (people, Limits::Wide)).await;
        }
        if let Some(people) = plan.limited {
            row(plan, &model, *candidate, (people, Limits::Usual)).await;
        }
    }
}

/// How much an account may write.
#[derive(Clone, Copy)]
enum Limits {
    Wide,
    Usual,
}

async fn row(plan: Plan, model: &Model, candidate: Candidate, (people, limits): (usize, Limits)) {
    let mut vendor = Vendor::start(candidate, 1).await;
    let greeting = &vendor.greeting;
    let usual = 1.0 / greeting.every.as_secs_f64();
    let (account, limits) = match limits {
        // Where nothing is published there is one kind of row.
        Limits::Usual if usual.is_infinite() => return,
        Limits::Usual => (greeting.accounts[0].clone(), format!("usual, {usual:.0}/s")),
        Limits::Wide if usual.is_infinite() => (greeting.widened(0), "none".to_owned()),
        Limits::Wide => (greeting.widened(0), "wide".to_owned()),
    };
    let configuration = configuration(&model.url(), "process") + &account;
    let mut process = Process::start(&configuration, READY).await;
    let (mut asked, mut through) = (Sample::default(), Sample::default());
    let mut most = 0;
    // In turns, so that a machine that gets slower does so for both.
    for _ in 0..plan.rounds {
        asked.add(direct::measure(&model.url(), people, plan.round / 8).await);
        let before = process.time_used();
        let heard = process.during(vendor.talk(people, plan.round)).await;
        let used = process.time_used().saturating_sub(before);
        most = most.max(most_in_a_second(&heard));
        through.add(counted(&heard, used, plan.round));
    }
    process.stop().await;
    vendor.recount().await;
    let (asked, through) = (asked.summary(), through.summary());
    println!(
        "{:<13} {people:>7} {limits:<12} | {:>8.0} {:>10.0} {most:>6} {:>5.0}% | {:>6.0} ms {:>6.0} ms {:>6.0} ms | {:>10.0} us",
        candidate.title(),
        asked.rate,
        through.rate,
        100.0 * through.rate / asked.rate,
        millis(vendor.greeting.window),
        millis(through.p50),
        millis(through.p99),
        through.used.as_secs_f64() * 1e6,
    );
}

/// What was seen after everybody had begun and before they stopped. What the gateway used is shared by all messages.
fn counted(heard: &[Heard], used: Duration, round: Duration) -> Sample {
    let within = heard
        .iter()
        .filter(|it| it.after > WARM && it.after <= round);
    let waits: Vec<Duration> = within.map(|it| it.wait).collect();
    Sample {
        used: used.mul_f64(waits.len() as f64 / heard.len() as f64),
        waits,
        time: round.saturating_sub(WARM),
    }
}

/// How many answers were shown within one second at most.
fn most_in_a_second(heard: &[Heard]) -> usize {
    let mut times: Vec<Duration> = heard.iter().map(|it| it.after).collect();
    times.sort_unstable();
    let since = |at: usize| {
        let begin = times[at].saturating_sub(Duration::from_secs(1));
        at + 1 - times.partition_point(|time| *time <= begin)
    };
    (0..times.len()).map(since).max().unwrap_or(0)
}
