//! What programs are told about a turn whose caller, or whose gateway, goes away in the middle of it. The real binary, real
//! sockets on both sides, kill -9.

pub(crate) mod caller;
mod model;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use self::caller::Caller;
use self::model::Model;
use crate::program::Home;
use crate::starting::started;

const COMPLETIONS: &str = "/v1/chat/completions";

/// Less than what a turn gets after its caller went away.
const WITHIN_GRACE: Duration = Duration::from_secs(2);

fn home_with(model: &Model) -> Home {
    let home = Home::empty();
    home.write("talaria.toml", &model.configuration(), 0o600);
    home
}

async fn starts(caller: &Caller, input: &str) -> String {
    let (status, _, made) = caller
        .posts("/v1/runs", &[], &json!({ "input": input }))
        .await;
    assert_eq!(status, 202, "{made}");
    made["run_id"].as_str().unwrap().to_owned()
}

fn question() -> Value {
    json!({ "model": "assistant", "messages": [{ "role": "user", "content": "hello" }] })
}

fn streamed() -> Value {
    let mut question = question();
    question["stream"] = json!(true);
    question
}

fn says(text: &str) -> impl Fn(&caller::Told) -> bool {
    move |told| told.body["choices"][0]["delta"]["content"] == text
}

#[tokio::test]
async fn the_model_is_hung_up_on_when_a_completions_caller_is_gone_and_a_run_goes_on() {
    let model = Model::start().await;
    let home = home_with(&model);
    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let run = starts(&caller, "hello").await;
    let mut for_run = model.is_asked().await;
    for_run.says("half").await;
    let mut reader = caller.follows(&run, "0").await;
    assert_eq!(reader.next().await.unwrap().body["text"], "half");

    let mut stream = caller.opens(COMPLETIONS, &[], &streamed()).await;
    let mut for_stream = model.is_asked().await;
    for_stream.says("half").await;
    let turn = stream.until(says("half")).await.body["id"].clone();
    let turn = turn
        .as_str()
        .unwrap()
        .trim_start_matches("chatcmpl-")
        .to_owned();
    drop((reader, stream));
    let left = Instant::now();
    for_stream.is_hung_up_on().await;
    assert!(left.elapsed() >= WITHIN_GRACE, "they may come back");
    let end = caller.follows(&turn, "0").await.all().await.pop().unwrap();
    assert_eq!(end.name, "run_cancelled");

    let shown = caller.gets(&format!("/v1/runs/{run}")).await;
    assert_eq!(shown["status"], "running", "{shown}");
    for_run.ends(" and half").await;
    let end = caller.follows(&run, "1").await.all().await.pop().unwrap();
    assert_eq!(end.name, "run_completed");
    let shown = caller.gets(&format!("/v1/runs/{run}")).await;
    assert_eq!(shown["output"], "half and half", "{shown}");
    gateway.kill().await.unwrap();
}

#[tokio::test]
async fn a_run_that_only_thought_when_the_gateway_was_killed_is_completed_by_the_next_one() {
    let model = Model::start().await;
    let home = home_with(&model);
    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let run = starts(&caller, "hello").await;
    let mut speech = model.is_asked().await;
    speech.says("half").await;
    let mut reader = caller.follows(&run, "0").await;
    let seen = reader.next().await.unwrap();
    assert_eq!(
        (seen.id.as_str(), &seen.body["text"]),
        ("1", &json!("half"))
    );
    gateway.kill().await.unwrap();
    speech.is_hung_up_on().await;

    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let again = model.is_asked().await;
    let path = format!("/v1/runs/{run}");
    assert_eq!(caller.gets(&path).await["status"], "running");
    let reader = caller.follows(&run, &seen.id).await;
    again.ends("the whole").await;
    let all = reader.all().await;
    let end = all.last().unwrap();
    assert_eq!(
        (end.name.as_str(), &end.body["output"]),
        ("run_completed", &json!("the whole"))
    );
    assert!(
        all.iter().all(|told| told.id != seen.id),
        "nothing is told twice: {all:?}"
    );
    let shown = caller.gets(&path).await;
    assert_eq!(
        (&shown["status"], &shown["output"]),
        (&json!("completed"), &json!("the whole"))
    );
    let late = caller.follows(&run, &end.id).await.all().await;
    assert_eq!(
        late,
        std::slice::from_ref(end),
        "whoever was cut off before the end is told of it"
    );
    gateway.kill().await.unwrap();
}

#[tokio::test]
async fn a_run_whose_tool_was_at_work_when_the_gateway_was_killed_is_interrupted() {
    let home = Home::empty();
    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let run = starts(&caller, "run: sleep 60").await;
    let mut reader = caller.follows(&run, "0").await;
    let seen = reader.until(|told| told.name == "tool_started").await;
    gateway.kill().await.unwrap();

    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let rest = caller.follows(&run, &seen.id).await.all().await;
    let names: Vec<&str> = rest.iter().map(|told| told.name.as_str()).collect();
    assert_eq!(names, ["run_interrupted"]);
    assert_eq!(rest[0].body["error"]["code"], "run_interrupted");
    let shown = caller.gets(&format!("/v1/runs/{run}")).await;
    assert_eq!(shown["status"], "interrupted", "{shown}");
    let message = shown["error"]["message"].as_str().unwrap();
    assert!(message.contains("terminal"), "it says which: {message}");
    gateway.kill().await.unwrap();

    // And it stays so.
    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let again = caller.gets(&format!("/v1/runs/{run}")).await;
    assert_eq!(again, shown);
    gateway.kill().await.unwrap();
}

#[tokio::test]
async fn a_completion_that_is_asked_for_again_after_a_kill_is_the_same_one() {
    let once = [("idempotency-key", "once")];
    let model = Model::start().await;
    let home = home_with(&model);
    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let mut stream = caller.opens(COMPLETIONS, &once, &streamed()).await;
    let mut speech = model.is_asked().await;
    speech.says("half").await;
    let id = stream.until(says("half")).await.body["id"].clone();
    gateway.kill().await.unwrap();

    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let again = model.is_asked().await;
    let (status, headers, early) = caller.posts(COMPLETIONS, &once, &streamed()).await;
    assert_eq!(
        (status, &early["error"]["code"]),
        (409, &json!("idempotency_key_in_use"))
    );
    assert!(headers.contains_key("retry-after"));
    again.ends("the whole").await;
    let turn = id.as_str().unwrap().trim_start_matches("chatcmpl-");
    caller.follows(turn, "0").await.all().await;

    let all = caller
        .opens(COMPLETIONS, &once, &streamed())
        .await
        .all()
        .await;
    assert!(all.iter().all(|told| told.body["id"] == id), "{all:?}");
    let content = |told: &caller::Told| {
        let text = told.body["choices"][0]["delta"]["content"].as_str();
        text.unwrap_or_default().to_owned()
    };
    let said: String = all.iter().map(content).collect();
    assert!(said.ends_with("the whole"), "{said}");
    let (status, _, other) = caller.posts(COMPLETIONS, &once, &question()).await;
    assert_eq!((status, &other["error"]["code"]), (409, &json!("conflict")));
    gateway.kill().await.unwrap();
}
