//! The writer: one connection, group commit.
//!
//! It takes a closure, opens a transaction, and goes on taking whatever is waiting. Then it commits once and answers
//! them all: a caller hears of success only after the commit that holds its effects. A closure that fails leaves nothing
//! and disturbs nobody: if it had changed something, everything is rolled back, and the others are run again, each in a
//! savepoint of its own. That is rare, and savepoints for everybody would cost every turn more than it does.
//!
//! Where a commit has to reach the disk, the writer is a thread ([`run`]). While one commit is on its way the next
//! closures gather, so the batch grows with the load. Callers that were answered together tend to come back together: as
//! long as fewer are here than the last time, the writer looks up a few times more before it commits.
//!
//! Where a commit waits for nothing, the writer is a task among its callers ([`attend`]): it lets everybody go first who
//! has something to do, then writes down what they brought. No thread has to be woken for it, and no core is left idle
//! while the machine finds out which of them is to run it.
//!
//! Nobody waits for a timer, and a lone writer for nothing at all.
//!
//! Whoever asked ahead hears what their closure came to as soon as it has run, and may come back with the next one before
//! the commit: then one commit holds both. What follows from a closure comes after it in the queue, so it is committed
//! with it or later, and not at all if the first one was not.
//!
//! If the transaction itself is lost (a full disk, a failed commit), every closure in it is told so.

use tokio::sync::{broadcast, mpsc};

use super::checkpoint::Checkpoints;
use super::connection::SqliteConnection;
use super::desk::Desk;
use crate::error::{Result, StoreError};
use crate::tx::Tx;
use crate::wake::{Wake, announce};
use crate::work::{BoxedWork, Job};

/// How many closures may share a commit: bounds how long the first waits for the last.
const LARGEST_BATCH: usize = 256;

/// The same for a task: nobody else is served by its thread meanwhile.
const LARGEST_SITTING: usize = 48;

/// How often the writer looks up for callers that were here the last time: some tens of microseconds, less than a
/// commit costs.
const LOOKS: usize = 100;

/// A thread that runs until every sender is gone.
pub(super) fn run(
    connection: &SqliteConnection,
    queue: mpsc::Receiver<Job>,
    mut checkpoints: Checkpoints,
    wakes: &broadcast::Sender<Wake>,
) {
    let mut waiting = Waiting { queue, expected: 0 };
    let mut desk = Desk::at(connection);
    while let Some(first) = waiting.first() {
        let mut batch = Batch::default();
        let committed = batch.run(&mut desk, first, |present| waiting.next(present));
        waiting.expected = batch.len();
        batch.answer(&committed, wakes);
        if let Some(copied) = checkpoints.keep_short() {
            // If it was not, the log stays long, and it is tried again.
            drop(copied.blocking_recv());
        }
    }
}

/// A task that runs until every sender is gone; gives the connection back.
pub(super) async fn attend(
    connection: SqliteConnection,
    mut queue: mpsc::Receiver<Job>,
    mut checkpoints: Checkpoints,
    wakes: broadcast::Sender<Wake>,
) -> SqliteConnection {
    while let Some(first) = queue.recv().await {
        // Whoever is ready goes first, and may bring something for the same commit.
        tokio::task::yield_now().await;
        let mut next = Some(first);
        while let Some(Job { work, .. }) = next {
            sit(&connection, work, &mut queue, &wakes);
            if let Some(copied) = checkpoints.keep_short() {
                // If it was not, the log stays long, and it is tried again.
                drop(copied.await);
            }
            next = queue.try_recv().ok();
        }
    }
    connection
}

/// Runs one batch.
fn sit(
    connection: &SqliteConnection,
    first: BoxedWork,
    queue: &mut mpsc::Receiver<Job>,
    wakes: &broadcast::Sender<Wake>,
) {
    let mut batch = Batch::default();
    let committed = batch.run(&mut Desk::at(connection), first, |present| {
        let job = (present < LARGEST_SITTING).then(|| queue.try_recv().ok());
        job.flatten().map(|job| job.work)
    });
    batch.answer(&committed, wakes);
}

/// The closures that wait for a thread, and how many came together the last time.
struct Waiting {
    queue: mpsc::Receiver<Job>,
    expected: usize,
}

impl Waiting {
    fn first(&mut self) -> Option<BoxedWork> {
        self.queue.blocking_recv().map(|job| job.work)
    }

    /// One more for a batch that holds `present`.
    fn next(&mut self, present: usize) -> Option<BoxedWork> {
        if present >= LARGEST_BATCH {
            return None;
        }
        let looks = if present < self.expected { LOOKS } else { 1 };
        for _ in 0..looks {
            match self.queue.try_recv() {
                Ok(job) => return Some(job.work),
                Err(mpsc::error::TryRecvError::Empty) => std::thread::yield_now(),
                Err(mpsc::error::TryRecvError::Disconnected) => return None,
            }
        }
        None
    }
}

