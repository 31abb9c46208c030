//! What a runner's callbacks are answered with.
//!
//! Pure: types.

use serde::Serialize;
use serde_json::Value;
use talaria_domain::effects::Answer as Said;
use talaria_domain::run::{Finish, ToolResult, Usage};
use talaria_domain::runner::ToolCall;

use super::orders::{Happened, Spoken};
#[cfg(test)]
use super::schema;

/// What a callback is answered with; each by the fields it has.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(in crate::process) enum Answer {
    /// To `model.invoke` and `model.stream`.
    Model {
        /// Its words.
        text: String,
        /// What it thought.
        reasoning: String,
        /// The tools that it wants to be called.
        #[cfg_attr(test, schemars(with = "Vec<schema::ToolCall>"))]
        calls: Vec<ToolCall>,
        /// What it cost.
        #[cfg_attr(test, schemars(with = "schema::Usage"))]
        usage: Usage,
        /// Why it ended.
        #[cfg_attr(test, schemars(with = "schema::Finish"))]
        finish: Finish,
    },
    /// To `tool.list`.
    Tools {
        /// Those that may be called.
        tools: Vec<Offered>,
    },
    /// To `tool.call`.
    Called {
        /// The call's id.
        call: String,
        /// What the tool answered.
        output: String,
        /// Whether it did what was asked.
        #[cfg_attr(test, schemars(with = "schema::ToolResult"))]
        result: ToolResult,
    },
    /// To `file.read`: one of `base64` and `url`.
    File {
        /// What is in it.
        #[serde(skip_serializing_if = "Option::is_none")]
        base64: Option<String>,
        /// Where it can be fetched from.
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// The media type, as it was declared.
        media_type: Option<String>,
    },
    /// To `state.get` and `storage.get`.
    Found {
        /// Whether there is a value: null is one, too.
        found: bool,
        /// The value.
        value: Value,
        /// How often it was set; zero for none.
        version: i64,
        /// When it was first set, in milliseconds since 1970; forgetting ends that.
        #[serde(skip_serializing_if = "Option::is_none")]
        created_at: Option<i64>,
        /// When it was last set.
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_at: Option<i64>,
    },
    /// To `state.set` and `storage.set`.
    Stored {
        /// How often it was set by now.
        version: i64,
    },
    /// To `state.delete` and `storage.delete`.
    Deleted {
        /// Whether there was one.
        deleted: bool,
    },
    /// To `state.list` and `storage.list`, by key.
    Listed {
        /// What was found.
        items: Vec<Item>,
        /// Whether there is more after the last of them.
        has_more: bool,
    },
    /// To `history.page` and `history.search`, in order.
    Past {
        /// What was said.
        lines: Vec<PastLine>,
        /// Whether there is more before the first of them.
        has_more: bool,
    },
    /// To `event.get`.
    Event {
        /// It.
        event: Box<Happened>,
    },
    /// To `ask`.
    Person(#[cfg_attr(test, schemars(with = "schema::Answered"))] Said),
}

/// A tool that may be called.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::process) struct Offered {
    /// Its name.
    pub(in crate::process) name: String,
    /// What it does.
    pub(in crate::process) description: String,
    /// What it takes, as JSON Schema.
    pub(in crate::process) parameters: Value,
}

/// A value with its key.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::process) struct Item {
    /// The key.
    pub(in crate::process) key: String,
    /// The value.
    pub(in crate::process) value: Value,
    /// How often it was set.
    pub(in crate::process) version: i64,
    /// When it was first set, in milliseconds since 1970; forgetting ends that.
    pub(in crate::process) created_at: i64,
    /// When it was last set.
    pub(in crate::process) updated_at: i64,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::process) struct PastLine {
    /// Its number in the conversation.
    pub(in crate::process) seq: i64,
    /// When, in milliseconds since 1970.
    pub(in crate::process) at: i64,
    /// What, and by whom.
    pub(in crate::process) said: Spoken,
}
