//! What a runner tells of a run, in order. Each is journalled before anybody sees it.
//!
//! Pure: types.

use serde::Deserialize;
use serde_json::Value;
use talaria_domain::run::{ToolResult, Usage};
use talaria_domain::scope::StateScope;

#[cfg(test)]
use super::schema;

/// What a runner tells of a run. The parameters of each name the run as well.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "method", content = "params")]
pub(in crate::process) enum Report {
    /// The answer grew. Only by this much: what was said before is not said again.
    #[serde(rename = "message.delta")]
    MessageDelta {
        /// The piece.
        text: String,
    },
    /// A message is complete. There may be several; each is shown and remembered.
    #[serde(rename = "message.completed")]
    MessageCompleted {
        /// All of it; left out, it is what its deltas come to.
        #[serde(default)]
        text: Option<String>,
    },
    /// What the runner thought; kept apart from answers.
    #[serde(rename = "reasoning")]
    Reasoning {
        /// In its words.
        text: String,
    },
    /// The runner called a tool of its own.
    #[serde(rename = "tool.started")]
    ToolStarted {
        /// The call's id, new in this run.
        call: String,
        /// The tool.
        tool: String,
        /// What it was given.
        #[serde(default)]
        arguments: Value,
    },
    /// A tool of its own answered.
    #[serde(rename = "tool.completed")]
    ToolCompleted {
        /// The call that was started.
        call: String,
        /// What it answered.
        output: String,
        /// Whether it did what was asked.
        #[serde(default = "done")]
        #[cfg_attr(test, schemars(with = "schema::ToolResult"))]
        result: ToolResult,
    },
    /// Something is to be remembered, as with `state.set`, without waiting for an answer. Null forgets.
    #[serde(rename = "state.updated")]
    StateUpdated {
        /// For whom.
        #[cfg_attr(test, schemars(with = "schema::StateScope"))]
        scope: StateScope,
        /// Under which key.
        key: String,
        /// What.
        value: Value,
    },
    /// For the operator.
    #[serde(rename = "log")]
    Log {
        /// What happened.
        text: String,
    },
    /// The run is over, with what was said.
    #[serde(rename = "completed")]
    Completed {
        /// What it cost beside the models of the host, which are counted there.
        #[serde(default)]
        #[cfg_attr(test, schemars(with = "schema::Usage"))]
        usage: Usage,
    },
    /// The run is over, with a reason that the user is told.
    #[serde(rename = "failed")]
    Failed {
        /// Why.
        reason: String,
    },
}

const fn done() -> ToolResult {
    ToolResult::Done
}

impl Report {
    /// Their methods.
    pub(in crate::process) const METHODS: [&str; 9] = [
        "message.delta",
        "message.completed",
        "reasoning",
        "tool.started",
        "tool.completed",
        "state.updated",
        "log",
        "completed",
        "failed",
    ];
}
