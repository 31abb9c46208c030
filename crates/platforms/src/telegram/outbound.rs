//! From a part to requests.
//!
//! Pure: a part in, requests out. **Invariant:** whatever is sent carries its thread; nothing is sent somewhere else
//! because its own place is gone.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};
use talaria_domain::adapter::{Mark, Outgoing, TextForm};
use talaria_domain::address::Address;
use talaria_domain::capabilities::{TextLimit, TextUnit};
use talaria_domain::delivery::{Outcome, PartBody, Rejection, ReplyKind};
use talaria_domain::event::{Attachment, AttachmentKind, ReactionChange};
use talaria_domain::names::{MessageId, ThreadId};
use talaria_domain::question::{Button, Choice, Prompt};

use super::inbound::{BELOW_CHANNEL, GENERAL};
use crate::markup::{Dialect, fit};
use crate::split::split;

/// How much text a message takes, after its markup is read ("sendMessage").
pub(super) const TEXT_LIMIT: TextLimit = TextLimit {
    max: 4_096,
    unit: TextUnit::Utf16,
};
/// How much text a file takes beside it ("sendDocument").
const CAPTION_LIMIT: TextLimit = TextLimit {
    max: 1_024,
    unit: TextUnit::Utf16,
};
/// The largest file that a bot may send ("Sending files").
pub(super) const MOST_BYTES: u64 = 50 * 1024 * 1024;
/// The largest file that is taken as a picture.
const MOST_PICTURE_BYTES: u64 = 10 * 1024 * 1024;
/// How many buttons stand beside each other: more are too narrow to read on a phone.
const BUTTONS_IN_A_ROW: usize = 2;
/// The longest label that shares a row.
const SHORT_LABEL: usize = 16;

/// A method and what it is called with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Request {
    pub(super) method: &'static str,
    pub(super) fields: Map<String, Value>,
    /// The file that goes with it.
    pub(super) upload: Option<Upload>,
}

/// A file on its way, but for what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Upload {
    /// The field that it is.
    pub(super) field: &'static str,
    pub(super) file_name: String,
    pub(super) media_type: String,
}

impl Request {
    pub(super) fn of<const N: usize>(method: &'static str, fields: [(&str, Value); N]) -> Self {
        let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        Self {
            method,
            fields: fields.collect(),
            upload: None,
        }
    }

    /// The same in the chat that a group has become. Messages have other numbers there, so there is nothing to be
    /// anchored to.
    pub(super) fn moved_to(mut self, chat: i64) -> Self {
        self.fields.insert("chat_id".to_owned(), chat.into());
        self.fields.remove("reply_parameters");
        self
    }

    /// The same file, not as a picture.
    pub(super) fn as_document(mut self) -> Self {
        self.method = "sendDocument";
        if let Some(upload) = &mut self.upload {
            upload.field = "document";
        }
        self
    }
}

/// The requests that make this part visible, in order, or why there are none. `size` is that of the file.
pub(super) fn messages(outgoing: &Outgoing, size: u64) -> Result<Vec<Request>, Outcome> {
    match &outgoing.part.body {
        PartBody::Text { markdown } => Ok(vec![with_buttons(text(outgoing, markdown), outgoing)]),
        PartBody::File {
            attachment,
            caption,
        } => file(outgoing, (attachment, size), caption),
    }
}

fn text(outgoing: &Outgoing, markdown: &str) -> Request {
    let shown = shown(markdown, outgoing.form, TEXT_LIMIT);
    let mut request = Request::of(
        "sendMessage",
        [
            ("chat_id", chat(&outgoing.to)),
            ("text", shown.text.into()),
            ("parse_mode", shown.parse_mode),
            ("link_preview_options", json!({ "is_disabled": true })),
        ],
    );
    request.fields.extend(place(outgoing));
    request
}

