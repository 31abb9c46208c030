//! Slack's words, as far as they are used; what is not used is passed over.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What comes over a socket: an envelope to be acknowledged, or a word about the connection itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Envelope {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) envelope_id: Option<String>,
    pub(super) payload: Value,
    /// Why the connection is about to end.
    pub(super) reason: String,
    /// How many connections the app has.
    pub(super) num_connections: Option<u64>,
}

/// What the Events API says, over either way.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Callback {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) challenge: Option<String>,
    pub(super) team_id: Option<String>,
    pub(super) context_team_id: Option<String>,
    pub(super) authorizations: Vec<Authorization>,
    pub(super) event: Value,
}

/// Somebody who may see an event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Authorization {
    pub(super) team_id: Option<String>,
}

/// Something that happened in a conversation.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Happening {
    pub(super) subtype: Option<String>,
    pub(super) channel: Option<String>,
    pub(super) channel_type: Option<String>,
    pub(super) user: Option<String>,
    pub(super) bot_id: Option<String>,
    pub(super) username: Option<String>,
    pub(super) bot_profile: Option<BotProfile>,
    pub(super) text: Option<String>,
    pub(super) ts: Option<String>,
    pub(super) thread_ts: Option<String>,
    pub(super) parent_user_id: Option<String>,
    pub(super) event_ts: Option<String>,
    pub(super) hidden: bool,
    pub(super) edited: Option<Edited>,
    pub(super) files: Vec<File>,
    pub(super) attachments: Vec<Annex>,
    /// A changed message, as it is and as it was.
    pub(super) message: Option<Box<Happening>>,
    pub(super) previous_message: Option<Box<Happening>>,
    pub(super) reaction: Option<String>,
    pub(super) item: Option<Item>,
    /// Whose tokens are revoked.
    pub(super) tokens: Option<Tokens>,
}

/// A bot, as its messages tell of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BotProfile {
    pub(super) name: Option<String>,
}

/// When a message was changed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Edited {
    pub(super) ts: String,
}

/// A file, as Slack tells of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct File {
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) mimetype: Option<String>,
    pub(super) subtype: Option<String>,
    pub(super) size: Option<u64>,
    pub(super) url_private: Option<String>,
    pub(super) url_private_download: Option<String>,
}

/// What other programs hang below a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Annex {
    pub(super) text: Option<String>,
    pub(super) fallback: Option<String>,
}

/// What a reaction is on.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Item {
    pub(super) channel: Option<String>,
    pub(super) ts: Option<String>,
}

/// Tokens that are revoked, by the users they stand for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    pub(super) bot: Vec<String>,
}

/// Somebody pressed something.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Interaction {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) team: Option<Named>,
    pub(super) user: Named,
    pub(super) channel: Option<Named>,
    pub(super) container: Container,
    pub(super) message: Option<Box<Happening>>,
    pub(super) actions: Vec<Action>,
}

/// Something with an id.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Named {
    pub(super) id: String,
    pub(super) name: Option<String>,
}

/// Where something was pressed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Container {
    pub(super) channel_id: Option<String>,
    pub(super) message_ts: Option<String>,
    pub(super) thread_ts: Option<String>,
}

/// What was pressed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Action {
    pub(super) action_id: String,
    pub(super) action_ts: String,
    pub(super) value: Option<String>,
}

/// A slash command.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SlashCommand {
    pub(super) command: String,
    pub(super) text: String,
    pub(super) team_id: Option<String>,
    pub(super) user_id: String,
    pub(super) user_name: Option<String>,
    pub(super) channel_id: String,
    pub(super) trigger_id: String,
}

/// A message that we want to be there.
#[derive(Debug, Default, Serialize)]
pub(super) struct Message {
    pub(super) channel: String,
    pub(super) text: String,
    /// The message that is changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ts: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thread_ts: Option<String>,
    /// An empty list takes away what is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) blocks: Option<Vec<Value>>,
    pub(super) mrkdwn: bool,
    pub(super) parse: &'static str,
    pub(super) unfurl_links: bool,
    pub(super) unfurl_media: bool,
}

/// An answer's common part.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Answer {
    pub(super) ok: bool,
    pub(super) error: String,
    pub(super) needed: Option<String>,
    pub(super) response_metadata: Notes,
}

/// What Slack adds to a no.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Notes {
    pub(super) messages: Vec<String>,
}

/// Who we are.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Identified {
    pub(super) team: String,
    pub(super) user: String,
    pub(super) team_id: String,
    pub(super) user_id: String,
    pub(super) bot_id: Option<String>,
}

/// A person, as far as they are shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Person {
    pub(super) name: Option<String>,
    pub(super) real_name: Option<String>,
    pub(super) profile: Profile,
}

/// What a person calls themselves.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Profile {
    pub(super) display_name: Option<String>,
    pub(super) real_name: Option<String>,
}
