//! A response as it is written: the object, and the events that lead to it. Pure. Every segment that the agent says is an
//! item of its own, so that a stream, the whole answer and what is retrieved later are the same.

use serde_json::{Value, json};
use talaria_domain::run::RunEvent;

use super::super::refusal::Refusal;
use super::super::turn::standing::{End, Over};

#[cfg(test)]
mod tests;

/// What does not change while a response is told.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Frame {
    /// The turn, without what ids begin with.
    pub(super) turn: String,
    /// In seconds.
    pub(super) created: i64,
    pub(super) model: String,
    pub(super) instructions: Option<String>,
    pub(super) previous: Option<String>,
    pub(super) metadata: Value,
    pub(super) is_stored: bool,
}

/// Tells a response.
#[derive(Debug, Clone)]
pub(super) struct Teller {
    frame: Frame,
    /// What was said, segment by segment.
    items: Vec<String>,
    /// Whether the last one still grows.
    is_open: bool,
    written: Vec<Value>,
    next: u64,
}

impl Teller {
    pub(super) fn of(frame: Frame) -> Self {
        let mut teller = Self {
            frame,
            items: Vec::new(),
            is_open: false,
            written: Vec::new(),
            next: 0,
        };
        for kind in ["response.created", "response.in_progress"] {
            let response = teller.response("in_progress");
            teller.write(kind, json!({ "response": response }));
        }
        teller
    }

    /// The events since the last time.
    pub(super) fn take(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.written)
    }

    /// What an event of the turn adds.
    pub(super) fn tell(&mut self, what: &RunEvent) {
        match what {
            RunEvent::MessageDelta { text } => self.grow(text),
            RunEvent::MessageCompleted { text } => {
                let so_far = if self.is_open {
                    self.items.last()
                } else {
                    None
                };
                let so_far = so_far.map_or("", String::as_str);
                // Nothing that was told can be taken back: only what is missing is added.
                let missing = text.strip_prefix(so_far).unwrap_or_default().to_owned();
                self.grow(&missing);
                self.close();
            }
            RunEvent::Ended(_) => self.close(),
            _ => {}
        }
    }

    /// What the end adds; gives the whole response.
    pub(super) fn end(&mut self, over: &Over) -> Value {
        if self.items.is_empty() && over.end == End::Completed {
            self.grow(&over.text);
        }
        self.close();
        let (kind, status) = match over.end {
            End::Completed => ("response.completed", "completed"),
            End::Failed | End::Interrupted => ("response.failed", "failed"),
            End::Cancelled => ("response.incomplete", "cancelled"),
        };
        let mut response = self.response(status);
        if over.end == End::Completed {
            let (read, written) = (over.usage.input_tokens, over.usage.output_tokens);
            response["usage"] = json!({
                "input_tokens": read,
                "input_tokens_details": { "cached_tokens": 0 },
                "output_tokens": written,
                "output_tokens_details": { "reasoning_tokens": 0 },
                "total_tokens": read.saturating_add(written),
            });
        }
        if let Some(refusal) = Refusal::of(over) {
            let error = &refusal.body()["error"];
            response["error"] = json!({ "code": error["code"], "message": error["message"] });
        }
        self.write(kind, json!({ "response": response }));
        response
    }

    /// The response as it is.
    pub(super) fn response(&self, status: &str) -> Value {
        let frame = &self.frame;
        let last = self.items.len().saturating_sub(1);
        let item = |(at, text): (usize, &String)| {
            let is_done = at < last || !self.is_open;
            self.item(at, text, if is_done { "completed" } else { "in_progress" })
        };
        let output: Vec<Value> = self.items.iter().enumerate().map(item).collect();
        json!({
            "id": format!("resp_{}", frame.turn),
            "object": "response",
            "created_at": frame.created,
            "status": status,
            "error": null,
            "incomplete_details": null,
            "instructions": frame.instructions,
            "metadata": frame.metadata,
            "model": frame.model,
            "output": output,
            "parallel_tool_calls": false,
            "previous_response_id": frame.previous,
            "store": frame.is_stored,
            "tool_choice": "auto",
            "tools": [],
            "usage": null,
        })
    }

    fn item_id(&self, at: usize) -> String {
        format!("msg_{}_{at}", self.frame.turn)
    }

    fn item(&self, at: usize, text: &str, status: &str) -> Value {
        json!({
            "id": self.item_id(at),
            "type": "message",
            "role": "assistant",
            "status": status,
            "content": [part(text)],
        })
    }

    fn grow(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.is_open {
            self.open();
        }
        if let Some(last) = self.items.last_mut() {
            last.push_str(text);
        }
        self.write_about_last(
            "response.output_text.delta",
            json!({ "delta": text, "logprobs": [] }),
        );
    }

    fn open(&mut self) {
        let at = self.items.len();
        self.items.push(String::new());
        self.is_open = true;
        let mut item = self.item(at, "", "in_progress");
        item["content"] = json!([]);
        let added = json!({ "output_index": at, "item": item });
        self.write("response.output_item.added", added);
        self.write_about_last("response.content_part.added", json!({ "part": part("") }));
    }

    fn close(&mut self) {
        let Some(text) = self.items.last().filter(|_| self.is_open).cloned() else {
            return;
        };
        self.is_open = false;
        let at = self.items.len() - 1;
        let done = json!({ "text": text, "logprobs": [] });
        self.write_about_last("response.output_text.done", done);
        self.write_about_last("response.content_part.done", json!({ "part": part(&text) }));
        let item = self.item(at, &text, "completed");
        let done = json!({ "output_index": at, "item": item });
        self.write("response.output_item.done", done);
    }

    fn write_about_last(&mut self, kind: &str, mut event: Value) {
        let at = self.items.len().saturating_sub(1);
        event["item_id"] = json!(self.item_id(at));
        event["output_index"] = json!(at);
        event["content_index"] = json!(0);
        self.write(kind, event);
    }

    fn write(&mut self, kind: &str, mut event: Value) {
        event["type"] = json!(kind);
        event["sequence_number"] = json!(self.next);
        self.next += 1;
        self.written.push(event);
    }
}

fn part(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}
