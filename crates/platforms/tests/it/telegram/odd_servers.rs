//! What answers at the address may be anything: garbage is passed over or said, and nothing breaks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::extract::Path;
use axum::routing::any;
use axum::{Json, Router};
use serde_json::{Value, json};
use talaria_domain::adapter::{Adapter as _, Disconnected};
use talaria_domain::clock::ManualClock;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::world::{Desk, NOW, bot_at, in_time, part};

/// A server that says this to the first questions for what is new, then nothing more.
struct Odd {
    url: String,
    _serving: JoinSet<()>,
}

impl Odd {
    async fn with(me: Value, pages: Vec<Value>) -> Self {
        let polls = AtomicUsize::new(0);
        let answer = move |Path((_, method)): Path<(String, String)>| {
            let body = match method.as_str() {
                "getMe" => me.clone(),
                "getUpdates" => {
                    let at = polls.fetch_add(1, Ordering::SeqCst);
                    pages
                        .get(at)
                        .cloned()
                        .unwrap_or_else(|| json!({ "ok": true, "result": [] }))
                }
                _ => json!({ "ok": true, "result": true }),
            };
            std::future::ready(Json(body))
        };
        let answer = Arc::new(answer);
        let routes = Router::new().route(
            "/below/{bot}/{method}",
            any(move |path: Path<(String, String)>| answer(path)),
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/below/", listener.local_addr().unwrap());
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self {
            url,
            _serving: serving,
        }
    }
}

fn me() -> Value {
    json!({ "ok": true, "result": { "id": 7, "is_bot": true, "first_name": "B", "username": "b_bot" } })
}

fn update(number: i64, text: &str) -> Value {
    json!({
        "update_id": number,
        "message": {
            "message_id": number, "date": 1, "chat": { "id": 42, "type": "private" },
            "from": { "id": 42, "is_bot": false, "first_name": "Ada" }, "text": text,
        },
    })
}

#[tokio::test]
async fn what_cannot_be_read_is_passed_over_and_the_rest_is_served() {
    let page = json!({ "ok": true, "result": [
        update(1, "one"),
        { "update_id": 2, "message": { "message_id": "two" } },
        { "update_id": 3, "message": 5 },
        { "update_id": 4, "a_word_of_a_later_api": {} },
        "garbage", null, { "no": "number" },
        { "update_id": 5, "message": { "message_id": 5, "date": 1, "chat": { "id": 1, "type": "party" } } },
        update(6, "two"),
    ] });
    let odd = Odd::with(me(), vec![page]).await;
    let (desk, clock) = (Desk::open(), Arc::new(ManualClock::at(NOW)));
    let telegram = bot_at(&odd.url, &clock, None);
    in_time(async {
        tokio::select! {
            biased;
            ended = telegram.receive(&desk) => panic!("disconnected: {ended:?}"),
            () = desk.was_handed(2) => {}
        }
    })
    .await;
    assert_eq!(desk.texts(), ["one", "two"]);
}

#[tokio::test]
async fn what_is_not_the_api_is_said_without_a_loop() {
    for (me_says, page) in [
        (json!("hello"), json!(null)),
        (json!({ "ok": true }), json!(null)),
        (
            json!({ "ok": true, "result": { "id": "seven" } }),
            json!(null),
        ),
        (me(), json!({ "ok": true, "result": "garbage" })),
        (me(), json!({ "ok": true, "result": ["garbage"] })),
        (me(), json!({ "ok": false })),
        (me(), json!([])),
    ] {
        let odd = Odd::with(me_says.clone(), vec![page.clone()]).await;
        let clock = Arc::new(ManualClock::at(NOW));
        let ended = in_time(bot_at(&odd.url, &clock, None).receive(&Desk::open())).await;
        assert!(
            matches!(ended, Disconnected::Lost { .. }),
            "{me_says} {page}: {ended:?}"
        );
    }
}

#[tokio::test]
async fn an_update_that_comes_again_within_a_connection_is_not_taken_twice() {
    let page = |numbers: &[i64]| {
        let updates: Vec<Value> = numbers.iter().map(|number| update(*number, "x")).collect();
        json!({ "ok": true, "result": updates })
    };
    let odd = Odd::with(me(), vec![page(&[1, 2]), page(&[1, 2, 3])]).await;
    let (desk, clock) = (Desk::open(), Arc::new(ManualClock::at(NOW)));
    let telegram = bot_at(&odd.url, &clock, None);
    in_time(async {
        tokio::select! {
            biased;
            ended = telegram.receive(&desk) => panic!("disconnected: {ended:?}"),
            () = desk.was_handed(3) => {}
        }
    })
    .await;
    assert_eq!(desk.events().len(), 3);
}

#[tokio::test]
async fn a_yes_without_a_message_is_nobodys_guess() {
    let odd = Odd::with(me(), Vec::new()).await;
    let clock = Arc::new(ManualClock::at(NOW));
    let outcome = in_time(bot_at(&odd.url, &clock, None).send(&part(1, "hello"))).await;
    assert!(
        matches!(outcome, talaria_domain::delivery::Outcome::Unknown { .. }),
        "{outcome:?}"
    );
}
