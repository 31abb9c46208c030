//! What programs are told about the endpoints whose bodies are read field by field: completions, responses, runs. What is
//! not named here and would change the answer is refused; anything else is passed over, as OpenAI's clients expect.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::contract::{Operation, Shape};

/// Every way in which a turn that was asked for is not answered.
const UNANSWERED: [u16; 5] = [404, 409, 429, 502, 504];

fn id() -> Shape {
    json!({ "type": "string", "format": "uuid" })
}

fn text() -> Shape {
    json!({ "type": "string" })
}

fn maybe(shape: &Shape) -> Shape {
    json!({ "anyOf": [shape, { "type": "null" }] })
}

/// An object that has all of these and may have more.
fn object(fields: &[(&str, Shape)]) -> Shape {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let fields = fields
        .iter()
        .map(|(name, shape)| ((*name).to_owned(), shape.clone()));
    let fields: serde_json::Map<String, Value> = fields.collect();
    json!({ "type": "object", "properties": fields, "required": required })
}

/// What every turn may carry beside its body.
fn with_headers(operation: Operation) -> Operation {
    let visible = json!({ "type": "string", "pattern": "^[!-~]{1,255}$" });
    operation
        .header(
            "X-Talaria-Session-Id",
            "Goes on with this conversation.",
            &id(),
        )
        .header("X-Talaria-Profile", "Chooses the profile.", &text())
        .header(
            "Idempotency-Key",
            "The same with the same body is the same turn.",
            &visible,
        )
        .header(
            "X-Talaria-Callback-Url",
            "Where what ends later is told.",
            &text(),
        )
}

/// The options of the model, under OpenAI's names.
fn options() -> Value {
    let count = json!({ "type": ["integer", "null"], "minimum": 1 });
    let format = json!({
        "anyOf": [
            { "type": "null" },
            {
                "type": "object",
                "properties": { "type": { "enum": ["text", "json_object"] } },
                "required": ["type"],
            },
            {
                "type": "object",
                "properties": {
                    "type": { "const": "json_schema" },
                    "json_schema": { "type": "object" },
                },
                "required": ["type", "json_schema"],
            },
        ],
    });
    json!({
        "model": { "type": ["string", "null"], "description": "A profile." },
        "max_tokens": count,
        "max_completion_tokens": count,
        "temperature": { "type": ["number", "null"], "minimum": 0, "maximum": 2 },
        "top_p": { "type": ["number", "null"], "minimum": 0, "maximum": 1 },
        "seed": { "type": ["integer", "null"], "format": "int64" },
        "stop": {
            "anyOf": [
                { "type": ["string", "null"] },
                { "type": "array", "items": { "type": "string" }, "maxItems": 4 },
            ],
        },
        "response_format": format,
        "n": { "enum": [1, null] },
        "callback_url": { "type": ["string", "null"] },
    })
}

/// A message.
fn message() -> Shape {
    let part = json!({
        "anyOf": [
            object(&[("type", json!({ "enum": ["text", "input_text", "output_text"] })), ("text", text())]),
            object(&[("type", json!({ "enum": ["image_url", "input_image"] })), ("image_url", json!({}))]),
        ],
    });
    object(&[
        (
            "role",
            json!({ "enum": ["system", "developer", "user", "assistant"] }),
        ),
        (
            "content",
            json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": part }] }),
        ),
    ])
}

/// A question whose messages are called `name`.
fn question(name: &str, messages: &Shape, more: &Value) -> Shape {
    let mut fields = options();
    fields[name] = messages.clone();
    fields["callback_url"] = json!({
        "type": ["string", "null"],
        "format": "uri",
        "description": "Where what ends later is told, if the operator allows it.",
    });
    for (name, shape) in more.as_object().into_iter().flatten() {
        fields[name.as_str()] = shape.clone();
    }
    json!({ "type": "object", "properties": fields, "required": [name] })
}

fn messages() -> Shape {
    json!({
        "type": "array",
        "items": message(),
        "minItems": 1,
        "description": "The last one is of the user.",
    })
}

/// A text or messages.
fn input() -> Shape {
    json!({ "anyOf": [{ "type": "string", "pattern": "\\S" }, messages()] })
}

/// `POST /v1/chat/completions`.
pub(super) fn completion() -> Operation {
    let flag = json!({ "type": ["boolean", "null"] });
    let more = json!({
        "stream": flag,
        "stream_options": { "type": ["object", "null"], "properties": { "include_usage": flag } },
    });
    let usage = object(&[
        ("prompt_tokens", json!({ "type": "integer" })),
        ("completion_tokens", json!({ "type": "integer" })),
        ("total_tokens", json!({ "type": "integer" })),
    ]);
    let choice = object(&[
        ("index", json!({ "const": 0 })),
        (
            "message",
            object(&[
                ("role", json!({ "const": "assistant" })),
                ("content", text()),
            ]),
        ),
        ("finish_reason", text()),
    ]);
    let answer = object(&[
        ("id", text()),
        ("object", json!({ "const": "chat.completion" })),
        ("created", json!({ "type": "integer" })),
        ("model", text()),
        (
            "choices",
            json!({ "type": "array", "items": choice, "minItems": 1, "maxItems": 1 }),
        ),
        ("usage", usage),
    ]);
    with_headers(Operation::of("One turn, at once or as a stream."))
        .takes_shape(&question("messages", &messages(), &more))
        .gives_shape(StatusCode::OK, &answer)
        .streams()
        .refuses(&UNANSWERED)
}

