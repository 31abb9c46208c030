//! What follows from the outcome of a send. Pure.
//!
//! "No answer came" is never simply sent again. It is where the platform recognises the part by its key, or where all
//! that can be doubled is an empty placeholder that is then filled; else it is what the operator stated: listed as
//! unknown, or sent again knowing that it may be there twice.

use std::time::Duration;

use talaria_domain::clock::Timestamp;
use talaria_domain::delivery::Outcome;

use crate::settings::DoubtPolicy;

/// How a send can be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// The platform deduplicates by the part's key, or only a placeholder can be doubled, or it is an edit.
    Safe,
    /// It may be there twice.
    Doubles,
}

/// What is done next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is there.
    Deliver,
    /// Once more, at that time.
    RetryAt(Timestamp),
    /// Nobody can know.
    Unknown {
        /// Why, for the operator.
        reason: String,
    },
    /// Not any more.
    Fail {
        /// Why, for the operator.
        reason: String,
    },
}

/// A send that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempted<'a> {
    /// What the adapter said.
    pub outcome: &'a Outcome,
    /// How it can be repeated.
    pub repeat: Repeat,
    /// How often it was tried.
    pub attempts: u32,
    /// When the part was made.
    pub since: Timestamp,
    /// Now.
    pub now: Timestamp,
}

/// The longest pause between two attempts.
const LONGEST: Duration = Duration::from_mins(5);

/// What follows from an attempt, if parts are tried for `patience`.
pub fn decide(attempted: &Attempted<'_>, policy: DoubtPolicy, patience: Duration) -> Verdict {
    let now = attempted.now;
    let is_over = now.since(attempted.since) >= patience;
    match attempted.outcome {
        Outcome::Delivered { .. } => Verdict::Deliver,
        Outcome::Rejected { class, detail } => Verdict::Fail {
            reason: format!("the platform refused it ({class:?}): {detail}"),
        },
        Outcome::NotSent { detail, .. } if is_over => Verdict::Fail {
            reason: format!("it could not be sent for too long: {detail}"),
        },
        Outcome::NotSent { retry_after, .. } => {
            let pause = retry_after.unwrap_or_else(|| pause(attempted.attempts));
            Verdict::RetryAt(now.plus(pause))
        }
        Outcome::Unknown { detail } => {
            let may_repeat =
                attempted.repeat == Repeat::Safe || policy == DoubtPolicy::PreferDuplicate;
            if may_repeat && !is_over {
                return Verdict::RetryAt(now.plus(pause(attempted.attempts)));
            }
            Verdict::Unknown {
                reason: format!("nobody can know whether it arrived: {detail}"),
            }
        }
    }
}

fn pause(attempts: u32) -> Duration {
    let doubled =
        Duration::from_millis(500).saturating_mul(2_u32.saturating_pow(attempts.saturating_sub(1)));
    doubled.min(LONGEST)
}

#[cfg(test)]
mod tests {
    //! A table of outcomes.

    use talaria_domain::delivery::Rejection;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);
    const PATIENCE: Duration = Duration::from_secs(100);

    fn verdict(outcome: &Outcome, repeat: Repeat, policy: DoubtPolicy, age: u64) -> Verdict {
        let attempted = Attempted {
            outcome,
            repeat,
            attempts: 2,
            since: NOW.minus(Duration::from_secs(age)),
            now: NOW,
        };
        decide(&attempted, policy, PATIENCE)
    }

    #[test]
    fn no_answer_is_repeated_only_where_that_is_safe_or_wanted() {
        use DoubtPolicy::{PreferDuplicate, PreferLoss};
        let silence = Outcome::Unknown {
            detail: "timeout".to_owned(),
        };
        let soon = Verdict::RetryAt(NOW.plus(Duration::from_secs(1)));
        assert_eq!(verdict(&silence, Repeat::Safe, PreferLoss, 0), soon);
        assert_eq!(verdict(&silence, Repeat::Doubles, PreferDuplicate, 0), soon);
        for (repeat, age) in [(Repeat::Doubles, 0), (Repeat::Safe, 100)] {
            let unknown = verdict(&silence, repeat, PreferLoss, age);
            assert!(matches!(unknown, Verdict::Unknown { .. }), "{unknown:?}");
        }
    }

    #[test]
    fn what_was_not_sent_waits_as_long_as_the_platform_says() {
        let wait = Some(Duration::from_secs(17));
        let flood = Outcome::NotSent {
            retry_after: wait,
            detail: "429".to_owned(),
        };
        let policy = DoubtPolicy::PreferLoss;
        let expected = Verdict::RetryAt(NOW.plus(Duration::from_secs(17)));
        assert_eq!(verdict(&flood, Repeat::Doubles, policy, 0), expected);
        let late = verdict(&flood, Repeat::Doubles, policy, 100);
        assert!(matches!(late, Verdict::Fail { .. }), "{late:?}");
        let gone = Outcome::Rejected {
            class: Rejection::Gone,
            detail: "no such chat".to_owned(),
        };
        let failed = verdict(&gone, Repeat::Safe, policy, 0);
        assert!(
            matches!(&failed, Verdict::Fail { reason } if reason.contains("no such chat")),
            "{failed:?}"
        );
    }
}
