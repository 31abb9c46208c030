//! Discord's words, API and gateway version 10, as far as they are used. Whatever else is in a payload is ignored;
//! whatever may be missing has a default.

use serde::Deserialize;
use serde_json::Value;

/// What comes over the gateway ("Gateway Events", payload structure).
#[derive(Debug, Deserialize)]
pub(super) struct Frame {
    pub(super) op: u8,
    #[serde(default)]
    pub(super) d: Value,
    #[serde(default)]
    pub(super) s: Option<u64>,
    #[serde(default)]
    pub(super) t: Option<String>,
}

/// The first thing that is said on a connection.
#[derive(Debug, Deserialize)]
pub(super) struct Hello {
    /// Milliseconds between two heartbeats.
    pub(super) heartbeat_interval: u64,
}

/// A new session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Ready {
    pub(super) session_id: String,
    pub(super) resume_gateway_url: String,
}

/// Where the gateway is, and how it wants to be used.
#[derive(Debug, Deserialize)]
pub(super) struct Entrance {
    pub(super) url: String,
    #[serde(default = "one")]
    pub(super) shards: u32,
    #[serde(default)]
    pub(super) session_start_limit: StartLimit,
}

/// How often a new session may be begun.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default)]
pub(super) struct StartLimit {
    pub(super) remaining: u32,
    /// Milliseconds.
    pub(super) reset_after: u64,
    pub(super) max_concurrency: u32,
}

impl Default for StartLimit {
    fn default() -> Self {
        Self {
            remaining: 1,
            reset_after: 0,
            max_concurrency: 1,
        }
    }
}

const fn one() -> u32 {
    1
}

/// A person or a bot.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct User {
    pub(super) id: String,
    #[serde(default)]
    pub(super) username: String,
    #[serde(default)]
    pub(super) global_name: Option<String>,
    #[serde(default)]
    pub(super) bot: bool,
}

/// A user as a guild knows them.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Member {
    #[serde(default)]
    pub(super) user: Option<User>,
    #[serde(default)]
    pub(super) nick: Option<String>,
}

/// Anything that is known by its id alone.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Named {
    pub(super) id: String,
}

/// A channel, a thread or a direct conversation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Channel {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: u8,
    #[serde(default)]
    pub(super) parent_id: Option<String>,
    #[serde(default)]
    pub(super) last_message_id: Option<String>,
}

/// What a guild has, as far as it can be read: one odd channel does not take the others with it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Guild {
    pub(super) channels: Vec<Value>,
    pub(super) threads: Vec<Value>,
}

/// A message ("Message Resource", message object).
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Message {
    pub(super) id: String,
    pub(super) channel_id: String,
    #[serde(default)]
    pub(super) guild_id: Option<String>,
    pub(super) author: User,
    #[serde(default)]
    pub(super) member: Option<Member>,
    #[serde(default)]
    pub(super) content: String,
    #[serde(default)]
    pub(super) edited_timestamp: Option<String>,
    #[serde(default)]
    pub(super) mentions: Vec<Named>,
    #[serde(default)]
    pub(super) attachments: Vec<Attached>,
    #[serde(default, rename = "type")]
    pub(super) kind: u8,
    #[serde(default)]
    pub(super) flags: u64,
    #[serde(default)]
    pub(super) webhook_id: Option<String>,
    #[serde(default)]
    pub(super) referenced_message: Option<Box<Message>>,
    #[serde(default)]
    pub(super) message_snapshots: Vec<Snapshot>,
}

/// A message that was forwarded.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Snapshot {
    pub(super) message: Forwarded,
}

/// What it says.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Forwarded {
    #[serde(default)]
    pub(super) content: String,
}

/// A file.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Attached {
    pub(super) id: String,
    #[serde(default)]
    pub(super) filename: Option<String>,
    #[serde(default)]
    pub(super) size: Option<u64>,
    #[serde(default)]
    pub(super) content_type: Option<String>,
    #[serde(default)]
    pub(super) url: String,
}

/// Somebody put a reaction on a message, or took it away.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Reacted {
    pub(super) user_id: String,
    pub(super) channel_id: String,
    pub(super) message_id: String,
    #[serde(default)]
    pub(super) guild_id: Option<String>,
    #[serde(default)]
    pub(super) member: Option<Member>,
    pub(super) emoji: Emoji,
}

/// A picture: a character, or one of the guild's own.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Emoji {
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) name: Option<String>,
}

/// Somebody used a command or a button ("Receiving and Responding", interaction object).
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Interaction {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: u8,
    /// What it is answered with. A secret.
    pub(super) token: String,
    #[serde(default)]
    pub(super) channel_id: Option<String>,
    #[serde(default)]
    pub(super) channel: Option<Channel>,
    #[serde(default)]
    pub(super) guild_id: Option<String>,
    #[serde(default)]
    pub(super) member: Option<Member>,
    #[serde(default)]
    pub(super) user: Option<User>,
    #[serde(default)]
    pub(super) message: Option<Named>,
    #[serde(default)]
    pub(super) data: Used,
}

/// What was used: a command by its name, a button by what it carries.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub(super) struct Used {
    pub(super) name: String,
    pub(super) options: Vec<Given>,
    pub(super) custom_id: String,
}

/// What was given to a command.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Given {
    #[serde(default)]
    pub(super) value: Value,
}

/// A command that is registered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) struct Registered {
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) options: Vec<RegisteredOption>,
}

/// What can be given to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) struct RegisteredOption {
    pub(super) name: String,
}

/// A no ("Opcodes and Status Codes", JSON error response).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Refusal {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) errors: Value,
    /// Seconds.
    pub(super) retry_after: Option<f64>,
    pub(super) global: bool,
}
