//! Requests word for word, after "Create chat completion", OpenAI API reference.

use serde_json::json;
use talaria_domain::runner::{Said, Speaker, ToolCall};

use super::{AskUsage, body};
use crate::models::{Calls, Request, ToolSpec};

fn tool() -> ToolSpec {
    ToolSpec {
        name: "terminal".to_owned(),
        description: "Runs".to_owned(),
        parameters: json!({"type": "object"}),
    }
}

fn request() -> Request {
    let call = ToolCall {
        id: "call_a".to_owned(),
        tool: "terminal".to_owned(),
        arguments: json!({"command": "ls"}),
    };
    Request {
        system: "be kind".to_owned(),
        said: vec![
            Said::plain(Speaker::System, "a summary"),
            Said::plain(Speaker::User, "look"),
            Said {
                calls: vec![call],
                ..Said::plain(Speaker::Assistant, "")
            },
            Said {
                answers: Some("call_a".to_owned()),
                ..Said::plain(Speaker::Tool, "file")
            },
            Said::plain(Speaker::Assistant, "one file"),
            Said::plain(Speaker::User, "thanks"),
        ],
        tools: vec![tool()],
        calls: Calls::Allowed,
    }
}

#[test]
fn a_conversation_with_tools() {
    let expected = json!({
        "model": "m",
        "stream": true,
        "stream_options": {"include_usage": true},
        "tools": [{"type": "function", "function": {
            "name": "terminal", "description": "Runs", "parameters": {"type": "object"},
        }}],
        "messages": [
            {"role": "system", "content": "be kind\n\na summary"},
            {"role": "user", "content": "look"},
            {"role": "assistant", "tool_calls": [{"id": "call_a", "type": "function", "function": {
                "name": "terminal", "arguments": "{\"command\":\"ls\"}",
            }}]},
            {"role": "tool", "tool_call_id": "call_a", "content": "file"},
            {"role": "assistant", "content": "one file"},
            {"role": "user", "content": "thanks"},
        ],
    });
    assert_eq!(body(&request(), "m", AskUsage::Yes), expected);
}

#[test]
fn what_is_not_there_is_not_sent() {
    let request = Request {
        said: vec![Said::plain(Speaker::User, "hi")],
        ..Request::default()
    };
    let expected = json!({
        "model": "m",
        "stream": true,
        "messages": [{"role": "user", "content": "hi"}],
    });
    assert_eq!(body(&request, "m", AskUsage::No), expected);
}

#[test]
fn words_are_asked_for_by_leaving_the_tools_out() {
    let request = Request {
        calls: Calls::Forbidden,
        ..request()
    };
    let body = body(&request, "m", AskUsage::Yes);
    assert!(body.get("tools").is_none());
    assert_eq!(body["messages"].as_array().map(Vec::len), Some(6));
}

#[test]
fn words_before_a_call_go_with_it() {
    let mut request = request();
    request.said[2].text = "let me look".to_owned();
    let body = body(&request, "m", AskUsage::Yes);
    assert_eq!(body["messages"][2]["content"], "let me look");
    assert_eq!(body["messages"][2]["tool_calls"][0]["id"], "call_a");
}

#[test]
fn broken_arguments_go_back_as_valid_ones() {
    let mut request = request();
    request.said[2].calls[0].arguments = json!("{\"cut");
    let body = body(&request, "m", AskUsage::Yes);
    let sent = body["messages"][2]["tool_calls"][0]["function"]["arguments"].as_str();
    assert_eq!(sent, Some(r#"{"malformed":"{\"cut"}"#));
}
