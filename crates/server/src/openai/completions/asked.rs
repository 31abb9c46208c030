//! What a program asks for in a chat completion. Pure: a body in, a question or the reason why not out. What would change
//! the answer and is not done here is refused, never passed over.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};
use talaria_domain::address::Address;
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::event::{
    Attachment, AttachmentKind, Author, Content, Hearing, Mention, Wishes,
};
use talaria_domain::runner::{Said, Speaker};

use super::super::refusal::Refusal;
use crate::error::ApiError;

#[cfg(test)]
mod tests;

type Body = Map<String, Value>;

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::openai) struct Asked {
    pub(in crate::openai) model: Option<String>,
    /// What is said now.
    input: Said,
    instructions: Option<String>,
    /// What was said before, as the program remembers it.
    history: Vec<Said>,
    options: BTreeMap<String, Value>,
    /// How it is to be told bit by bit, if it is.
    pub(in crate::openai) stream: Option<StreamWish>,
}

/// How an answer is told bit by bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::openai) struct StreamWish {
    pub(in crate::openai) has_usage: bool,
}

/// Whose memory of the conversation counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::openai) enum Memory {
    /// The program's.
    Theirs,
    /// The ledger's.
    Ours,
}

/// When a program hears of its turn, which is told bit by bit or at once.
pub(in crate::openai) const fn hearing(is_streamed: bool) -> Hearing {
    if is_streamed {
        Hearing::AsItGrows
    } else {
        Hearing::AtItsEnd
    }
}

impl Asked {
    /// Instructions that come before those in the messages.
    pub(in crate::openai) fn instruct(&mut self, first: &str) {
        let rest = self.instructions.take();
        let all = rest.map_or_else(|| first.to_owned(), |rest| format!("{first}\n\n{rest}"));
        self.instructions = Some(all);
    }

    /// What the gateway is told; `callback` is where the program hears of what ends later.
    pub(in crate::openai) fn content(
        self,
        memory: Memory,
        callback: Option<Address>,
        hearing: Hearing,
    ) -> Content {
        let history =
            (memory == Memory::Theirs && !self.history.is_empty()).then_some(self.history);
        let wishes = Wishes {
            instructions: self.instructions,
            history,
            options: self.options,
            // Its request is the only way back to itself: without a callback nothing may be promised for later, wherever
            // the conversation began.
            window: Some(DeliveryWindow::InTurnOnly),
            callback,
            may_be_asked: false,
            hearing,
            profile: None,
        };
        Content {
            text: self.input.text,
            attachments: self.input.images.into_iter().map(picture).collect(),
            quote: None,
            mention: Mention::Direct,
            author: Author::Person,
            wishes: Some(Box::new(wishes)),
        }
    }
}

fn picture(address: String) -> Attachment {
    let media = address.strip_prefix("data:");
    let media = media.and_then(|rest| rest.split([';', ',']).next());
    Attachment {
        kind: AttachmentKind::Image,
        media_type: media.map(ToOwned::to_owned),
        locator: address,
        file_name: None,
        size_bytes: None,
        kept: None,
    }
}

/// Reads a question.
pub(in crate::openai) fn read(body: &Body) -> Result<Asked, Refusal> {
    read_from(body, "messages")
}

/// Reads a question whose messages are called `param`.
pub(in crate::openai) fn read_from(body: &Body, param: &str) -> Result<Asked, Refusal> {
    refuse_what_is_not_done(body)?;
    let messages = body.get(param).and_then(Value::as_array);
    let messages = messages.filter(|messages| !messages.is_empty());
    let messages = messages.ok_or_else(|| {
        let found = body.get(param).unwrap_or(&Value::Null);
        bad(param, "a list of at least one message", found)
    })?;
    let mut conversation = conversation(messages, param)?;
    let input = conversation.pop_input(param)?;
    Ok(Asked {
        model: text(body, "model")?,
        input,
        instructions: conversation.instructions(),
        history: conversation.said,
        options: options(body)?,
        stream: stream(body)?,
    })
}

const OWN_TOOLS: &str = "the agent's own tools run on this side: leave it out";

/// What is not done here, and why.
const NOT_DONE: [(&str, &str); 12] = [
    ("tools", OWN_TOOLS),
    ("functions", OWN_TOOLS),
    ("tool_choice", OWN_TOOLS),
    ("function_call", OWN_TOOLS),
    ("logprobs", "probabilities are not told"),
    ("top_logprobs", "probabilities are not told"),
    ("logit_bias", "single tokens cannot be weighed"),
    ("presence_penalty", "penalties are not passed on"),
    ("frequency_penalty", "penalties are not passed on"),
    ("audio", "answers are text"),
    ("prediction", "predictions are not passed on"),
    ("web_search_options", OWN_TOOLS),
];

