//! The engine as the ledger sees it: one queue and a thread per connection. A closure that lost a race is run
//! again; one whose connection broke before the commit is run again on a fresh one; one whose connection broke
//! during the commit is uncertain, and its caller is told so. A server that is away is an error that says
//! "later": the next closure connects again, nobody has to restart anything.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use talaria_domain::clock::Clock;
use tokio::sync::{broadcast, mpsc};

use super::connection::{PostgresConnection, Server, Trouble};
use super::listener::{self, Stop};
use crate::engine::sqlite::start;
use crate::engine::{Access, Durability};
use crate::error::{Refusal, Result, StoreError};
use crate::migrate;
use crate::tx::{Connection as _, Tx};
use crate::wake::{Wake, announce};
use crate::work::{BoxedWork, Job};

/// How many closures may wait; past that, callers do.
const QUEUE: usize = 1024;
/// Connections of one node.
const CONNECTIONS: usize = 8;
/// How often a closure is run before its caller is told to come back later.
const RUNS: u32 = 40;

/// The queue to the threads of one store.
pub(crate) struct PostgresEngine {
    queue: mpsc::Sender<Job>,
    threads: Vec<JoinHandle<()>>,
    stop: Arc<Stop>,
}

impl PostgresEngine {
    /// Connects, migrates and starts the threads. Blocks: call it on a thread.
    pub(crate) fn open(
        url: &str,
        durability: Durability,
        clock: Option<Arc<dyn Clock>>,
        wakes: &broadcast::Sender<Wake>,
    ) -> Result<Self> {
        let server = Server::parse(url, durability, clock)?;
        let connection = migrated(&server)?;
        let origin = listener::origin();
        let stop = Arc::new(Stop::default());
        let (queue, jobs) = mpsc::channel(QUEUE);
        let jobs = Arc::new(Mutex::new(jobs));
        let mut threads = Vec::with_capacity(CONNECTIONS);
        let mut first = Some(connection);
        for number in 0..CONNECTIONS {
            let mut session = Session {
                server: server.clone(),
                connection: first.take(),
                wakes: wakes.clone(),
                origin: origin.clone(),
                jitter: number as u64,
            };
            let jobs = Arc::clone(&jobs);
            threads.push(start("ledger-postgres", move || session.serve(&jobs))?);
        }
        let (listening, wakes) = (Arc::clone(&stop), wakes.clone());
        // Not waited for when the ledger is closed: it writes nothing, and ends by itself soon after.
        drop(start("ledger-listener", move || {
            listener::listen(&server, &origin, &wakes, &listening);
        })?);
        Ok(Self {
            queue,
            threads,
            stop,
        })
    }

    /// The queue for all work.
    pub(crate) fn queue(&self) -> mpsc::Sender<Job> {
        self.queue.clone()
    }

    /// Lets the threads finish what is queued and gives back their handles.
    pub(crate) fn into_threads(self) -> Vec<JoinHandle<()>> {
        self.stop.stop();
        self.threads
    }
}

/// A first connection to a store that is up to date. Nodes that start together take turns, by a lock whose number is
/// ours and means nothing.
fn migrated(server: &Server) -> Result<PostgresConnection> {
    let mut connection = server.connect()?;
    connection.batch("BEGIN; SELECT pg_advisory_xact_lock(5283927640128)")?;
    migrate::migrate(&mut Tx::on(&mut connection))?;
    connection.batch("COMMIT")?;
    Ok(connection)
}

/// One thread's connection and what it does with closures.
struct Session {
    server: Server,
    connection: Option<PostgresConnection>,
    wakes: broadcast::Sender<Wake>,
    origin: String,
    jitter: u64,
}

/// Why a closure was not committed.
enum Setback {
    /// Lost a race.
    Race,
    /// The connection broke before the commit.
    Lost(String),
    /// This is the answer.
    Final(StoreError),
}

