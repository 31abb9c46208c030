//! Requests word for word, after "Create a Message" and "Handle tool calls", Claude docs.

use serde_json::{Value, json};
use talaria_domain::runner::{Said, Speaker, ToolCall};

use super::body;
use crate::models::{Calls, Request, ToolSpec};

fn user(text: &str) -> Said {
    Said::plain(Speaker::User, text)
}

fn assistant(text: &str, ids: &[&str]) -> Said {
    let call = |id: &&str| ToolCall {
        id: (*id).to_owned(),
        tool: "terminal".to_owned(),
        arguments: json!({"command": "ls"}),
    };
    Said {
        calls: ids.iter().map(call).collect(),
        ..Said::plain(Speaker::Assistant, text)
    }
}

fn tool(id: &str, text: &str) -> Said {
    Said {
        answers: Some(id.to_owned()),
        ..Said::plain(Speaker::Tool, text)
    }
}

fn request(said: Vec<Said>) -> Request {
    Request {
        system: "be kind".to_owned(),
        said,
        tools: vec![ToolSpec {
            name: "terminal".to_owned(),
            description: "Runs".to_owned(),
            parameters: json!({"type": "object"}),
        }],
        calls: Calls::Allowed,
    }
}

fn messages(said: Vec<Said>) -> Value {
    body(&request(said), "m", 200_000)["messages"].take()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "terminal", "input": {"command": "ls"}})
}

fn result(id: &str, content: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content})
}

#[test]
fn a_conversation_with_tools() {
    let said = vec![
        Said::plain(Speaker::System, "a summary"),
        user("look"),
        assistant("let me see", &["toolu_a"]),
        tool("toolu_a", "file"),
    ];
    let expected = json!({
        "model": "m",
        "max_tokens": 16_384,
        "stream": true,
        "system": "be kind\n\na summary",
        "tools": [{"name": "terminal", "description": "Runs", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": [text("look")]},
            {"role": "assistant", "content": [text("let me see"), call("toolu_a")]},
            {"role": "user", "content": [result("toolu_a", "file")]},
        ],
    });
    assert_eq!(body(&request(said), "m", 200_000), expected);
}

#[test]
fn messages_of_one_role_are_merged_with_results_first() {
    let said = vec![
        user("a"),
        user("b"),
        assistant("", &["x", "y"]),
        user("hurry"),
        tool("y", "2"),
        tool("x", "1"),
        user("now"),
    ];
    let expected = json!([
        {"role": "user", "content": [text("a\n\nb")]},
        {"role": "assistant", "content": [call("x"), call("y")]},
        {"role": "user", "content": [result("x", "1"), result("y", "2"), text("hurry\n\nnow")]},
    ]);
    assert_eq!(messages(said), expected);
}

#[test]
fn the_first_word_is_the_users() {
    let expected = json!([
        {"role": "user", "content": [text(super::CUT)]},
        {"role": "assistant", "content": [text("hello")]},
        {"role": "user", "content": [text("hi")]},
    ]);
    assert_eq!(
        messages(vec![assistant("hello", &[]), user("hi")]),
        expected
    );
}

#[test]
fn there_is_no_empty_text() {
    let expected = json!([{"role": "user", "content": [text("hi")]}]);
    assert_eq!(messages(vec![assistant(" ", &[]), user("hi")]), expected);
    assert_eq!(messages(vec![user("  ")]), json!([]));
}

#[test]
fn ids_of_other_servers_are_made_plain() {
    let said = vec![
        user("go"),
        assistant("", &["functions.terminal:0"]),
        tool("functions.terminal:0", "1"),
    ];
    let sent = messages(said);
    assert_eq!(sent[1]["content"][0]["id"], "functions_terminal_0");
    assert_eq!(sent[2]["content"][0]["tool_use_id"], "functions_terminal_0");
}

#[test]
fn words_are_asked_for_by_choice() {
    let forbidden = Request {
        calls: Calls::Forbidden,
        ..request(vec![user("go")])
    };
    let body = body(&forbidden, "m", 200_000);
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
    assert_eq!(body["tools"][0]["name"], "terminal");
}

#[test]
fn calls_in_the_history_keep_their_tool_when_there_are_none() {
    let bare = Request {
        tools: Vec::new(),
        ..request(vec![user("go"), assistant("", &["a", "b"]), tool("a", "1")])
    };
    let body = body(&bare, "m", 200_000);
    assert_eq!(
        body["tools"],
        json!([{"name": "terminal", "input_schema": {"type": "object"}}])
    );
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
}

#[test]
fn without_tools_none_are_named() {
    let plain = Request {
        tools: Vec::new(),
        system: String::new(),
        ..request(vec![user("go")])
    };
    let body = body(&plain, "m", 8_000);
    let names: Vec<_> = body
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(names, ["max_tokens", "messages", "model", "stream"]);
    assert_eq!(
        body["max_tokens"], 4_000,
        "half of a small window is left for what was said"
    );
}
