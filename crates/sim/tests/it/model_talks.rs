//! The simulated model, asked as any client of such a server asks: whole and as a stream.

use std::time::Duration;

use serde_json::{Value, json};
use talaria_sim::model::{Pace, Server};
use tokio::time::Instant;

use crate::web::{Process, client, get, post};

async fn model() -> (Server, String) {
    let server = Server::start("127.0.0.1:0", Pace::default()).await.unwrap();
    let url = format!("{}/chat/completions", server.url());
    (server, url)
}

fn said(text: &str) -> Value {
    json!({ "model": "m", "messages": [{ "role": "user", "content": text }] })
}

/// The events of a stream, without the last that only ends it, and in how many pieces they came.
async fn events(url: &str, mut request: Value) -> (Vec<Value>, usize) {
    request["stream"] = json!(true);
    let mut response = client().post(url).json(&request).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let (mut text, mut pieces) = (String::new(), 0);
    while let Some(piece) = response.chunk().await.unwrap() {
        text.push_str(std::str::from_utf8(&piece).unwrap());
        pieces += 1;
    }
    let events = text.strip_suffix("data: [DONE]\n\n").unwrap();
    let events = events.split_terminator("\n\n").map(|event| {
        let data = event.strip_prefix("data: ").unwrap();
        serde_json::from_str(data).unwrap()
    });
    (events.collect(), pieces)
}

fn text_of(events: &[Value]) -> String {
    let delta = |event: &Value| {
        event["choices"][0]["delta"]["content"]
            .as_str()
            .map(str::to_owned)
    };
    events.iter().filter_map(delta).collect()
}

#[tokio::test]
async fn an_answer_comes_whole() {
    let (_server, url) = model().await;
    let (status, answer) = post(&url, &said("hello")).await;
    assert_eq!(status, 200);
    assert_eq!(answer["object"], "chat.completion");
    assert_eq!(answer["model"], "m");
    assert_eq!(answer["choices"][0]["message"]["role"], "assistant");
    assert_eq!(answer["choices"][0]["message"]["content"], "re: hello");
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    assert_eq!(
        answer["usage"],
        json!({ "prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5 })
    );
}

#[tokio::test]
async fn an_answer_comes_as_a_stream() {
    let (_server, url) = model().await;
    let (events, _) = events(&url, said("hello \"world\"")).await;
    assert_eq!(text_of(&events), "re: hello \"world\"");
    // Four pieces, and why it ended.
    assert_eq!(events.len(), 5);
    assert_eq!(events[4]["choices"][0]["finish_reason"], "stop");
    assert!(events.iter().all(|event| event["usage"].is_null()));
}

#[tokio::test]
async fn a_stream_tells_its_cost_when_asked() {
    let (_server, url) = model().await;
    let mut request = said("words 3");
    request["stream_options"] = json!({ "include_usage": true });
    let (events, _) = events(&url, request).await;
    assert_eq!(text_of(&events), "w1 w2 w3");
    let last = events.last().unwrap();
    assert_eq!(last["choices"], json!([]));
    assert_eq!(last["usage"]["completion_tokens"], 2);
}

#[tokio::test]
async fn a_tool_is_called_once_and_then_quoted() {
    let (_server, url) = model().await;
    let (_, called) = post(&url, &said("tool: echo hi")).await;
    let message = &called["choices"][0]["message"];
    assert_eq!(called["choices"][0]["finish_reason"], "tool_calls");
    let call = &message["tool_calls"][0];
    assert_eq!(call["function"]["name"], "terminal");
    assert_eq!(call["function"]["arguments"], r#"{"command":"echo hi"}"#);

    let (events, _) = events(&url, said("tool: echo hi")).await;
    let streamed = &events[0]["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!(streamed["function"], call["function"]);
    assert_ne!(streamed["id"], call["id"], "each call has an id of its own");

    let mut next = said("tool: echo hi");
    let result = json!({ "role": "tool", "tool_call_id": call["id"], "content": "hi\n" });
    let messages = next["messages"].as_array_mut().unwrap();
    messages.extend([message.clone(), result]);
    let (_, quoted) = post(&url, &next).await;
    assert_eq!(
        quoted["choices"][0]["message"]["content"],
        "the tool said: hi\n"
    );
}

#[tokio::test]
async fn failures_are_what_was_asked_for() {
    let (_server, url) = model().await;
    for status in [500, 429] {
        let (answered, body) = post(&url, &said(&format!("fail {status}"))).await;
        assert_eq!(answered, status);
        assert_eq!(body["error"]["message"], "told to");
    }
    let (answered, body) = post(&url, &json!({ "messages": 5 })).await;
    assert_eq!(answered, 400);
    assert!(body["error"]["message"].is_string());
}

#[tokio::test]
async fn who_hangs_holds_nobody_up() {
    let (_server, url) = model().await;
    let hangs = said("hang");
    tokio::select! {
        biased;
        answered = post(&url, &hangs) => assert_eq!(answered, (0, json!(null)), "it answered"),
        () = async {
            for _ in 0..3 {
                post(&url, &said("hello")).await;
            }
        } => {}
    }
}

#[tokio::test(start_paused = true)]
async fn each_piece_is_waited_for() {
    let delay = Duration::from_hours(1);
    let pace = Pace { delay, pieces: 3 };
    let server = Server::start("127.0.0.1:0", pace).await.unwrap();
    let url = format!("{}/chat/completions", server.url());
    let start = Instant::now();
    let (_, pieces) = events(&url, said("hello")).await;
    assert_eq!(pieces, 3);
    assert!(start.elapsed() >= delay * 3);
    let start = Instant::now();
    post(&url, &said("hello")).await;
    assert!(start.elapsed() >= delay * 3);
}

#[tokio::test]
async fn as_a_process_it_says_where_it_is() {
    let process = Process::start(&["model", "--chunks", "2"]);
    let models = get(&format!("{}/models", process.url)).await;
    assert_eq!(models["data"][0]["id"], "sim");
    let (events, _) = events(&format!("{}/chat/completions", process.url), said("hello")).await;
    assert_eq!(text_of(&events), "re: hello");
    assert_eq!(events.len(), 3);
}
