//! A request as the Messages API takes it: the first and the last word are the user's, roles alternate, results come
//! first in the message after their calls, and there is no empty text.
//!
//! Pure: request in, body out.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::models::draft::{clip, object_of};
use crate::models::image::Image;
use crate::models::options::{self, FORMAT, SEED, TEMPERATURE, TOP_P};
use crate::models::pairing::{Answered, Spoken, pair};
use crate::models::{Calls, ModelError, Request, ToolSpec};

/// The API wants a limit: one that current models take.
const MOST_OUTPUT_TOKENS: usize = 16_384;
/// Who refuses, for people.
const PROVIDER: &str = "Anthropic's Messages API";
/// Other providers' temperatures go to 2.
const HIGHEST_TEMPERATURE: f64 = 1.0;
/// "Vision", Claude docs: the pictures that the API takes.
const PICTURES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const MOST_OF_A_TYPE: usize = 40;
/// What stands in the user's place where a window was cut in front of an answer.
const CUT: &str = "(What was said before is left out.)";

/// The body that is posted.
pub(super) fn body(request: &Request<'_>, model: &str, window: usize) -> Result<Value, ModelError> {
    let spoken = pair(request.all());
    let mut body = wanted(request, window)?;
    body.insert("model".to_owned(), model.into());
    body.insert("stream".to_owned(), true.into());
    let instructions = request.instructions();
    if !instructions.is_empty() {
        body.insert("system".to_owned(), instructions.into());
    }
    let tools = tools(request, &spoken);
    if !tools.is_empty() {
        body.insert("tools".to_owned(), tools.into());
        if request.calls == Calls::Forbidden || request.tools.is_empty() {
            body.insert("tool_choice".to_owned(), json!({ "type": "none" }));
        }
    }
    body.insert("messages".to_owned(), messages(&spoken)?.into());
    Ok(Value::Object(body))
}

/// What is wanted of the answer, under the names that the API has for it.
fn wanted(request: &Request<'_>, window: usize) -> Result<Map<String, Value>, ModelError> {
    let options = &request.options;
    options::refuse(options, PROVIDER, &[FORMAT, SEED])?;
    let mut body = Map::new();
    let most = match options::most_tokens(options)? {
        Some(most) => most.into(),
        None => MOST_OUTPUT_TOKENS.min(window / 2).max(1).into(),
    };
    body.insert("max_tokens".to_owned(), most);
    if let Some(temperature) = options::number(options, TEMPERATURE)? {
        // As in "OpenAI SDK compatibility", Claude docs: higher ones count as the highest.
        let temperature = temperature.min(HIGHEST_TEMPERATURE);
        body.insert(TEMPERATURE.to_owned(), temperature.into());
    }
    if let Some(top_p) = options::number(options, TOP_P)? {
        body.insert(TOP_P.to_owned(), top_p.into());
    }
    let stops = options::stops(options)?;
    if stops.iter().any(|text| text.trim().is_empty()) {
        let why = format!("{PROVIDER} cannot `stop` at blanks: name a text with something in it");
        return Err(ModelError::AskDifferently { why });
    }
    if !stops.is_empty() {
        body.insert("stop_sequences".to_owned(), stops.into());
    }
    Ok(body)
}

/// Those there are. A conversation with calls in it is refused without any, so that their names stand in.
fn tools(request: &Request<'_>, spoken: &[Spoken<'_>]) -> Vec<Value> {
    if !request.tools.is_empty() {
        return request.tools.iter().map(tool).collect();
    }
    let calls = spoken.iter().flat_map(|one| match one {
        Spoken::Assistant { calls, .. } => calls.as_slice(),
        Spoken::User { .. } => &[],
    });
    let names: BTreeSet<_> = calls.map(|answered| answered.call.tool.as_str()).collect();
    let bare = |name| json!({ "name": name, "input_schema": { "type": "object" } });
    names.into_iter().map(bare).collect()
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.parameters,
    })
}

/// "Handle tool calls", Claude docs: results stand first in the user's message, in front of any text. "Vision": pictures
/// are best seen in front of the text about them.
fn messages(spoken: &[Spoken<'_>]) -> Result<Vec<Value>, ModelError> {
    let mut messages = Messages::default();
    if matches!(spoken.first(), Some(Spoken::Assistant { .. })) {
        messages.add("user", text(CUT));
    }
    for one in spoken {
        match one {
            Spoken::User {
                text: words,
                images,
            } => {
                let images = images.iter().map(|address| picture(address));
                messages.add("user", images.collect::<Result<_, _>>()?);
                messages.add("user", text(words));
            }
            Spoken::Assistant { text: words, calls } => {
                messages.add("assistant", text(words));
                messages.add("assistant", calls.iter().map(call).collect());
                messages.add("user", calls.iter().map(result).collect());
            }
        }
    }
    Ok(messages.0)
}

#[derive(Default)]
struct Messages(Vec<Value>);

impl Messages {
    /// Adds blocks to the last message if it has the same role, else as a message of their own.
    fn add(&mut self, role: &str, blocks: Vec<Value>) {
        let last = self.0.last_mut();
        let same = last.filter(|message| message["role"] == role);
        match same.and_then(|message| message["content"].as_array_mut()) {
            _ if blocks.is_empty() => {}
            Some(content) => content.extend(blocks),
            None => self.0.push(json!({ "role": role, "content": blocks })),
        }
    }
}

fn text(words: &str) -> Vec<Value> {
    let block = || json!({ "type": "text", "text": words });
    (!words.trim().is_empty()).then(block).into_iter().collect()
}

fn picture(address: &str) -> Result<Value, ModelError> {
    let source = match Image::read(address)? {
        Image::Remote(url) => json!({ "type": "url", "url": url }),
        Image::Inline { media_type, base64 } => {
            let media_type = usual_type(media_type)?;
            json!({ "type": "base64", "media_type": media_type, "data": base64 })
        }
    };
    Ok(json!({ "type": "image", "source": source }))
}

/// The media type as the API spells it.
fn usual_type(media_type: &str) -> Result<&'static str, ModelError> {
    let written = media_type.to_ascii_lowercase();
    let written = match written.as_str() {
        // Nobody registered it, many write it.
        "image/jpg" => "image/jpeg",
        other => other,
    };
    let known = PICTURES.into_iter().find(|known| *known == written);
    known.ok_or_else(|| ModelError::AskDifferently {
        why: format!(
            "{PROVIDER} takes no pictures of the type {:?}, only {}",
            clip(media_type, MOST_OF_A_TYPE),
            PICTURES.join(", ")
        ),
    })
}

fn call(answered: &Answered<'_>) -> Value {
    json!({
        "type": "tool_use",
        "id": plain_id(&answered.id),
        "name": answered.call.tool,
        "input": object_of(&answered.call.arguments),
    })
}

fn result(answered: &Answered<'_>) -> Value {
    json!({
        "type": "tool_result",
        "tool_use_id": plain_id(&answered.id),
        "content": answered.result(),
    })
}

/// The API takes letters, digits, `_` and `-`; ids of another server's calls may have more in them.
fn plain_id(id: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '-' {
            letter
        } else {
            '_'
        }
    };
    id.chars().map(plain).collect()
}
