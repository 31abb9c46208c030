//! Real time: the only file of this crate that reads a clock. It measures builds and bounds
//! waits for other processes; nothing decides by it.

use std::time::{Duration, Instant};

pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(
        clippy::disallowed_methods,
        reason = "builds and server processes run in real time, outside any simulated clock"
    )]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