fn file(
    outgoing: &Outgoing,
    (attachment, size): (&Attachment, u64),
    caption: &str,
) -> Result<Vec<Request>, Outcome> {
    if size > MOST_BYTES {
        return Err(invalid(format!(
            "the file has {size} bytes, and at most {MOST_BYTES} can be sent"
        )));
    }
    let (method, field) = way(attachment, size);
    let mut request = Request::of(method, [("chat_id", chat(&outgoing.to))]);
    request.fields.extend(place(outgoing));
    request.upload = Some(upload(attachment, field));
    let beside = shown(caption, outgoing.form, CAPTION_LIMIT);
    if CAPTION_LIMIT.unit.measure(caption) <= CAPTION_LIMIT.max {
        if !caption.is_empty() {
            let fields = [
                ("caption", beside.text.into()),
                ("parse_mode", beside.parse_mode),
            ];
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            let fields = fields.map(|(name, value)| (name.to_owned(), value));
            request.fields.extend(fields);
        }
        return Ok(vec![with_buttons(request, outgoing)]);
    }
    // What does not fit beside the file follows it, whole.
    let pieces = split(caption, TEXT_LIMIT);
    let last = pieces.len().saturating_sub(1);
    let following = pieces.iter().enumerate().map(|(at, piece)| {
        let request = text(outgoing, &piece.render(caption));
        if at == last {
            with_buttons(request, outgoing)
        } else {
            request
        }
    });
    Ok(std::iter::once(request).chain(following).collect())
}

/// The request that makes a message show this part.
pub(super) fn change(outgoing: &Outgoing, (chat, message): (Value, i64)) -> Request {
    let (method, field, markdown, limit) = match &outgoing.part.body {
        PartBody::Text { markdown } => ("editMessageText", "text", markdown, TEXT_LIMIT),
        PartBody::File { caption, .. } => ("editMessageCaption", "caption", caption, CAPTION_LIMIT),
    };
    let shown = shown(markdown, outgoing.form, limit);
    let preview = json!({ "is_disabled": true });
    let preview = if field == "text" {
        preview
    } else {
        Value::Null
    };
    let request = Request::of(
        method,
        [
            ("chat_id", chat),
            ("message_id", message.into()),
            (field, shown.text.into()),
            ("parse_mode", shown.parse_mode),
            ("link_preview_options", preview),
        ],
    );
    with_buttons(request, outgoing)
}

/// The request that shows a typing sign. A forum's General topic has to be named here, and must not be elsewhere.
pub(super) fn typing(at: &Address) -> Request {
    let mut request = Request::of(
        "sendChatAction",
        [("chat_id", chat(at)), ("action", "typing".into())],
    );
    // There is no parameter for a thread below a channel.
    let thread = at.thread.as_ref().and_then(topic);
    if let Some(thread) = thread {
        request
            .fields
            .insert("message_thread_id".to_owned(), thread.into());
    }
    request
}

/// The request that puts a mark on a message, or takes ours away. There is at most one of a bot ("setMessageReaction").
pub(super) fn mark((at, message): (&Address, i64), mark: Mark, change: ReactionChange) -> Request {
    let marks = match change {
        ReactionChange::Added => json!([{ "type": "emoji", "emoji": picture(mark) }]),
        ReactionChange::Removed => json!([]),
    };
    Request::of(
        "setMessageReaction",
        [
            ("chat_id", chat(at)),
            ("message_id", message.into()),
            ("reaction", marks),
        ],
    )
}

/// One of those that "ReactionTypeEmoji" lists.
const fn picture(mark: Mark) -> &'static str {
    match mark {
        Mark::Seen => "👀",
        Mark::Done => "👍",
        Mark::Failed => "👎",
    }
}

/// The request that opens a topic. Its name has 1 to 128 characters ("createForumTopic").
pub(super) fn open(parent: &Address, name: &str) -> Request {
    let name = name.trim();
    let name = if name.is_empty() { "New topic" } else { name };
    let name: String = name.chars().take(128).collect();
    Request::of(
        "createForumTopic",
        [("chat_id", chat(parent)), ("name", name.into())],
    )
}

/// The chat as the API wants it: a number, or the name of a public one.
pub(super) fn chat(at: &Address) -> Value {
    let chat = at.chat.as_str();
    chat.parse()
        .map_or_else(|_| Value::from(chat), |id: i64| id.into())
}

/// A topic's number.
fn topic(thread: &ThreadId) -> Option<i64> {
    thread.as_str().parse().ok()
}

/// Thread, anchor and loudness: the same for everything that is sent.
fn place(outgoing: &Outgoing) -> Map<String, Value> {
    let to = &outgoing.to;
    let mut fields = Map::new();
    if let Some(thread) = &to.thread {
        if let Some(below) = thread.as_str().strip_prefix(BELOW_CHANNEL) {
            let id: Value = below
                .parse::<i64>()
                .map_or_else(|_| below.into(), Into::into);
            fields.insert("direct_messages_topic_id".to_owned(), id);
        } else if thread.as_str() != GENERAL {
            let id = topic(thread).map_or_else(|| thread.as_str().into(), Value::from);
            fields.insert("message_thread_id".to_owned(), id);
        }
    }
    let anchor = to.reply_to.as_ref().map(MessageId::as_str);
    if let Some(anchor) = anchor.and_then(|id| id.parse::<i64>().ok()) {
        // A question that was deleted is no reason not to answer it.
        let anchor = json!({ "message_id": anchor, "allow_sending_without_reply": true });
        fields.insert("reply_parameters".to_owned(), anchor);
    }
    if outgoing.kind == ReplyKind::Progress {
        fields.insert("disable_notification".to_owned(), true.into());
    }
    fields
}

