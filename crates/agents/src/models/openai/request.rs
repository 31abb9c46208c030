//! A request as chat completions take it.
//!
//! Pure: request in, body out.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::models::draft::object_of;
use crate::models::image::Image;
use crate::models::options::{self, Options};
use crate::models::pairing::{Answered, Spoken, pair};
use crate::models::{Calls, ModelError, Request, ToolSpec};

/// What a server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The answer in one piece, with what it cost.
    Whole,
    /// A stream, and at its end what the answer cost.
    Stream,
    /// A stream of a server that refuses to be asked what it cost.
    StreamWithoutUsage,
}

/// The body that is posted. It borrows what was said: a conversation is asked about again with every turn.
#[derive(Debug, Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    /// They go as they are: some servers know the older name of one, some the newer.
    #[serde(flatten, serialize_with = "as_they_are")]
    options: &'a Options,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

/// One message. Most are nothing but words, and a conversation has many of them.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Message<'a> {
    Words {
        role: &'static str,
        content: Cow<'a, str>,
    },
    Other(Value),
}

fn as_they_are<S: Serializer>(options: &Options, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(options::known(options))
}

/// The body that is posted.
pub(super) fn body<'a>(
    request: &'a Request<'_>,
    model: &'a str,
    form: Form,
) -> Result<Body<'a>, ModelError> {
    let may_call = request.calls == Calls::Allowed;
    Ok(Body {
        model,
        messages: messages(request)?,
        stream: form != Form::Whole,
        stream_options: (form == Form::Stream).then_some(StreamOptions {
            include_usage: true,
        }),
        tools: if may_call {
            request.tools.iter().map(tool).collect()
        } else {
            Vec::new()
        },
        options: &request.options,
    })
}

fn messages<'a>(request: &'a Request<'_>) -> Result<Vec<Message<'a>>, ModelError> {
    let mut messages = Vec::new();
    let instructions = request.instructions();
    if !instructions.is_empty() {
        messages.push(words("system", instructions));
    }
    for spoken in pair(request.all()) {
        match spoken {
            Spoken::User { text, images } if images.is_empty() => {
                messages.push(words("user", text));
            }
            Spoken::User { text, images } => messages.push(Message::Other(user(&text, &images)?)),
            Spoken::Assistant { text, calls } if calls.is_empty() => {
                messages.push(words("assistant", text));
            }
            Spoken::Assistant { text, calls } => {
                messages.push(Message::Other(assistant(&text, &calls)));
                messages.extend(calls.iter().map(result).map(Message::Other));
            }
        }
    }
    Ok(messages)
}

fn words<'a>(role: &'static str, content: impl Into<Cow<'a, str>>) -> Message<'a> {
    let content = content.into();
    Message::Words { role, content }
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
