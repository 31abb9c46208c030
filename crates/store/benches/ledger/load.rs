//! The load: people picked at random among all that are stored, each message new, through the ledger's front door.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use talaria_domain::clock::{Clock as _, SystemClock};
use talaria_domain::event::Event;
use talaria_sim::people::People;
use talaria_store::inbox::{self, Arrival, Recorded};
use talaria_store::sessions::Opening;
use talaria_store::{Durability, Ledger, Settings};

use crate::stock::{Place, Store};
use crate::{Plan, WRITERS, bare};

/// Those who write, evenly spread among all who are stored.
pub(crate) struct Crowd {
    people: People,
    stored: u64,
    active: u64,
    count: AtomicU64,
}

impl Crowd {
    fn of(load: &Load<'_>) -> Self {
        // Messages must differ between measurements on one store.
        let start = SystemClock.now().as_millis() as u64 * 1_000_000;
        let (people, count) = (People::starting_at(start), AtomicU64::new(start));
        Self {
            people,
            stored: load.store.sessions,
            active: load.active,
            count,
        }
    }

    /// Any of those who write.
    pub(crate) fn anybody(&self) -> String {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let scattered = (count ^ (count >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((scattered >> 17) % self.active * (self.stored / self.active)).to_string()
    }

    /// What they write.
    pub(crate) fn message_of(&self, who: &str) -> (Event, Opening) {
        let (text, at) = (
            "Could you look at the build that failed last night?",
            SystemClock.now(),
        );
        (
            self.people.said(who, text, at),
            self.people.opening(who, at),
        )
    }
}

/// What is measured.
pub(crate) struct Load<'a> {
    pub(crate) durability: Durability,
    pub(crate) store: &'a Store,
    /// How many of the stored sessions take part.
    pub(crate) active: u64,
    pub(crate) plan: Plan,
}

/// What came out of each round.
#[derive(Default)]
pub(crate) struct Rounds {
    bare: Vec<f64>,
    one: Vec<f64>,
    many: Vec<Sample>,
}

impl Rounds {
    /// What came out in the middle.
    pub(crate) fn median(mut self) -> Measured {
        self.many.sort_by(|a, b| a.rate.total_cmp(&b.rate));
        let mut middle = self.many.swap_remove(self.many.len() / 2);
        middle.waits.sort_unstable();
        let at = |share: f64| middle.waits[(middle.waits.len() as f64 * share) as usize];
        let (bare, one) = (median(self.bare), median(self.one));
        Measured {
            bare,
            one,
            many: middle.rate,
            p50: at(0.50),
            p99: at(0.99),
        }
    }
}

/// What came out.
pub(crate) struct Measured {
    bare: f64,
    one: f64,
    many: f64,
    p50: Duration,
    p99: Duration,
}

struct Sample {
    rate: f64,
    waits: Vec<Duration>,
}

impl Load<'_> {
    /// One round; what was accepted is answered before each measurement.
    pub(crate) fn measure(&self, rounds: &mut Rounds) {
        self.settle();
        rounds.bare.push(self.bare());
        self.settle();
        rounds.many.push(self.through_the_ledger(WRITERS));
        self.settle();
        rounds.one.push(self.through_the_ledger(1).rate);
    }

    /// Ends what is queued, so that no measurement carries the backlog of the one before.
    fn settle(&self) {
        let sql =
            "UPDATE inbox SET state = 'completed', ended_at = received_at WHERE state = 'queued'";
        if let Some(path) = self.store.url.strip_prefix("sqlite:") {
            let connection = rusqlite::Connection::open(path).unwrap();
            let sql = format!("{sql}; PRAGMA wal_checkpoint(TRUNCATE)");
            return connection.execute_batch(&sql).unwrap();
        }
        let mut client = postgres::Client::connect(&self.store.url, postgres::NoTls).unwrap();
        client.batch_execute(sql).unwrap();
        client.batch_execute("CHECKPOINT").unwrap();
    }

    fn bare(&self) -> f64 {
        let people = &Crowd::of(self);
        let is_power = self.durability == Durability::Power;
        if let Some(path) = self.store.url.strip_prefix("sqlite:") {
            let synchronous = if is_power { "FULL" } else { "NORMAL" };
            let setup = format!(
                "PRAGMA synchronous = {synchronous}; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;
                 PRAGMA wal_autocheckpoint = 16000;"
            );
            return bare::sqlite(path, &setup, self.plan.time, people);
        }
        let commit = if is_power { "on" } else { "off" };
        let setup =
            format!("SET synchronous_commit = {commit}; SET enable_seqscan = off; SET jit = off");
        bare::postgres(&self.store.url, &setup, self.plan.time, people)
    }

    fn through_the_ledger(&self, writers: usize) -> Sample {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let settings = Settings {
            durability: self.durability,
            ..Settings::for_url(&self.store.url)
        };
        let people = Arc::new(Crowd::of(self));
        runtime.block_on(async {
            let ledger = Ledger::open_with(settings).await.unwrap();
            let start = Instant::now();
            let end = start + self.plan.time;
            let tasks: tokio::task::JoinSet<Vec<Duration>> = (0..writers)
                .map(|_| write_until(end, ledger.clone(), Arc::clone(&people)))
                .collect();
            let waits: Vec<Duration> = tasks.join_all().await.into_iter().flatten().collect();
            let rate = waits.len() as f64 / start.elapsed().as_secs_f64();
            ledger.close().await;
            Sample { rate, waits }
        })
    }
}

async fn write_until(end: Instant, ledger: Ledger, people: Arc<Crowd>) -> Vec<Duration> {
    let mut waits = Vec::new();
    loop {
        let (event, opening) = people.message_of(&people.anybody());
        let start = Instant::now();
        if start > end {
            return waits;
        }
        let arrival = Arrival::of(event, opening).unwrap();
        let recorded = ledger
            .write(move |tx| inbox::record(tx, &arrival))
            .await
            .unwrap();
        assert!(
            matches!(recorded, Recorded::Accepted { .. }),
            "{recorded:?}"
        );
        waits.push(start.elapsed());
    }
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

impl Measured {
    /// Seconds for one event under load.
    pub(crate) fn cost(&self) -> f64 {
        1.0 / self.many
    }

    pub(crate) fn line(&self, place: &Place, load: &Load<'_>) -> String {
        let survives = match load.durability {
            Durability::Power => "power",
            Durability::Process => "process",
        };
        let (stored, active) = (load.store.sessions, load.active);
        let Self {
            bare,
            one,
            many,
            p50,
            p99,
        } = self;
        format!(
            "{:<9} {survives:<8} {stored:>8} {active:>8}  {bare:>8.0}  {one:>8.0}  {many:>9.0}  {:>6.1} µs | {:>6} µs {:>5} µs | {:>6.0}% {:>6.1}x",
            place.name(),
            1e6 * self.cost(),
            p50.as_micros(),
            p99.as_micros(),
            100.0 * many / bare,
            many / one,
        )
    }
}
