//! From a part to a request.
//!
//! Pure: a part in, a body out. Nobody is ever notified by what an agent writes: `allowed_mentions` is empty.

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use talaria_domain::adapter::{Outgoing, TextForm};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::capabilities::{TextLimit, TextUnit};
use talaria_domain::delivery::{Outcome, PartBody, Rejection};
use talaria_domain::ids::PartId;
use talaria_domain::names::ThreadId;
use talaria_domain::question::{Button, Choice, Prompt, TokenHash};

use super::channels::kind;

/// How much text fits into a message ("Message Resource", create message). Discord's API counts code points
/// (discord-api-docs, issue 1315).
pub(super) const LIMIT: TextLimit = TextLimit {
    max: 2_000,
    unit: TextUnit::Chars,
};
/// "Component Reference": what a button may carry, what it may say, how many are in a row, how many rows there are.
const MOST_CARRIED: usize = 100;
const MOST_LABEL: usize = 80;
const ROW: usize = 5;
const MOST_ROWS: usize = 5;
/// "Channel Resource", start thread.
const MOST_THREAD_NAME: usize = 100;
const DAY_IN_MINUTES: u32 = 1_440;
const ACTION_ROW: u8 = 1;
const BUTTON: u8 = 2;
/// "Button styles": secondary, success, danger.
const GREY: u8 = 2;
const GREEN: u8 = 3;
const RED: u8 = 4;

/// The channel that something to this address is sent to: the thread, if there is one.
pub(super) fn channel(to: &Address) -> &str {
    to.thread
        .as_ref()
        .map_or(to.chat.as_str(), ThreadId::as_str)
}

/// A message that shows this part.
pub(super) fn message(outgoing: &Outgoing) -> Result<Value, Outcome> {
    let mut body = change(outgoing)?;
    body["nonce"] = json!(nonce(outgoing.part.id));
    body["enforce_nonce"] = json!(true);
    if let Some(anchor) = &outgoing.to.reply_to {
        // The anchor may be gone by now; the answer is still one.
        body["message_reference"] =
            json!({ "message_id": anchor.as_str(), "fail_if_not_exists": false });
    }
    Ok(body)
}

/// What makes a message that is there show this part.
pub(super) fn change(outgoing: &Outgoing) -> Result<Value, Outcome> {
    let (text, file) = match &outgoing.part.body {
        PartBody::Text { markdown } => (markdown, None),
        PartBody::File {
            attachment,
            caption,
        } => {
            if outgoing.file.is_none() {
                return Err(Outcome::Rejected {
                    class: Rejection::Invalid,
                    detail: "the file is not there".to_owned(),
                });
            }
            (caption, Some(attachment))
        }
    };
    let mut body = json!({
        "content": render(text, outgoing.form),
        "allowed_mentions": { "parse": [], "replied_user": false },
        "components": outgoing.prompt.as_ref().map(rows).unwrap_or_default(),
    });
    if let Some(file) = file {
        let name = file_name(file.file_name.as_deref());
        body["attachments"] = json!([{ "id": 0, "filename": name }]);
    }
    Ok(body)
}

/// A file's name, as it may be shown.
pub(super) fn file_name(name: Option<&str>) -> String {
    let plain = |c: char| !c.is_control() && !matches!(c, '"' | '\\' | '/');
    let name: String = name
        .unwrap_or_default()
        .chars()
        .filter(|c| plain(*c))
        .collect();
    if name.trim().is_empty() {
        "file".to_owned()
    } else {
        name
    }
}

fn render(markdown: &str, form: TextForm) -> String {
    match form {
        TextForm::Markdown | TextForm::Plain => markdown.to_owned(),
    }
}

/// The part's id within 25 characters. Discord looks at it for a few minutes only, which is why sends are not called
/// idempotent: after a longer while the placeholder that is then filled is what keeps an answer from being doubled.
fn nonce(part: PartId) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(part.as_bytes())
}

fn rows(prompt: &Prompt) -> Vec<Value> {
    let token = prompt.token.expose();
    let buttons: Vec<Value> = prompt
        .buttons
        .iter()
        .enumerate()
        .take(ROW * MOST_ROWS)
        .map(|(at, button)| {
            json!({
                "type": BUTTON,
                "style": style(&button.choice),
                "label": shortened(&button.label, MOST_LABEL),
                "custom_id": carries(token, at, button),
            })
        })
        .collect();
    let rows = buttons.chunks(ROW);
    rows.map(|row| json!({ "type": ACTION_ROW, "components": row }))
        .collect()
}

const fn style(choice: &Choice) -> u8 {
    match choice {
        Choice::Approve => GREEN,
        Choice::Deny => RED,
        Choice::Answer { .. } => GREY,
    }
}

/// What a button carries: the token, and what pressing it means. An answer is carried by its name, because the name of
/// one may be the number of another; by its number, from one, where the name is too long.
fn carries(token: &str, at: usize, button: &Button) -> String {
    match &button.choice {
        Choice::Approve => format!("{token}:y"),
        Choice::Deny => format!("{token}:n"),
        Choice::Answer { text } => {
            let named = format!("{token}:={text}");
            if named.chars().count() <= MOST_CARRIED {
                named
            } else {
                format!("{token}:#{}", at + 1)
            }
        }
    }
}

/// What a button that was pressed carried, if it is one of ours.
pub(super) fn carried(custom_id: &str) -> Option<(TokenHash, Choice)> {
    let (token, meaning) = custom_id.split_once(':')?;
    let answer = |text: &str| Choice::Answer {
        text: text.to_owned(),
    };
    let choice = match (meaning.get(..1)?, meaning.get(1..)?) {
        ("y", "") => Choice::Approve,
        ("n", "") => Choice::Deny,
        ("=" | "#", text) => answer(text),
        _ => return None,
    };
    Some((TokenHash::of(token), choice))
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept = text.chars().take(most.saturating_sub(1));
    kept.chain(['…']).collect()
}

/// A thread below this place: what is asked, and of which message, if it begins at one. None where there are none.
pub(super) fn thread<'a>(parent: &'a Address, name: &str) -> Option<(Value, Option<&'a str>)> {
    let name = shortened(name.trim(), MOST_THREAD_NAME);
    let name = if name.is_empty() {
        "…".to_owned()
    } else {
        name
    };
    let mut body = json!({ "name": name, "auto_archive_duration": DAY_IN_MINUTES });
    match parent.chat_kind {
        ChatKind::Direct | ChatKind::Webhook => return None,
        ChatKind::Forum => body["message"] = json!({ "content": name }),
        ChatKind::Channel => body["type"] = json!(kind::ANNOUNCEMENT_THREAD),
        ChatKind::Group | ChatKind::Thread => body["type"] = json!(kind::PUBLIC_THREAD),
    }
    // A message of a thread cannot begin another; Discord has no threads in threads.
    let is_room = matches!(parent.chat_kind, ChatKind::Group | ChatKind::Channel);
    let anchor = parent.reply_to.as_ref().filter(|_| is_room);
    let anchor = anchor.map(talaria_domain::names::MessageId::as_str);
    Some((body, anchor))
}
