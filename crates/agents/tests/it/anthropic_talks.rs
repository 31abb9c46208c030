//! A turn with a server that speaks the Messages API. The events follow "Streaming messages", Claude docs.

use serde_json::json;

use crate::openai_talks::completed;
use crate::server::{KEY, Reply, Server};
use crate::world::{Recorder, run};

const START: &str = r#"{"type":"message_start","message":{"content":[],"usage":{"input_tokens":25,"output_tokens":1}}}"#;

const CALLING: [&str; 10] = [
    START,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hmm"}}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Let me see."}}"#,
    r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_a","name":"terminal","input":{}}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"command\":\"ec"}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"ho hi\"}"}}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":30}}"#,
    r#"{"type":"message_stop"}"#,
];

pub(crate) const HELLO: [&str; 6] = [
    START,
    r#"{"type":"ping"}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}"#,
    r#"{"type":"message_stop"}"#,
];

#[tokio::test]
async fn thoughts_words_calls_and_the_answer() {
    let server = Server::with([Reply::events(&CALLING), Reply::events(&HELLO)]).await;
    let host = Recorder::new();
    assert_eq!(
        run(server.anthropic(), "look", &host).await,
        completed(50, 35)
    );
    let expected = [
        "thought: hmm",
        "message: Let me see.",
        r#"start toolu_a: terminal {"command":"echo hi"}"#,
        "Done toolu_a: hi\n[exit code 0]",
        "message: Hello",
    ];
    assert_eq!(host.story(), expected);

    let [first, second] = &server.asked()[..] else {
        panic!("two requests");
    };
    assert_eq!(first.path, "/v1/messages");
    assert_eq!(first.headers["x-api-key"], KEY);
    assert_eq!(first.headers["anthropic-version"], "2023-06-01");
    assert_eq!(first.headers.get("authorization"), None);
    assert_eq!(first.body["system"], "be kind");
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "look"}]},
        {"role": "assistant", "content": [
            {"type": "text", "text": "Let me see."},
            {"type": "tool_use", "id": "toolu_a", "name": "terminal", "input": {"command": "echo hi"}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_a", "content": "hi\n[exit code 0]"},
        ]},
    ]);
    assert_eq!(second.body["messages"], expected);
}

/// "Errors", Claude docs: 529 is `overloaded_error`; in a stream it comes as an event.
#[tokio::test]
async fn an_overloaded_server_is_asked_again() {
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let server = Server::with([
        Reply::json(529, overloaded),
        Reply::events(&[START, overloaded]),
        Reply::events(&HELLO),
    ])
    .await;
    let host = Recorder::new();
    assert_eq!(run(server.anthropic(), "hi", &host).await, completed(25, 5));
    assert_eq!(host.story(), ["message: Hello"]);
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let whole = r#"{"type":"message","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn",
        "usage":{"input_tokens":3,"output_tokens":4}}"#;
    let server = Server::with([Reply::json(200, whole)]).await;
    let host = Recorder::new();
    assert_eq!(run(server.anthropic(), "hi", &host).await, completed(3, 4));
    assert_eq!(host.story(), ["message: Hello"]);
}
