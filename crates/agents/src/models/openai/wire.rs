//! What servers send: a chunk of a stream, or a whole answer, which differs from a chunk in one name. Everything may be
//! missing or null: compatible servers leave out what they do not know.

use serde::Deserialize;
use serde_json::Value;

/// A chunk, or a whole answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    pub(super) choices: Option<Vec<Choice>>,
    pub(super) usage: Option<Tokens>,
    pub(super) error: Option<Value>,
}

/// One of several answers; we ask for one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    /// In a stream.
    pub(super) delta: Option<Message>,
    /// In a whole answer.
    pub(super) message: Option<Message>,
    pub(super) finish_reason: Option<String>,
}

/// What is said.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub(super) content: Option<Content>,
    pub(super) refusal: Option<String>,
    /// What the model thinks, under the two names that are in use.
    pub(super) reasoning_content: Option<Value>,
    pub(super) reasoning: Option<Value>,
    pub(super) tool_calls: Option<Vec<Call>>,
}

/// Words, as one text or in parts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Parts(Vec<Part>),
}

/// A part of the words.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    pub(super) text: Option<String>,
}

/// A tool call, or a fragment of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Call {
    pub(super) index: Option<usize>,
    pub(super) id: Option<String>,
    pub(super) function: Option<Function>,
}

/// What is called.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Function {
    pub(super) name: Option<String>,
    /// JSON in a text; some servers send the object itself.
    pub(super) arguments: Option<Value>,
}

/// What it cost.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    pub(super) prompt_tokens: Option<u64>,
    pub(super) completion_tokens: Option<u64>,
}
