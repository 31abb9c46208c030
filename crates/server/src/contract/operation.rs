//! What one operation takes and gives. Shapes come from types where there are types, and are written down where a body
//! is read field by field.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::words;

/// A JSON Schema.
pub(crate) type Shape = Value;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// What an operation takes and gives.
pub(crate) struct Operation {
    summary: &'static str,
    parameters: Vec<Value>,
    body: Option<Value>,
    answers: BTreeMap<u16, Value>,
}

impl Operation {
    /// An operation that does this.
    pub(crate) fn of(summary: &'static str) -> Self {
        Self {
            summary,
            parameters: Vec::new(),
            body: None,
            answers: BTreeMap::new(),
        }
    }

    /// Something may be said about it in a header.
    pub(crate) fn header(self, name: &str, about: &str, shape: &Shape) -> Self {
        self.parameter(("header", name), about, shape)
    }

    /// Only some of it may be asked for. What is not known is refused.
    pub(crate) fn filter(self, name: &str, about: &str, shape: &Shape) -> Self {
        self.parameter(("query", name), about, shape)
            .refuses(&[400])
    }

    /// It answers with rows of this type, a stretch at a time.
    pub(crate) fn lists<T: JsonSchema>(self, cursor: &Shape) -> Self {
        let limit = json!({ "type": "integer", "minimum": 1, "maximum": 200, "default": 50 });
        self.filter("limit", "At most so many rows.", &limit)
            .filter("after", "The `next` of an earlier page.", cursor)
            .gives_page::<T>(cursor)
    }

    /// It answers with one stretch of rows of this type.
    pub(crate) fn gives_page<T: JsonSchema>(self, cursor: &Shape) -> Self {
        self.gives_shape(StatusCode::OK, &words::page(&given::<T>(), cursor))
    }

    fn parameter(mut self, (place, name): (&str, &str), about: &str, shape: &Shape) -> Self {
        self.parameters
            .push(json!({ "name": name, "in": place, "description": about, "schema": shape }));
        self
    }

    /// It takes a body of this type.
    pub(crate) fn takes<T: JsonSchema>(self) -> Self {
        let settings = SchemaSettings::draft2020_12().for_deserialize();
        let shape = shape_of::<T>(settings);
        let is_required = shape["required"].is_array();
        self.body(&shape, is_required)
    }

    /// It takes a body of this shape.
    pub(crate) fn takes_shape(self, shape: &Shape) -> Self {
        self.body(shape, true)
    }

    fn body(mut self, shape: &Shape, is_required: bool) -> Self {
        self.body =
            Some(json!({ "required": is_required, "content": { JSON: { "schema": shape } } }));
        self.refuses(&[400, 408])
    }

    /// It answers with this type.
    pub(crate) fn gives<T: JsonSchema>(self, status: StatusCode) -> Self {
        self.gives_shape(status, &given::<T>())
    }

    /// It answers with this shape.
    pub(crate) fn gives_shape(self, status: StatusCode, shape: &Shape) -> Self {
        self.answer(status, JSON, shape)
    }

    /// It answers with a text of another format.
    pub(crate) fn gives_text(self, media_type: &str) -> Self {
        self.answer(StatusCode::OK, media_type, &json!({ "type": "string" }))
    }

    /// It answers with server-sent events, where that is asked for or always.
    pub(crate) fn streams(mut self) -> Self {
        // Without a schema: one would be of a single event, and each kind has its own.
        self.content(StatusCode::OK)[EVENTS] = json!({});
        self
    }

    /// It answers, and there is nothing to say.
    pub(crate) fn gives_nothing(mut self, status: StatusCode) -> Self {
        self.answers.insert(
            status.as_u16(),
            json!({ "description": reason(status.as_u16()) }),
        );
        self
    }

    fn answer(mut self, status: StatusCode, media_type: &str, shape: &Shape) -> Self {
        self.content(status)[media_type] = json!({ "schema": shape });
        self
    }

    /// What is answered with this status, by its format.
    fn content(&mut self, status: StatusCode) -> &mut Value {
        let status = status.as_u16();
        let answer = self
            .answers
            .entry(status)
            .or_insert_with(|| json!({ "description": reason(status), "content": {} }));
        &mut answer["content"]
    }

    /// It may be refused so, in the one shape of every refusal.
    pub(crate) fn refuses(mut self, statuses: &[u16]) -> Self {
        for status in statuses {
            self.answers
                .entry(*status)
                .or_insert_with(|| refusal(*status));
        }
        self
    }

    /// As the document has it.
    pub(super) fn into_value(self) -> Map<String, Value> {
        let answers = self.answers.into_iter();
        let answers: Map<String, Value> = answers
            .map(|(status, answer)| (status.to_string(), answer))
            .collect();
        let mut written = Map::new();
        written.insert("summary".to_owned(), json!(self.summary));
        written.insert("parameters".to_owned(), Value::Array(self.parameters));
        if let Some(body) = self.body {
            written.insert("requestBody".to_owned(), body);
        }
        written.insert("responses".to_owned(), Value::Object(answers));
        written
    }
}

fn refusal(status: u16) -> Value {
    let mut headers = Map::new();
    if status == 429 {
        let seconds = json!({ "description": "Seconds to wait.", "schema": { "type": "integer" } });
        headers.insert("retry-after".to_owned(), seconds);
    }
    let shape = json!({ "$ref": "#/components/schemas/Error" });
    json!({ "description": reason(status), "headers": headers, "content": { JSON: { "schema": shape } } })
}

fn reason(status: u16) -> &'static str {
    let known = StatusCode::from_u16(status).ok();
    known
        .and_then(|status| status.canonical_reason())
        .unwrap_or("As the body says")
}

/// The shape of what is written.
fn given<T: JsonSchema>() -> Shape {
    shape_of::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// The shape of a type, whole: nothing in it refers to anything else.
fn shape_of<T: JsonSchema>(settings: SchemaSettings) -> Shape {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut shape = settings.into_generator().into_root_schema_for::<T>();
    // The name of a type is nobody's business.
    shape.remove("title");
    shape.to_value()
}
