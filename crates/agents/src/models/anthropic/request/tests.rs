//! Requests word for word, after "Create a Message", "Handle tool calls", "Vision" and "OpenAI SDK compatibility", Claude
//! docs.

use serde_json::{Value, json};
use talaria_domain::runner::{Said, Speaker, ToolCall};

use crate::models::{Calls, Request, ToolSpec};

fn body(request: &Request<'_>, model: &str, window: usize) -> Value {
    super::body(request, model, window).unwrap()
}

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

fn request(said: Vec<Said>) -> Request<'static> {
    Request {
        system: "be kind".to_owned(),
        said,
        tools: vec![ToolSpec {
            name: "terminal".to_owned(),
            description: "Runs".to_owned(),
            parameters: json!({"type": "object"}),
        }],
        ..Request::default()
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

/// A question and nothing else, with these options.
fn with(options: &Value) -> Request<'static> {
    Request {
        said: vec![user("go")],
        options: serde_json::from_value(options.clone()).unwrap(),
        ..Request::default()
    }
}

#[test]
fn options_go_under_the_names_of_the_api() {
    let table = [
        (json!({}), json!({"max_tokens": 16_384})),
        (json!({"max_tokens": 5}), json!({"max_tokens": 5})),
        (
            json!({"max_completion_tokens": 5}),
            json!({"max_tokens": 5}),
        ),
        (json!({"max_tokens": 50_000}), json!({"max_tokens": 50_000})),
        (
            json!({"temperature": 0.5, "top_p": 0.25}),
            json!({"max_tokens": 16_384, "temperature": 0.5, "top_p": 0.25}),
        ),
        (
            json!({"temperature": 1.5}),
            json!({"max_tokens": 16_384, "temperature": 1.0}),
        ),
        (
            json!({"stop": "end"}),
            json!({"max_tokens": 16_384, "stop_sequences": ["end"]}),
        ),
        (
            json!({"stop": ["a", "b"]}),
            json!({"max_tokens": 16_384, "stop_sequences": ["a", "b"]}),
        ),
        (
            json!({"stop": [], "seed": null, "response_format": {"type": "text"}, "model": "x"}),
            json!({"max_tokens": 16_384}),
        ),
    ];
    for (options, expected) in table {
        let mut whole = json!({
            "model": "m",
            "stream": true,
            "messages": [{"role": "user", "content": [text("go")]}],
        });
        let more = expected.as_object().unwrap().clone();
        whole.as_object_mut().unwrap().extend(more);
        assert_eq!(body(&with(&options), "m", 200_000), whole, "{options}");
    }
}

/// What is said about a request that is not sent.
fn refusal(request: &Request<'_>) -> String {
    super::body(request, "m", 200_000).unwrap_err().to_string()
}

#[test]
fn what_the_api_does_not_have_is_refused() {
    let table = [
        (
            json!({"response_format": {"type": "json_object"}}),
            "Anthropic's Messages API has no `response_format`",
        ),
        (json!({"seed": 7}), "Anthropic's Messages API has no `seed`"),
        (json!({"stop": ["a", "\n"]}), "cannot `stop` at blanks"),
        (json!({"stop": ""}), "cannot `stop` at blanks"),
        (json!({"stop": 7}), "`stop` has to be"),
        (json!({"max_tokens": 0}), "`max_tokens` has to be"),
        (json!({"temperature": "hot"}), "`temperature` has to be"),
        (json!({"top_p": {}}), "`top_p` has to be"),
    ];
    for (options, expected) in table {
        let refused = refusal(&with(&options));
        assert!(refused.contains(expected), "{options}: {refused}");
    }
}

fn showing(words: &str, images: &[&str]) -> Said {
    Said {
        images: images.iter().map(|address| (*address).to_owned()).collect(),
        ..user(words)
    }
}

#[test]
fn pictures_are_blocks_in_front_of_the_text() {
    let inline = |media_type: &str| json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": "QUFB"}});
    let remote =
        json!({"type": "image", "source": {"type": "url", "url": "https://example.org/cat.png"}});
    let said = vec![
        showing(
            "what is it?",
            &["data:image/png;base64,QUFB", "https://example.org/cat.png"],
        ),
        assistant("", &["x"]),
        tool("x", "1"),
        showing("", &["data:image/JPG;base64,QUFB"]),
    ];
    let expected = json!([
        {"role": "user", "content": [inline("image/png"), remote, text("what is it?")]},
        {"role": "assistant", "content": [call("x")]},
        {"role": "user", "content": [result("x", "1"), inline("image/jpeg")]},
    ]);
    assert_eq!(messages(said), expected);
}

#[test]
fn a_picture_that_cannot_be_taken_is_not_sent() {
    let table = [
        ("data:image/png;base64,!", "not base64"),
        (
            "data:image/svg+xml;base64,QUFB",
            "no pictures of the type \"image/svg+xml\", only image/jpeg",
        ),
        ("http://example.org/cat.png", "starts with `https://`"),
    ];
    for (address, expected) in table {
        let refused = refusal(&request(vec![showing("look", &[address])]));
        assert!(refused.contains(expected), "{address}: {refused}");
    }
}
