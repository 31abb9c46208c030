//! What is due of a schedule. Pure: a schedule and the time in, times out.
//!
//! Of several times that passed while nobody was there the last one is served, and the others are passed over: nobody
//! wants yesterday's seven reminders this morning.

use std::time::Duration;

use talaria_domain::clock::Timestamp;
use talaria_domain::schedule::Schedule;

/// Whatever is later than this is told to be late.
pub const ON_TIME: Duration = Duration::from_mins(1);

/// What is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// Times that are passed over, in order.
    pub passed: Vec<Timestamp>,
    /// The one that is served; none while there is more to pass over.
    pub serve: Option<Timestamp>,
    /// The next one; none if that was the last.
    pub next: Option<Timestamp>,
}

/// What is due now, of at most so many times at once; none if nothing is.
pub fn due(schedule: &Schedule, now: Timestamp, most: usize) -> Option<Due> {
    let mut last = schedule.next_at.filter(|next| *next <= now)?;
    let mut passed = Vec::new();
    loop {
        let next = schedule.when.next_after(&schedule.zone, last);
        let Some(missed) = next.filter(|next| *next <= now) else {
            return Some(Due {
                passed,
                serve: Some(last),
                next,
            });
        };
        passed.push(last);
        if passed.len() >= most {
            return Some(Due {
                passed,
                serve: None,
                next: Some(missed),
            });
        }
        last = missed;
    }
}

/// How late something is that was due then, where that is worth a word.
pub fn lateness(due: Timestamp, now: Timestamp) -> Option<Duration> {
    Some(now.since(due)).filter(|late| *late > ON_TIME)
}

#[cfg(test)]
pub(super) mod tests;
