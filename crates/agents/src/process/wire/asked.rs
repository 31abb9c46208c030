//! What a runner asks its host for, in a run.
//!
//! Pure: types.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use talaria_domain::scope::StateScope;

use super::orders::Spoken;
#[cfg(test)]
use super::schema;

/// What a runner asks for. The parameters of each name the run as well; without it nothing is done.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "method", content = "params")]
pub(in crate::process) enum Asked {
    /// Ask a model, and hear its whole answer.
    #[serde(rename = "model.invoke")]
    ModelInvoke(Prompt),
    /// Ask a model, and hear it talk: `model.delta` comes for each piece, then the whole answer.
    #[serde(rename = "model.stream")]
    ModelStream(Prompt),
    /// The tools that may be called.
    #[serde(rename = "tool.list")]
    ToolList {},
    /// Call a tool of the host.
    #[serde(rename = "tool.call")]
    ToolCall {
        /// Which.
        tool: String,
        /// What it is given.
        #[serde(default)]
        arguments: Value,
        /// The call's id, new in this run; left out, it is given one.
        #[serde(default)]
        call: Option<String>,
    },
    /// Look something up.
    #[serde(rename = "kb.query")]
    KbQuery {
        /// Where.
        knowledge_base: String,
        /// What.
        query: String,
        /// At most so many.
        #[serde(default)]
        limit: Option<u32>,
    },
    /// Read an attachment of the run's event.
    #[serde(rename = "file.read")]
    FileRead {
        /// As the event names it.
        file: String,
    },
    /// Read a value of a store.
    #[serde(rename = "storage.get")]
    StorageGet {
        /// Which store.
        store: StoreName,
        /// Its key.
        key: String,
    },
    /// Write a value to a store.
    #[serde(rename = "storage.set")]
    StorageSet {
        /// Which store.
        store: StoreName,
        /// Its key.
        key: String,
        /// The value.
        value: Value,
        /// The version that the runner knows, zero for none yet; left out, the last write wins.
        #[serde(default)]
        expected: Option<i64>,
    },
    /// Remove a value from a store.
    #[serde(rename = "storage.delete")]
    StorageDelete {
        /// Which store.
        store: StoreName,
        /// Its key.
        key: String,
    },
    /// Read the values of a store.
    #[serde(rename = "storage.list")]
    StorageList {
        /// Which store.
        store: StoreName,
        /// How the keys begin, to the letter.
        #[serde(default)]
        prefix: String,
        /// Only keys after this one.
        #[serde(default)]
        after: Option<String>,
        /// At most so many; 50 if not given, at most 100.
        #[serde(default)]
        limit: Option<u32>,
    },
    /// Read what is remembered.
    #[serde(rename = "state.get")]
    StateGet {
        /// For whom.
        #[cfg_attr(test, schemars(with = "schema::StateScope"))]
        scope: StateScope,
        /// Its key.
        key: String,
    },
    /// Remember.
    #[serde(rename = "state.set")]
    StateSet {
        /// For whom.
        #[cfg_attr(test, schemars(with = "schema::StateScope"))]
        scope: StateScope,
        /// Its key.
        key: String,
        /// The value.
        value: Value,
        /// The version that the runner knows, zero for none yet; left out, the last write wins.
        #[serde(default)]
        expected: Option<i64>,
    },
    /// Forget.
    #[serde(rename = "state.delete")]
    StateDelete {
        /// For whom.
        #[cfg_attr(test, schemars(with = "schema::StateScope"))]
        scope: StateScope,
        /// Its key.
        key: String,
    },
    /// Read all that is remembered.
    #[serde(rename = "state.list")]
    StateList {
        /// For whom.
        #[cfg_attr(test, schemars(with = "schema::StateScope"))]
        scope: StateScope,
        /// How the keys begin, to the letter.
        #[serde(default)]
        prefix: String,
        /// Only keys after this one.
        #[serde(default)]
        after: Option<String>,
        /// At most so many; 50 if not given, at most 100.
        #[serde(default)]
        limit: Option<u32>,
    },
    /// What was said in this conversation before.
    #[serde(rename = "history.page")]
    HistoryPage {
        /// Only what has a smaller number.
        #[serde(default)]
        before: Option<i64>,
        /// At most so many; 50 if not given, at most 100.
        #[serde(default)]
        limit: Option<u32>,
    },
    /// What was said in this conversation with these words.
    #[serde(rename = "history.search")]
    HistorySearch {
        /// The words.
        words: String,
        /// At most so many; 50 if not given, at most 100.
        #[serde(default)]
        limit: Option<u32>,
    },
    /// An event of this conversation.
    #[serde(rename = "event.get")]
    EventGet {
        /// Which; left out, it is the one that the run answers.
        #[serde(default)]
        event: Option<String>,
    },
    /// Ask a person, and wait for the answer. Either `approval` or `question` is given.
    #[serde(rename = "ask")]
    Ask {
        /// What would be done, if they allow it.
        #[serde(default)]
        approval: Option<String>,
        /// What they are asked.
        #[serde(default)]
        question: Option<String>,
        /// What may be answered to a question; empty means anything.
        #[serde(default)]
        choices: Vec<String>,
        /// For how long; 600 if not given, at most 86400.
        #[serde(default)]
        timeout_seconds: Option<u64>,
    },
}

impl Asked {
    /// Their methods.
    pub(in crate::process) const METHODS: [&str; 18] = [
        "model.invoke",
        "model.stream",
        "tool.list",
        "tool.call",
        "kb.query",
        "file.read",
        "storage.get",
        "storage.set",
        "storage.delete",
        "storage.list",
        "state.get",
        "state.set",
        "state.delete",
        "state.list",
        "history.page",
        "history.search",
        "event.get",
        "ask",
    ];
}

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::process) struct Prompt {
    /// Which model; left out, it is the first that the run may use.
    #[serde(default)]
    pub(in crate::process) model: Option<String>,
    /// What it is told about itself.
    #[serde(default)]
    pub(in crate::process) system: String,
    /// What was said, in order.
    pub(in crate::process) said: Vec<Spoken>,
    /// The names of the host's tools that it is shown. It calls none by itself: the answer says what it wants.
    #[serde(default)]
    pub(in crate::process) tools: Vec<String>,
    /// For the model, under the names that OpenAI gave them.
    #[serde(default)]
    pub(in crate::process) options: BTreeMap<String, Value>,
}

/// A store that is the same in every conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(in crate::process) enum StoreName {
    /// The runner's own.
    Plugin,
    /// The profile's, shared by its runners.
    Workspace,
}
