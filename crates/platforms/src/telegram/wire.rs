//! The Bot API's words, as core.telegram.org/bots/api has them: only those that are used here. Whatever the page calls
//! optional is; fields that we do not know are ignored.

use serde::Deserialize;
use serde_json::Value;

/// What every method answers ("Making requests").
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Answer {
    pub(super) ok: bool,
    pub(super) result: Value,
    pub(super) error_code: Option<u16>,
    pub(super) description: String,
    pub(super) parameters: Parameters,
}

/// "ResponseParameters": what helps with a refusal.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Parameters {
    pub(super) migrate_to_chat_id: Option<i64>,
    pub(super) retry_after: Option<u64>,
}

/// "Update": at most one of its optional fields is there.
#[derive(Debug, Deserialize)]
pub(super) struct Update {
    pub(super) update_id: i64,
    pub(super) message: Option<Message>,
    pub(super) edited_message: Option<Message>,
    pub(super) channel_post: Option<Message>,
    pub(super) edited_channel_post: Option<Message>,
    pub(super) callback_query: Option<CallbackQuery>,
    pub(super) message_reaction: Option<MessageReaction>,
    pub(super) my_chat_member: Option<MemberChange>,
}

/// "User".
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct User {
    pub(super) id: i64,
    #[serde(default)]
    pub(super) is_bot: bool,
    #[serde(default)]
    pub(super) first_name: String,
    pub(super) last_name: Option<String>,
    pub(super) username: Option<String>,
}

/// "Chat".
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Chat {
    pub(super) id: i64,
    #[serde(rename = "type")]
    pub(super) kind: ChatType,
    pub(super) title: Option<String>,
    #[serde(default)]
    pub(super) is_forum: bool,
}

/// What kind of chat it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChatType {
    Private,
    Group,
    Supergroup,
    Channel,
    /// A word of a later API: several people, for all that we know.
    #[serde(other)]
    Unknown,
}

/// "Message".
#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub(super) message_id: i64,
    pub(super) message_thread_id: Option<i64>,
    #[serde(default)]
    pub(super) is_topic_message: bool,
    pub(super) direct_messages_topic: Option<DirectTopic>,
    pub(super) from: Option<User>,
    pub(super) sender_chat: Option<Chat>,
    #[serde(default)]
    pub(super) is_automatic_forward: bool,
    pub(super) date: i64,
    pub(super) chat: Chat,
    pub(super) reply_to_message: Option<Box<Answered>>,
    pub(super) external_reply: Option<External>,
    pub(super) quote: Option<TextQuote>,
    pub(super) migrate_to_chat_id: Option<i64>,
    pub(super) migrate_from_chat_id: Option<i64>,
    #[serde(flatten)]
    pub(super) said: Said,
}

/// What a message shows, of "Message".
#[derive(Debug, Default, Deserialize)]
pub(super) struct Said {
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) entities: Vec<Entity>,
    pub(super) caption: Option<String>,
    #[serde(default)]
    pub(super) caption_entities: Vec<Entity>,
    #[serde(default)]
    pub(super) photo: Vec<PhotoSize>,
    pub(super) document: Option<File>,
    pub(super) animation: Option<File>,
    pub(super) audio: Option<File>,
    pub(super) voice: Option<File>,
    pub(super) video: Option<File>,
    pub(super) video_note: Option<File>,
    pub(super) sticker: Option<Sticker>,
    pub(super) location: Option<Location>,
    pub(super) venue: Option<Venue>,
    pub(super) contact: Option<Contact>,
    pub(super) poll: Option<Poll>,
    pub(super) dice: Option<Dice>,
}

/// "DirectMessagesTopic": who writes to a channel, below that channel.
#[derive(Debug, Deserialize)]
pub(super) struct DirectTopic {
    pub(super) topic_id: i64,
}

/// The message that is answered, of "Message".
#[derive(Debug, Deserialize)]
pub(super) struct Answered {
    pub(super) message_id: i64,
    pub(super) from: Option<User>,
    pub(super) sender_chat: Option<Chat>,
    pub(super) text: Option<String>,
    pub(super) caption: Option<String>,
    /// Whatever opens a topic is "answered" by everything in it.
    pub(super) forum_topic_created: Option<Value>,
}

/// "ExternalReplyInfo": what is answered is in another chat.
#[derive(Debug, Deserialize)]
pub(super) struct External {
    pub(super) chat: Option<Chat>,
    pub(super) message_id: Option<i64>,
}

/// "TextQuote": the passage that is answered.
#[derive(Debug, Deserialize)]
pub(super) struct TextQuote {
    pub(super) text: String,
}

