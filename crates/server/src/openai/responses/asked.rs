//! What a program asks for in a response. Pure: a body in, a question and what it goes on with out.

use std::collections::BTreeMap;

use axum::extract::Query;
use axum::http::Uri;
use serde_json::{Map, Value, json};

use super::super::completions::asked::{self as completions, Asked};
use super::super::refusal::Refusal;
use super::super::runs;
use crate::error::ApiError;

#[cfg(test)]
mod tests;

/// A question, and what it goes on with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    pub(super) asked: Asked,
    /// The response that this one follows.
    pub(super) previous: Option<String>,
    /// The conversation that this one is part of.
    pub(super) conversation: Option<String>,
    pub(super) instructions: Option<String>,
    pub(super) is_stored: bool,
    pub(super) is_streamed: bool,
    /// The program's own notes.
    pub(super) metadata: Value,
}

/// Reads a question.
pub(super) fn read(body: &Map<String, Value>) -> Result<Wanted, Refusal> {
    for (name, why) in [
        (
            "background",
            "POST /v1/runs starts what outlives its connection",
        ),
        ("prompt", "prompts are not kept here"),
        ("max_tool_calls", "the agent's own tools run on this side"),
    ] {
        let is_meant = |value: &Value| !value.is_null() && *value != false;
        if body.get(name).is_some_and(is_meant) {
            return Err(Refusal::unsupported(name, format!("{name}: {why}")));
        }
    }
    refuse_items(body)?;
    let mut inner = body.clone();
    rename(&mut inner, "max_output_tokens", "max_tokens");
    if let Some(format) = format(body) {
        inner.insert("response_format".to_owned(), format);
    }
    // A stream here has options of another kind.
    let is_streamed = flag(inner.remove("stream").as_ref(), "stream", false)?;
    inner.remove("stream_options");
    let previous = completions::text(body, "previous_response_id")?;
    let conversation = conversation(body.get("conversation"))?;
    if previous.is_some() && conversation.is_some() {
        let why = "expected either previous_response_id or conversation, found both";
        return Err(ApiError::bad("conversation", why).into());
    }
    Ok(Wanted {
        asked: runs::asked::read(&inner)?,
        previous,
        conversation,
        instructions: completions::text(body, "instructions")?,
        is_stored: flag(body.get("store"), "store", true)?,
        is_streamed,
        metadata: body.get("metadata").cloned().unwrap_or_else(|| json!({})),
    })
}

/// How a response that is kept is to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// As it is.
    Whole,
    /// By its events, from after the one that was read last.
    Stream { last: Option<u64> },
}

/// Reads how a response is to be told.
pub(super) fn reading(uri: &Uri) -> Result<Reading, Refusal> {
    let unread = |_| ApiError::BadInput {
        param: None,
        message: "the query cannot be read".to_owned(),
    };
    let Query(query) = Query::<BTreeMap<String, String>>::try_from_uri(uri).map_err(unread)?;
    let (mut is_streamed, mut last) = (false, None);
    for (name, value) in &query {
        let expected = match (name.as_str(), value.as_str()) {
            ("stream", "true" | "false") => {
                is_streamed = value == "true";
                continue;
            }
            ("starting_after", number) => {
                last = number.parse().ok();
                if last.is_some() {
                    continue;
                }
                "the number of an event"
            }
            // Nothing is padded here.
            ("include_obfuscation", _) => continue,
            ("stream", _) => "true or false",
            _ => {
                let why = format!("{name} is not taken here");
                return Err(Refusal::unsupported(name, why));
            }
        };
        let message = format!("expected {name} to be {expected}");
        return Err(ApiError::bad(name, message).into());
    }
    if last.is_some() && !is_streamed {
        let why = "expected starting_after together with stream=true";
        return Err(ApiError::bad("starting_after", why).into());
    }
    Ok(if is_streamed {
        Reading::Stream { last }
    } else {
        Reading::Whole
    })
}

/// Only messages: calls of tools and their results are kept here.
fn refuse_items(body: &Map<String, Value>) -> Result<(), Refusal> {
    let items = body.get("input").and_then(Value::as_array);
    for (at, item) in items.into_iter().flatten().enumerate() {
        let kind = item.get("type").and_then(Value::as_str);
        if kind.is_some_and(|kind| kind != "message") {
            let why = "only messages are taken here: calls of tools and their results are kept";
            return Err(Refusal::unsupported(&format!("input[{at}].type"), why));
        }
    }
    Ok(())
}

fn rename(body: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = body.remove(from) {
        body.insert(to.to_owned(), value);
    }
}

/// The format of the answer as chat completions write it.
fn format(body: &Map<String, Value>) -> Option<Value> {
    let format = body.get("text")?.get("format")?;
    if format["type"] != "json_schema" {
        return Some(format.clone());
    }
    let mut schema = format.as_object()?.clone();
    schema.remove("type");
    Some(json!({ "type": "json_schema", "json_schema": schema }))
}

/// By its name, or as an object with an id.
fn conversation(value: Option<&Value>) -> Result<Option<String>, Refusal> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => Ok(Some(id.clone())),
        Some(object) => {
            let expected = "expected a conversation's id, or an object with one";
            let id = object.get("id").and_then(Value::as_str);
            let id = id.ok_or_else(|| ApiError::bad("conversation", expected))?;
            Ok(Some(id.to_owned()))
        }
    }
}

fn flag(value: Option<&Value>, param: &str, usual: bool) -> Result<bool, Refusal> {
    match value {
        None | Some(Value::Null) => Ok(usual),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => {
            Err(ApiError::bad(param, format!("expected {param} to be true or false")).into())
        }
    }
}
