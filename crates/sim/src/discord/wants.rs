//! What a bot wants to be there, and why it may not: Discord's limits and its error bodies ("Opcodes and Status Codes",
//! "Message Resource", "Component Reference").
//!
//! Pure: a body in, a message or a refusal out.

use serde::Deserialize;
use serde_json::{Value, json};
use talaria_domain::clock::Timestamp;

use super::form;
use super::render;
use super::world::{Bot, Letter, World};
use crate::vendor::{File, Post};

/// How much text fits, in code points.
const LIMIT: usize = 2_000;
const MOST_BYTES: usize = 10 * 1024 * 1024;
/// How long a channel remembers what was written.
const WINDOW_MILLIS: i64 = 5_000;

/// A no.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct No {
    pub(super) status: u16,
    pub(super) body: Value,
}

impl No {
    pub(super) fn of(status: u16, code: i64, message: &str) -> Self {
        let body = json!({ "message": message, "code": code });
        Self { status, body }
    }

    pub(super) fn channel() -> Self {
        Self::of(404, 10_003, "Unknown Channel")
    }

    pub(super) fn message() -> Self {
        Self::of(404, 10_008, "Unknown Message")
    }

    /// A form that is wrong in one field.
    pub(super) fn form(field: &str, code: &str, message: &str) -> Self {
        let errors = json!({ field: { "_errors": [{ "code": code, "message": message }] } });
        let body = json!({ "message": "Invalid Form Body", "code": 50035, "errors": errors });
        Self { status: 400, body }
    }

    pub(super) fn limited(seconds: f64, is_global: bool) -> Self {
        let message = "You are being rate limited.";
        let body = json!({ "message": message, "retry_after": seconds, "global": is_global });
        Self { status: 429, body }
    }

    /// A no that a fault asks for, by its status and code.
    pub(super) fn ordered(status: u16, code: &str, retry_after: Option<u64>) -> Self {
        let seconds = retry_after
            .and_then(|it| u32::try_from(it).ok())
            .unwrap_or(1);
        match (status, code) {
            (429, code) => Self::limited(f64::from(seconds), code == "global"),
            (400, "too_long") => too_long(),
            (status, code) => {
                let number = code.parse().ok();
                let number = number.unwrap_or(match status {
                    403 => 50_013,
                    404 => 10_003,
                    400 => 50_035,
                    _ => 0,
                });
                let is_number = code.parse::<i64>().is_ok() || code.is_empty();
                let known = known(number).filter(|_| is_number);
                let words = known.map_or_else(|| format!("{status}: {code}"), str::to_owned);
                Self::of(status, number, words.trim_end_matches(": "))
            }
        }
    }
}

fn known(code: i64) -> Option<&'static str> {
    Some(match code {
        10_003 => "Unknown Channel",
        10_008 => "Unknown Message",
        50_001 => "Missing Access",
        50_007 => "Cannot send messages to this user",
        50_013 => "Missing Permissions",
        50_035 => "Invalid Form Body",
        50_083 => "Thread is archived",
        _ => return None,
    })
}

fn too_long() -> No {
    let message = "Must be 2000 or fewer in length.";
    No::form("content", "BASE_TYPE_MAX_LENGTH", message)
}

/// What a bot wants.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    content: Option<String>,
    nonce: Option<Value>,
    enforce_nonce: bool,
    components: Option<Vec<Row>>,
    message_reference: Option<Reference>,
    allowed_mentions: Option<Value>,
    #[serde(skip)]
    files: Vec<File>,
}

#[derive(Debug, Deserialize)]
struct Row {
    #[serde(default)]
    components: Vec<Button>,
}

#[derive(Debug, Deserialize)]
struct Button {
    #[serde(default)]
    label: String,
    #[serde(default)]
    custom_id: String,
}

#[derive(Debug, Deserialize)]
struct Reference {
    message_id: Value,
    #[serde(default = "yes")]
    fail_if_not_exists: bool,
}

/// An id as a text: Discord takes numbers as well.
pub(super) fn snowflake(id: &Value) -> String {
    match id {
        Value::String(id) => id.clone(),
        other => other.to_string(),
    }
}

const fn yes() -> bool {
    true
}

impl Wanted {
    /// Reads a body: JSON, or a form with files.
    pub(super) fn read(media_type: &str, body: &[u8]) -> Result<Self, No> {
        let malformed = || No::of(400, 50_109, "The request body contains invalid JSON.");
        if !media_type.starts_with("multipart/") {
            return serde_json::from_slice(body).map_err(|_| malformed());
        }
        let fields = form::fields(media_type, body).ok_or_else(malformed)?;
        let mut wanted = Self::default();
        let mut files = Vec::new();
        for field in fields {
            if field.name == "payload_json" {
                wanted = serde_json::from_slice(&field.content).map_err(|_| malformed())?;
            } else if let Some(name) = field.file_name {
                if field.content.len() > MOST_BYTES {
                    return Err(No::of(413, 40_005, "Request entity too large"));
                }
                files.push(File {
                    name,
                    media_type: field.media_type.unwrap_or_default(),
                    content: String::from_utf8_lossy(&field.content).into_owned(),
                });
            }
        }
        wanted.files = files;
        Ok(wanted)
    }

    fn buttons(&self) -> Vec<(String, String)> {
        let rows = self.components.iter().flatten();
        let buttons = rows.flat_map(|row| &row.components);
        let pair = |button: &Button| (button.label.clone(), button.custom_id.clone());
        buttons.map(pair).collect()
    }

