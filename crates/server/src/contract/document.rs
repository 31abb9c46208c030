//! The document: every line of the table, with what holds for all of them. Made when somebody asks for it first.

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use serde_json::{Map, Value, json};

use super::routes::{Door, Line};
use super::{Operation, Routes};
use crate::access::keys::Scope;
use crate::shared::App;

const PATH: &str = "/openapi.json";

/// The routes as they are answered, with the one that describes them all.
pub(crate) fn publish(routes: Routes, version: &str) -> Router<Arc<App>> {
    let table = Arc::new(OnceLock::new());
    let document = Document {
        table: Arc::clone(&table),
        text: Arc::new(OnceLock::new()),
        version: version.to_owned(),
    };
    let read = move || {
        let document = document.clone();
        async move { document.read() }
    };
    let (answering, lines) = routes.get(PATH, read, describe).into_parts();
    // It is new: nobody has read it.
    table.set(lines).unwrap_or_default();
    answering
}

fn describe() -> Operation {
    Operation::of("This document.").gives_shape(StatusCode::OK, &json!({ "type": "object" }))
}

#[derive(Clone)]
struct Document {
    table: Arc<OnceLock<Vec<Line>>>,
    text: Arc<OnceLock<String>>,
    version: String,
}

impl Document {
    fn read(&self) -> impl IntoResponse + use<> {
        let lines = self.table.get().map_or(&[][..], Vec::as_slice);
        let text = self
            .text
            .get_or_init(|| write(lines, &self.version).to_string());
        ([(header::CONTENT_TYPE, "application/json")], text.clone())
    }
}

/// The whole document.
pub(super) fn write(lines: &[Line], version: &str) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for line in lines {
        let at = paths.entry(line.path).or_insert_with(|| json!({}));
        at[line.method] = Value::Object(operation(line));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Talaria",
            "version": version,
            "description": "What programs and operators can ask of the gateway. docs/api.md explains it.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Error": error() },
        },
    })
}

fn operation(line: &Line) -> Map<String, Value> {
    let operation = (line.describe)();
    // Where it comes from and how large it is decides before any of them.
    let operation = operation.refuses(&[403, 413, 431, 500, 503]);
    let operation = match line.door {
        Door::Open => operation,
        Door::Key(_) => operation.refuses(&[401]),
    };
    let names = names(line.path);
    let operation = if names.is_empty() {
        operation
    } else {
        operation.refuses(&[404])
    };
    let mut written = operation.into_value();
    if let Some(Value::Array(parameters)) = written.get_mut("parameters") {
        parameters.extend(names.iter().map(|name| in_path(line.path, name)));
    }
    let id = format!("{} {}", line.method, line.path);
    written.insert("operationId".to_owned(), json!(id));
    if let Door::Key(scope) = line.door {
        let scope = match scope {
            Scope::Chat => "chat",
            Scope::Operator => "operator",
        };
        written.insert("security".to_owned(), json!([{ "key": [] }]));
        written.insert("x-talaria-scope".to_owned(), json!(scope));
    }
    written
}

/// What stands in braces.
fn names(path: &str) -> Vec<&str> {
    let steps = path.split('/');
    steps
        .filter_map(|step| step.strip_prefix('{')?.strip_suffix('}'))
        .collect()
}

/// Ids of ours are in the path, but where something has a name of another kind.
fn in_path(path: &str, name: &str) -> Value {
    let is_text = path.starts_with("/v1/models") || path.starts_with("/api/trace");
    let shape = if path.starts_with("/v1/responses") {
        json!({ "type": "string", "pattern": "^resp_[0-9a-f-]{36}$" })
    } else if is_text {
        json!({ "type": "string", "minLength": 1 })
    } else {
        json!({ "type": "string", "format": "uuid" })
    };
    json!({ "name": name, "in": "path", "required": true, "schema": shape })
}

/// The one shape of every refusal.
fn error() -> Value {
    json!({
        "type": "object",
        "properties": {
            "error": {
                "type": "object",
                "properties": {
                    "message": { "type": "string" },
                    "type": { "type": "string" },
                    "param": { "type": ["string", "null"] },
                    "code": { "type": "string" },
                },
                "required": ["message", "type", "param", "code"],
                "additionalProperties": false,
            },
        },
        "required": ["error"],
        "additionalProperties": false,
    })
}