/// A text in the platform's dialect.
struct Dressed {
    text: String,
    /// Null for plain text.
    parse_mode: Value,
}

fn shown(markdown: &str, form: TextForm, limit: TextLimit) -> Dressed {
    match form {
        TextForm::Markdown => Dressed {
            text: fit(markdown, Dialect::Html, limit).text,
            parse_mode: "HTML".into(),
        },
        TextForm::Plain => Dressed {
            text: markdown.to_owned(),
            parse_mode: Value::Null,
        },
    }
}

/// Which method sends a file of this kind, and as which field. What a method does not take goes as a document.
fn way(attachment: &Attachment, size: u64) -> (&'static str, &'static str) {
    let media_type = attachment.media_type.as_deref().unwrap_or_default();
    let document = ("sendDocument", "document");
    match (attachment.kind, media_type) {
        (AttachmentKind::Image, "image/jpeg" | "image/png" | "image/webp" | "")
            if size <= MOST_PICTURE_BYTES =>
        {
            ("sendPhoto", "photo")
        }
        (AttachmentKind::Voice, "audio/ogg" | "audio/mpeg" | "audio/mp4" | "") => {
            ("sendVoice", "voice")
        }
        (AttachmentKind::Audio, "audio/mpeg" | "audio/mp4") => ("sendAudio", "audio"),
        (AttachmentKind::Video, "video/mp4" | "") => ("sendVideo", "video"),
        _ => document,
    }
}

fn upload(attachment: &Attachment, field: &'static str) -> Upload {
    let name = attachment.file_name.as_deref().unwrap_or_default();
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    let name = if name.is_empty() { "file" } else { name };
    let media_type = attachment.media_type.as_deref();
    let is_header = |text: &&str| text.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    let media_type = media_type.filter(|text| !text.is_empty()).filter(is_header);
    Upload {
        field,
        file_name: name.to_owned(),
        media_type: media_type.unwrap_or("application/octet-stream").to_owned(),
    }
}

fn with_buttons(mut request: Request, outgoing: &Outgoing) -> Request {
    if let Some(prompt) = &outgoing.prompt {
        request
            .fields
            .insert("reply_markup".to_owned(), keyboard(prompt));
    }
    request
}

fn keyboard(prompt: &Prompt) -> Value {
    let short = |button: &Button| button.label.chars().count() <= SHORT_LABEL;
    let in_a_row = if prompt.buttons.iter().all(short) {
        BUTTONS_IN_A_ROW
    } else {
        1
    };
    let buttons: Vec<Value> = prompt.buttons.iter().zip(1..).map(|(button, number)| {
        json!({ "text": button.label, "callback_data": carry(prompt, &button.choice, number) })
    }).collect();
    let rows: Vec<Value> = buttons
        .chunks(in_a_row)
        .map(|row| Value::from(row.to_vec()))
        .collect();
    json!({ "inline_keyboard": rows })
}

/// What a button carries: the token and which choice it is, in 64 bytes ("InlineKeyboardButton").
fn carry(prompt: &Prompt, choice: &Choice, number: usize) -> String {
    let token = prompt.token.expose();
    match choice {
        Choice::Approve => format!("{token}:yes"),
        Choice::Deny => format!("{token}:no"),
        Choice::Answer { .. } => format!("{token}:{number}"),
    }
}

/// The token and the choice that a button carried; none if it is none of ours.
pub(super) fn carried(carried: &str) -> Option<(&str, Choice)> {
    let (token, choice) = carried.split_once(':')?;
    let is_token = token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    let choice = match choice {
        "yes" => Choice::Approve,
        "no" => Choice::Deny,
        number => {
            number.parse::<u16>().ok()?;
            // Choices are known by their number as well as by their name, which may be too long for a button.
            let text = number.to_owned();
            Choice::Answer { text }
        }
    };
    is_token.then_some((token, choice))
}

/// A no of our own.
pub(super) fn invalid(detail: String) -> Outcome {
    Outcome::Rejected {
        class: Rejection::Invalid,
        detail,
    }
}
