//! From a part to a request. Everything carries its thread: text, buttons and files.
//!
//! Pure: a part in, a message out.

#[cfg(test)]
mod tests;

use serde_json::{Value, json};
use talaria_domain::adapter::{Mark, Outgoing, TextForm};
use talaria_domain::capabilities::{TextLimit, TextUnit};
use talaria_domain::delivery::{Outcome, PartBody, Rejection};
use talaria_domain::names::{MessageId, ThreadId};
use talaria_domain::question::{Button, Choice, Prompt, TokenHash};

use super::text::escaped;
use super::wire::Message;
use crate::markup::{Dialect, fit};

/// Slack advises 4,000 characters and cuts at 40,000 ("chat.postMessage").
pub(super) const TEXT_LIMIT: TextLimit = TextLimit {
    max: 3_900,
    unit: TextUnit::Chars,
};
/// What a section holds ("Section block").
const MOST_SECTION_CHARS: usize = 3_000;
/// What a row of buttons holds ("Actions block").
const MOST_ROW: usize = 25;
/// What a button can say and carry ("Button element").
const MOST_LABEL_CHARS: usize = 75;
const MOST_VALUE_CHARS: usize = 2_000;
/// How our buttons are known among others.
const ACTION: &str = "talaria.";

/// Whether a message is new.
#[derive(Debug, Clone, Copy)]
pub(super) enum Post<'a> {
    /// It is.
    Send,
    /// It takes the place of this one.
    Change(&'a MessageId),
}

/// The message that shows this part, or why there is none.
pub(super) fn message(
    outgoing: &Outgoing,
    channel: &str,
    post: Post<'_>,
) -> Result<Message, Outcome> {
    let PartBody::Text { markdown } = &outgoing.part.body else {
        return Err(Outcome::Rejected {
            class: Rejection::Invalid,
            detail: "a file that is there cannot be changed".to_owned(),
        });
    };
    let text = rendered(markdown, outgoing.form);
    let blocks = outgoing
        .prompt
        .as_ref()
        .map(|prompt| with_buttons(&text, outgoing.form, prompt));
    let (ts, blocks) = match post {
        Post::Send => (None, blocks),
        // Buttons that nobody is to press any more have to be taken away.
        Post::Change(id) => (
            Some(id.as_str().to_owned()),
            Some(blocks.unwrap_or_default()),
        ),
    };
    Ok(Message {
        ts,
        thread_ts: thread(outgoing),
        blocks,
        mrkdwn: outgoing.form == TextForm::Markdown,
        ..plain(channel, text)
    })
}

/// The message that a thread begins with.
pub(super) fn opening(channel: &str, name: &str) -> Message {
    plain(channel, escaped(name))
}

fn plain(channel: &str, text: String) -> Message {
    Message {
        channel: channel.to_owned(),
        text,
        parse: "none",
        ..Message::default()
    }
}

/// What is said with a file.
pub(super) fn sharing(outgoing: &Outgoing, channel: &str, (file, title): (&str, &str)) -> Value {
    let caption = match &outgoing.part.body {
        PartBody::File { caption, .. } => rendered(caption, outgoing.form),
        PartBody::Text { markdown } => rendered(markdown, outgoing.form),
    };
    let mut asked = json!({
        "files": [{ "id": file, "title": title }],
        "channel_id": channel,
    });
    if let Some(thread) = thread(outgoing) {
        asked["thread_ts"] = thread.into();
    }
    match &outgoing.prompt {
        // Either words or blocks: with words, blocks are not looked at.
        Some(prompt) => asked["blocks"] = with_buttons(&caption, outgoing.form, prompt).into(),
        None if !caption.is_empty() => asked["initial_comment"] = caption.into(),
        None => {}
    }
    asked
}

fn thread(outgoing: &Outgoing) -> Option<String> {
    let thread = outgoing.to.thread.as_ref().map(ThreadId::as_str);
    thread.map(str::to_owned)
}

