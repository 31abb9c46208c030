//! Time as a parameter. [`Timestamp`] is integer milliseconds since the Unix epoch, the only form of time
//! that the ledger stores; [`Clock`] is how a room asks for it; [`ManualClock`] is the one in a test's hand.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A point in time: milliseconds since the Unix epoch.
///
/// ```
/// use std::time::Duration;
/// use talaria_domain::clock::Timestamp;
///
/// let start = Timestamp::from_millis(1_000);
/// let later = start.plus(Duration::from_secs(2));
/// assert_eq!(later.as_millis(), 3_000);
/// assert_eq!(later.since(start), Duration::from_secs(2));
/// assert_eq!(start.since(later), Duration::ZERO, "a clock that jumped back is not an error");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The epoch itself.
    pub const ZERO: Self = Self(0);

    /// The timestamp this many milliseconds after the epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// This much later. Saturates instead of wrapping.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }

    /// This much earlier. Saturates instead of wrapping.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }

    /// How long after `earlier` this is; zero when it is not.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Where time comes from.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The machine's own clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the machine's clock"
    )]
    fn now(&self) -> Timestamp {
        // A machine set before 1970 reads as the epoch rather than stopping the gateway.
        Timestamp(millis(
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default(),
        ))
    }
}

/// A clock that moves only when it is told to.
///
/// ```
/// use std::time::Duration;
/// use talaria_domain::clock::{Clock, ManualClock, Timestamp};
///
/// let clock = ManualClock::at(Timestamp::from_millis(5));
/// clock.advance(Duration::from_millis(7));
/// assert_eq!(clock.now(), Timestamp::from_millis(12));
/// ```
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that stands at `start`.
    pub const fn at(start: Timestamp) -> Self {
        Self(AtomicI64::new(start.0))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(millis(by), Ordering::SeqCst);
    }

    /// Moves the clock anywhere, also back.
    pub fn set(&self, to: Timestamp) {
        self.0.store(to.0, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}
