//! Reads an answer, streamed or whole.
//!
//! Pure: events in, an answer out. A stream counts as complete when it said why it ended or said `[DONE]`; one that just
//! ends has broken off.

#[cfg(test)]
mod tests;

use serde_json::Value;
use talaria_domain::run::Usage;

use super::wire::{Call, Choice, Chunk, Content, Message, Tokens};
use crate::models::draft::{Draft, Fragment};
use crate::models::exchange;
use crate::models::fault::Fault;
use crate::models::sse::Event;
use crate::models::{Answer, Delta, Finish};

/// Reads an answer.
#[derive(Debug, Default)]
pub(super) struct Reader {
    draft: Draft,
    has_choice: bool,
    is_done: bool,
}

impl exchange::Reader for Reader {
    fn take(&mut self, event: &Event) -> Result<Vec<Delta>, Fault> {
        if event.data.trim() == "[DONE]" {
            self.is_done = true;
            return Ok(Vec::new());
        }
        self.read(&event.data)
    }

    fn is_complete(&self) -> bool {
        self.is_done
    }

    fn finish(self) -> Result<Answer, Fault> {
        match (self.has_choice, self.is_done || self.draft.finish.is_some()) {
            (true, true) => Ok(self.draft.complete()),
            (true, false) => Err(Fault::passing("the connection closed before the end")),
            (false, _) => Err(Fault::Unreadable("there is no answer in it".to_owned())),
        }
    }

    fn whole(body: &str) -> Result<Answer, Fault> {
        let mut reader = Self::default();
        reader.read(body)?;
        reader.is_done = true;
        reader.finish()
    }
}

impl Reader {
    fn read(&mut self, json: &str) -> Result<Vec<Delta>, Fault> {
        let malformed =
            |error: serde_json::Error| Fault::Unreadable(format!("a malformed piece: {error}"));
        let chunk: Chunk = serde_json::from_str(json).map_err(malformed)?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(Fault::of_error(&error));
        }
        if let Some(tokens) = &chunk.usage {
            self.draft.usage = cost(tokens, self.draft.usage);
        }
        let mut deltas = Vec::new();
        if let Some(choice) = chunk.choices.into_iter().flatten().next() {
            self.has_choice = true;
            self.choose(choice, &mut deltas)?;
        }
        Ok(deltas)
    }

    fn choose(&mut self, choice: Choice, deltas: &mut Vec<Delta>) -> Result<(), Fault> {
        if let Some(message) = choice.delta.or(choice.message) {
            self.hear(message, deltas)?;
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.draft.finish = Some(match reason.as_str() {
                "length" => Finish::Length,
                "content_filter" => Finish::ContentFilter,
                _ => Finish::Stop,
            });
        }
        Ok(())
    }

    fn hear(&mut self, message: Message, deltas: &mut Vec<Delta>) -> Result<(), Fault> {
        let thoughts = [&message.reasoning_content, &message.reasoning];
        // Some servers send the same under both names.
        let thought = thoughts.into_iter().flatten().find_map(Value::as_str);
        self.draft.think(thought.unwrap_or_default(), deltas)?;
        match message.content {
            Some(Content::Text(text)) => self.draft.say(&text, deltas)?,
            Some(Content::Parts(parts)) => {
                for text in parts.into_iter().filter_map(|part| part.text) {
                    self.draft.say(&text, deltas)?;
                }
            }
            None => {}
        }
        self.draft
            .say(message.refusal.as_deref().unwrap_or_default(), deltas)?;
        for (at, call) in message.tool_calls.into_iter().flatten().enumerate() {
            self.call(at, &call)?;
        }
        Ok(())
    }

    /// A call without an index that brings an id is one of its own; without either it goes on with the last.
    fn call(&mut self, at: usize, call: &Call) -> Result<(), Fault> {
        let function = call.function.as_ref();
        let arguments = match function.and_then(|function| function.arguments.as_ref()) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(value) => value.to_string(),
        };
        let id = call.id.as_deref().unwrap_or_default();
        let is_anonymous = call.index.is_none() && id.is_empty();
        let tool = function
            .and_then(|function| function.name.as_deref())
            .unwrap_or_default();
        self.draft.call(Fragment {
            index: call
                .index
                .or_else(|| (is_anonymous && at > 0).then_some(at)),
            id,
            tool,
            arguments: &arguments,
        })
    }
}

fn cost(tokens: &Tokens, before: Usage) -> Usage {
    Usage {
        input_tokens: tokens.prompt_tokens.unwrap_or(before.input_tokens),
        output_tokens: tokens.completion_tokens.unwrap_or(before.output_tokens),
    }
}
