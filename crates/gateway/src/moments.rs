//! A moment: how long a turn may take before it is worth being watched. Most turns are over within it, so everybody who
//! waits for one shares a single timer. A timer of their own would interrupt the runtime for each of them, only to be
//! dropped. Whoever has to wait for longer sets a timer after the moment.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::shared::Shared;

/// What takes longer is worth being written down, looked at, stopped and done again.
pub(crate) const MOMENT: Duration = Duration::from_millis(25);

/// Those who wait for a moment to pass, in the order in which it does.
#[derive(Debug, Default)]
pub(crate) struct Moments {
    waiting: Mutex<VecDeque<(Instant, Weak<Notify>)>>,
    /// Somebody waits, and nobody did before.
    begun: Notify,
}

impl Moments {
    /// Waits for a moment.
    pub(crate) async fn pass(&self) {
        let over = Arc::new(Notify::new());
        self.begin(&over);
        over.notified().await;
    }

    fn begin(&self, over: &Arc<Notify>) {
        let end = Instant::now() + MOMENT;
        let mut waiting = self.waiting();
        let is_first = waiting.is_empty();
        waiting.push_back((end, Arc::downgrade(over)));
        drop(waiting);
        if is_first {
            self.begun.notify_one();
        }
    }

    /// Lets moments pass, for ever. Not polling: it wakes when one is over, and for nothing when there is none.
    async fn keep(&self) {
        loop {
            match self.next_end() {
                Some(end) => {
                    // Not polling: somebody's moment is over then.
                    sleep_until(end).await;
                    self.end(Instant::now());
                }
                None => self.begun.notified().await,
            }
        }
    }

    /// When the next moment is over, if there is one. Those who do not wait any more count until then.
    fn next_end(&self) -> Option<Instant> {
        Some(self.waiting().front()?.0)
    }

    /// Tells those whose moment is over.
    fn end(&self, now: Instant) {
        let mut waiting = self.waiting();
        while waiting.front().is_some_and(|(end, _)| *end <= now) {
            let over = waiting.pop_front().and_then(|(_, over)| over.upgrade());
            if let Some(over) = over {
                over.notify_one();
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<(Instant, Weak<Notify>)>> {
        // Nothing panics while it holds this lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets moments pass for as long as the gateway runs.
pub(crate) async fn keep(shared: Arc<Shared>) {
    tokio::select! {
        biased;
        () = shared.stop.cancelled() => {}
        () = shared.moments.keep() => {}
    }
}

#[cfg(test)]
mod tests;
