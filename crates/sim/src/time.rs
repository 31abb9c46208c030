//! Clocks that follow the runtime's own time, which a test can stop: then it moves only when everybody waits.

use std::sync::{Mutex, MutexGuard, PoisonError};
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

/// Lets time pass. Where the runtime's time stands still, it jumps as soon as everybody waits.
pub async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

/// A clock that outlives runtimes: it follows the one that it was told to follow, and stands still between two of them.
#[derive(Debug)]
pub struct LastingClock(Mutex<Reading>);

#[derive(Debug)]
struct Reading {
    shown: Timestamp,
    since: Option<Instant>,
}

impl LastingClock {
    /// A clock that stands at `start`.
    pub const fn at(start: Timestamp) -> Self {
        Self(Mutex::new(Reading {
            shown: start,
            since: None,
        }))
    }

    /// Follows the runtime that this is called in.
    pub fn follow(&self) {
        self.reading().since = Some(Instant::now());
    }

    /// Stands still from now on. Called in the runtime that it follows.
    pub fn stand_still(&self) {
        let now = self.now();
        *self.reading() = Reading {
            shown: now,
            since: None,
        };
    }

    /// Moves forward, on top of what the runtime does.
    pub fn jump(&self, by: Duration) {
        let mut reading = self.reading();
        reading.shown = reading.shown.plus(by);
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for LastingClock {
    fn now(&self) -> Timestamp {
        let reading = self.reading();
        let gone = reading.since.map(|since| since.elapsed());
        reading.shown.plus(gone.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    //! One clock over two runtimes.

    use super::*;

    fn lives_for(clock: &LastingClock, time: Duration) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            clock.follow();
            tokio::time::advance(time).await;
            clock.stand_still();
        });
    }

    #[test]
    fn it_follows_one_runtime_after_the_other_and_stands_between_them() {
        let clock = LastingClock::at(Timestamp::from_millis(1_000));
        lives_for(&clock, Duration::from_secs(2));
        assert_eq!(clock.now(), Timestamp::from_millis(3_000));
        clock.jump(Duration::from_secs(10));
        assert_eq!(clock.now(), Timestamp::from_millis(13_000));
        lives_for(&clock, Duration::from_millis(5));
        assert_eq!(clock.now(), Timestamp::from_millis(13_005));
    }
}
