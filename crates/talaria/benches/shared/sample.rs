//! What was measured: how many, and how long each took.

use std::time::Duration;

/// Waits of everybody who asked, and for how long they did.
#[derive(Default)]
pub(crate) struct Sample {
    pub(crate) waits: Vec<Duration>,
    pub(crate) time: Duration,
    /// What the gateway used of the processors.
    pub(crate) used: Duration,
}

/// What came out.
pub(crate) struct Summary {
    pub(crate) rate: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    /// What one of them used of the processors.
    pub(crate) used: Duration,
}

impl Sample {
    pub(crate) fn add(&mut self, other: Self) {
        self.waits.extend(other.waits);
        self.time += other.time;
        self.used += other.used;
    }

    pub(crate) fn summary(mut self) -> Summary {
        self.waits.sort_unstable();
        let count = self.waits.len();
        let at = |share: f64| self.waits[((count as f64 * share) as usize).min(count - 1)];
        Summary {
            rate: count as f64 / self.time.as_secs_f64(),
            p50: at(0.50),
            p99: at(0.99),
            used: self.used.div_f64(count as f64),
        }
    }
}
