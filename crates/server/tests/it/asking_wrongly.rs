//! Programs that ask for what they may not have, or in a way that nobody understands. Nothing of it is our fault, so that
//! nothing of it is answered with a 5xx.

use futures::future::join_all;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::programs::{World, saying};

const PATH: &str = "/v1/chat/completions";

#[tokio::test]
async fn keys_that_are_wrong_empty_or_too_small_are_refused() {
    let world = World::start().await;
    for key in ["wrong", "", "tal_0198c0de-0000-7000-8000-000000000001_x"] {
        let nobody = world.with(key);
        for path in ["/v1/models", "/v1/capabilities", "/v1/runs/x", "/v1/jobs/x"] {
            let answer = nobody.get(path).await;
            answer.refused(StatusCode::UNAUTHORIZED, "unauthorized");
        }
        for path in [PATH, "/v1/runs", "/v1/runs/x/cancel"] {
            let answer = nobody.post(path, &saying("hello")).await;
            answer.refused(StatusCode::UNAUTHORIZED, "unauthorized");
        }
    }
    let ada = world.program("ada").await;
    assert_eq!(ada.says("hello").await.status, StatusCode::OK);
    for path in ["/api/runs", "/api/inbox", "/api/jobs", "/api/keys"] {
        let answer = ada.get(path).await;
        answer.refused(StatusCode::FORBIDDEN, "forbidden");
    }
    assert_eq!(world.parrot.turns().len(), 1);
    world.end().await;
}

#[tokio::test]
async fn models_are_profiles() {
    let world = World::start().await;
    let operator = world.operator();
    let listed = operator.get("/v1/models").await;
    assert_eq!(listed.body["object"], "list");
    assert_eq!(listed.body["data"].as_array().unwrap().len(), 2);
    let model = &listed.body["data"][0];
    assert_eq!(
        (&model["id"], &model["object"], &model["owned_by"]),
        (&json!("assistant"), &json!("model"), &json!("talaria"))
    );
    assert_eq!(&operator.get("/v1/models/assistant").await.body, model);
    let unknown = operator.get("/v1/models/gpt-4o").await;
    unknown.refused(StatusCode::NOT_FOUND, "model_not_found");
    let mut body = saying("hello");
    body["model"] = json!("gpt-4o");
    let answer = operator.post(PATH, &body).await;
    answer.refused(StatusCode::NOT_FOUND, "model_not_found");
    assert_eq!(answer.body["error"]["param"], "model");
    let answer = operator
        .post("/v1/runs", &json!({"input": "x", "model": "gpt-4o"}))
        .await;
    answer.refused(StatusCode::NOT_FOUND, "model_not_found");
    let chosen = operator.clone().saying("x-talaria-profile", "assistant");
    assert_eq!(chosen.post(PATH, &body).await.content(), "re: hello");
    let chosen = operator.clone().saying("x-talaria-profile", "nobody");
    let answer = chosen.says("hello").await;
    answer.refused(StatusCode::NOT_FOUND, "model_not_found");
    let able = operator.get("/v1/capabilities").await;
    assert_eq!(able.body["features"]["runs"], true);
    assert_eq!(able.body["features"]["async_delivery"], false);
    assert_eq!(able.body["options"].as_array().unwrap().len(), 7);
    world.end().await;
}

const BAD: &str = "bad_input";
const NOT_DONE: &str = "unsupported_parameter";

