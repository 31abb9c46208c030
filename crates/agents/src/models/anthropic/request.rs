//! A request as the Messages API takes it: the first and the last word are the user's, roles alternate, results come
//! first in the message after their calls, and there is no empty text.
//!
//! Pure: request in, JSON out.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::models::draft::object_of;
use crate::models::pairing::{Answered, Spoken, pair};
use crate::models::{Calls, Request, ToolSpec};

/// The API wants a limit: one that current models take.
const MOST_OUTPUT_TOKENS: usize = 16_384;
/// What stands in the user's place where a window was cut in front of an answer.
const CUT: &str = "(What was said before is left out.)";

/// The body that is posted.
pub(super) fn body(request: &Request, model: &str, window: usize) -> Value {
    let spoken = pair(&request.said);
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    let most = MOST_OUTPUT_TOKENS.min(window / 2).max(1);
    body.insert("max_tokens".to_owned(), most.into());
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
    body.insert("messages".to_owned(), messages(&spoken).into());
    Value::Object(body)
}

/// Those there are. A conversation with calls in it is refused without any, so that their names stand in.
fn tools(request: &Request, spoken: &[Spoken<'_>]) -> Vec<Value> {
    if !request.tools.is_empty() {
        return request.tools.iter().map(tool).collect();
    }
    let calls = spoken.iter().flat_map(|one| match one {
        Spoken::Assistant { calls, .. } => calls.as_slice(),
        Spoken::User(_) => &[],
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

/// "Handle tool calls", Claude docs: results stand first in the user's message, in front of any text.
fn messages(spoken: &[Spoken<'_>]) -> Vec<Value> {
    let mut messages = Messages::default();
    if matches!(spoken.first(), Some(Spoken::Assistant { .. })) {
        messages.add("user", text(CUT));
    }
    for one in spoken {
        match one {
            Spoken::User(words) => messages.add("user", text(words)),
            Spoken::Assistant { text: words, calls } => {
                messages.add("assistant", text(words));
                messages.add("assistant", calls.iter().map(call).collect());
                messages.add("user", calls.iter().map(result).collect());
            }
        }
    }
    messages.0
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
