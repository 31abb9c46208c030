//! The protocol's words, version 1, as `docs/relay.md` has them. Whatever a small bridge may leave out has a default;
//! fields that we do not know are ignored.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use talaria_domain::capabilities::TextUnit;

/// Who the bridge speaks for, and what can be done there.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct About {
    /// The bot's id, which never changes.
    pub(super) id: String,
    /// What it is called, for people.
    #[serde(default)]
    pub(super) name: String,
    /// Messages can be changed.
    #[serde(default)]
    pub(super) edits: bool,
    /// Messages are recognised by their key.
    #[serde(default)]
    pub(super) keys: bool,
    /// How much text fits into one message.
    #[serde(default = "usual_limit")]
    pub(super) limit: usize,
    /// Of what.
    #[serde(default = "usual_unit")]
    pub(super) unit: TextUnit,
}

/// What fits into a message if nobody says otherwise.
pub(super) const fn usual_limit() -> usize {
    4_096
}

/// What is counted if nobody says otherwise: the unit that counts most for the same text, but for bytes.
pub(super) const fn usual_unit() -> TextUnit {
    TextUnit::Utf16
}

/// What arrived. Each update is read by itself: one that cannot be read does not take the others with it.
#[derive(Debug, Deserialize)]
pub(super) struct Page {
    pub(super) updates: Vec<Value>,
}

/// One thing that arrived.
#[derive(Debug, Deserialize)]
pub(super) struct Update {
    /// Its place in the order of everything.
    pub(super) offset: u64,
    #[serde(flatten)]
    pub(super) what: What,
}

/// What happened.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum What {
    /// Somebody wrote.
    Message(Said),
    /// Somebody changed what they wrote.
    Edited(Said),
    /// A word of a later version.
    #[serde(other)]
    Unknown,
}

/// What somebody wrote.
#[derive(Debug, Deserialize)]
pub(super) struct Said {
    /// The same however often it is delivered.
    pub(super) id: String,
    pub(super) chat: Chat,
    pub(super) thread: Option<String>,
    pub(super) message_id: Option<String>,
    pub(super) sender: Sender,
    pub(super) text: String,
    #[serde(default)]
    pub(super) mentioned: bool,
    pub(super) reply_to: Option<Answered>,
    /// Milliseconds since 1970.
    pub(super) sent_at: Option<i64>,
}

/// Where.
#[derive(Debug, Deserialize)]
pub(super) struct Chat {
    pub(super) id: String,
    pub(super) kind: Kind,
}

/// What kind of chat it is.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Direct,
    Group,
    Channel,
    Thread,
}

/// Who.
#[derive(Debug, Deserialize)]
pub(super) struct Sender {
    pub(super) id: String,
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) bot: bool,
}

/// The message that is answered.
#[derive(Debug, Deserialize)]
pub(super) struct Answered {
    pub(super) message_id: String,
    pub(super) text: Option<String>,
}

/// A message that is to be there.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Message<'a> {
    /// The same however often it is asked for.
    pub(super) key: String,
    pub(super) chat: &'a str,
    pub(super) thread: Option<&'a str>,
    pub(super) reply_to: Option<&'a str>,
    pub(super) text: &'a str,
    pub(super) format: Format,
}

/// How a text is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Format {
    Markdown,
    Plain,
}

/// A message that is there.
#[derive(Debug, Deserialize)]
pub(super) struct Sent {
    pub(super) message_id: String,
}

/// A no.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Refusal {
    #[serde(default)]
    pub(super) error: Problem,
}

/// What is wrong.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Problem {
    pub(super) code: String,
    pub(super) message: String,
}
