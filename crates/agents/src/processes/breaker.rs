//! When all processes together talk too much: more than so many notices in a short time, and all of them are silent
//! for a while. Each conversation that something is kept from is told so once.
//!
//! Pure: who wants to say something, and the time, in; a verdict out.

#[cfg(test)]
mod tests;

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use talaria_domain::ids::SessionId;

/// So many notices.
const MOST: usize = 15;
/// In this time.
const SPAN: Duration = Duration::from_secs(10);
/// How long it is silent after more than that.
pub(super) const SILENCE: Duration = Duration::from_secs(30);

/// Counts the notices of all processes.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    sent: VecDeque<Duration>,
    silent_until: Option<Duration>,
    told: HashSet<SessionId>,
}

/// What becomes of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is told.
    Tell,
    /// Instead of it the conversation is told that it is silent now.
    TellSilence,
    /// It is not told.
    Hold,
}

impl Breaker {
    /// Decides about a notice for this conversation.
    pub(super) fn decide(&mut self, session: SessionId, now: Duration) -> Verdict {
        match self.silent_until {
            Some(end) if now < end => return self.hold(session),
            Some(_) => *self = Self::default(),
            None => {}
        }
        while self.sent.front().is_some_and(|then| *then + SPAN <= now) {
            self.sent.pop_front();
        }
        self.sent.push_back(now);
        if self.sent.len() <= MOST {
            return Verdict::Tell;
        }
        self.silent_until = Some(now + SILENCE);
        self.hold(session)
    }

    fn hold(&mut self, session: SessionId) -> Verdict {
        if self.told.insert(session) {
            Verdict::TellSilence
        } else {
            Verdict::Hold
        }
    }
}
