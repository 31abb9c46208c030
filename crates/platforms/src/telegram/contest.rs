//! Two that want the same updates. A program that was just stopped may hold them for half a minute, so a conflict is
//! waited out first, then told, and only one that lasts is final.
//!
//! Pure: times in, a verdict out.

#[cfg(test)]
mod tests;

use std::time::Duration;

use talaria_domain::clock::Timestamp;

/// How long it is waited out in silence.
const QUIET: Duration = Duration::from_secs(30);
/// How long it may come to an end by itself.
const HOPE: Duration = Duration::from_mins(3);
/// Without a conflict for so long the last one is over.
const CALM: Duration = Duration::from_mins(2);

/// What follows from a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Ask again after a pause.
    Wait,
    /// Tell, and come back.
    Lost,
    /// Somebody has to do something.
    Conflict,
}

/// A conflict, from its beginning to the last we heard of it.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Contest(Option<(Timestamp, Timestamp)>);

impl Contest {
    /// There is a conflict at this time.
    pub(super) fn met(&mut self, now: Timestamp) -> Verdict {
        let lasting = self.0.filter(|(_, last)| now.since(*last) <= CALM);
        let since = lasting.map_or(now, |(since, _)| since);
        self.0 = Some((since, now));
        match now.since(since) {
            lasted if lasted < QUIET => Verdict::Wait,
            lasted if lasted < HOPE => Verdict::Lost,
            _ => Verdict::Conflict,
        }
    }
}
