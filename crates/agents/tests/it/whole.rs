//! Turns of which nobody hears anything before their end: their answers are asked for in one piece. The answers follow
//! "The chat completion object", OpenAI API reference.

use serde_json::{Value, json};
use talaria_domain::event::{Content, EventKind};
use talaria_domain::run::RunOutcome;
use talaria_domain::runner::{Runner as _, Turn};

use crate::anthropic_talks;
use crate::openai_talks::{HELLO, completed};
use crate::server::{Reply, Server};
use crate::world::{Recorder, awaited, runner, turn, within};

/// An answer in one piece.
fn whole(message: &Value, finish: &str) -> Reply {
    let answer = json!({
        "object": "chat.completion",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": { "prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11 },
    });
    Reply::json(200, &answer.to_string())
}

fn hello() -> Reply {
    whole(&json!({ "role": "assistant", "content": "Hello" }), "stop")
}

/// What became of a turn, and what the host was told of it.
async fn take(server: &Server, turn: &Turn) -> (RunOutcome, Vec<String>) {
    let host = Recorder::new();
    let outcome = within(runner(server.openai()).run(turn, &host)).await;
    (outcome, host.story())
}

/// Which of the questions asked for a stream, and for what the answer cost at its end.
fn streams(server: &Server) -> Vec<(bool, bool)> {
    let asked = server.asked().into_iter();
    let streams = asked.map(|asked| {
        let is_stream = asked.body["stream"] == true;
        (is_stream, asked.body.get("stream_options").is_some())
    });
    streams.collect()
}

#[tokio::test]
async fn an_awaited_answer_is_asked_for_in_one_piece() {
    let server = Server::with([hello()]).await;
    let (outcome, story) = take(&server, &awaited("hi", &[])).await;
    assert_eq!(outcome, completed(9, 2));
    assert_eq!(story, ["message: Hello"]);
    assert_eq!(streams(&server), [(false, false)]);
}

#[tokio::test]
async fn whoever_hears_it_grow_is_streamed_to() {
    let server = Server::with([Reply::events(&HELLO), Reply::events(&HELLO)]).await;
    let mut together = awaited("hi", &[]);
    let mut heard = together.input[0].clone();
    heard.kind = EventKind::Message(Content::default());
    together.input = [together.input[0].clone(), heard].into();
    take(&server, &together).await;
    take(&server, &turn("hi", &[])).await;
    assert_eq!(streams(&server), [(true, true), (true, true)]);
}

#[tokio::test]
async fn tools_are_called_between_whole_answers() {
    let call = json!({ "id": "call_a", "type": "function", "function": {
        "name": "terminal", "arguments": json!({ "command": "echo from the tool" }).to_string(),
    } });
    let calling = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
    let server = Server::with([whole(&calling, "tool_calls"), hello()]).await;
    let (outcome, story) = take(&server, &awaited("look", &["terminal"])).await;
    assert_eq!(outcome, completed(18, 4));
    let expected = [
        r#"start call_a: terminal {"command":"echo from the tool"}"#,
        "Done call_a: from the tool\n[exit code 0]",
        "message: Hello",
    ];
    assert_eq!(story, expected);
    assert_eq!(streams(&server), [(false, false), (false, false)]);
}

#[tokio::test]
async fn what_failed_in_one_piece_is_asked_for_as_a_stream() {
    let server = Server::with([
        Reply::json(504, r#"{"error":{"message":"upstream timed out"}}"#),
        Reply::events(&HELLO),
        hello(),
    ])
    .await;
    let (outcome, story) = take(&server, &awaited("hi", &[])).await;
    assert_eq!(
        (outcome, story),
        (completed(9, 2), vec!["message: Hello".to_owned()])
    );
    take(&server, &awaited("again", &[])).await;
    let expected = [(false, false), (true, true), (false, false)];
    assert_eq!(
        streams(&server),
        expected,
        "the next answer may be whole again"
    );
}

#[tokio::test]
async fn a_server_that_can_only_stream_is_asked_for_whole_answers_once() {
    let server = Server::with([
        Reply::json(
            400,
            r#"{"error":{"message":"Stream must be set to true: stream=false is not supported"}}"#,
        ),
        Reply::events(&HELLO),
        Reply::events(&HELLO),
    ])
    .await;
    let native = runner(server.openai());
    for _ in 0..2 {
        let outcome = within(native.run(&awaited("hi", &[]), &Recorder::new())).await;
        assert_eq!(outcome, completed(9, 2));
    }
    let expected = [(false, false), (true, true), (true, true)];
    assert_eq!(streams(&server), expected, "it is remembered");
}

#[tokio::test]
async fn a_refusal_that_says_nothing_of_streams_stands() {
    let server = Server::with([Reply::json(
        400,
        r#"{"error":{"message":"temperature is out of range"}}"#,
    )])
    .await;
    let (outcome, _) = take(&server, &awaited("hi", &[])).await;
    assert!(matches!(outcome, RunOutcome::Failed(_)), "{outcome:?}");
    assert_eq!(streams(&server), [(false, false)], "it is asked once");
}

#[tokio::test]
async fn the_messages_api_streams_whoever_hears_it() {
    let server = Server::with([Reply::events(&anthropic_talks::HELLO)]).await;
    let turn = awaited("hi", &[]);
    within(runner(server.anthropic()).run(&turn, &Recorder::new())).await;
    assert_eq!(server.asked()[0].body["stream"], true);
}
