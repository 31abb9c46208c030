//! When a runner's process that ended is started again: at once after a good life, then with pauses that double.
//!
//! Pure: times in, a wait out.

#[cfg(test)]
mod tests;

use std::time::Duration;

/// The pause after the second end in a row.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// No pause is longer.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// A process that lived for so long is a good one.
const GOOD_LIFE: Duration = Duration::from_mins(1);

/// How it went so far. Times are since some beginning.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Restarts {
    /// Ends in a row without a good life between them.
    failures: u32,
    not_before: Duration,
}

impl Restarts {
    /// A process lived from `started` to `ended`. Whether a run of it came to an end of its own counts as much as time.
    pub(super) fn ended(&mut self, started: Duration, ended: Duration, was_useful: bool) {
        if was_useful || ended.saturating_sub(started) >= GOOD_LIFE {
            self.failures = 0;
        }
        self.not_before = ended + self.pause();
        self.failures = self.failures.saturating_add(1);
    }

    /// How long it is until the next start.
    pub(super) fn wait(&self, now: Duration) -> Duration {
        self.not_before.saturating_sub(now)
    }

    fn pause(&self) -> Duration {
        match self.failures.checked_sub(1) {
            None => Duration::ZERO,
            Some(doubled) => {
                let factor = 1_u32.checked_shl(doubled).unwrap_or(u32::MAX);
                FIRST_PAUSE.saturating_mul(factor).min(LONGEST_PAUSE)
            }
        }
    }
}
