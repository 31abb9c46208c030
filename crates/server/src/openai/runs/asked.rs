//! What a program asks for in a run: the same question as in a chat completion, written in another way. Pure.

use serde_json::{Map, Value, json};

use super::super::completions::asked::{self, Asked};
use super::super::refusal::Refusal;

/// Reads a question: `input` is a text or a list of messages, `instructions` come before those in the messages.
pub(in crate::openai) fn read(body: &Map<String, Value>) -> Result<Asked, Refusal> {
    let mut body = body.clone();
    if let Some(Value::String(text)) = body.get("input") {
        let message = json!({ "role": "user", "content": text });
        body.insert("input".to_owned(), json!([message]));
    }
    let mut asked = asked::read_from(&body, "input")?;
    if let Some(first) = asked::text(&body, "instructions")? {
        asked.instruct(&first);
    }
    Ok(asked)
}
