//! How a turn stands, from what the ledger has of it. Pure. A turn may take several runs: one that the gateway stopped
//! under is done again, or its asker is told that it was not.

use talaria_domain::machine::{InboxState, RunState};
use talaria_domain::run::{FailureCode, Finish, Run, RunOutcome, Usage};
use talaria_store::inbox::InboxRow;

#[cfg(test)]
mod tests;

/// How a turn stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It waits for its conversation, or to be tried again.
    Queued,
    /// The runner works.
    Running,
    /// A person is asked.
    Waiting,
    /// Nothing more happens.
    Over(Over),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Over {
    pub(crate) end: End,
    /// The answer, or what the gateway said in its place.
    pub(crate) text: String,
    /// Why there is no answer.
    pub(crate) reason: String,
    pub(crate) usage: Usage,
    /// When to come back, if that is known.
    pub(crate) retry_after_seconds: Option<u64>,
}

/// The ways a turn ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Completed(Finish),
    Failed(FailureCode),
    Cancelled,
    Interrupted,
}

impl Over {
    fn with_answer(finish: Finish, usage: Usage) -> Self {
        Self {
            usage,
            ..Self::without_answer(End::Completed(finish), "")
        }
    }

    fn without_answer(end: End, reason: &str) -> Self {
        Self {
            end,
            text: String::new(),
            reason: reason.to_owned(),
            usage: Usage::default(),
            retry_after_seconds: None,
        }
    }

    /// With this answer.
    pub(super) fn answered(finish: Finish, usage: Usage, text: String) -> Self {
        Self {
            text,
            ..Self::with_answer(finish, usage)
        }
    }

    /// Whether there is an answer.
    pub(crate) const fn is_answered(&self) -> bool {
        matches!(self.end, End::Completed(_))
    }
}

impl Standing {
    /// Its name for programs.
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Over(over) => over.end.as_str(),
        }
    }
}

impl End {
    /// Its name for programs.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Completed(_) => "completed",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }
}

/// How a turn stands: its event, the last run for it, and what was said to it.
pub(crate) fn decide(row: &InboxRow, last: Option<&Run>, said: Option<&str>) -> Standing {
    let over = |over: Over| {
        let text = said.unwrap_or_default().to_owned();
        Standing::Over(Over { text, ..over })
    };
    let why = row.reason.as_deref();
    match row.state {
        InboxState::Queued => Standing::Queued,
        InboxState::Claimed if last.is_some_and(|run| run.state == RunState::Waiting) => {
            Standing::Waiting
        }
        InboxState::Claimed => Standing::Running,
        InboxState::Discarded => over(Over::without_answer(
            End::Cancelled,
            why.unwrap_or("the turn was stopped"),
        )),
        InboxState::Dead => {
            // What never had a run was not tried in vain.
            let code = last.map_or(FailureCode::Internal, |_| FailureCode::AttemptsExhausted);
            let why = why.unwrap_or("the turn was given up");
            over(Over::without_answer(End::Failed(code), why))
        }
        InboxState::Completed | InboxState::Merged => {
            let mut ended = end_of(last.and_then(|run| run.outcome.as_ref()));
            // What the gateway said is the best there is to say.
            if let (End::Interrupted, Some(said)) = (ended.end, said) {
                said.clone_into(&mut ended.reason);
            }
            over(ended)
        }
    }
}

/// A command has no run, and is carried out all the same.
fn end_of(outcome: Option<&RunOutcome>) -> Over {
    match outcome {
        None => Over::with_answer(Finish::Stop, Usage::default()),
        Some(RunOutcome::Completed { usage, finish }) => Over::with_answer(*finish, *usage),
        Some(RunOutcome::Failed(failure)) => Over {
            retry_after_seconds: failure.retry_after_seconds,
            ..Over::without_answer(End::Failed(failure.code), &failure.reason)
        },
        Some(RunOutcome::Cancelled) => Over::without_answer(End::Cancelled, "the turn was stopped"),
        Some(RunOutcome::Interrupted) => {
            Over::without_answer(End::Interrupted, "the gateway stopped under it")
        }
    }
}
