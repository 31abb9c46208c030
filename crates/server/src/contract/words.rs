//! The shapes of what the domain writes, under short names, for types that have it in them.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use std::borrow::Cow;
use talaria_domain::machine::Machine;

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident = $shape:tt;)*) => {$(
        $(#[$doc])*
        pub(crate) enum $name {}

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($shape)
            }
        }
    )*};
}

words! {
    /// An id of ours.
    Id = { "type": "string", "format": "uuid" };
    /// Milliseconds since 1970.
    Time = { "type": "integer", "description": "Milliseconds since 1970-01-01 UTC." };
    /// A name, an id of somebody else's.
    Name = { "type": "string" };
    /// One of several things, each with fields of its own.
    Tagged = { "type": "object", "additionalProperties": true };
    /// Anything at all.
    Anything = {};
    /// A place on a platform.
    Address = {
        "type": "object",
        "properties": {
            "platform": { "type": "string" },
            "account": { "type": "string" },
            "chat_kind": { "type": "string" },
            "chat": { "type": "string" },
            "thread": { "type": ["string", "null"] },
            "reply_to": { "type": ["string", "null"] }
        },
        "required": ["platform", "account", "chat_kind", "chat", "thread", "reply_to"]
    };
    /// Who speaks.
    Principal = {
        "type": "object",
        "properties": {
            "platform": { "type": "string" },
            "account": { "type": "string" },
            "user": { "type": "string" },
            "alternate": { "type": ["string", "null"] },
            "display_name": { "type": ["string", "null"] },
            "role": { "type": "string" }
        },
        "required": ["platform", "account", "user", "alternate", "display_name", "role"]
    };
    /// A platform's proof.
    Receipt = {
        "type": "object",
        "properties": { "message": { "type": "string" }, "at": { "type": "integer" } },
        "required": ["message", "at"]
    };
}

/// A state of this machine.
pub(crate) fn state<M: Machine>(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = M::STATES.iter().map(|state| state.as_str()).collect();
    json_schema!({ "type": "string", "enum": names })
}

/// A state of this machine, as a filter.
pub(crate) fn one_state<M: Machine>() -> Value {
    let names: Vec<&str> = M::STATES.iter().map(|state| state.as_str()).collect();
    json!({ "type": "string", "enum": names })
}

/// An id of ours, in a query.
pub(crate) fn id() -> Value {
    json!({ "type": "string", "format": "uuid" })
}

/// A number that counts on, in a query.
pub(crate) fn number() -> Value {
    json!({ "type": "integer", "format": "int64" })
}

/// A stretch of a list of these rows.
pub(crate) fn page(row: &Value, cursor: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            "data": { "type": "array", "items": row },
            "next": { "anyOf": [cursor, { "type": "null" }] }
        },
        "required": ["data", "next"]
    })
}

/// A line of text of at most so many characters.
pub(crate) fn line_of<const MOST: usize>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "maxLength": MOST, "pattern": LINE })
}

/// The same, if there is one.
pub(crate) fn maybe_line_of<const MOST: usize>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "null"], "maxLength": MOST, "pattern": LINE })
}

/// Something visible, and nothing that breaks a line.
const LINE: &str = r"^[^\u0000-\u001f\u007f-\u009f]*[^\u0000-\u001f\u007f-\u009f\s][^\u0000-\u001f\u007f-\u009f]*$";
