//! An answer in the format of chat completions. Pure: events of a turn in, what is written out.
//!
//! A tool's progress is told in an event with a name, which browsers pass over; its data is a whole chunk that adds
//! nothing, because there are clients that read every event as a chunk.

use serde::Serialize;
use serde_json::{Value, json};
use talaria_domain::run::{RunEvent, ToolResult, Usage};

use super::super::refusal::Refusal;
use super::super::turn::standing::{End, Over};
use super::asked::StreamWish;

#[cfg(test)]
mod tests;

/// The name of the event that tells a tool's progress.
pub(super) const PROGRESS: &str = "talaria.tool.progress";

/// What every chunk of one answer says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) id: String,
    /// In seconds.
    pub(super) created: i64,
    pub(super) model: String,
}

/// One thing that is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Written {
    Chunk(Value),
    Progress(Value),
    /// The end of a stream that went well.
    Done,
}

/// The whole answer at once. In types of its own, not as a tree of values: most answers are told this way.
pub(super) fn whole<'a>(frame: &'a Frame, over: &'a Over) -> Whole<'a> {
    Whole {
        id: &frame.id,
        object: "chat.completion",
        created: frame.created,
        model: &frame.model,
        choices: [Choice {
            index: 0,
            message: Message {
                role: "assistant",
                content: &over.text,
                refusal: None,
            },
            logprobs: None,
            finish_reason: finish(over),
        }],
        usage: Count::of(over.usage),
    }
}

/// A whole answer, as it is written.
#[derive(Debug, Serialize)]
pub(super) struct Whole<'a> {
    id: &'a str,
    object: &'static str,
    created: i64,
    model: &'a str,
    choices: [Choice<'a>; 1],
    usage: Count,
}

#[derive(Debug, Serialize)]
struct Choice<'a> {
    index: u32,
    message: Message<'a>,
    logprobs: Option<()>,
    finish_reason: &'static str,
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
    refusal: Option<()>,
}

/// What a turn took, in tokens.
#[derive(Debug, Serialize)]
struct Count {
    #[serde(rename = "prompt_tokens")]
    read: u64,
    #[serde(rename = "completion_tokens")]
    written: u64,
    #[serde(rename = "total_tokens")]
    total: u64,
}

impl Count {
    const fn of(usage: Usage) -> Self {
        let (read, written) = (usage.input_tokens, usage.output_tokens);
        Self {
            read,
            written,
            total: read.saturating_add(written),
        }
    }
}

/// Why the answer ends where it does.
const fn finish(over: &Over) -> &'static str {
    match over.end {
        End::Completed(finish) => finish.as_str(),
        // Not told: these are refused.
        _ => "stop",
    }
}

/// Tells an answer bit by bit.
#[derive(Debug, Clone)]
pub(super) struct Teller {
    frame: Frame,
    wish: StreamWish,
    /// What was told of the segment that is being said.
    segment: String,
    /// Whether a segment was told before this one.
    has_spoken: bool,
    /// Tools by their calls, until they answer.
    tools: Vec<(String, String)>,
}

impl Teller {
    pub(super) const fn of(frame: Frame, wish: StreamWish) -> Self {
        Self {
            frame,
            wish,
            segment: String::new(),
            has_spoken: false,
            tools: Vec::new(),
        }
    }

    /// What every answer begins with.
    pub(super) fn begin(&self) -> Written {
        self.chunk(&json!({ "role": "assistant", "content": "" }), None)
    }

    /// What an event of the turn adds.
    pub(super) fn tell(&mut self, what: &RunEvent) -> Option<Written> {
        match what {
            RunEvent::MessageDelta { text } => self.add(text),
            RunEvent::MessageCompleted { text } => {
                // Nothing that was told can be taken back: only what is missing is added.
                let missing = text.strip_prefix(self.segment.as_str()).unwrap_or_default();
                let added = self.add(missing);
                self.has_spoken |= !self.segment.is_empty();
                self.segment.clear();
                added
            }
            RunEvent::ToolStarted { call, tool, .. } => {
                self.tools.push((call.clone(), tool.clone()));
                Some(self.progress(call, tool, "running"))
            }
            RunEvent::ToolCompleted { call, result, .. } => {
                let at = self.tools.iter().position(|(open, _)| open == call);
                let tool = at.map(|at| self.tools.remove(at).1).unwrap_or_default();
                let status = match result {
                    ToolResult::Done => "completed",
                    ToolResult::Refused => "refused",
                    ToolResult::Cancelled => "cancelled",
                };
                Some(self.progress(call, &tool, status))
            }
            RunEvent::Ended(_) => {
                // If it is tried again, that is another segment.
                self.has_spoken |= !self.segment.is_empty();
                self.segment.clear();
                None
            }
            _ => None,
        }
    }

    /// What the end adds.
    pub(super) fn end(&mut self, over: &Over) -> Vec<Written> {
        if let Some(refusal) = Refusal::of(over) {
            return vec![Written::Chunk(refusal.body())];
        }
        let mut written = Vec::new();
        if !self.has_spoken && self.segment.is_empty() {
            written.extend(self.add(&over.text));
        }
        written.push(self.chunk(&json!({}), Some(finish(over))));
        if self.wish.has_usage {
            let mut chunk = self.bare();
            chunk["choices"] = json!([]);
            chunk["usage"] = json!(Count::of(over.usage));
            written.push(Written::Chunk(chunk));
        }
        written.push(Written::Done);
        written
    }

    fn add(&mut self, text: &str) -> Option<Written> {
        if text.is_empty() {
            return None;
        }
        let gap = if self.has_spoken && self.segment.is_empty() {
            "\n\n"
        } else {
            ""
        };
        self.segment.push_str(text);
        let content = format!("{gap}{text}");
        Some(self.chunk(&json!({ "content": content }), None))
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> Written {
        Written::Chunk(self.whole_chunk(delta, finish))
    }

    fn progress(&self, call: &str, tool: &str, status: &str) -> Written {
        let mut chunk = self.whole_chunk(&json!({}), None);
        chunk["talaria"] = json!({ "tool": tool, "call_id": call, "status": status });
        Written::Progress(chunk)
    }

    fn whole_chunk(&self, delta: &Value, finish: Option<&str>) -> Value {
        let mut chunk = self.bare();
        chunk["choices"] =
            json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }]);
        if self.wish.has_usage {
            chunk["usage"] = Value::Null;
        }
        chunk
    }

    fn bare(&self) -> Value {
        let Frame { id, created, model } = &self.frame;
        json!({ "id": id, "object": "chat.completion.chunk", "created": created, "model": model })
    }
}
