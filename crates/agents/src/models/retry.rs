//! Whether and when a model is asked again. The schedule has no chance in it: the same faults give the same waits.
//!
//! Pure: fault and attempt in, next step out.

#[cfg(test)]
mod tests;

use std::time::Duration;

use super::fault::Fault;

/// How long a server is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    /// For the first byte of its answer: a model that has to be loaded first takes minutes.
    pub first_byte: Duration,
    /// Between two pieces of its answer.
    pub between_pieces: Duration,
    /// For an answer that comes in one piece, from the question to its first byte. OpenAI's own libraries wait for as
    /// long ("Timeouts", OpenAI's Python API library).
    pub whole: Duration,
    /// Before each further attempt. There are no more attempts than this and one.
    pub waits: Vec<Duration>,
    /// The longest wait that a server may ask for; with more, the user is told instead.
    pub longest_wait: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_mins(5),
            between_pieces: Duration::from_mins(2),
            whole: Duration::from_mins(10),
            waits: [500, 1_000, 2_000, 4_000].map(Duration::from_millis).into(),
            longest_wait: Duration::from_mins(1),
        }
    }
}

/// What comes after a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Ask again after this.
    Wait(Duration),
    /// Tell the user.
    GiveUp,
}

/// What was heard of the answer before the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// Nothing: asking again is not noticed.
    Nothing,
    /// Something: asking again would say it twice.
    Something,
}

/// Decides after the fault of the `attempt`th attempt, from one.
pub(super) fn decide(
    fault: &Fault,
    progress: Progress,
    attempt: usize,
    patience: &Patience,
) -> Next {
    let (Fault::Passing { after, .. } | Fault::Busy { after, .. }, Progress::Nothing) =
        (fault, progress)
    else {
        return Next::GiveUp;
    };
    let Some(scheduled) = patience.waits.get(attempt.saturating_sub(1)) else {
        return Next::GiveUp;
    };
    match after.unwrap_or(*scheduled) {
        wait if after.is_some() && wait > patience.longest_wait => Next::GiveUp,
        wait => Next::Wait(wait),
    }
}

/// When the server says to come back: `retry-after-ms` or, in whole or broken seconds, `retry-after`. A date is not
/// understood, and the schedule stands.
pub(super) fn asked_wait(millis: Option<&str>, seconds: Option<&str>) -> Option<Duration> {
    let number = |text: Option<&str>| text?.trim().parse::<f64>().ok();
    let seconds = number(millis)
        .map(|millis| millis / 1_000.0)
        .or_else(|| number(seconds));
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}