/// What would change the answer and is not done here.
fn refuse_what_is_not_done(body: &Body) -> Result<(), Refusal> {
    let is_meant = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(choice) => choice != "none" && choice != "auto",
        Value::Bool(true) => true,
    };
    // By what was sent, which is little, not by what could be. The first of the table is named.
    let meant = body.iter().filter(|(_, value)| is_meant(value));
    let places = meant.filter_map(|(name, _)| NOT_DONE.iter().position(|(known, _)| known == name));
    if let Some((name, why)) = places.min().and_then(|at| NOT_DONE.get(at)) {
        return Err(Refusal::unsupported(name, format!("{name}: {why}")));
    }
    let modalities = body.get("modalities").and_then(Value::as_array);
    if modalities.is_some_and(|all| all.iter().any(|one| one != "text")) {
        return Err(Refusal::unsupported("modalities", "answers are text"));
    }
    match body.get("n") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Number(one)) if one.as_u64() == Some(1) => Ok(()),
        Some(Value::Number(_)) => Err(Refusal::unsupported(
            "n",
            "one answer is given: n must be 1",
        )),
        Some(other) => Err(bad("n", "the number 1", other)),
    }
}

/// Messages, sorted out.
struct Conversation {
    instructions: Vec<String>,
    said: Vec<Said>,
}

impl Conversation {
    fn pop_input(&mut self, param: &str) -> Result<Said, Refusal> {
        let last = self.said.pop().filter(|said| said.speaker == Speaker::User);
        let input = last.filter(|said| !said.text.trim().is_empty() || !said.images.is_empty());
        let expected = "expected the last message to be one of the user, with something in it";
        Ok(input.ok_or_else(|| ApiError::bad(param, expected))?)
    }

    fn instructions(&self) -> Option<String> {
        (!self.instructions.is_empty()).then(|| self.instructions.join("\n\n"))
    }
}

/// Where a message is, in words only for whoever has to be told that something is wrong with it.
#[derive(Clone, Copy)]
struct At<'a> {
    param: &'a str,
    number: usize,
}

impl fmt::Display for At<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}[{}]", self.param, self.number)
    }
}

fn conversation(messages: &[Value], param: &str) -> Result<Conversation, Refusal> {
    let mut sorted = Conversation {
        instructions: Vec::new(),
        said: Vec::new(),
    };
    for (number, message) in messages.iter().enumerate() {
        let at = At { param, number };
        let role = message.get("role").unwrap_or(&Value::Null);
        let content = message.get("content").unwrap_or(&Value::Null);
        match role.as_str() {
            Some("system" | "developer") => {
                let said = words(content, at, Pictures::No)?;
                sorted.instructions.push(said.text);
            }
            Some("user") => sorted.said.push(words(content, at, Pictures::Yes)?),
            Some("assistant") => sorted.said.push(answer(message, content, at)?),
            Some("tool" | "function") => {
                let why = "the agent's own tools run on this side, and their results are kept here";
                return Err(Refusal::unsupported(&format!("{at}.role"), why));
            }
            _ => {
                let expected = "one of system, developer, user, assistant";
                return Err(bad(&format!("{at}.role"), expected, role));
            }
        }
    }
    Ok(sorted)
}