impl Session {
    /// Runs until every sender is gone.
    fn serve(&mut self, jobs: &Mutex<mpsc::Receiver<Job>>) {
        loop {
            // One thread waits on the queue, the others on the lock.
            let next = jobs
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .blocking_recv();
            let Some(Job { access, mut work }) = next else {
                return;
            };
            let answer = self.run(access, &mut work);
            work.answer(answer);
        }
    }

    fn run(&mut self, access: Access, work: &mut BoxedWork) -> Result<()> {
        let mut why = String::new();
        for run in 0..RUNS {
            let connection = match &mut self.connection {
                Some(connection) => connection,
                None => self
                    .connection
                    .insert(self.server.connect().map_err(later)?),
            };
            match transact(connection, access, work, &self.origin) {
                Ok(wakes) => {
                    announce(&self.wakes, wakes);
                    return Ok(());
                }
                Err(Setback::Race) => self.step_aside(run),
                Err(Setback::Lost(lost)) => {
                    self.connection = None;
                    why = lost;
                }
                Err(Setback::Final(error)) => {
                    if matches!(error, StoreError::Uncertain { .. }) {
                        self.connection = None;
                    }
                    return Err(error);
                }
            }
        }
        Err(StoreError::Retry {
            why: format!("gave up after {RUNS} runs {why}"),
        })
    }

    /// Waits a little, longer each time and never as long as a neighbour, so that the same ones do not meet again.
    fn step_aside(&mut self, run: u32) {
        self.jitter = self
            .jitter
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let most = 200_u64 << run.min(7);
        std::thread::park_timeout(Duration::from_micros((self.jitter >> 33) % most));
    }
}

/// A server that is away is away for now; it was there when the ledger was opened.
fn later(error: StoreError) -> StoreError {
    match error {
        StoreError::Refuse(Refusal::Unreachable { server, detail }) => StoreError::Retry {
            why: format!("PostgreSQL at {server}: {detail}"),
        },
        other => other,
    }
}

fn transact(
    connection: &mut PostgresConnection,
    access: Access,
    work: &mut BoxedWork,
    origin: &str,
) -> Result<Vec<Wake>, Setback> {
    connection
        .begin(access)
        .map_err(|error| setback(connection, error))?;
    let mut tx = Tx::on(connection);
    let ran = work.run(&mut tx);
    let wakes = tx.into_wakes();
    let ran = match connection.take_trouble() {
        Some(Trouble::Race) => Err(Setback::Race),
        Some(Trouble::Lost(why)) => return Err(Setback::Lost(why)),
        Some(Trouble::Failed) => {
            let hidden = || StoreError::broken("a closure went on after a statement had failed");
            Err(Setback::Final(ran.err().unwrap_or_else(hidden)))
        }
        None => ran.map_err(Setback::Final),
    };
    let ran = ran.and_then(|()| {
        let told = listener::tell(connection, origin, &wakes);
        told.map_err(|error| setback(connection, error))
    });
    if ran.is_err() || access == Access::Read {
        // If this fails the connection is gone, and with it the transaction.
        connection
            .batch("ROLLBACK")
            .map_err(|error| setback(connection, error))?;
        return ran.map(|()| wakes);
    }
    commit(connection).map(|()| wakes)
}

fn commit(connection: &mut PostgresConnection) -> Result<(), Setback> {
    let Err(error) = connection.batch("COMMIT") else {
        return Ok(());
    };
    match connection.take_trouble() {
        Some(Trouble::Race) => Err(Setback::Race),
        Some(Trouble::Lost(why)) => Err(Setback::Final(StoreError::Uncertain { why })),
        _ => Err(Setback::Final(error)),
    }
}

fn setback(connection: &mut PostgresConnection, error: StoreError) -> Setback {
    match connection.take_trouble() {
        Some(Trouble::Race) => Setback::Race,
        Some(Trouble::Lost(why)) => Setback::Lost(why),
        _ => Setback::Final(error),
    }
}