/// The text in Slack's own dialect.
fn rendered(markdown: &str, form: TextForm) -> String {
    match form {
        TextForm::Markdown => fit(markdown, Dialect::Mrkdwn, TEXT_LIMIT).text,
        TextForm::Plain => escaped(markdown),
    }
}

fn with_buttons(text: &str, form: TextForm, prompt: &Prompt) -> Vec<Value> {
    let kind = match form {
        TextForm::Markdown => "mrkdwn",
        TextForm::Plain => "plain_text",
    };
    let section = |text: &str| json!({ "type": "section", "text": { "type": kind, "text": text } });
    let buttons: Vec<_> = prompt.buttons.iter().enumerate().collect();
    let row = |row: &[(usize, &Button)]| {
        let buttons = row.iter().map(|(at, it)| button(*at, it, prompt));
        json!({ "type": "actions", "elements": buttons.collect::<Vec<_>>() })
    };
    let sections = sections(text).into_iter().map(section);
    sections.chain(buttons.chunks(MOST_ROW).map(row)).collect()
}

fn button(at: usize, button: &Button, prompt: &Prompt) -> Value {
    let mut wanted = json!({
        "type": "button",
        "text": { "type": "plain_text", "text": shortened(&button.label) },
        "action_id": format!("{ACTION}{at}"),
        "value": value(at, &button.choice, prompt),
    });
    match button.choice {
        Choice::Approve => wanted["style"] = "primary".into(),
        Choice::Deny => wanted["style"] = "danger".into(),
        Choice::Answer { .. } => {}
    }
    wanted
}

/// The token, and what is chosen: in words, or by its number where the words are too long.
fn value(at: usize, choice: &Choice, prompt: &Prompt) -> String {
    let token = prompt.token.expose();
    let value = match choice {
        Choice::Approve => return format!("{token} yes"),
        Choice::Deny => return format!("{token} no"),
        Choice::Answer { text } => format!("{token} ={text}"),
    };
    if value.chars().count() > MOST_VALUE_CHARS {
        return format!("{token} ={}", at + 1);
    }
    value
}

/// What a button of ours carried.
pub(super) fn carried(action: &str, value: &str) -> Option<(TokenHash, Choice)> {
    action.strip_prefix(ACTION)?;
    let (token, choice) = value.split_once(' ')?;
    let choice = match (choice, choice.strip_prefix('=')) {
        ("yes", _) => Choice::Approve,
        ("no", _) => Choice::Deny,
        (_, Some(text)) => Choice::Answer {
            text: text.to_owned(),
        },
        _ => return None,
    };
    Some((TokenHash::of(token), choice))
}

fn shortened(label: &str) -> String {
    if label.chars().count() <= MOST_LABEL_CHARS {
        return label.to_owned();
    }
    let kept = label.chars().take(MOST_LABEL_CHARS - 1);
    kept.chain(['…']).collect()
}

/// A text in pieces that a section holds, cut between lines where there are any.
fn sections(text: &str) -> Vec<&str> {
    let mut sections = Vec::new();
    let mut rest = text;
    while let Some((most, _)) = rest.char_indices().nth(MOST_SECTION_CHARS) {
        let cut = rest[..most].rfind('\n').map_or(most, |at| at + 1);
        let (section, after) = rest.split_at(cut);
        sections.push(section);
        rest = after;
    }
    sections.push(rest);
    sections.retain(|section| !section.trim().is_empty());
    sections
}

/// Whether a place is a person: what is written to them goes to the direct chat.
pub(super) fn is_person(chat: &str) -> bool {
    chat.starts_with('U') || chat.starts_with('W')
}

/// What a mark looks like.
pub(super) const fn picture(mark: Mark) -> &'static str {
    match mark {
        Mark::Seen => "eyes",
        Mark::Done => "white_check_mark",
        Mark::Failed => "x",
    }
}
