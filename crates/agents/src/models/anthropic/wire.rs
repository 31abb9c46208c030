//! What the server sends: the events of a stream, or a whole message. New kinds of events, blocks and deltas are
//! announced to come, and are skipped.

use serde::Deserialize;
use serde_json::Value;

/// An event of a stream.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    MessageStart {
        message: Message,
    },
    ContentBlockStart {
        index: usize,
        content_block: Block,
    },
    ContentBlockDelta {
        index: usize,
        delta: Piece,
    },
    MessageDelta {
        delta: Ending,
        #[serde(default)]
        usage: Tokens,
    },
    MessageStop,
    Error {
        error: Value,
    },
    #[serde(other)]
    Unknown,
}

/// A whole message, or the start of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub(super) content: Option<Vec<Block>>,
    pub(super) stop_reason: Option<String>,
    pub(super) usage: Tokens,
    pub(super) error: Option<Value>,
}

/// A block of a message.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text {
        #[serde(default)]
        text: String,
    },
    Thinking {
        #[serde(default)]
        thinking: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Value,
    },
    #[serde(other)]
    Unknown,
}

/// More of a block.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Piece {
    TextDelta {
        text: String,
    },
    ThinkingDelta {
        thinking: String,
    },
    InputJsonDelta {
        partial_json: String,
    },
    #[serde(other)]
    Unknown,
}

/// How a message ends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Ending {
    pub(super) stop_reason: Option<String>,
}

/// What it cost. What was read from a cache is counted apart, and is input all the same.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    #[serde(rename = "input_tokens")]
    pub(super) input: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    pub(super) cache_written: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    pub(super) cache_read: Option<u64>,
    #[serde(rename = "output_tokens")]
    pub(super) output: Option<u64>,
}