fn response() -> Shape {
    let statuses = [
        "queued",
        "in_progress",
        "completed",
        "failed",
        "cancelled",
        "incomplete",
    ];
    object(&[
        ("id", text()),
        ("object", json!({ "const": "response" })),
        ("created_at", json!({ "type": "integer" })),
        ("status", json!({ "enum": statuses })),
        ("error", json!({ "type": ["object", "null"] })),
        ("instructions", maybe(&text())),
        ("metadata", json!({})),
        ("model", text()),
        (
            "output",
            json!({ "type": "array", "items": { "type": "object" } }),
        ),
        ("previous_response_id", maybe(&text())),
        ("store", json!({ "type": "boolean" })),
        ("usage", json!({ "type": ["object", "null"] })),
    ])
}

/// `POST /v1/responses`.
pub(super) fn create_response() -> Operation {
    let flag = json!({ "type": ["boolean", "null"] });
    let more = json!({
        "stream": flag,
        "store": flag,
        "instructions": { "type": ["string", "null"] },
        "previous_response_id": { "type": ["string", "null"] },
        "conversation": {
            "anyOf": [
                { "type": ["string", "null"] },
                { "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"] },
            ],
        },
        "metadata": {},
    });
    with_headers(Operation::of("One turn in OpenAI's other format."))
        .takes_shape(&question("input", &input(), &more))
        .gives_shape(StatusCode::OK, &response())
        .streams()
        .refuses(&UNANSWERED)
}

/// `GET /v1/responses/{id}`.
pub(super) fn one_response() -> Operation {
    let number = json!({ "type": "integer", "minimum": 0, "format": "int64" });
    let flag = json!({ "type": "boolean" });
    Operation::of("A response that was kept, at once or its events again.")
        .filter("stream", "Whether it is told as events.", &flag)
        .filter("starting_after", "Only the events after this one.", &number)
        .gives_shape(StatusCode::OK, &response())
        .streams()
}

/// `POST /v1/responses/{id}/cancel`.
pub(super) fn cancel_response() -> Operation {
    Operation::of("Cancels a response. One that has ended stays as it is.")
        .gives_shape(StatusCode::OK, &response())
}

/// `DELETE /v1/responses/{id}`.
pub(super) fn delete_response() -> Operation {
    let deleted = object(&[
        ("id", text()),
        ("object", json!({ "const": "response" })),
        ("deleted", json!({ "const": true })),
    ]);
    Operation::of("Forgets a response. What was said stays in its conversation.")
        .gives_shape(StatusCode::OK, &deleted)
}

const STANDINGS: [&str; 7] = [
    "queued",
    "running",
    "waiting",
    "completed",
    "failed",
    "cancelled",
    "interrupted",
];

/// `POST /v1/runs`.
pub(super) fn create_run() -> Operation {
    let begun = object(&[
        ("run_id", id()),
        ("object", json!({ "const": "run" })),
        ("status", json!({ "enum": STANDINGS })),
        ("session_id", id()),
    ]);
    let more = json!({ "instructions": { "type": ["string", "null"] } });
    with_headers(Operation::of("A turn that outlives the connection."))
        .takes_shape(&question("input", &input(), &more))
        .gives_shape(StatusCode::ACCEPTED, &begun)
        .refuses(&[404, 409, 429])
}

pub(super) fn run() -> Shape {
    object(&[
        ("run_id", id()),
        ("object", json!({ "const": "run" })),
        ("status", json!({ "enum": STANDINGS })),
        ("session_id", id()),
        ("model", text()),
        ("created_at", json!({ "type": "integer" })),
        ("output", maybe(&text())),
        ("finish_reason", maybe(&text())),
        ("usage", json!({ "type": ["object", "null"] })),
        ("error", json!({ "type": ["object", "null"] })),
        ("request", json!({ "type": ["object", "null"] })),
    ])
}

/// `GET /v1/runs/{id}`.
pub(super) fn one_run() -> Operation {
    Operation::of("How a run stands.").gives_shape(StatusCode::OK, &run())
}

/// `POST /v1/runs/{id}/cancel`.
pub(super) fn cancel_run() -> Operation {
    Operation::of("Cancels a run. One that has ended stays as it is.")
        .gives_shape(StatusCode::OK, &run())
}

/// `GET /v1/runs/{id}/events`.
pub(super) fn run_events() -> Operation {
    let number = json!({ "type": "string", "pattern": "^[0-9]{1,18}$" });
    Operation::of("Everything that a run told, and tells, until its end.")
        .header("Last-Event-ID", "Goes on after this one.", &number)
        .streams()
        .refuses(&[400])
}