fn answer(message: &Value, content: &Value, at: At<'_>) -> Result<Said, Refusal> {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    if calls.is_some_and(|calls| !calls.is_empty()) {
        let why = "the agent's own tools run on this side, and their calls are kept here";
        return Err(Refusal::unsupported(&format!("{at}.tool_calls"), why));
    }
    let said = words(content, at, Pictures::No)?;
    Ok(Said {
        speaker: Speaker::Assistant,
        ..said
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pictures {
    Yes,
    No,
}

/// The words and pictures of one message.
fn words(content: &Value, at: At<'_>, pictures: Pictures) -> Result<Said, Refusal> {
    let parts = match content {
        Value::String(text) => return Ok(Said::plain(Speaker::User, text)),
        Value::Array(parts) => parts,
        other => {
            let expected = "a text or a list of parts";
            return Err(bad(&format!("{at}.content"), expected, other));
        }
    };
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for (number, part) in parts.iter().enumerate() {
        let at = format!("{at}.content[{number}]");
        let kind = part.get("type").unwrap_or(&Value::Null);
        match kind.as_str() {
            Some("text" | "input_text" | "output_text") => {
                let text = part.get("text").unwrap_or(&Value::Null);
                let text = text.as_str().ok_or_else(|| bad(&at, "a text", text))?;
                texts.push(text.to_owned());
            }
            Some("image_url" | "input_image") if pictures == Pictures::Yes => {
                images.push(address(part, &at)?);
            }
            Some(other) => {
                let why = format!("a part of type {other:?} is not taken here");
                return Err(Refusal::unsupported(&at, why));
            }
            None => return Err(bad(&at, "a part with a type", part)),
        }
    }
    let mut said = Said::plain(Speaker::User, texts.join("\n"));
    said.images = images;
    Ok(said)
}

/// Where a picture is.
fn address(part: &Value, at: &str) -> Result<String, Refusal> {
    let image = part.get("image_url").unwrap_or(&Value::Null);
    let url = image.as_str().or_else(|| image.get("url")?.as_str());
    let is_known = |url: &&str| {
        let is_there = url.starts_with("https://") && url.len() > "https://".len();
        is_there || (url.starts_with("data:image/") && url.contains(";base64,"))
    };
    let expected = "expected image_url.url to begin with https:// or with data:image/…;base64,";
    let url = url.filter(is_known);
    Ok(url.ok_or_else(|| ApiError::bad(at, expected))?.to_owned())
}

/// What is asked of the model, under the names that OpenAI gave it.
fn options(body: &Body) -> Result<BTreeMap<String, Value>, Refusal> {
    let mut options = BTreeMap::new();
    for (name, target, expected, is_fit) in OPTIONS {
        let Some(value) = body.get(*name).filter(|value| !value.is_null()) else {
            continue;
        };
        if !is_fit(value) {
            return Err(bad(name, expected, value));
        }
        options.insert((*target).to_owned(), value.clone());
    }
    // That is how answers are anyway.
    let is_plain = |format: &Value| format["type"] == "text";
    if options.get("response_format").is_some_and(is_plain) {
        options.remove("response_format");
    }
    Ok(options)
}

type Check = fn(&Value) -> bool;

/// Every option: its name, the name it is passed on by, what it has to be.
pub(in crate::openai) const OPTIONS: &[(&str, &str, &str, Check)] = &[
    (
        "max_tokens",
        "max_tokens",
        "a whole number from 1",
        is_count,
    ),
    (
        "max_completion_tokens",
        "max_tokens",
        "a whole number from 1",
        is_count,
    ),
    (
        "temperature",
        "temperature",
        "a number from 0 to 2",
        |value| is_within(value, 2.0),
    ),
    ("top_p", "top_p", "a number from 0 to 1", |value| {
        is_within(value, 1.0)
    }),
    ("seed", "seed", "a whole number", |value| value.is_i64()),
    ("stop", "stop", "a text or a list of up to 4 texts", is_stop),
    (
        "response_format",
        "response_format",
        "an object with a type: text, json_object or json_schema with a json_schema",
        is_format,
    ),
];

fn is_count(value: &Value) -> bool {
    value.as_u64().is_some_and(|count| count > 0)
}

fn is_within(value: &Value, most: f64) -> bool {
    value
        .as_f64()
        .is_some_and(|number| (0.0..=most).contains(&number))
}

fn is_stop(value: &Value) -> bool {
    let is_list = |list: &Vec<Value>| list.len() <= 4 && list.iter().all(Value::is_string);
    value.is_string() || value.as_array().is_some_and(is_list)
}

fn is_format(value: &Value) -> bool {
    match value["type"].as_str() {
        Some("text" | "json_object") => true,
        Some("json_schema") => value["json_schema"].is_object(),
        _ => false,
    }
}

fn stream(body: &Body) -> Result<Option<StreamWish>, Refusal> {
    let is_streamed = flag(body.get("stream"), "stream")?;
    let options = body.get("stream_options").unwrap_or(&Value::Null);
    if !options.is_null() && !options.is_object() {
        return Err(bad("stream_options", "an object", options));
    }
    let has_usage = flag(options.get("include_usage"), "stream_options.include_usage")?;
    Ok(is_streamed.then_some(StreamWish { has_usage }))
}

fn flag(value: Option<&Value>, param: &str) -> Result<bool, Refusal> {
    match value {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(bad(param, "true or false", other)),
    }
}

/// A text, if there is one.
pub(in crate::openai) fn text(body: &Body, name: &str) -> Result<Option<String>, Refusal> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(bad(name, "a text", other)),
    }
}

/// How much of what was found is quoted.
const QUOTED: usize = 80;

fn bad(param: &str, expected: &str, found: &Value) -> Refusal {
    let mut found = found.to_string();
    if let Some((end, _)) = found.char_indices().nth(QUOTED) {
        found.truncate(end);
        found.push('…');
    }
    ApiError::bad(
        param,
        format!("expected {param} to be {expected}, found {found}"),
    )
    .into()
}
