//! Requests word for word, after "Create chat completion", OpenAI API reference, and "Images and vision", OpenAI docs.

use serde_json::{Value, json};
use talaria_domain::runner::{Said, Speaker, ToolCall};

use super::Form;
use crate::models::{Calls, ModelError, Request, ToolSpec};

fn body(request: &Request<'_>, model: &str, form: Form) -> Value {
    serde_json::to_value(super::body(request, model, form).unwrap()).unwrap()
}

fn tool() -> ToolSpec {
    ToolSpec {
        name: "terminal".to_owned(),
        description: "Runs".to_owned(),
        parameters: json!({"type": "object"}),
    }
}

fn request() -> Request<'static> {
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
        ..Request::default()
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
    assert_eq!(body(&request(), "m", Form::Stream), expected);
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
    assert_eq!(body(&request, "m", Form::StreamWithoutUsage), expected);
}

#[test]
fn words_are_asked_for_by_leaving_the_tools_out() {
    let request = Request {
        calls: Calls::Forbidden,
        ..request()
    };
    let body = body(&request, "m", Form::Stream);
    assert!(body.get("tools").is_none());
    assert_eq!(body["messages"].as_array().map(Vec::len), Some(6));
}

#[test]
fn words_before_a_call_go_with_it() {
    let mut request = request();
    request.said[2].text = "let me look".to_owned();
    let body = body(&request, "m", Form::Stream);
    assert_eq!(body["messages"][2]["content"], "let me look");
    assert_eq!(body["messages"][2]["tool_calls"][0]["id"], "call_a");
}

#[test]
fn broken_arguments_go_back_as_valid_ones() {
    let mut request = request();
    request.said[2].calls[0].arguments = json!("{\"cut");
    let body = body(&request, "m", Form::Stream);
    let sent = body["messages"][2]["tool_calls"][0]["function"]["arguments"].as_str();
    assert_eq!(sent, Some(r#"{"malformed":"{\"cut"}"#));
}

#[test]
fn options_are_passed_on_as_they_are() {
    let table = [
        (json!({}), json!({})),
        (json!({"max_tokens": 5}), json!({"max_tokens": 5})),
        (
            json!({"max_completion_tokens": 5}),
            json!({"max_completion_tokens": 5}),
        ),
        (
            json!({"temperature": 1.5, "top_p": 0.9, "stop": "end", "seed": 7}),
            json!({"temperature": 1.5, "top_p": 0.9, "stop": "end", "seed": 7}),
        ),
        (
            json!({"response_format": {"type": "json_object"}, "stop": ["a", "b"]}),
            json!({"response_format": {"type": "json_object"}, "stop": ["a", "b"]}),
        ),
        // Neither what nobody knows nor what is ours to say.
        (json!({"temperature": null, "logit_bias": {}}), json!({})),
        (
            json!({"model": "x", "stream": false, "messages": [], "tools": []}),
            json!({}),
        ),
    ];
    for (options, expected) in table {
        let request = Request {
            said: vec![Said::plain(Speaker::User, "hi")],
            options: serde_json::from_value(options.clone()).unwrap(),
            ..Request::default()
        };
        let mut whole = json!({
            "model": "m",
            "stream": true,
            "messages": [{"role": "user", "content": "hi"}],
        });
        let more = expected.as_object().unwrap().clone();
        whole.as_object_mut().unwrap().extend(more);
        assert_eq!(
            body(&request, "m", Form::StreamWithoutUsage),
            whole,
            "{options}"
        );
    }
}

fn showing(text: &str, images: &[&str]) -> Request<'static> {
    let said = Said {
        images: images.iter().map(|address| (*address).to_owned()).collect(),
        ..Said::plain(Speaker::User, text)
    };
    Request {
        said: vec![said],
        ..Request::default()
    }
}

#[test]
fn pictures_are_parts_of_the_content() {
    let (inline, remote) = ("data:image/png;base64,QUFB", "https://example.org/cat.png");
    let part = |url| json!({"type": "image_url", "image_url": {"url": url}});
    let text = json!({"type": "text", "text": "what is it?"});
    let table = [
        (showing("what is it?", &[]), json!("what is it?")),
        (
            showing("what is it?", &[inline]),
            json!([text, part(inline)]),
        ),
        (
            showing(" ", &[remote, inline]),
            json!([part(remote), part(inline)]),
        ),
    ];
    for (request, expected) in table {
        let sent = body(&request, "m", Form::StreamWithoutUsage);
        assert_eq!(sent["messages"][0]["content"], expected);
    }
}

#[test]
fn a_picture_that_cannot_be_read_is_not_sent() {
    let request = showing("look", &["data:image/png;base64,!"]);
    let refused = super::body(&request, "m", Form::StreamWithoutUsage);
    assert!(
        matches!(refused, Err(ModelError::AskDifferently { .. })),
        "{refused:?}"
    );
}
