//! What happened in a simulated run, line by line, with the time at which it did. The same run gives the same lines.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use talaria_domain::clock::{Clock, Timestamp};

/// The lines of one run.
pub struct Trace {
    clock: Arc<dyn Clock>,
    start: Timestamp,
    lines: Mutex<Vec<String>>,
}

impl Trace {
    /// An empty trace whose times count from now.
    pub fn by(clock: Arc<dyn Clock>) -> Self {
        Self {
            start: clock.now(),
            clock,
            lines: Mutex::default(),
        }
    }

    /// Writes down what happened.
    pub fn note(&self, what: &str) {
        let seconds = self.clock.now().since(self.start).as_secs_f64();
        self.lines().push(format!("{seconds:>12.3} {what}"));
    }

    /// All of it.
    pub fn text(&self) -> String {
        self.lines().join("\n")
    }

    fn lines(&self) -> MutexGuard<'_, Vec<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} lines", self.lines().len())
    }
}
