//! Keeps the write-ahead log short without making anybody wait for it. A thread of its own copies the log into the
//! store while the writer goes on, again and again until little is left; then the writer, between two batches, copies
//! that little itself, and the log starts over. Only the writer can do the last step: while it writes, there is always
//! something left.
//!
//! What is copied has to reach the disk before the log starts over, and the engine sees to that in the last step alone.
//! So the thread has it written before: then the writer waits for the little that it copied itself.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use talaria_domain::clock::Clock;

use super::connection::SqliteConnection;
use super::pool::start;
use crate::engine::{Access, Durability};
use crate::error::{Result, StoreError};

/// Pages in the log before it is worth copying.
const WORTH: i32 = 16_000;
/// Pages that the writer may copy by itself.
const LITTLE: i64 = 300;
/// How often the log is gone over before the writer has to take what is left, however much that is.
const PASSES: usize = 6;

/// The writer's side.
pub(super) struct Checkpoints {
    /// Pages in the log, as the writer's last commit left it.
    pages: Arc<AtomicI32>,
    ask: SyncSender<()>,
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

    /// Between two batches: asks for help, or takes the last step.
    pub(super) fn keep_short(&mut self, connection: &SqliteConnection) {
        if self.is_asked && self.is_ready.swap(false, Ordering::AcqRel) {
            self.is_asked = false;
            // If a reader is in the way it is tried again: the log is still long.
            drop(connection.checkpoint());
        } else if !self.is_asked && self.pages.load(Ordering::Relaxed) >= WORTH {
            self.is_asked = self.ask.try_send(()).is_ok();
        }
    }
}

/// Runs until the writer is gone.
fn copy(connection: &SqliteConnection, store: &File, asked: &Receiver<()>, is_ready: &AtomicBool) {
    while asked.recv().is_ok() {
        for _ in 0..PASSES {
            let is_little = connection.checkpoint().is_ok_and(|left| left <= LITTLE);
            // If this fails it fails for the engine, too, and the log stays as it is.
            drop(store.sync_data());
            if is_little {
                break;
            }
        }
        is_ready.store(true, Ordering::Release);
    }
}
