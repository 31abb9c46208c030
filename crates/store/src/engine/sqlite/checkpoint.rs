//! Keeps the write-ahead log short without making anybody wait for it. A thread of its own copies the log into the
//! store while the writer goes on, again and again until little is left; then the writer pauses between two batches,
//! the thread copies that little, and the log starts over. Without the pause there would always be something left.
//!
//! What is copied has to reach the disk before the log starts over, and the engine sees to that in the last step alone.
//! So the thread has it written before: then the writer waits for the little that is left.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use talaria_domain::clock::Clock;
use tokio::sync::oneshot;

use super::connection::SqliteConnection;
use super::pool::start;
use crate::engine::{Access, Durability};
use crate::error::{Result, StoreError};

/// Pages in the log before it is worth copying.
const WORTH: i32 = 16_000;
/// Pages that the writer may wait for.
const LITTLE: i64 = 300;
/// How often the log is gone over before the writer has to wait for what is left, however much that is.
const PASSES: usize = 6;

/// What the thread is asked for.
enum Ask {
    /// To copy until little is left.
    Most,
    /// To copy the rest, and to say when it is done.
    Rest(oneshot::Sender<()>),
}

/// The writer's side.
pub(super) struct Checkpoints {
    /// Pages in the log, as the writer's last commit left it.
    pages: Arc<AtomicI32>,
    ask: SyncSender<Ask>,
    is_asked: bool,
    is_ready: Arc<AtomicBool>,
}

impl Checkpoints {
    /// Starts the thread that copies for this writer.
    pub(super) fn start(
        writer: &mut SqliteConnection,
        path: &Path,
        durability: Durability,
        clock: &Arc<dyn Clock>,
    ) -> Result<(Self, JoinHandle<()>)> {
        let pages = Arc::new(AtomicI32::new(0));
        let counted = Arc::clone(&pages);
        writer.on_commit(move |count| counted.store(count, Ordering::Relaxed))?;
        let mut connection = SqliteConnection::open(path, Access::Write, Arc::clone(clock))?;
        connection.prepare_writer(durability)?;
        // Open for as long as the thread lives: to close it would give back what the engine has locked in the store.
        let store = File::open(path).map_err(|error| StoreError::Retry {
            why: format!("cannot open the store to have it written: {error}"),
        })?;
        let (ask, asked) = sync_channel(1);
        let is_ready = Arc::new(AtomicBool::new(false));
        let ready = Arc::clone(&is_ready);
        let thread = start("ledger-checkpoint", move || {
            copy(&connection, &store, &asked, &ready);
        })?;
        Ok((
            Self {
                pages,
                ask,
                is_asked: false,
                is_ready,
            },
            thread,
        ))
    }

    /// Between two batches: asks for help, or gives what has to be waited for.
    pub(super) fn keep_short(&mut self) -> Option<oneshot::Receiver<()>> {
        if self.is_asked && self.is_ready.swap(false, Ordering::AcqRel) {
            self.is_asked = false;
            let (done, copied) = oneshot::channel();
            self.ask.try_send(Ask::Rest(done)).ok()?;
            return Some(copied);
        }
        if !self.is_asked && self.pages.load(Ordering::Relaxed) >= WORTH {
            self.is_asked = self.ask.try_send(Ask::Most).is_ok();
        }
        None
    }
}

/// Runs until the writer is gone.
fn copy(connection: &SqliteConnection, store: &File, asked: &Receiver<Ask>, is_ready: &AtomicBool) {
    while let Ok(ask) = asked.recv() {
        match ask {
            Ask::Most => {
                copy_most(connection, store);
                is_ready.store(true, Ordering::Release);
            }
            Ask::Rest(done) => {
                // If a reader is in the way it is tried again: the log is still long.
                drop(connection.checkpoint());
                // Whoever does not wait any more has stopped writing.
                done.send(()).unwrap_or_default();
            }
        }
    }
}

fn copy_most(connection: &SqliteConnection, store: &File) {
    for _ in 0..PASSES {
        let is_little = connection.checkpoint().is_ok_and(|left| left <= LITTLE);
        // If this fails it fails for the engine, too, and the log stays as it is.
        drop(store.sync_data());
        if is_little {
            break;
        }
    }
}
