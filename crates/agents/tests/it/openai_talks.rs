//! A turn with a server that speaks chat completions. The chunks follow "The chat completion chunk object", OpenAI API
//! reference.

use serde_json::json;
use talaria_domain::run::{RunOutcome, Usage};
use talaria_domain::runner::{Runner as _, Said, Speaker};

use crate::server::{KEY, Reply, Server};
use crate::world::{Recorder, run, runner, turn, within};

pub(crate) const HELLO: [&str; 4] = [
    r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}"#,
    r#"{"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}"#,
    r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}"#,
    "[DONE]",
];

/// A stream that asks for a command.
pub(crate) fn calling(id: &str, command: &str) -> Reply {
    let arguments = json!({ "command": command }).to_string();
    let call = json!([{"index": 0, "id": id, "type": "function",
        "function": {"name": "terminal", "arguments": arguments}}]);
    let chunk =
        json!({"choices": [{"delta": {"content": "Let me see.", "tool_calls": call}}]}).to_string();
    let end = r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}"#;
    Reply::events(&[&chunk, end, "[DONE]"])
}

pub(crate) fn completed(input_tokens: u64, output_tokens: u64) -> RunOutcome {
    RunOutcome::completed(Usage {
        input_tokens,
        output_tokens,
    })
}

#[tokio::test]
async fn an_answer_is_streamed_and_completed() {
    let server = Server::with([Reply::events(&HELLO)]).await;
    let host = Recorder::new();
    assert_eq!(run(server.openai(), "hi", &host).await, completed(9, 2));
    assert_eq!(host.story(), ["message: Hello"]);

    let asked = &server.asked()[0];
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(asked.headers["content-type"], "application/json");
    assert_eq!(asked.body["model"], "some-model");
    assert_eq!(asked.body["stream"], true);
    let expected =
        json!([{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}]);
    assert_eq!(asked.body["messages"], expected);
    assert_eq!(asked.body["tools"][0]["function"]["name"], "terminal");
}

#[tokio::test]
async fn a_tool_is_called_between_two_answers() {
    let server = Server::with([
        calling("call_a", "echo from the tool"),
        Reply::events(&HELLO),
    ])
    .await;
    let host = Recorder::new();
    assert_eq!(run(server.openai(), "look", &host).await, completed(14, 5));
    let expected = [
        "message: Let me see.",
        r#"start call_a: terminal {"command":"echo from the tool"}"#,
        "Done call_a: from the tool\n[exit code 0]",
        "message: Hello",
    ];
    assert_eq!(host.story(), expected);
    let messages = &server.asked()[1].body["messages"];
    assert_eq!(messages[2]["tool_calls"][0]["id"], "call_a");
    let result = json!({"role": "tool", "tool_call_id": "call_a", "content": "from the tool\n[exit code 0]"});
    assert_eq!(messages[3], result);
}

#[tokio::test]
async fn what_was_said_before_is_shown() {
    let server = Server::with([Reply::events(&HELLO)]).await;
    let mut turn = turn("and now?", &[]);
    turn.history = vec![
        Said::plain(Speaker::System, "a summary"),
        Said::plain(Speaker::User, "one"),
        Said::plain(Speaker::Assistant, "two"),
    ];
    let host = Recorder::new();
    within(runner(server.openai()).run(&turn, &host)).await;
    let body = &server.asked()[0].body;
    let expected = json!([
        {"role": "system", "content": "be kind\n\na summary"},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "two"},
        {"role": "user", "content": "and now?"},
    ]);
    assert_eq!(body["messages"], expected);
    assert_eq!(
        body.get("tools"),
        None,
        "nothing is allowed, so nothing is shown"
    );
}

#[tokio::test]
async fn thoughts_are_kept_apart() {
    let thinking = [
        r#"{"choices":[{"delta":{"reasoning_content":"h"}}]}"#,
        r#"{"choices":[{"delta":{"reasoning_content":"mm"}}]}"#,
        HELLO[0],
        HELLO[1],
        "[DONE]",
    ];
    let server = Server::with([Reply::events(&thinking)]).await;
    let host = Recorder::new();
    run(server.openai(), "hi", &host).await;
    assert_eq!(host.story(), ["thought: hmm", "message: Hello"]);
}

/// "The chat completion object", OpenAI API reference.
#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let whole = r#"{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},
        "finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#;
    let server = Server::with([Reply::json(200, whole)]).await;
    let host = Recorder::new();
    assert_eq!(run(server.openai(), "hi", &host).await, completed(9, 2));
    assert_eq!(host.story(), ["message: Hello"]);
}

#[tokio::test]
async fn a_server_that_refuses_to_tell_the_cost_is_asked_without() {
    let refusal = r#"{"detail":[{"msg":"stream_options: Extra inputs are not permitted"}],"message":"stream_options: no"}"#;
    let server = Server::with([
        Reply::json(422, refusal),
        Reply::events(&HELLO),
        Reply::events(&HELLO),
    ])
    .await;
    let model = server.openai();
    for _ in 0..2 {
        let outcome = run(model.clone(), "hi", &Recorder::new()).await;
        assert_eq!(outcome, completed(9, 2));
    }
    let asked = server.asked();
    let asks_usage: Vec<_> = asked
        .iter()
        .map(|asked| asked.body.get("stream_options").is_some())
        .collect();
    assert_eq!(asks_usage, [true, false, false], "it is remembered");
}

#[tokio::test]
async fn calls_without_ids_get_some() {
    let nameless = || {
        let chunk = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"terminal","arguments":"{\"command\":\"true\"}"}}]}}]}"#;
        Reply::events(&[chunk, "[DONE]"])
    };
    let server = Server::with([nameless(), nameless(), Reply::events(&HELLO)]).await;
    let host = Recorder::new();
    run(server.openai(), "go", &host).await;
    let run = turn("", &[]).run;
    let starts: Vec<_> = host
        .story()
        .into_iter()
        .filter(|line| line.starts_with("start"))
        .collect();
    let start = |number| format!(r#"start call_{run}_{number}: terminal {{"command":"true"}}"#);
    assert_eq!(starts, [start(1), start(2)]);
}
