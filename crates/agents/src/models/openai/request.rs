//! A request as chat completions take it.
//!
//! Pure: request in, body out.

#[cfg(test)]
mod tests;

use serde_json::{Value, json};
use talaria_domain::runner::Said;

use crate::models::draft::object_of;
use crate::models::image::Image;
use crate::models::json::Json;
use crate::models::options;
use crate::models::pairing::{Answered, Spoken, pair};
use crate::models::{Calls, ModelError, Request, ToolSpec};

/// What a message is longer than its words, and what a body has beside them; both are guesses.
const ROOM: usize = 64;

/// How a message starts that is nothing but words, by its role.
const SYSTEM: &str = r#"{"role":"system","content":"#;
const USER: &str = r#"{"role":"user","content":"#;
const ASSISTANT: &str = r#"{"role":"assistant","content":"#;

/// Whether the server is asked what the answer cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskUsage {
    /// It is.
    Yes,
    /// It does not take the question.
    No,
}

/// The body that is posted.
pub(super) fn body(
    request: &Request<'_>,
    model: &str,
    usage: AskUsage,
) -> Result<Vec<u8>, ModelError> {
    let length = |said: &Said| said.text.len() + ROOM;
    let lengths: usize = request.all().map(length).sum();
    let mut json = Json::with_room(request.system.len() + lengths + 2 * ROOM);
    json.raw(r#"{"model":"#);
    json.text(model);
    json.raw(r#","messages":["#);
    messages(request, &mut json)?;
    json.raw(r#"],"stream":true"#);
    if usage == AskUsage::Yes {
        json.raw(r#","stream_options":{"include_usage":true}"#);
    }
    if request.calls == Calls::Allowed && !request.tools.is_empty() {
        json.raw(r#","tools":"#);
        json.value(&request.tools.iter().map(tool).collect());
    }
    // They go as they are: some servers know the older name of one, some the newer.
    for (name, value) in options::known(&request.options) {
        json.raw(",");
        json.text(name);
        json.raw(":");
        json.value(value);
    }
    json.raw("}");
    Ok(json.into_bytes())
}

fn messages(request: &Request<'_>, json: &mut Json) -> Result<(), ModelError> {
    let instructions = request.instructions();
    if !instructions.is_empty() {
        words(SYSTEM, &instructions, json);
    }
    for spoken in pair(request.all()) {
        match spoken {
            Spoken::User { text, images } if images.is_empty() => words(USER, &text, json),
            Spoken::User { text, images } => {
                let message = user(&text, &images)?;
                json.next();
                json.value(&message);
            }
            Spoken::Assistant { text, calls } if calls.is_empty() => {
                words(ASSISTANT, &text, json);
            }
            Spoken::Assistant { text, calls } => {
                json.next();
                json.value(&assistant(&text, &calls));
                for answered in &calls {
                    json.next();
                    json.value(&result(answered));
                }
            }
        }
    }
    Ok(())
}

/// A message that is nothing but words. Most are.
fn words(start: &'static str, words: &str, json: &mut Json) {
    json.next();
    json.raw(start);
    json.text(words);
    json.raw("}");
}

/// "Images and vision", OpenAI docs: pictures are parts of the content, with either kind of address.
fn user(text: &str, images: &[&str]) -> Result<Value, ModelError> {
    let mut parts = Vec::new();
    if !text.trim().is_empty() {
        parts.push(json!({ "type": "text", "text": text }));
    }
    for address in images {
        Image::read(address)?;
        parts.push(json!({ "type": "image_url", "image_url": { "url": address } }));
    }
    Ok(json!({ "role": "user", "content": parts }))
}

/// "Create chat completion", API reference: the content may be left out where there are calls.
fn assistant(text: &str, calls: &[Answered<'_>]) -> Value {
    let calls: Vec<_> = calls.iter().map(call).collect();
    if text.trim().is_empty() {
        return json!({ "role": "assistant", "tool_calls": calls });
    }
    json!({ "role": "assistant", "content": text, "tool_calls": calls })
}

fn call(answered: &Answered<'_>) -> Value {
    let arguments = object_of(&answered.call.arguments).to_string();
    let function = json!({ "name": answered.call.tool, "arguments": arguments });
    json!({ "id": answered.id, "type": "function", "function": function })
}

fn result(answered: &Answered<'_>) -> Value {
    json!({ "role": "tool", "tool_call_id": answered.id, "content": answered.result() })
}

fn tool(spec: &ToolSpec) -> Value {
    let function = json!({
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
    });
    json!({ "type": "function", "function": function })
}
