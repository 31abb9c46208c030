//! Turns that end without an answer, or with half of one: every route tells it alike, in codes that programs decide by.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::programs::{Program, World, saying};

const COMPLETIONS: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";

/// A run, when it has ended.
async fn run(program: &Program<'_>, input: &str) -> Value {
    let made = program.post("/v1/runs", &json!({ "input": input })).await;
    let id = made.body["run_id"].as_str().unwrap();
    let path = format!("/v1/runs/{id}/events");
    let all = program.opens(Method::GET, &path, &Value::Null).await;
    let end = all.all().await.last().unwrap().body();
    let shown = program.get(&format!("/v1/runs/{id}")).await.body;
    for field in ["status", "output", "finish_reason", "usage", "error"] {
        assert_eq!(shown[field], end[field], "{field}");
    }
    shown
}

fn streamed(body: &Value) -> Value {
    let mut body = body.clone();
    body["stream"] = json!(true);
    body
}

const INPUT: &str = "invalid_request_error";
const API: &str = "api_error";
const RATE: &str = "rate_limit_error";

const FAILURES: [(&str, u16, &str, &str); 9] = [
    ("fail", 502, API, "run_failed"),
    ("fail model_unreachable", 502, API, "model_unreachable"),
    ("fail model_overloaded", 429, RATE, "model_overloaded"),
    ("fail model_auth", 502, API, "model_auth"),
    (
        "fail context_too_long",
        400,
        INPUT,
        "context_length_exceeded",
    ),
    ("fail unsupported", 400, INPUT, "unsupported_parameter"),
    ("fail timeout", 504, API, "timeout"),
    ("fail no_progress", 504, API, "no_progress"),
    ("fail internal", 500, API, "internal"),
];

#[tokio::test]
async fn a_failure_has_the_same_code_on_every_route() {
    let world = World::start().await;
    let ada = world.program("ada").await;
    for (input, status, class, code) in FAILURES {
        let status = StatusCode::from_u16(status).unwrap();
        let is_it = |error: &Value| {
            assert_eq!(
                (&error["type"], &error["code"]),
                (&json!(class), &json!(code))
            );
        };
        let whole = ada.says(input).await;
        whole.refused(status, code);
        is_it(&whole.body["error"]);
        assert_eq!(whole.header("x-should-retry"), "false");
        let wait = if code == "model_overloaded" { "7" } else { "" };
        assert_eq!(whole.header("retry-after"), wait);

        let body = streamed(&saying(input));
        let stream = ada.opens(Method::POST, COMPLETIONS, &body).await;
        let last = stream.all().await.pop().unwrap();
        is_it(&last.body()["error"]);

        let body = json!({ "input": input });
        ada.post(RESPONSES, &body).await.refused(status, code);
        let stream = ada.opens(Method::POST, RESPONSES, &streamed(&body)).await;
        let last = stream.all().await.pop().unwrap();
        assert_eq!(last.name.as_deref(), Some("response.failed"));
        assert_eq!(last.body()["response"]["error"]["code"], code);

        let shown = run(&ada, input).await;
        assert_eq!(shown["status"], "failed");
        is_it(&shown["error"]);
    }
    world.end().await;
}

#[tokio::test]
async fn an_answer_that_was_cut_says_so_on_every_route() {
    let world = World::start().await;
    let ada = world.program("ada").await;
    for (input, finish, reason) in [
        ("be cut off", "length", "max_output_tokens"),
        ("withhold", "content_filter", "content_filter"),
    ] {
        let answer = format!("re: {input}");
        let whole = ada.says(input).await;
        assert_eq!(whole.content(), answer);
        assert_eq!(whole.body["choices"][0]["finish_reason"], finish);
        let body = streamed(&saying(input));
        let stream = ada.opens(Method::POST, COMPLETIONS, &body).await;
        let all = stream.all().await;
        let last = all[all.len() - 2].body();
        assert_eq!(last["choices"][0]["finish_reason"], finish);

        let body = json!({ "input": input });
        let made = ada.post(RESPONSES, &body).await;
        assert_eq!(made.status, StatusCode::OK, "{}", made.words);
        assert_eq!(made.body["status"], "incomplete");
        assert_eq!(made.body["incomplete_details"]["reason"], reason);
        let path = format!("{RESPONSES}/{}", made.body["id"].as_str().unwrap());
        assert_eq!(ada.get(&path).await.body, made.body);
        let stream = ada.opens(Method::POST, RESPONSES, &streamed(&body)).await;
        let last = stream.all().await.pop().unwrap();
        assert_eq!(last.name.as_deref(), Some("response.incomplete"));

        let shown = run(&ada, input).await;
        assert_eq!(shown["status"], "completed");
        assert_eq!(shown["finish_reason"], finish);
        assert_eq!(shown["output"], answer);
    }
    world.end().await;
}

#[tokio::test]
async fn a_full_queue_is_for_programs_to_come_back_to() {
    let world = World::start().await;
    let operator = world.operator();
    let first = operator.post("/v1/runs", &json!({ "input": "hang" })).await;
    let here = operator.saying("x-talaria-session-id", first.session());
    let mut waiting = Vec::new();
    for _ in 0..50 {
        let made = here.post("/v1/runs", &json!({ "input": "wait" })).await;
        assert_eq!(made.status, StatusCode::ACCEPTED, "{}", made.words);
        waiting.push(made.body["run_id"].as_str().unwrap().to_owned());
    }
    let once = here.clone().saying("idempotency-key", "patient");
    for body in [saying("too late"), streamed(&saying("too late"))] {
        let full = here.post(COMPLETIONS, &body).await;
        full.refused(StatusCode::TOO_MANY_REQUESTS, "queue_full");
        assert_eq!(full.body["error"]["type"], "rate_limit_error");
        assert_eq!(full.header("retry-after"), "5");
        assert_eq!(full.header("x-should-retry"), "", "nothing has begun");
    }
    for path in ["/v1/runs", RESPONSES] {
        let full = once.post(path, &json!({ "input": "too late" })).await;
        full.refused(StatusCode::TOO_MANY_REQUESTS, "queue_full");
    }
    let other = once.post("/v1/runs", &json!({ "input": "other" })).await;
    other.refused(StatusCode::CONFLICT, "conflict");

    // Somebody goes: there is room, and the same key is taken.
    let path = format!("/v1/runs/{}/cancel", waiting[0]);
    assert_eq!(here.post(&path, &json!({})).await.status, StatusCode::OK);
    let made = once.post("/v1/runs", &json!({ "input": "too late" })).await;
    assert_eq!(made.status, StatusCode::ACCEPTED, "{}", made.words);
    let again = once.post("/v1/runs", &json!({ "input": "too late" })).await;
    assert_eq!(again.body, made.body, "once");

    let path = format!("/v1/runs/{}/cancel", first.body["run_id"].as_str().unwrap());
    here.post(&path, &json!({})).await;
    world.parrot.until(|it| it.turns().len() == 51).await;
    let said = world.parrot.turns().pop().unwrap().prompt;
    assert_eq!(said, "too late", "who comes last is last");
    world.end().await;
}
