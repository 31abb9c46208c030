//! A run's place on a connection. While it is held, the runner speaks for the run; when it is let go, whatever the
//! reason, the run is nobody's, the runner is told, and every callback that was still open is answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use talaria_domain::ids::RunId;

use super::inbox::Inbox;
use super::serve::Connection;
use super::wire::{self, Fault, Order};

/// A run's place.
pub(super) struct Seat {
    pub(super) connection: Arc<Connection>,
    pub(super) run: RunId,
    pub(super) inbox: Arc<Inbox>,
    /// The runner knows that the run is over.
    is_told: AtomicBool,
}

impl Seat {
    /// Takes a place.
    pub(super) fn take(connection: &Arc<Connection>, run: RunId) -> Self {
        Self {
            connection: Arc::clone(connection),
            run,
            inbox: connection.join(run),
            is_told: AtomicBool::new(false),
        }
    }

    /// The runner ended the run itself, or was told.
    pub(super) fn note_told(&self) {
        self.is_told.store(true, Ordering::Release);
    }

    /// The line that tells it.
    pub(super) fn farewell(&self) -> Vec<u8> {
        wire::order(None, &Order::Cancel { run: self.run })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.connection.leave(self.run);
        let fault = Fault::no_such_run();
        for id in self.inbox.unanswered() {
            let line = wire::answer::<Value>(Some(&id), Err(&fault));
            self.connection.try_send(line);
        }
        if !self.is_told.load(Ordering::Acquire) {
            self.connection.try_send(self.farewell());
        }
    }
}
