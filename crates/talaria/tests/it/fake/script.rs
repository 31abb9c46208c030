//! What happens when somebody says something. The worst order is chosen on purpose: everything happens before the post
//! is answered.

use std::collections::btree_map::Entry;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use talaria_domain::delivery::ReplyKind;
use talaria_domain::live::Happening;
use talaria_domain::run::{FailureCode, RunEvent, RunOutcome, ToolResult, Usage};

use super::{Shared, refuse};

/// A turn under way.
struct Turn<'s> {
    shared: &'s Shared,
    event: String,
    run: String,
}

pub(super) async fn post(
    State(shared): State<Arc<Shared>>,
    Path(session): Path<String>,
    Json(body): Json<Value>,
) -> Response {
    let text = body["text"].as_str().unwrap_or_default().to_owned();
    let client = body["id"].as_str().unwrap_or_default().to_owned();
    let event = shared.next_id();
    let first = match shared.known().posted.entry(client) {
        Entry::Occupied(known) => Some(known.get().clone()),
        Entry::Vacant(place) => {
            place.insert(event.clone());
            None
        }
    };
    if let Some(event) = first {
        return Json(json!({ "event_id": event, "duplicate": true })).into_response();
    }
    let turn = Turn {
        shared: &shared,
        run: shared.next_id(),
        event: event.clone(),
    };
    turn.play(&text);
    if text == "flaky" {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "the store is away");
    }
    let body = json!({ "event_id": event, "session_id": session });
    (StatusCode::ACCEPTED, Json(body)).into_response()
}

impl Turn<'_> {
    fn play(&self, text: &str) {
        match text {
            "/help" => self.notice("Commands: /help, /stop."),
            "/stop" => self.stop(),
            "break" => self.fail(),
            "silence" => {
                self.start();
                self.end("completed", completed());
            }
            "restart" => {
                self.start();
                self.yielded(&RunEvent::MessageDelta {
                    text: "half".to_owned(),
                });
                // The connection goes first, so the rest is only in the ledger.
                self.shared.cut.send_modify(|cut| *cut += 1);
                self.record(
                    "completed",
                    "completed",
                    &[self.reply("final", "Back again.")],
                );
            }
            "wait" => {
                self.start();
                self.yielded(&RunEvent::MessageDelta {
                    text: "first half,".to_owned(),
                });
            }
            "tool" => {
                self.tool();
                self.answer("One file.");
            }
            "refuse" => self.record("discarded", "", &[]),
            text => {
                self.start();
                self.answer(&format!("You said {text}."));
            }
        }
    }

    fn start(&self) {
        self.record("claimed", "running", &[]);
        self.tell(json!({ "happening": "started", "run": self.run, "event": self.event }));
    }

    fn answer(&self, text: &str) {
        for piece in text.split_inclusive(' ') {
            self.yielded(&RunEvent::MessageDelta {
                text: piece.to_owned(),
            });
        }
        self.yielded(&RunEvent::MessageCompleted {
            text: text.to_owned(),
        });
        let reply = self.reply("final", text);
        self.record("completed", "completed", std::slice::from_ref(&reply));
        self.said(&reply, Some(&self.run));
        self.end("completed", completed());
    }

    fn fail(&self) {
        self.start();
        let reply = self.reply("notice", "I could not finish this: the model is gone.");
        self.record("completed", "failed", std::slice::from_ref(&reply));
        self.said(&reply, Some(&self.run));
        self.end(
            "completed",
            RunOutcome::failed(FailureCode::Other, "the model is gone"),
        );
    }

    fn tool(&self) {
        self.start();
        self.yielded(&RunEvent::ToolStarted {
            call: "1".to_owned(),
            tool: "terminal".to_owned(),
            arguments: json!({ "command": "ls" }),
        });
        self.yielded(&RunEvent::ToolCompleted {
            call: "1".to_owned(),
            output: "notes.txt\n".to_owned(),
            result: ToolResult::Done,
        });
    }

    fn notice(&self, text: &str) {
        let reply = self.reply("notice", text);
        self.record("completed", "", std::slice::from_ref(&reply));
        self.said(&reply, None);
    }

    /// Ends whatever is claimed, as the gateway does.
    fn stop(&self) {
        let mut known = self.shared.known();
        let claimed = known
            .lives
            .values_mut()
            .filter(|life| life["event"]["state"] == "claimed");
        for life in claimed {
            life["event"]["state"] = json!("discarded");
            life["event"]["reason"] = json!("stopped by /stop");
            life["runs"][0]["state"] = json!("cancelled");
        }
        drop(known);
        self.notice("Stopped.");
    }

    fn end(&self, state: &str, outcome: RunOutcome) {
        if let Some(life) = self.shared.known().lives.get_mut(&self.event) {
            life["event"]["state"] = json!(state);
        }
        self.yielded(&RunEvent::Ended(outcome));
    }

    fn yielded(&self, what: &RunEvent) {
        self.tell(json!({ "happening": "yielded", "run": self.run, "seq": 1, "what": what }));
    }

    fn said(&self, reply: &Value, run: Option<&str>) {
        let kind = if reply["kind"] == "final" {
            ReplyKind::Final
        } else {
            ReplyKind::Notice
        };
        self.tell(json!({
            "happening": "said", "reply": reply["id"], "kind": kind, "run": run, "text": reply["text"],
        }));
    }

    fn reply(&self, kind: &str, text: &str) -> Value {
        let id = self.shared.next_id();
        json!({ "id": id, "kind": kind, "state": "finished", "text": text, "created_at": 2_000, "parts": [] })
    }

    fn record(&self, state: &str, run: &str, replies: &[Value]) {
        let runs: Vec<_> = Some(run)
            .filter(|run| !run.is_empty())
            .map(|state| json!({ "id": self.run, "state": state, "attempt": 1, "journal": [] }))
            .into_iter()
            .collect();
        let event = json!({ "id": self.event, "state": state, "reason": "the queue is full", "received_at": 1_000 });
        let life = json!({ "event": event, "runs": runs, "replies": replies, "dead": [] });
        self.shared.known().lives.insert(self.event.clone(), life);
    }

    fn tell(&self, happening: Value) {
        let happening: Happening = serde_json::from_value(happening).unwrap();
        self.shared.tell(happening);
    }
}

fn completed() -> RunOutcome {
    RunOutcome::completed(Usage::default())
}

/// A text without an agent: on its way at the first look, there or given up at the second.
pub(super) async fn send(State(shared): State<Arc<Shared>>, Json(body): Json<Value>) -> Response {
    let to = body["to"].as_str().unwrap_or_default();
    if to == "nowhere" {
        return refuse(StatusCode::BAD_REQUEST, "there is no platform nowhere");
    }
    let reply = shared.next_id();
    let (state, receipts) = match to {
        "gone:1" => ("failed", json!([])),
        _ => ("delivered", json!([{ "message": "m42", "at": 2_000 }])),
    };
    let attempts = json!([{ "outcome": "rejected", "class": "gone", "detail": "the chat was deleted", "at": 1_500 }]);
    let part = json!({ "id": "p", "ordinal": 0, "state": state, "attempts": attempts, "receipts": receipts });
    let found = json!({ "id": reply, "kind": "notice", "state": state, "text": body["text"], "parts": [part] });
    let life = json!({ "event": null, "runs": [], "replies": [found], "dead": [] });
    shared.known().lives.insert(reply.clone(), life);
    (StatusCode::ACCEPTED, Json(json!({ "reply_id": reply }))).into_response()
}
