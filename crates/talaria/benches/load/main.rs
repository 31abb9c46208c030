//! What the gateway costs on top of the model. One run, ratios within it: the same number of conversations ask the same
//! simulated model, first directly, then through the real binary with its real store. Model, load and gateway share the
//! machine. Also: memory at rest and with ten thousand conversations, and the time from exec to ready.
//!
//! `cargo xtask bench turns`. After `--`: `--quick` for a short run to see that it works, `--one` for the row that has a
//! target, to look at with a profiler. `cargo xtask bench api` also knows `--only whole` and `--only first`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
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

mod api;
mod stored;
mod talks;

use std::time::Duration;

use crate::model::Model;
use crate::process::{Process, READY, configuration};
use crate::sample::Sample;
use crate::talks::Manner;

/// What a run is made of.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// How long each measurement takes.
    pub(crate) time: Duration,
    /// Conversations at once.
    pub(crate) sessions: &'static [usize],
    /// Conversations for the measurement of memory.
    pub(crate) crowd: usize,
    /// Conversations in the store for the measurement of starting.
    pub(crate) stored: u64,
    /// Streams for the measurement of memory.
    pub(crate) streams: usize,
}

const WHOLE: Plan = Plan {
    time: Duration::from_secs(4),
    sessions: &[1, 16, 64, 256],
    crowd: 10_000,
    stored: 1_000_000,
    streams: 2_000,
};

/// One row, to look at with a profiler.
const ONE: Plan = Plan {
    time: Duration::from_secs(8),
    sessions: &[64],
    crowd: 0,
    stored: 0,
    streams: 0,
};

const QUICK: Plan = Plan {
    time: Duration::from_millis(500),
    sessions: &[1, 16],
    crowd: 200,
    stored: 2_000,
    streams: 100,
};

/// Into how many rounds a measurement is cut.
const ROUNDS: u32 = 8;

/// How an answer comes: in one piece, or in as many as a model makes of a few sentences.
const STREAMS: [(&str, usize); 2] = [("whole", 1), ("stream", 24)];

/// How people and programs talk to the gateway.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// As they talk to the model: a completion in a conversation that the gateway keeps, asked and answered in one exchange.
    Completions,
    /// As the page does: a message is posted, and its answer heard on the conversation's stream of events.
    Page,
}

const DOORS: [(Door, &str); 2] = [(Door::Completions, "asked"), (Door::Page, "page")];

/// What answers survive.
const DURABILITIES: [&str; 2] = ["process", "power"];

fn main() {
    let is_asked = |name: &str| std::env::args().any(|argument| argument == name);
    let mut arguments = std::env::args();
    if arguments.any(|argument| argument == model::ROLE) {
        let pieces = arguments.next().unwrap().parse().unwrap();
        runtime().block_on(model::serve(pieces));
        return;
    }
    let plan = match () {
        () if is_asked("--one") => ONE,
        () if is_asked("--quick") => QUICK,
        () => WHOLE,
    };
    runtime().block_on(async {
        if is_asked("--api") {
            let mut arguments = std::env::args().skip_while(|argument| argument != "--only");
            return api::run(plan, arguments.nth(1).as_deref()).await;
        }
        rates(plan).await;
        if plan.crowd == 0 {
            return;
        }
        memory(plan).await;
        starting(plan).await;
    });
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

fn heading() {
    println!(
        "{:<8} {:<6} {:<6} {:>8} | {:>9} {:>9} {:>6} | {:>12} | {:>12} | {:>11}",
        "survives",
        "answer",
        "door",
        "sessions",
        "direct/s",
        "turns/s",
        "share",
        "added p50",
        "added p99",
        "cpu a turn"
    );
}

async fn rates(plan: Plan) {
    heading();
    // One row is the one with a target.
    let is_one = plan.crowd == 0;
    let (streams, durabilities): (&[_], &[_]) = if is_one {
        (&STREAMS[..1], &DURABILITIES[..1])
    } else {
        (&STREAMS, &DURABILITIES)
    };
    for &(name, chunks) in streams {
        let server = Model::start(chunks).await;
        let model = server.url();
        for &durability in durabilities {
            for &sessions in plan.sessions {
                for (door, door_name) in DOORS {
                    let process = Process::start(&configuration(&model, durability), READY).await;
                    let asking = (door, Manner::of(chunks), sessions);
                    let (direct, through) = compare(&model, &process, asking, plan.time).await;
                    process.stop().await;
                    line((durability, name, door_name, sessions), direct, through);
                }
            }
        }
    }
}

/// With and without the gateway, in turns, so that a machine that gets slower does so for both.
async fn compare(
    model: &str,
    process: &Process,
    (door, manner, sessions): (Door, Manner, usize),
    time: Duration,
) -> (Sample, Sample) {
    let (mut direct, mut through) = (Sample::default(), Sample::default());
    for _ in 0..ROUNDS {
        direct.add(direct::measure(model, sessions, time / ROUNDS).await);
        through.add(
            process
                .measure((door, manner), sessions, time / ROUNDS)
                .await,
        );
    }
    (direct, through)
}

type Row<'a> = (&'a str, &'a str, &'a str, usize);

fn line((durability, name, door, sessions): Row<'_>, direct: Sample, through: Sample) {
    let (direct, through) = (direct.summary(), through.summary());
    let added = |with: Duration, without: Duration| {
        format!(
            "{:>7.2} ms",
            with.saturating_sub(without).as_secs_f64() * 1e3
        )
    };
    println!(
        "{durability:<8} {name:<6} {door:<6} {sessions:>8} | {:>9.0} {:>9.0} {:>5.0}% | {:>12} | {:>12} | {:>8.0} us",
        direct.rate,
        through.rate,
        100.0 * through.rate / direct.rate,
        added(through.p50, direct.p50),
        added(through.p99, direct.p99),
        through.used.as_secs_f64() * 1e6,
    );
}

async fn memory(plan: Plan) {
    let server = Model::start(1).await;
    let model = server.url();
    let process = Process::start(&configuration(&model, "process"), READY).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let at_rest = process.memory();
    process.talk_once(plan.crowd).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let after = process.memory();
    process.stop().await;
    println!(
        "\nmemory: {:.1} MB at rest, {:.1} MB after a turn in each of {} sessions",
        at_rest as f64 / 1e3,
        after as f64 / 1e3,
        plan.crowd
    );
}

async fn starting(plan: Plan) {
    let server = Model::start(1).await;
    let model = server.url();
    for sessions in [0, plan.stored] {
        let home = tempfile::tempdir_in("/var/tmp").unwrap();
        stored::fill(home.path(), sessions).await;
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..5 {
            let process =
                Process::start_at(home.path(), &configuration(&model, "power"), READY).await;
            times.push(process.ready_after);
            process.stop().await;
        }
        times.sort_unstable();
        println!(
            "from exec to ready with {sessions} sessions: {:.0} ms (median of 5, longest {:.0} ms)",
            times[2].as_secs_f64() * 1e3,
            times[4].as_secs_f64() * 1e3
        );
    }
}