    fn check(&self) -> Result<(), No> {
        let text = self.content.as_deref().unwrap_or_default();
        if text.chars().count() > LIMIT {
            return Err(too_long());
        }
        let nonce = self.nonce.as_ref().and_then(Value::as_str);
        if nonce.is_some_and(|nonce| nonce.chars().count() > 25) {
            let message = "Must be 25 or fewer in length.";
            return Err(No::form("nonce", "BASE_TYPE_MAX_LENGTH", message));
        }
        let rows: Vec<_> = self.components.iter().flatten().collect();
        let is_crowded = rows.len() > 5 || rows.iter().any(|row| row.components.len() > 5);
        let mut carried: Vec<_> = self.buttons().into_iter().map(|(_, it)| it).collect();
        let is_long = carried.iter().any(|it| it.chars().count() > 100);
        let is_wordy = self
            .buttons()
            .iter()
            .any(|(label, _)| label.chars().count() > 80);
        let count = carried.len();
        carried.sort();
        carried.dedup();
        if is_crowded || is_long || is_wordy || carried.len() < count {
            let message = "The components are not as they have to be";
            return Err(No::form("components", "COMPONENT_INVALID", message));
        }
        Ok(())
    }
}

impl World {
    /// A bot writes; gives the message.
    pub(super) fn post(
        &mut self,
        bot: &Bot,
        channel: &str,
        wanted: Wanted,
        at: Timestamp,
    ) -> Result<Value, No> {
        let place = self.channels.get(channel).ok_or_else(No::channel)?.clone();
        if matches!(place.kind, 15 | 16) {
            return Err(No::of(
                400,
                50_008,
                "Cannot send messages in a non-text channel",
            ));
        }
        wanted.check()?;
        let text = wanted.content.clone().unwrap_or_default();
        if text.trim().is_empty() && wanted.files.is_empty() {
            return Err(No::of(400, 50_006, "Cannot send an empty message"));
        }
        let nonce = wanted
            .nonce
            .as_ref()
            .map(|nonce| (bot.id.clone(), nonce.to_string()));
        let known = nonce.as_ref().filter(|_| wanted.enforce_nonce);
        if let Some(id) = known.and_then(|nonce| self.nonces.get(nonce)) {
            return render::message(self, bot, id).ok_or_else(No::message);
        }
        let reply_to = self.anchor(wanted.message_reference.as_ref())?;
        self.pace(channel, at)?;
        let above = place.parent.as_ref().and_then(|id| self.channels.get(id));
        let (chat, thread) = match above {
            Some(above) => (above.key.clone(), Some(place.key)),
            None => (place.key, None),
        };
        let mentions = wanted.allowed_mentions.as_ref();
        let id = self.room.post(Post {
            chat,
            thread,
            sender: bot.id.clone(),
            reply_to,
            text,
            format: mentions.map(ToString::to_string),
            buttons: wanted.buttons(),
            file: wanted.files.into_iter().next(),
        });
        nonce.and_then(|nonce| self.nonces.insert(nonce, id.clone()));
        self.file(
            &id,
            Letter {
                at,
                edited_at: None,
                channel: channel.to_owned(),
                written: None,
                nonce: wanted.nonce,
            },
        );
        self.tell_of_message("MESSAGE_CREATE", &id, None);
        render::message(self, bot, &id).ok_or_else(No::message)
    }

    fn anchor(&self, reference: Option<&Reference>) -> Result<Option<String>, No> {
        let Some(reference) = reference else {
            return Ok(None);
        };
        let id = snowflake(&reference.message_id);
        let is_there = self.room.message(&id).is_some();
        if !is_there && reference.fail_if_not_exists {
            let message = "Unknown message";
            return Err(No::form(
                "message_reference",
                "REPLIES_UNKNOWN_MESSAGE",
                message,
            ));
        }
        Ok(is_there.then_some(id))
    }

    /// Discord's limit for a channel, where there is one.
    fn pace(&mut self, channel: &str, at: Timestamp) -> Result<(), No> {
        let Some(limit) = self.terms.limit else {
            return Ok(());
        };
        let paces = self.paces.entry(channel.to_owned()).or_default();
        paces.retain(|other| at.as_millis() - other.as_millis() < WINDOW_MILLIS);
        if paces.len() >= usize::try_from(limit).unwrap_or(usize::MAX) {
            return Err(No::limited(5.0, false));
        }
        paces.push(at);
        Ok(())
    }

    /// How many messages a channel still takes, of how many, where there is a limit.
    pub(super) fn left(&self, channel: &str) -> Option<(u32, u32)> {
        let limit = self.terms.limit?;
        let used = self.paces.get(channel).map_or(0, Vec::len);
        let used = u32::try_from(used).unwrap_or(u32::MAX);
        Some((limit.saturating_sub(used), limit))
    }

    /// A bot changes what it wrote; gives the message.
    pub(super) fn change(
        &mut self,
        bot: &Bot,
        id: &str,
        wanted: Wanted,
        at: Timestamp,
    ) -> Result<Value, No> {
        wanted.check()?;
        let shown = self.room.message(id).ok_or_else(No::message)?;
        if shown.sender != bot.id {
            let words = "Cannot edit a message authored by another user";
            return Err(No::of(403, 50_005, words));
        }
        let buttons = wanted.components.is_some().then(|| wanted.buttons());
        self.room.change(id, &bot.id, |shown| {
            shown.text = wanted.content.unwrap_or_else(|| shown.text.clone());
            shown.buttons = buttons.unwrap_or_else(|| shown.buttons.clone());
            shown.file = wanted
                .files
                .into_iter()
                .next()
                .or_else(|| shown.file.clone());
        });
        if let Some(letter) = self.letters.get_mut(id) {
            letter.edited_at = Some(at);
        }
        self.tell_of_message("MESSAGE_UPDATE", id, None);
        render::message(self, bot, id).ok_or_else(No::message)
    }
}
