//! Answers that are always the same.

use serde_json::{Value, json};

/// The conversation that is opened.
pub(crate) const SESSION: &str = "0198c0de-0000-7000-8000-0000000000aa";
const DEAD: &str = "0198c0de-0000-7000-8000-0000000000dd";

pub(super) fn page(items: &[Value]) -> Value {
    json!({ "data": items, "next": null })
}

pub(super) fn status() -> Value {
    json!({
        "version": "9.9.9", "profile": "assistant", "model": "demo", "store": "sqlite:/x/store.db",
        "started_at": 1_000, "listen": "127.0.0.1:1",
        "parts": [
            { "name": "web", "state": "connected", "detail": null, "last_receive": 2_000, "last_send": null },
            { "name": "lanes", "state": "stopped", "detail": "it hurts", "last_receive": null, "last_send": null },
        ],
        "lanes": { "open": 3, "running": 1 },
        "inbox": { "queued": 2, "claimed": 1 },
        "outbox": { "queued": 0, "sending": 0, "retry": 4, "unknown": 0, "oldest_undelivered": 5_000 },
        "dead": 7,
    })
}

pub(super) fn sessions() -> Vec<Value> {
    let session = |id: &str, title: &str| {
        json!({
            "id": id, "title": title, "state": "active", "created_at": 1_000, "updated_at": 2_000,
            "generation": 0, "parent": null,
        })
    };
    vec![
        session(SESSION, "colours"),
        session("0198c0de-0000-7000-8000-0000000000ab", "shapes"),
        session(
            "0198c0de-0000-7000-8000-0000000000ac",
            "evil \u{1b}[2J title",
        ),
    ]
}

pub(super) fn letter() -> Value {
    json!({
        "id": DEAD, "thing": "part", "thing_id": "0198c0de-0000-7000-8000-0000000000ee", "session_id": SESSION,
        "state": "open", "reason": "the chat is gone", "at": 3_000, "ended_at": null,
    })
}

pub(super) fn job() -> Value {
    json!({
        "id": "0198c0de-0000-7000-8000-0000000000cc", "session_id": SESSION, "run_id": null, "profile": "assistant",
        "kind": "process", "state": "completed", "promise": "wake", "work": { "command": "make all" },
        "to": { "platform": "web", "account": "default", "chat": "c", "thread": null }, "handle": null,
        "result": { "code": 0 }, "told": "make all is done", "consumed_at": null, "created_at": 1_000, "ended_at": 2_000,
    })
}

pub(super) fn run() -> Value {
    json!({
        "id": "0198c0de-0000-7000-8000-0000000000bb", "session_id": SESSION, "profile": "assistant", "runner": "native",
        "state": "running", "attempt": 1, "outcome": null, "created_at": 1_000, "active_at": 2_000, "ended_at": null,
    })
}

pub(super) fn key() -> Value {
    json!({ "id": "k1", "name": "laptop", "scopes": ["chat"], "created_at": 1_000 })
}

pub(super) fn life() -> Value {
    json!({
        "event": {
            "id": "e1", "session_id": SESSION, "state": "completed", "kind": "message",
            "content": { "kind": "message", "text": "hello" }, "received_at": 1_000, "ended_at": 2_000,
        },
        "runs": [ { "id": "r1", "runner": "native", "attempt": 1, "state": "completed", "created_at": 1_100,
                    "outcome": { "outcome": "completed", "usage": { "input_tokens": 1, "output_tokens": 2 } }, "journal": [] } ],
        "replies": [ { "id": "y1", "kind": "final", "state": "delivered", "text": "hi", "created_at": 2_000,
                       "parts": [ { "id": "p1", "ordinal": 0, "state": "delivered", "created_at": 2_000, "attempts": [],
                                    "receipts": [ { "message": "m1", "at": 2_500 } ] } ] } ],
        "dead": [],
    })
}
