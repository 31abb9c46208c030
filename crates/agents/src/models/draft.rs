//! An answer while it is being said: text and thoughts grow, tool calls are put together from their fragments.
//!
//! Pure: pieces in, an answer out. What it holds is bounded.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};
use talaria_domain::run::Usage;
use talaria_domain::runner::ToolCall;

use super::fault::Fault;
use super::{Answer, Delta, Finish};

/// No model says more in one answer; what does is a server gone wrong.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// An answer while it is being said.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// Its cost, as far as the server told it.
    pub(super) usage: Usage,
    /// Why it ended, once the server told it.
    pub(super) finish: Option<Finish>,
    text: String,
    reasoning: String,
    calls: Vec<Partial>,
    bytes: usize,
}

/// A piece of a tool call.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Fragment<'a> {
    /// Which call of the answer, where the server counts them.
    pub(super) index: Option<usize>,
    /// The call's id; on its first fragment only, or on each.
    pub(super) id: &'a str,
    /// The tool; likewise.
    pub(super) tool: &'a str,
    /// More of the arguments' JSON.
    pub(super) arguments: &'a str,
}

#[derive(Debug, Default)]
struct Partial {
    index: Option<usize>,
    id: String,
    tool: String,
    arguments: String,
}

impl Draft {
    /// More of the answer.
    pub(super) fn say(&mut self, text: &str, deltas: &mut Vec<Delta>) -> Result<(), Fault> {
        self.grow(text.len())?;
        self.text.push_str(text);
        match deltas.last_mut() {
            _ if text.is_empty() => {}
            Some(Delta::Text(last)) => last.push_str(text),
            _ => deltas.push(Delta::Text(text.to_owned())),
        }
        Ok(())
    }

    /// More of what the model thinks.
    pub(super) fn think(&mut self, text: &str, deltas: &mut Vec<Delta>) -> Result<(), Fault> {
        self.grow(text.len())?;
        self.reasoning.push_str(text);
        match deltas.last_mut() {
            _ if text.is_empty() => {}
            Some(Delta::Reasoning(last)) => last.push_str(text),
            _ => deltas.push(Delta::Reasoning(text.to_owned())),
        }
        Ok(())
    }

    /// More of a tool call. It belongs to the last call with the same index, unless it brings an id of its own: some
    /// servers number every call zero.
    pub(super) fn call(&mut self, fragment: Fragment<'_>) -> Result<(), Fault> {
        let Fragment {
            index,
            id,
            tool,
            arguments,
        } = fragment;
        self.grow(id.len() + tool.len() + arguments.len())?;
        let is_same = |call: &Partial| {
            let is_other = !id.is_empty() && !call.id.is_empty() && call.id != id;
            (index.is_none() || call.index == index) && !is_other
        };
        let known = self.calls.iter().rposition(is_same);
        if known.is_none() {
            self.grow(size_of::<Partial>())?;
            self.calls.push(Partial {
                index,
                ..Partial::default()
            });
        }
        let at = known.unwrap_or(self.calls.len() - 1);
        if let Some(call) = self.calls.get_mut(at) {
            set_if_empty(&mut call.id, id);
            set_if_empty(&mut call.tool, tool);
            call.arguments.push_str(arguments);
        }
        Ok(())
    }

    /// The answer, once nothing more comes.
    pub(super) fn complete(self) -> Answer {
        Answer {
            text: self.text,
            reasoning: self.reasoning,
            calls: self.calls.into_iter().map(Partial::complete).collect(),
            usage: self.usage,
            finish: self.finish.unwrap_or_default(),
        }
    }

    fn grow(&mut self, bytes: usize) -> Result<(), Fault> {
        self.bytes += bytes;
        if self.bytes > MOST_BYTES {
            return Err(Fault::Unreadable("an answer without an end".to_owned()));
        }
        Ok(())
    }
}

impl Partial {
    fn complete(self) -> ToolCall {
        let arguments = match self.arguments.trim() {
            "" => Value::Object(Map::new()),
            text => serde_json::from_str(text).unwrap_or(Value::String(self.arguments)),
        };
        ToolCall {
            id: self.id,
            tool: self.tool,
            arguments,
        }
    }
}

fn set_if_empty(field: &mut String, value: &str) {
    if field.is_empty() {
        value.clone_into(field);
    }
}

/// A call's arguments as servers take them back: an object, whatever the model had made of it.
pub(super) fn object_of(arguments: &Value) -> Value {
    match arguments {
        Value::Object(_) => arguments.clone(),
        Value::Null => Value::Object(Map::new()),
        other => serde_json::json!({ "malformed": other }),
    }
}

/// The start of a text, within so many characters.
pub(super) fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}
