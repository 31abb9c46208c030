//! A clock that follows the runtime's own time, which a test can stop: then it moves only when everybody waits.

use std::time::Duration;

use talaria_domain::clock::{Clock, Timestamp};
use tokio::time::Instant;

/// The runtime's time as a clock.
#[derive(Debug, Clone, Copy)]
pub struct RuntimeClock {
    base: Timestamp,
    start: Instant,
}

impl RuntimeClock {
    /// A clock that shows `base` now. Has to be made inside the runtime.
    pub fn starting_at(base: Timestamp) -> Self {
        Self {
            base,
            start: Instant::now(),
        }
    }

    /// How long it has been going.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

impl Clock for RuntimeClock {
    fn now(&self) -> Timestamp {
        self.base.plus(self.start.elapsed())
    }
}