/// Messages that are refused, the parameter that is blamed, and how.
const MESSAGES: &[(&str, &str, &str)] = &[
    ("null", "messages", BAD),
    ("[]", "messages", BAD),
    (r#""hello""#, "messages", BAD),
    ("[1, 2]", "messages[0].role", BAD),
    (r#"[{"role": "user"}]"#, "messages[0].content", BAD),
    (
        r#"[{"role": "god", "content": "x"}]"#,
        "messages[0].role",
        BAD,
    ),
    (r#"[{"role": "system", "content": "x"}]"#, "messages", BAD),
    (
        r#"[{"role": "assistant", "content": "x"}]"#,
        "messages",
        BAD,
    ),
    (
        r#"[{"role": "tool", "content": "x"}]"#,
        "messages[0].role",
        NOT_DONE,
    ),
    (
        r#"[{"role": "assistant", "content": "", "tool_calls": [{}]}]"#,
        "messages[0].tool_calls",
        NOT_DONE,
    ),
];

/// Contents of the one message, the same.
const CONTENTS: &[(&str, &str, &str)] = &[
    (r#""  ""#, "messages", BAD),
    ("7", "messages[0].content", BAD),
    ("[]", "messages", BAD),
    (r#"["x"]"#, "messages[0].content[0]", BAD),
    (r#"[{"type": "text"}]"#, "messages[0].content[0]", BAD),
    (
        r#"[{"type": "file", "file": {}}]"#,
        "messages[0].content[0]",
        NOT_DONE,
    ),
    (
        r#"[{"type": "input_audio"}]"#,
        "messages[0].content[0]",
        NOT_DONE,
    ),
    (
        r#"[{"type": "image_url", "image_url": {"url": "http://example.org/a.png"}}]"#,
        "messages[0].content[0]",
        BAD,
    ),
    (
        r#"[{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]"#,
        "messages[0].content[0]",
        BAD,
    ),
    (
        r#"[{"type": "image_url", "image_url": {"url": "data:text/html;base64,eA=="}}]"#,
        "messages[0].content[0]",
        BAD,
    ),
    (
        r#"[{"type": "image_url", "image_url": {"url": null}}]"#,
        "messages[0].content[0]",
        BAD,
    ),
    (r#"[{"type": "image_url"}]"#, "messages[0].content[0]", BAD),
];

/// Parameters beside a message that is fine.
const PARAMETERS: &[(&str, &str, &str)] = &[
    ("model", "7", BAD),
    ("n", "2", NOT_DONE),
    ("n", r#""1""#, BAD),
    ("tools", r#"[{"type": "function"}]"#, NOT_DONE),
    ("functions", r#"[{"name": "f"}]"#, NOT_DONE),
    ("tool_choice", r#""required""#, NOT_DONE),
    ("logprobs", "true", NOT_DONE),
    ("presence_penalty", "1", NOT_DONE),
    ("modalities", r#"["text", "audio"]"#, NOT_DONE),
    ("max_tokens", "0", BAD),
    ("max_tokens", "-1", BAD),
    ("max_tokens", "1.5", BAD),
    ("max_completion_tokens", r#""9""#, BAD),
    ("temperature", "2.1", BAD),
    ("temperature", r#""hot""#, BAD),
    ("top_p", "-0.1", BAD),
    ("seed", "1.5", BAD),
    ("stop", r#"["a", "b", "c", "d", "e"]"#, BAD),
    ("stop", "[1]", BAD),
    ("response_format", r#""json""#, BAD),
    ("response_format", r#"{"type": "xml"}"#, BAD),
    ("response_format", r#"{"type": "json_schema"}"#, BAD),
    ("stream", r#""yes""#, BAD),
    ("stream_options", "7", BAD),
];

/// Every body that is refused, the parameter that is blamed, and how.
fn refused() -> Vec<(Value, String, &'static str)> {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let with = |name: &str, value: Value| {
        let mut body = saying("hello");
        body[name] = value;
        body
    };
    let mut all = vec![(json!({}), "messages".to_owned(), BAD)];
    for (messages, param, code) in MESSAGES {
        all.push((with("messages", read(messages)), (*param).to_owned(), code));
    }
    for (content, param, code) in CONTENTS {
        let messages = json!([{ "role": "user", "content": read(content) }]);
        all.push((with("messages", messages), (*param).to_owned(), code));
    }
    for (name, value, code) in PARAMETERS {
        all.push((with(name, read(value)), (*name).to_owned(), code));
    }
    let usage = with("stream_options", json!({ "include_usage": 1 }));
    all.push((usage, "stream_options.include_usage".to_owned(), BAD));
    all
}

#[tokio::test]
async fn bodies_that_nobody_understands_are_answered_in_words() {
    let world = World::start().await;
    let operator = world.operator();
    for (body, param, code) in refused() {
        let answer = operator.post(PATH, &body).await;
        answer.refused(StatusCode::BAD_REQUEST, code);
        assert_eq!(answer.body["error"]["param"], param, "{body}");
        assert_eq!(answer.body["error"]["type"], "invalid_request_error");
    }
    let deep = "[".repeat(10_000);
    for body in [
        "null",
        "[]",
        "7",
        "\"x\"",
        "{",
        "",
        "\u{0}",
        "{\"messages\":",
        &deep,
    ] {
        for path in [PATH, "/v1/runs"] {
            let answer = operator.send(path, body.to_owned()).await;
            answer.refused(StatusCode::BAD_REQUEST, "bad_input");
        }
    }
    let answer = operator.send(PATH, vec![0xff, 0xfe, b'{']).await;
    answer.refused(StatusCode::BAD_REQUEST, "bad_input");
    for input in [json!(7), json!(null), json!([]), json!(""), json!([{}])] {
        let answer = operator.post("/v1/runs", &json!({ "input": input })).await;
        answer.refused(StatusCode::BAD_REQUEST, "bad_input");
    }
    let body = json!({"input": "x", "instructions": 7});
    let answer = operator.post("/v1/runs", &body).await;
    answer.refused(StatusCode::BAD_REQUEST, "bad_input");
    let key = "x".repeat(300);
    let answer = operator.clone().saying("idempotency-key", &key);
    let answer = answer.says("hello").await;
    answer.refused(StatusCode::BAD_REQUEST, "bad_input");
    let answer = operator.says(&"x".repeat(11 * 1024 * 1024)).await;
    answer.refused(StatusCode::PAYLOAD_TOO_LARGE, "too_large");
    assert_eq!(world.parrot.turns().len(), 0);
    world.end().await;
}

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    /// One of so many.
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides).unwrap()).unwrap()
    }
}

/// Words that mean something somewhere, so that they get further than the first look.
const WORDS: [&str; 16] = [
    "user",
    "system",
    "assistant",
    "tool",
    "text",
    "image_url",
    "input_image",
    "message",
    "assistant",
    "auto",
    "json_schema",
    "https://",
    "data:image/png;base64,",
    "/stop",
    "\u{0}",
    "\u{1f980}",
];

const FIELDS: [&str; 18] = [
    "messages",
    "input",
    "role",
    "content",
    "type",
    "text",
    "image_url",
    "url",
    "model",
    "n",
    "stop",
    "stream",
    "stream_options",
    "response_format",
    "format",
    "instructions",
    "temperature",
    "previous_response_id",
];

/// Any value, up to so deep.
fn anything(dice: &mut Dice, depth: usize) -> Value {
    match dice.roll(if depth == 0 { 6 } else { 9 }) {
        0 => Value::Null,
        1 => json!(dice.roll(2) == 0),
        2 => json!(dice.roll(1_000)),
        3 => json!(-1.5e300),
        4 => json!(u64::MAX),
        5 => json!(WORDS[dice.roll(WORDS.len())]),
        6 => (0..dice.roll(4))
            .map(|_| anything(dice, depth - 1))
            .collect(),
        _ => {
            let field = |dice: &mut Dice| FIELDS[dice.roll(FIELDS.len())].to_owned();
            let fields = (0..dice.roll(6)).map(|_| (field(dice), anything(dice, depth - 1)));
            Value::Object(fields.collect())
        }
    }
}

/// A body of the right outline with anything in it.
fn body(dice: &mut Dice) -> Value {
    let mut body = saying("hello");
    body["input"] = json!("hello");
    for _ in 0..=dice.roll(3) {
        let field = FIELDS[dice.roll(FIELDS.len())];
        body[field] = anything(dice, 4);
    }
    if dice.roll(2) == 0 {
        let content = anything(dice, 3);
        let message = json!([{ "role": WORDS[dice.roll(4)], "content": content }]);
        body["messages"] = message.clone();
        body["input"] = message;
    }
    // Nobody reads streams here.
    body["stream"] = json!(false);
    body
}

#[tokio::test]
async fn ten_thousand_odd_bodies_are_nobodys_fault_but_the_callers() {
    let world = World::start().await;
    let operator = world.operator();
    let mut dice = Dice(0x5eed_cafe);
    let mut answered = 0;
    for _ in 0..1_000 {
        let bodies: Vec<Value> = (0..10).map(|_| body(&mut dice)).collect();
        let paths = [PATH, "/v1/runs", "/v1/responses"].into_iter().cycle();
        let asked = paths
            .zip(&bodies)
            .map(|(path, body)| operator.post(path, body));
        for (answer, body) in join_all(asked).await.into_iter().zip(&bodies) {
            let (status, words) = (answer.status.as_u16(), &answer.words);
            assert!(
                [200, 202, 400, 404].contains(&status),
                "{status} to {body}: {words}"
            );
            if status < 300 {
                answered += 1;
                continue;
            }
            let code = answer.body["error"]["code"].as_str().unwrap();
            answer.refused(answer.status, code);
        }
    }
    assert!(
        (100..9_900).contains(&answered),
        "{answered} of them were understood"
    );
    world.end().await;
}

#[tokio::test]
async fn who_asks_too_often_is_told_when_to_come_back() {
    let world = World::start().await;
    let (ada, bob) = (world.program("ada").await, world.program("bob").await);
    let mut refused = None;
    for _ in 0..2_000 {
        // Refused for its session: it costs no turn, and counts all the same.
        let answer = ada
            .clone()
            .saying(
                "x-talaria-session-id",
                "0198c0de-0000-7000-8000-000000000001",
            )
            .says("hello")
            .await;
        if answer.status == StatusCode::TOO_MANY_REQUESTS {
            refused = Some(answer);
            break;
        }
        answer.refused(StatusCode::NOT_FOUND, "not_found");
    }
    let refused = refused.expect("there is a limit");
    refused.refused(StatusCode::TOO_MANY_REQUESTS, "rate_limit_exceeded");
    assert_eq!(refused.body["error"]["type"], "rate_limit_error");
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(bob.says("hello").await.content(), "re: hello");
    world.end().await;
}