/// The closures that share a commit.
#[derive(Default)]
struct Batch {
    done: Vec<BoxedWork>,
    failed: Vec<(BoxedWork, StoreError)>,
    wakes: Vec<Wake>,
    care: Care,
}

/// How a closure that fails is kept from spoiling the others.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Care {
    /// By running the others again.
    #[default]
    Afterwards,
    /// By a savepoint.
    Before,
}

impl Batch {
    /// Runs the first one and whatever `another` has for a batch that holds so many, then commits.
    fn run(
        &mut self,
        connection: &mut Desk<'_>,
        first: BoxedWork,
        mut another: impl FnMut(usize) -> Option<BoxedWork>,
    ) -> Result<()> {
        if let Err(error) = connection.edge("BEGIN IMMEDIATE") {
            self.failed.push((first, error.clone()));
            return Err(error);
        }
        let mut next = Some(first);
        while let Some(work) = next {
            self.run_one(connection, work)?;
            next = another(self.len());
        }
        let committed = connection.edge("COMMIT");
        if committed.is_err() && connection.is_in_transaction() {
            // The commit's own error is the one to tell; if this fails too, the next BEGIN will say so.
            drop(connection.edge("ROLLBACK"));
        }
        committed
    }

    fn len(&self) -> usize {
        self.done.len() + self.failed.len()
    }

    fn run_one(&mut self, connection: &mut Desk<'_>, mut work: BoxedWork) -> Result<()> {
        let changes = connection.changes();
        let ran = match self.care {
            Care::Before => run_in_savepoint(connection, &mut work),
            Care::Afterwards => run_plainly(connection, &mut work),
        };
        let error = match ran {
            Ok(wakes) => {
                self.wakes.extend(wakes);
                work.foretell();
                self.done.push(work);
                return Ok(());
            }
            Err(error) => error,
        };
        self.failed.push((work, error.clone()));
        if !connection.is_in_transaction() {
            return Err(error);
        }
        if self.care == Care::Afterwards && connection.changes() != changes {
            return self.start_over(connection);
        }
        Ok(())
    }

    /// Somebody failed half-way: undoes everything, and runs those again that had not failed.
    fn start_over(&mut self, connection: &mut Desk<'_>) -> Result<()> {
        let undone = connection.edge("ROLLBACK");
        undone.and_then(|()| connection.edge("BEGIN IMMEDIATE"))?;
        self.care = Care::Before;
        self.wakes.clear();
        let done = std::mem::take(&mut self.done).into_iter();
        let mut lost = Ok(());
        for work in done {
            match &lost {
                Ok(()) => lost = self.run_one(connection, work),
                // There is no transaction any more: they hear why.
                Err(_) => self.done.push(work),
            }
        }
        lost
    }

    fn answer(self, committed: &Result<()>, wakes: &broadcast::Sender<Wake>) {
        for work in self.done {
            work.answer(committed.clone());
        }
        for (work, error) in self.failed {
            work.answer(Err(error));
        }
        if committed.is_ok() {
            announce(wakes, self.wakes);
        }
    }
}

fn run_plainly(connection: &mut Desk<'_>, work: &mut BoxedWork) -> Result<Vec<Wake>> {
    let mut tx = Tx::on(connection);
    let ran = work.run(&mut tx);
    let wakes = tx.into_wakes();
    if connection.is_in_transaction() {
        return ran.map(|()| wakes);
    }
    // Even if the closure hid it: the engine has ended the transaction, so everybody in it has to hear.
    let why = "the engine ended the transaction".to_owned();
    Err(ran.err().unwrap_or(StoreError::Retry { why }))
}

fn run_in_savepoint(connection: &mut Desk<'_>, work: &mut BoxedWork) -> Result<Vec<Wake>> {
    connection.edge("SAVEPOINT work")?;
    let ran = run_plainly(connection, work);
    if !connection.is_in_transaction() {
        return ran;
    }
    let left = leave_savepoint(connection, ran.is_err());
    if left.is_err() {
        // What cannot be undone alone is undone with everything else. If that fails too, there is no transaction.
        drop(connection.edge("ROLLBACK"));
    }
    left.and(ran)
}

fn leave_savepoint(connection: &mut Desk<'_>, has_failed: bool) -> Result<()> {
    if has_failed {
        connection.edge("ROLLBACK TO work")?;
    }
    connection.edge("RELEASE work")
}
