//! How much a run may ask of its host at once: so many callbacks a second, so many under way, and so many bytes of them.
//! What is more is refused at once, so that it costs nobody else anything.
//!
//! Pure: times and sizes in, a decision out.

#[cfg(test)]
mod tests;

use std::time::Duration;

/// How often something may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pace {
    every: Duration,
    burst: Duration,
    /// When the next one would be due if all came evenly.
    due: Duration,
}

impl Pace {
    /// So many a second, and a second's worth at once.
    pub(super) fn per_second(count: u32) -> Self {
        let count = count.max(1);
        let every = Duration::from_secs(1) / count;
        Self {
            every,
            burst: every * (count - 1),
            due: Duration::ZERO,
        }
    }

    /// Whether one may happen at `now`, a time since some beginning; if so, it has.
    pub(super) fn takes(&mut self, now: Duration) -> bool {
        let due = self.due.max(now);
        let is_taken = due.saturating_sub(now) <= self.burst;
        if is_taken {
            self.due = due + self.every;
        }
        is_taken
    }
}

/// What a run has under way.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    pace: Pace,
    most: usize,
    most_bytes: usize,
    under_way: usize,
    bytes: usize,
}

/// Why a callback is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Busy {
    /// Too many are under way.
    #[error(
        "{0} callbacks of this run are under way, which is the most there may be: wait for answers"
    )]
    UnderWay(usize),
    /// They are too large together.
    #[error("what this run has under way is too large together: wait for answers")]
    Bytes,
    /// They come too fast.
    #[error("the callbacks of this run come too fast: slow down")]
    Pace,
}

impl Gate {
    /// A run with nothing under way.
    pub(super) fn of(per_second: u32, most: usize, most_bytes: usize) -> Self {
        Self {
            pace: Pace::per_second(per_second),
            most,
            most_bytes,
            under_way: 0,
            bytes: 0,
        }
    }

    /// Takes a callback of so many bytes, or says why not. A single one is taken whatever its size: the frame's limit
    /// is its limit.
    pub(super) fn take(&mut self, bytes: usize, now: Duration) -> Result<(), Busy> {
        if self.under_way >= self.most {
            return Err(Busy::UnderWay(self.under_way));
        }
        if self.under_way > 0 && self.bytes + bytes > self.most_bytes {
            return Err(Busy::Bytes);
        }
        if !self.pace.takes(now) {
            return Err(Busy::Pace);
        }
        self.under_way += 1;
        self.bytes += bytes;
        Ok(())
    }

    /// One that was taken is answered.
    pub(super) fn give_back(&mut self, bytes: usize) {
        self.under_way = self.under_way.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}
