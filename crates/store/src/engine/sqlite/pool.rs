//! The engine as the ledger sees it: queues to the writer and the readers, and where those run.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use talaria_domain::clock::Clock;
use tokio::runtime::Handle;
use tokio::sync::{broadcast, mpsc, oneshot};

use super::checkpoint::Checkpoints;
use super::connection::SqliteConnection;
use super::desk::Desk;
use super::lock::StoreLock;
use super::writer;
use crate::engine::{Access, Durability};
use crate::error::{Result, StoreError};
use crate::migrate;
use crate::tx::Tx;
use crate::wake::Wake;
use crate::work::{BoxedWork, Job};

/// How many closures may wait; past that, callers do.
const QUEUE: usize = 1024;
/// Readers beside the writer. They answer look-ups, so a few are enough on any machine.
const READERS: usize = 2;

/// Queues to the threads of one store.
pub(crate) struct SqliteEngine {
    writes: mpsc::Sender<Job>,
    reads: mpsc::Sender<Job>,
    /// The thread that ends last.
    last: JoinHandle<()>,
    durability: Durability,
}

impl SqliteEngine {
    /// Locks, opens and migrates the store at `path`, then starts its threads. Blocks: call it on a thread. The writer is
    /// a task of `runtime` if its commits wait for nothing, and somebody else can be served while it runs a closure.
    pub(crate) fn open(
        path: &Path,
        durability: Durability,
        clock: &Arc<dyn Clock>,
        wakes: broadcast::Sender<Wake>,
        runtime: &Handle,
    ) -> Result<Self> {
        let lock = StoreLock::claim(path)?;
        let mut connection = SqliteConnection::open(path, Access::Write, Arc::clone(clock))?;
        // Looked at before anything is set: what is not ours, or not for us, stays as it is.
        migrate::inspect(&mut Tx::on(&mut Desk::at(&connection)), path)?;
        connection.prepare_writer(durability)?;
        connection.edge("BEGIN IMMEDIATE")?;
        migrate::migrate(&mut Tx::on(&mut Desk::at(&connection)))?;
        connection.edge("COMMIT")?;

        let (writes, write_queue) = mpsc::channel(QUEUE);
        let (reads, read_queue) = mpsc::channel(QUEUE);
        let read_queue = Arc::new(Mutex::new(read_queue));
        let mut others = Vec::with_capacity(READERS + 1);
        for _ in 0..READERS {
            let (path, clock, queue) =
                (path.to_owned(), Arc::clone(clock), Arc::clone(&read_queue));
            others.push(start("ledger-reader", move || {
                serve_reads(&path, &clock, &queue);
            })?);
        }
        let (checkpoints, copying) = Checkpoints::start(&mut connection, path, durability, clock)?;
        others.push(copying);
        let (done, over) = oneshot::channel();
        if durability == Durability::Process && runtime.metrics().num_workers() > 1 {
            runtime.spawn(async move {
                let connection = writer::attend(connection, write_queue, checkpoints, wakes).await;
                drop(done.send(connection));
            });
        } else {
            others.push(start("ledger-writer", move || {
                writer::run(&connection, write_queue, checkpoints, &wakes);
                drop(done.send(connection));
            })?);
        }
        let last = start("ledger-keeper", move || {
            // There is none if the writer panicked, or its runtime ended before it.
            let connection = over.blocking_recv();
            // A thread that panicked has let go of the store, too.
            for other in others {
                drop(other.join());
            }
            // The last connection puts the log into the store; then the lock goes: whoever gets it next finds a store
            // that nobody writes.
            drop(connection);
            drop(lock);
        })?;
        Ok(Self {
            writes,
            reads,
            last,
            durability,
        })
    }

    /// Whether a commit waits for no disk.
    pub(crate) fn commits_at_once(&self) -> bool {
        self.durability == Durability::Process
    }

    /// The queue for this kind of work.
    pub(crate) fn queue(&self, access: Access) -> mpsc::Sender<Job> {
        match access {
            Access::Write => self.writes.clone(),
            Access::Read => self.reads.clone(),
        }
    }

    /// Lets the threads finish what is queued; gives back the handle of the one that ends last.
    pub(crate) fn into_threads(self) -> Vec<JoinHandle<()>> {
        vec![self.last]
    }
}

/// Starts one of the engine's own threads.
pub(crate) fn start(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let failed = |error: std::io::Error| StoreError::Retry {
        why: format!("cannot start a thread: {error}"),
    };
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map_err(failed)
}

/// Runs until every sender is gone.
fn serve_reads(path: &Path, clock: &Arc<dyn Clock>, queue: &Mutex<mpsc::Receiver<Job>>) {
    let mut connection: Option<SqliteConnection> = None;
    loop {
        // One reader waits on the queue, the others on the lock.
        let next = queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .blocking_recv();
        let Some(Job { mut work, .. }) = next else {
            return;
        };
        let read = read_once(&mut connection, path, clock, &mut work);
        let is_stuck = connection
            .as_ref()
            .is_some_and(SqliteConnection::is_in_transaction);
        if is_stuck || matches!(read, Err(StoreError::Retry { .. } | StoreError::Refuse(_))) {
            connection = None;
        }
        work.answer(read);
    }
}

fn read_once(
    slot: &mut Option<SqliteConnection>,
    path: &Path,
    clock: &Arc<dyn Clock>,
    work: &mut BoxedWork,
) -> Result<()> {
    let connection = match slot {
        Some(connection) => connection,
        None => slot.insert(open_reader(path, clock)?),
    };
    connection.edge("BEGIN")?;
    let ran = work.run(&mut Tx::on(&mut Desk::at(connection)));
    connection.edge("ROLLBACK")?;
    ran
}

fn open_reader(path: &Path, clock: &Arc<dyn Clock>) -> Result<SqliteConnection> {
    let mut connection = SqliteConnection::open(path, Access::Read, Arc::clone(clock))?;
    connection.prepare_reader()?;
    Ok(connection)
}
