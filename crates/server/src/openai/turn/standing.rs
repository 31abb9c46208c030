//! How a turn stands, from what the ledger has of it. Pure. A turn may take several runs: one that the gateway stopped
//! under is done again, or its asker is told that it was not.

use talaria_domain::machine::{InboxState, RunState};
use talaria_domain::run::{Run, RunOutcome, Usage};
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
}

/// The ways a turn ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Completed,
    Failed,
    Cancelled,
    Interrupted,
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
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }
}

/// How a turn stands: its event, the last run for it, and what was said to it.
pub(crate) fn decide(row: &InboxRow, last: Option<&Run>, said: Option<&str>) -> Standing {
    let over = |end, reason: &str, usage| {
        Standing::Over(Over {
            end,
            text: said.unwrap_or_default().to_owned(),
            reason: reason.to_owned(),
            usage,
        })
    };
    let why = row.reason.as_deref();
    match row.state {
        InboxState::Queued => Standing::Queued,
        InboxState::Claimed if last.is_some_and(|run| run.state == RunState::Waiting) => {
            Standing::Waiting
        }
        InboxState::Claimed => Standing::Running,
        InboxState::Discarded => over(
            End::Cancelled,
            why.unwrap_or("the turn was stopped"),
            Usage::default(),
        ),
        InboxState::Dead => over(
            End::Failed,
            why.unwrap_or("the turn was given up"),
            Usage::default(),
        ),
        InboxState::Completed | InboxState::Merged => {
            let (end, reason, usage) = end_of(last.and_then(|run| run.outcome.as_ref()));
            // What the gateway said is the best there is to say.
            let reason = if end == End::Interrupted {
                said.unwrap_or(reason)
            } else {
                reason
            };
            over(end, reason, usage)
        }
    }
}

/// A command has no run, and is carried out all the same.
fn end_of(outcome: Option<&RunOutcome>) -> (End, &str, Usage) {
    match outcome {
        None => (End::Completed, "", Usage::default()),
        Some(RunOutcome::Completed { usage }) => (End::Completed, "", *usage),
        Some(RunOutcome::Failed { reason }) => (End::Failed, reason, Usage::default()),
        Some(RunOutcome::Cancelled) => (End::Cancelled, "the turn was stopped", Usage::default()),
        Some(RunOutcome::Interrupted) => (
            End::Interrupted,
            "the gateway stopped under it",
            Usage::default(),
        ),
    }
}
