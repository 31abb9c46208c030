//! Whether some session was ever bound in this process. It is never taken back: from the first session on, a variable
//! that nobody bound means "no session", and what the process was started with says nothing about anybody.

use std::sync::atomic::{AtomicBool, Ordering};

/// The process's own.
pub(super) static ENGAGED: Latch = Latch::released();

/// Once on, on for good.
#[derive(Debug)]
pub(super) struct Latch(AtomicBool);

impl Latch {
    pub(super) const fn released() -> Self {
        Self(AtomicBool::new(false))
    }

    pub(super) fn engage(&self) {
        // Most calls find it on: reading leaves the line shared between the threads.
        if !self.is_engaged() {
            self.0.store(true, Ordering::Release);
        }
    }

    pub(super) fn is_engaged(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
