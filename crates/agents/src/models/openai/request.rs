//! A request as chat completions take it.
//!
//! Pure: request in, JSON out.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use crate::models::draft::object_of;
use crate::models::image::Image;
use crate::models::options;
use crate::models::pairing::{Answered, Spoken, pair};
use crate::models::{Calls, ModelError, Request, ToolSpec};

/// Whether the server is asked what the answer cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskUsage {
    /// It is.
    Yes,
    /// It does not take the question.
    No,
}

/// The body that is posted. Options go as they are: some servers know the older name of one, some the newer.
pub(super) fn body(request: &Request, model: &str, usage: AskUsage) -> Result<Value, ModelError> {
    let options = options::known(&request.options);
    let options = options.map(|(name, value)| (name.to_owned(), value.clone()));
    let mut body: Map<String, Value> = options.collect();
    body.insert("model".to_owned(), model.into());
    body.insert("messages".to_owned(), messages(request)?.into());
    body.insert("stream".to_owned(), true.into());
    if usage == AskUsage::Yes {
        body.insert(
            "stream_options".to_owned(),
            json!({ "include_usage": true }),
        );
    }
    if request.calls == Calls::Allowed && !request.tools.is_empty() {
        let tools: Vec<_> = request.tools.iter().map(tool).collect();
        body.insert("tools".to_owned(), tools.into());
    }
    Ok(Value::Object(body))
}

fn messages(request: &Request) -> Result<Vec<Value>, ModelError> {
    let mut messages = Vec::new();
    let instructions = request.instructions();
    if !instructions.is_empty() {
        messages.push(json!({ "role": "system", "content": instructions }));
    }
    for spoken in pair(&request.said) {
        match spoken {
            Spoken::User { text, images } => messages.push(user(&text, &images)?),
            Spoken::Assistant { text, calls } if calls.is_empty() => {
                messages.push(json!({ "role": "assistant", "content": text }));
            }
            Spoken::Assistant { text, calls } => {
                messages.push(assistant(&text, &calls));
                messages.extend(calls.iter().map(result));
            }
        }
    }
    Ok(messages)
}

/// "Images and vision", OpenAI docs: pictures are parts of the content, with either kind of address.
fn user(text: &str, images: &[&str]) -> Result<Value, ModelError> {
    if images.is_empty() {
        return Ok(json!({ "role": "user", "content": text }));
    }
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
