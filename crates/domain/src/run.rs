//! One execution of a runner for one turn: the events it yields, in order, and how it ended. Everything is
//! journalled before it is shown, so these types are what a run looks like after a restart, too.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::address::ReturnAddress;
use crate::authority::Authority;
use crate::clock::Timestamp;
use crate::ids::{EventId, RunId, SessionId};
use crate::machine::RunState;
use crate::names::RunnerId;
use crate::scope::StateScope;

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
    },
    /// With an error that the user is told.
    Failed {
        /// Why.
        reason: String,
    },
    /// Somebody stopped it.
    Cancelled,
    /// The gateway stopped under it.
    Interrupted,
}

/// What a run cost.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}
