//! Reads an answer, streamed or whole.
//!
//! Pure: events in, an answer out. A stream counts as complete when it said why it stopped; one that just ends has
//! broken off.

#[cfg(test)]
mod tests;

use super::wire::{Block, Event, Message, Piece, Tokens};
use crate::models::draft::{Draft, Fragment};
use crate::models::exchange;
use crate::models::fault::Fault;
use crate::models::sse;
use crate::models::{Answer, Delta, Finish};

/// Reads an answer.
#[derive(Debug, Default)]
pub(super) struct Reader {
    draft: Draft,
    has_message: bool,
    is_stopped: bool,
}

impl exchange::Reader for Reader {
    fn take(&mut self, event: &sse::Event) -> Result<Vec<Delta>, Fault> {
        let event = serde_json::from_str(&event.data).map_err(|error| malformed(&error))?;
        let mut deltas = Vec::new();
        match event {
            Event::MessageStart { message } => {
                self.has_message = true;
                self.count(&message.usage);
            }
            Event::ContentBlockStart {
                index,
                content_block,
            } => self.open(index, &content_block, &mut deltas)?,
            Event::ContentBlockDelta { index, delta } => self.grow(index, &delta, &mut deltas)?,
            Event::MessageDelta { delta, usage } => {
                self.count(&usage);
                self.end(delta.stop_reason.as_deref());
            }
            Event::MessageStop => self.is_stopped = true,
            Event::Error { error } => return Err(Fault::of_error(&error)),
            Event::Unknown => {}
        }
        Ok(deltas)
    }

    fn is_complete(&self) -> bool {
        self.is_stopped
    }

    fn finish(self) -> Result<Answer, Fault> {
        match (
            self.has_message,
            self.is_stopped || self.draft.finish.is_some(),
        ) {
            (true, true) => Ok(self.draft.complete()),
            (true, false) => Err(Fault::passing("the connection closed before the end")),
            (false, _) => Err(Fault::Unreadable("there is no answer in it".to_owned())),
        }
    }

    fn whole(body: &str) -> Result<Answer, Fault> {
        let message: Message = serde_json::from_str(body).map_err(|error| malformed(&error))?;
        if let Some(error) = message.error.filter(|error| !error.is_null()) {
            return Err(Fault::of_error(&error));
        }
        let mut reader = Self {
            has_message: message.content.is_some(),
            is_stopped: true,
            ..Self::default()
        };
        for (index, block) in message.content.iter().flatten().enumerate() {
            reader.open(index, block, &mut Vec::new())?;
        }
        reader.count(&message.usage);
        reader.end(message.stop_reason.as_deref());
        reader.finish()
    }
}

impl Reader {
    fn open(&mut self, index: usize, block: &Block, deltas: &mut Vec<Delta>) -> Result<(), Fault> {
        match block {
            Block::Text { text } => self.draft.say(text, deltas),
            Block::Thinking { thinking } => self.draft.think(thinking, deltas),
            Block::ToolUse { id, name, input } => {
                // In a stream the input is an empty object here, and its JSON follows in pieces.
                let is_whole = input.as_object().is_some_and(|input| !input.is_empty());
                let arguments = if is_whole {
                    input.to_string()
                } else {
                    String::new()
                };
                self.draft.call(Fragment {
                    index: Some(index),
                    id,
                    tool: name,
                    arguments: &arguments,
                })
            }
            Block::Unknown => Ok(()),
        }
    }

    fn grow(&mut self, index: usize, piece: &Piece, deltas: &mut Vec<Delta>) -> Result<(), Fault> {
        match piece {
            Piece::TextDelta { text } => self.draft.say(text, deltas),
            Piece::ThinkingDelta { thinking } => self.draft.think(thinking, deltas),
            Piece::InputJsonDelta { partial_json } => self.draft.call(Fragment {
                index: Some(index),
                arguments: partial_json,
                ..Fragment::default()
            }),
            Piece::Unknown => Ok(()),
        }
    }

    /// Counts are running totals, not steps.
    fn count(&mut self, tokens: &Tokens) {
        if let Some(input) = tokens.input {
            let cached = [tokens.cache_written, tokens.cache_read];
            self.draft.usage.input_tokens = input + cached.into_iter().flatten().sum::<u64>();
        }
        if let Some(output) = tokens.output {
            self.draft.usage.output_tokens = output;
        }
    }

    fn end(&mut self, reason: Option<&str>) {
        let finish = match reason {
            None => return,
            Some("max_tokens" | "model_context_window_exceeded") => Finish::Length,
            Some("refusal") => Finish::ContentFilter,
            Some(_) => Finish::Stop,
        };
        self.draft.finish = Some(finish);
    }
}

fn malformed(error: &serde_json::Error) -> Fault {
    Fault::Unreadable(format!("a malformed piece: {error}"))
}