/// "MessageEntity": offset and length are in UTF-16 code units.
#[derive(Debug, Deserialize)]
pub(super) struct Entity {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) offset: usize,
    pub(super) length: usize,
    pub(super) url: Option<String>,
    pub(super) user: Option<User>,
}

/// "PhotoSize".
#[derive(Debug, Clone, Deserialize)]
pub(super) struct PhotoSize {
    pub(super) file_id: String,
    #[serde(default)]
    pub(super) width: u64,
    #[serde(default)]
    pub(super) height: u64,
    pub(super) file_size: Option<u64>,
}

/// "Document", "Animation", "Audio", "Voice", "Video" and "VideoNote", as far as they are alike.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct File {
    pub(super) file_id: String,
    pub(super) file_name: Option<String>,
    pub(super) mime_type: Option<String>,
    pub(super) file_size: Option<u64>,
}

/// "Sticker".
#[derive(Debug, Deserialize)]
pub(super) struct Sticker {
    pub(super) file_id: String,
    #[serde(default)]
    pub(super) is_animated: bool,
    #[serde(default)]
    pub(super) is_video: bool,
    pub(super) emoji: Option<String>,
    pub(super) file_size: Option<u64>,
}

/// "Location".
#[derive(Debug, Deserialize)]
pub(super) struct Location {
    pub(super) latitude: f64,
    pub(super) longitude: f64,
}

/// "Venue".
#[derive(Debug, Deserialize)]
pub(super) struct Venue {
    pub(super) title: String,
    pub(super) address: String,
}

/// "Contact".
#[derive(Debug, Deserialize)]
pub(super) struct Contact {
    pub(super) phone_number: String,
    pub(super) first_name: String,
}

/// "Poll".
#[derive(Debug, Deserialize)]
pub(super) struct Poll {
    pub(super) question: String,
}

/// "Dice".
#[derive(Debug, Deserialize)]
pub(super) struct Dice {
    pub(super) emoji: String,
    pub(super) value: i64,
}

/// "CallbackQuery": somebody pressed a button.
#[derive(Debug, Deserialize)]
pub(super) struct CallbackQuery {
    pub(super) id: String,
    pub(super) from: User,
    pub(super) message: Option<Pressed>,
    pub(super) data: Option<String>,
}

/// The message with the button, of "MaybeInaccessibleMessage".
#[derive(Debug, Deserialize)]
pub(super) struct Pressed {
    pub(super) message_id: i64,
    pub(super) chat: Chat,
    pub(super) message_thread_id: Option<i64>,
    #[serde(default)]
    pub(super) is_topic_message: bool,
    pub(super) direct_messages_topic: Option<DirectTopic>,
}

/// "MessageReactionUpdated".
#[derive(Debug, Deserialize)]
pub(super) struct MessageReaction {
    pub(super) chat: Chat,
    pub(super) message_id: i64,
    pub(super) user: Option<User>,
    pub(super) actor_chat: Option<Chat>,
    pub(super) date: i64,
    #[serde(default)]
    pub(super) old_reaction: Vec<ReactionType>,
    #[serde(default)]
    pub(super) new_reaction: Vec<ReactionType>,
}

/// "ReactionType".
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ReactionType {
    Emoji {
        emoji: String,
    },
    CustomEmoji {
        custom_emoji_id: String,
    },
    /// With money, or a word of a later API.
    #[serde(other)]
    Other,
}

/// "ChatMemberUpdated", about ourselves.
#[derive(Debug, Deserialize)]
pub(super) struct MemberChange {
    pub(super) chat: Chat,
    pub(super) from: User,
    pub(super) date: i64,
    pub(super) old_chat_member: Member,
    pub(super) new_chat_member: Member,
}

/// "ChatMember".
#[derive(Debug, Deserialize)]
pub(super) struct Member {
    pub(super) status: String,
    pub(super) is_member: Option<bool>,
}

/// "WebhookInfo".
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WebhookState {
    pub(super) url: String,
    pub(super) pending_update_count: u64,
    pub(super) last_error_date: Option<i64>,
    pub(super) last_error_message: Option<String>,
}

/// "File": where something can be fetched for an hour.
#[derive(Debug, Deserialize)]
pub(super) struct Stored {
    pub(super) file_size: Option<u64>,
    pub(super) file_path: Option<String>,
}

/// A message that is there, of "Message".
#[derive(Debug, Deserialize)]
pub(super) struct Sent {
    pub(super) message_id: i64,
}

/// "ForumTopic".
#[derive(Debug, Deserialize)]
pub(super) struct ForumTopic {
    pub(super) message_thread_id: i64,
}
