//! A response as it is written: the object, and the events that lead to it. Pure. Every segment that the agent says and
//! every tool that it calls is an item of its own, so that a stream, the whole answer and what is retrieved later are the
//! same.
//!
//! A tool runs on our side and its client has nothing to do about it. OpenAI's format has that for tools of MCP servers, so
//! that a call is told as `mcp_call`; a `function_call` would ask the client to run it.

use serde_json::{Value, json};
use talaria_domain::run::{Finish, RunEvent, ToolResult};

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

/// Where the agent's tools run, as clients are told.
const SERVER_LABEL: &str = "talaria";

/// Something that a response has.
#[derive(Debug, Clone, PartialEq)]
enum Item {
    /// What the agent said.
    Message { text: String, is_done: bool },
    /// A tool that it called.
    Call {
        call: String,
        tool: String,
        /// JSON in a text, as clients know it.
        arguments: String,
        result: Option<(ToolResult, String)>,
    },
}

/// Tells a response.
#[derive(Debug, Clone)]
pub(super) struct Teller {
    frame: Frame,
    items: Vec<Item>,
    written: Vec<Value>,
    next: u64,
}

impl Teller {
    pub(super) fn of(frame: Frame) -> Self {
        let mut teller = Self {
            frame,
            items: Vec::new(),
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
                let so_far = self.open_message().map_or("", |(_, text)| text.as_str());
                // Nothing that was told can be taken back: only what is missing is added.
                let missing = text.strip_prefix(so_far).unwrap_or_default().to_owned();
                self.grow(&missing);
                self.close_message();
            }
            RunEvent::ToolStarted {
                call,
                tool,
                arguments,
            } => {
                self.close_message();
                self.begin_call(call, tool, &arguments.to_string());
            }
            RunEvent::ToolCompleted {
                call,
                output,
                result,
            } => self.end_call(call, *result, output),
            RunEvent::Ended(_) => self.close(),
            _ => {}
        }
    }

    /// What the end adds; gives the whole response.
    pub(super) fn end(&mut self, over: &Over) -> Value {
        let has_spoken = |item: &Item| matches!(item, Item::Message { .. });
        if over.is_answered() && !self.items.iter().any(has_spoken) {
            self.grow(&over.text);
        }
        self.close();
        let (kind, status) = match over.end {
            End::Completed(Finish::Stop) => ("response.completed", "completed"),
            End::Completed(_) => ("response.incomplete", "incomplete"),
            End::Failed(_) | End::Interrupted => ("response.failed", "failed"),
            End::Cancelled => ("response.incomplete", "cancelled"),
        };
        let mut response = self.response(status);
        response["incomplete_details"] = match over.end {
            End::Completed(Finish::Length) => json!({ "reason": "max_output_tokens" }),
            End::Completed(Finish::ContentFilter) => json!({ "reason": "content_filter" }),
            _ => Value::Null,
        };
        if over.is_answered() {
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
        let items = self.items.iter().enumerate();
        let output: Vec<Value> = items.map(|(at, item)| self.item(at, item)).collect();
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
        let kind = match self.items.get(at) {
            Some(Item::Call { .. }) => "mcp",
            _ => "msg",
        };
        format!("{kind}_{}_{at}", self.frame.turn)
    }

    fn item(&self, at: usize, item: &Item) -> Value {
        let id = self.item_id(at);
        match item {
            Item::Message { text, is_done } => json!({
                "id": id,
                "type": "message",
                "role": "assistant",
                "status": if *is_done { "completed" } else { "in_progress" },
                "content": [part(text)],
            }),
            Item::Call {
                tool,
                arguments,
                result,
                ..
            } => {
                let (status, output, error) = match result {
                    None => ("in_progress", None, None),
                    Some((ToolResult::Done, output)) => ("completed", Some(output), None),
                    Some((ToolResult::Refused, why)) => ("failed", None, Some(why)),
                    Some((ToolResult::Cancelled, why)) => ("incomplete", None, Some(why)),
                };
                json!({
                    "id": id,
                    "type": "mcp_call",
                    "server_label": SERVER_LABEL,
                    "name": tool,
                    "arguments": arguments,
                    "status": status,
                    "output": output,
                    "error": error,
                })
            }
        }
    }

    /// The message that still grows: it is the last item.
    fn open_message(&mut self) -> Option<(usize, &mut String)> {
        let at = self.items.len().checked_sub(1)?;
        match self.items.last_mut()? {
            Item::Message {
                text,
                is_done: false,
            } => Some((at, text)),
            _ => None,
        }
    }

    fn grow(&mut self, more: &str) {
        if more.is_empty() {
            return;
        }
        let at = match self.open_message() {
            Some((at, _)) => at,
            None => self.begin_message(),
        };
        if let Some((_, text)) = self.open_message() {
            text.push_str(more);
        }
        let delta = json!({ "delta": more, "logprobs": [] });
        self.write_about_text(at, "response.output_text.delta", delta);
    }

    fn begin_message(&mut self) -> usize {
        let at = self.items.len();
        self.items.push(Item::Message {
            text: String::new(),
            is_done: false,
        });
        self.write_item(at, "response.output_item.added", |item| {
            item["content"] = json!([]);
        });
        let part = json!({ "part": part("") });
        self.write_about_text(at, "response.content_part.added", part);
        at
    }

    fn close_message(&mut self) {
        let Some((at, text)) = self.open_message() else {
            return;
        };
        let text = text.clone();
        if let Some(Item::Message { is_done, .. }) = self.items.get_mut(at) {
            *is_done = true;
        }
        let done = json!({ "text": text, "logprobs": [] });
        self.write_about_text(at, "response.output_text.done", done);
        let part = json!({ "part": part(&text) });
        self.write_about_text(at, "response.content_part.done", part);
        self.write_item(at, "response.output_item.done", |_| {});
    }

    fn begin_call(&mut self, call: &str, tool: &str, arguments: &str) {
        let at = self.items.len();
        self.items.push(Item::Call {
            call: call.to_owned(),
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            result: None,
        });
        self.write_item(at, "response.output_item.added", |item| {
            item["arguments"] = json!("");
        });
        self.write_about(at, "response.mcp_call.in_progress", json!({}));
        let done = json!({ "arguments": arguments });
        self.write_about(at, "response.mcp_call_arguments.done", done);
    }

    fn end_call(&mut self, ended: &str, how: ToolResult, output: &str) {
        let is_it = |item: &Item| match item {
            Item::Call { call, result, .. } => call == ended && result.is_none(),
            Item::Message { .. } => false,
        };
        let Some(at) = self.items.iter().position(is_it) else {
            return;
        };
        if let Some(Item::Call { result, .. }) = self.items.get_mut(at) {
            *result = Some((how, output.to_owned()));
        }
        let kind = match how {
            ToolResult::Done => "response.mcp_call.completed",
            ToolResult::Refused | ToolResult::Cancelled => "response.mcp_call.failed",
        };
        self.write_about(at, kind, json!({}));
        self.write_item(at, "response.output_item.done", |_| {});
    }

    /// Nothing more is added to what is there.
    fn close(&mut self) {
        self.close_message();
        let open = |item: &Item| match item {
            Item::Call {
                call, result: None, ..
            } => Some(call.clone()),
            _ => None,
        };
        let open: Vec<String> = self.items.iter().filter_map(open).collect();
        for call in open {
            self.end_call(&call, ToolResult::Cancelled, "stopped before it ended");
        }
    }

    fn write_item(&mut self, at: usize, kind: &str, change: impl FnOnce(&mut Value)) {
        let Some(item) = self.items.get(at) else {
            return;
        };
        let mut item = self.item(at, item);
        change(&mut item);
        self.write(kind, json!({ "output_index": at, "item": item }));
    }

    fn write_about_text(&mut self, at: usize, kind: &str, mut event: Value) {
        event["content_index"] = json!(0);
        self.write_about(at, kind, event);
    }

    fn write_about(&mut self, at: usize, kind: &str, mut event: Value) {
        event["item_id"] = json!(self.item_id(at));
        event["output_index"] = json!(at);
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
