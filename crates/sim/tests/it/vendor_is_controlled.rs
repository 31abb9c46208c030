//! A simulated vendor as a person sees it, over HTTP and in a process of its own.

use reqwest::Method;
use serde_json::{Value, json};

use crate::web::{Process, ask, client, get, post};

/// Asks as an adapter does.
async fn as_adapter(process: &Process, method: Method, path: &str, body: &Value) -> (u16, Value) {
    let url = format!("{}{path}", process.url);
    let request = client()
        .request(method, url)
        .bearer_auth("anything")
        .json(body);
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

async fn backlog(process: &Process) -> Value {
    get(&format!("{}/sim/backlog", process.url)).await["backlog"].clone()
}

#[tokio::test]
async fn somebody_writes_the_bot_answers_and_both_are_seen() {
    let process = Process::start(&["relay", "--offer", "edits", "--limit", "20"]);
    let sim = |path: &str| format!("{}/sim/{path}", process.url);
    let written =
        json!({ "chat": "room", "kind": "group", "thread": "t", "sender": "ada", "text": "hello" });
    let (status, id) = post(&sim("message"), &written).await;
    assert_eq!((status, &id["id"]), (200, &json!("m1")));
    assert_eq!(backlog(&process).await, 1);

    let (_, about) = as_adapter(&process, Method::GET, "/v1/about", &json!(null)).await;
    assert_eq!(
        (&about["edits"], &about["keys"], &about["limit"]),
        (&json!(true), &json!(false), &json!(20))
    );
    let (_, page) = as_adapter(&process, Method::GET, "/v1/updates", &json!(null)).await;
    assert_eq!(page["updates"][0]["text"], "hello");
    let (_, page) = as_adapter(&process, Method::GET, "/v1/updates?after=1", &json!(null)).await;
    assert_eq!(page, json!({ "updates": [] }));
    assert_eq!(backlog(&process).await, 0);

    let answer =
        json!({ "key": "k", "chat": "room", "thread": "t", "text": "…", "format": "markdown" });
    let (status, sent) = as_adapter(&process, Method::POST, "/v1/messages", &answer).await;
    assert_eq!((status, sent), (201, json!({ "message_id": "m2" })));
    let (status, _) = as_adapter(
        &process,
        Method::PATCH,
        "/v1/messages/m2",
        &json!({ "text": "hi" }),
    )
    .await;
    assert_eq!(status, 200);

    let chat = get(&sim("chats/room?thread=t")).await;
    let seen = |chat: &Value| -> Vec<(String, u64)> {
        let messages = chat["messages"].as_array().unwrap();
        let one = |shown: &Value| {
            (
                shown["text"].as_str().unwrap().to_owned(),
                shown["edits"].as_u64().unwrap(),
            )
        };
        messages.iter().map(one).collect()
    };
    assert_eq!(seen(&chat), [("hello".to_owned(), 0), ("hi".to_owned(), 1)]);
    assert_eq!(chat["kind"], "group");
    assert_eq!(seen(&get(&sim("chats/room?thread=")).await), []);
    assert_eq!(seen(&get(&sim("chats/room")).await).len(), 2);
    assert_eq!(seen(&get(&sim("chats/nowhere")).await), []);
    assert_eq!(get(&sim("chats")).await.as_array().unwrap().len(), 1);
    let requests = get(&sim("requests")).await;
    let asked: Vec<_> = requests
        .as_array()
        .unwrap()
        .iter()
        .map(|asked| &asked["on"])
        .collect();
    assert_eq!(asked, ["about", "updates", "updates", "send", "edit"]);
    assert_eq!(requests[3]["body"], answer);
}

#[tokio::test]
async fn a_fault_is_ordered_and_happens_once() {
    let process = Process::start(&["relay"]);
    let fault = json!({ "on": "send", "do": "429", "retry_after": 3, "times": 1 });
    let (status, _) = post(&format!("{}/sim/fault", process.url), &fault).await;
    assert_eq!(status, 200);
    let message = json!({ "chat": "c", "text": "hello" });
    let (first, _) = as_adapter(&process, Method::POST, "/v1/messages", &message).await;
    let (second, _) = as_adapter(&process, Method::POST, "/v1/messages", &message).await;
    assert_eq!((first, second), (429, 201));
    let (status, why) = post(
        &format!("{}/sim/fault", process.url),
        &json!({ "on": "send", "do": "explode" }),
    )
    .await;
    assert_eq!(status, 422);
    assert!(why.as_str().unwrap().contains("drop_after_accept"), "{why}");
}

#[tokio::test]
async fn who_has_no_token_is_told_nothing() {
    let process = Process::start(&["relay", "--token", "right"]);
    let url = format!("{}/v1/about", process.url);
    let (status, _) = ask(Method::GET, &url, &json!(null)).await;
    assert_eq!(status, 401);
    let (status, _) = as_adapter(&process, Method::GET, "/v1/about", &json!(null)).await;
    assert_eq!(status, 401);
}
