//! One execution of a runner for one turn: the events it yields, in order, and how it ended. Everything is
//! journalled before it is shown, so these types are what a run looks like after a restart, too.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::address::ReturnAddress;
use crate::authority::{Authority, Revocation};
use crate::clock::Timestamp;
use crate::effects::Answer;
use crate::ids::{EventId, RunId, SessionId};
use crate::machine::{QuestionState, RunState};
use crate::names::RunnerId;
use crate::scope::StateScope;

#[cfg(test)]
mod tests;

/// One execution of a runner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// The conversation it is a turn of.
    pub session: SessionId,
    /// What it answers.
    pub event: EventId,
    /// What thinks.
    pub runner: RunnerId,
    /// Where it stands.
    pub state: RunState,
    /// The epoch it was admitted under.
    pub epoch: i64,
    /// Which attempt at its event it is, from one.
    pub attempt: u32,
    /// What it may use.
    pub authority: Authority,
    /// Where its answers go.
    pub return_to: ReturnAddress,
    /// How it ended.
    pub outcome: Option<RunOutcome>,
    /// When it was admitted.
    pub created_at: Timestamp,
    /// When it last did something.
    pub active_at: Timestamp,
}

/// Something a run yields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// The answer grew.
    MessageDelta {
        /// By this much.
        text: String,
    },
    /// The answer, or one segment of it, is complete.
    MessageCompleted {
        /// All of it.
        text: String,
    },
    /// What the model thought; kept apart from answers.
    Reasoning {
        /// In its words.
        text: String,
    },
    /// A tool was called.
    ToolStarted {
        /// The call's id.
        call: String,
        /// The tool.
        tool: String,
        /// What it was given.
        arguments: Value,
    },
    /// A tool answered.
    ToolCompleted {
        /// The call's id.
        call: String,
        /// What it answered; a wrong argument is an answer as well.
        output: String,
        /// Whether it did what was asked.
        result: ToolResult,
    },
    /// Somebody said something while the run was under way, and the model is told.
    Steered {
        /// What they said, as the model is told.
        text: String,
    },
    /// The runner changed what it remembers.
    StateUpdated {
        /// In which scope.
        scope: StateScope,
        /// Under which key.
        key: String,
        /// What it remembers; null forgets.
        value: Value,
    },
    /// The runner waits for a person.
    ActionRequested {
        /// The request's id.
        request: String,
        /// What is asked.
        action: Action,
    },
    /// The runner goes on: a person answered, or nobody did in time.
    ActionSettled {
        /// The request's id.
        request: String,
        /// How it ended.
        state: QuestionState,
        /// What was answered.
        answer: Option<Answer>,
    },
    /// An operator took something away from the run, for good: it counts for every further attempt, too.
    Revoked {
        /// What.
        what: Revocation,
    },
    /// For the operator.
    Log {
        /// What happened.
        text: String,
    },
    /// The run is over.
    Ended(RunOutcome),
}

impl RunEvent {
    /// Its name in the journal.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::MessageDelta { .. } => "message_delta",
            Self::MessageCompleted { .. } => "message_completed",
            Self::Reasoning { .. } => "reasoning",
            Self::ToolStarted { .. } => "tool_started",
            Self::ToolCompleted { .. } => "tool_completed",
            Self::Steered { .. } => "steered",
            Self::StateUpdated { .. } => "state_updated",
            Self::ActionRequested { .. } => "action_requested",
            Self::ActionSettled { .. } => "action_settled",
            Self::Revoked { .. } => "revoked",
            Self::Log { .. } => "log",
            Self::Ended(_) => "ended",
        }
    }
}

/// Whether a tool did what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolResult {
    /// It did.
    Done,
    /// It did not, and its output says why.
    Refused,
    /// It was stopped.
    Cancelled,
}

/// What a run asks of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// May I do this?
    Approval {
        /// What would be done.
        effect: String,
    },
    /// Which one?
    Question {
        /// What is asked.
        text: String,
        /// What may be answered; empty means anything.
        choices: Vec<String>,
    },
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum RunOutcome {
    /// With an answer, or with deliberate silence.
    Completed {
        /// What it cost.
        usage: Usage,
        /// Why the answer ended where it does.
        #[serde(default)]
        finish: Finish,
    },
    /// With an error that the user is told.
    Failed(Failure),
    /// Somebody stopped it.
    Cancelled,
    /// The gateway stopped under it.
    Interrupted,
}

impl RunOutcome {
    /// With an answer that is whole.
    pub const fn completed(usage: Usage) -> Self {
        let finish = Finish::Stop;
        Self::Completed { usage, finish }
    }

    /// Without an answer.
    pub fn failed(code: FailureCode, reason: impl Into<String>) -> Self {
        Self::Failed(Failure::of(code, reason))
    }
}

/// Why an answer ends where it does.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// All was said, or tools are to be called.
    #[default]
    Stop,
    /// The model reached the most it may say.
    Length,
    /// The model's provider withheld the rest.
    ContentFilter,
}

impl Finish {
    /// Its name for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
        }
    }
}

/// Why a run came to no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// In words, for people.
    pub reason: String,
    /// For programs.
    #[serde(default)]
    pub code: FailureCode,
    /// When to come back, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u64>,
}

impl Failure {
    /// A failure that nobody knows the end of.
    pub fn of(code: FailureCode, reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            code,
            retry_after_seconds: None,
        }
    }
}

/// Why a run came to no answer, as programs tell it apart. The reason beside it is for people.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    /// The model's server could not be reached, or broke.
    ModelUnreachable,
    /// The model's server has too much to do.
    ModelOverloaded,
    /// The model's server refuses what it is asked.
    ModelRefused,
    /// The model's server does not accept the gateway's key.
    ModelAuth,
    /// The model's server sent something that is not an answer.
    ModelUnreadable,
    /// The model's settings cannot be used.
    ModelMisconfigured,
    /// The conversation is longer than the model takes.
    ContextTooLong,
    /// Something was asked for that this model does not do.
    Unsupported,
    /// The model reached the most it may say before it came to an answer.
    OutputLimit,
    /// The model's provider withheld the answer.
    Withheld,
    /// It took too long.
    Timeout,
    /// Nothing happened for too long.
    NoProgress,
    /// Tools were called without an end.
    ToolLoop,
    /// It broke as often as it is tried.
    AttemptsExhausted,
    /// The gateway itself broke.
    Internal,
    /// Only the reason says it; also what an older or a newer binary wrote.
    #[default]
    #[serde(other)]
    Other,
}

impl FailureCode {
    /// Its name in the ledger.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ModelUnreachable => "model_unreachable",
            Self::ModelOverloaded => "model_overloaded",
            Self::ModelRefused => "model_refused",
            Self::ModelAuth => "model_auth",
            Self::ModelUnreadable => "model_unreadable",
            Self::ModelMisconfigured => "model_misconfigured",
            Self::ContextTooLong => "context_too_long",
            Self::Unsupported => "unsupported",
            Self::OutputLimit => "output_limit",
            Self::Withheld => "withheld",
            Self::Timeout => "timeout",
            Self::NoProgress => "no_progress",
            Self::ToolLoop => "tool_loop",
            Self::AttemptsExhausted => "attempts_exhausted",
            Self::Internal => "internal",
            Self::Other => "other",
        }
    }
}

/// Why an event was discarded that found too many others waiting.
pub const QUEUE_FULL: &str = "the queue was full";

/// What a run cost.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}
