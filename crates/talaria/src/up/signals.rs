//! The signals that ask the gateway to stop: SIGTERM, and Ctrl-C in a terminal.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Who listens for them.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Listens from here on.
    pub(super) fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Ends when somebody asks.
    pub(super) async fn asked_to_stop(&mut self) {
        tokio::select! {
            biased;
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
