//! Bridges that people wrote in an afternoon: the smallest one works, and what one gets wrong is said.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use talaria_domain::adapter::{Adapter as _, Disconnected};
use talaria_domain::capabilities::TextUnit;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::world::{Desk, in_time, relay_to};

/// A bridge that says this of itself, and this to every question for what is new.
struct Odd {
    url: String,
    polls: Arc<AtomicUsize>,
    _serving: JoinSet<()>,
}

impl Odd {
    async fn with(about: Vec<Value>, updates: Value) -> Self {
        let polls = Arc::new(AtomicUsize::new(0));
        let met = AtomicUsize::new(0);
        let about = move || {
            let at = met.fetch_add(1, Ordering::SeqCst).min(about.len() - 1);
            std::future::ready(Json(about[at].clone()))
        };
        let about = Arc::new(about);
        let count = Arc::clone(&polls);
        let routes = Router::new()
            .route("/base/v1/about", get(move || about()))
            .route(
                "/base/v1/updates",
                get(move || {
                    count.fetch_add(1, Ordering::SeqCst);
                    std::future::ready(Json(updates.clone()))
                }),
            );
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/base/", listener.local_addr().unwrap());
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self {
            url,
            polls,
            _serving: serving,
        }
    }

    /// Why the connection to it ends.
    async fn lost(&self, desk: &Desk) -> String {
        let relay = relay_to(&self.url);
        match in_time(relay.receive(desk)).await {
            Disconnected::Lost { detail } => detail,
            other => panic!("not lost: {other:?}"),
        }
    }
}

fn update(offset: u64, sender: &str, text: &str) -> Value {
    json!({
        "offset": offset, "id": offset.to_string(), "kind": "message", "text": text,
        "chat": { "id": "c", "kind": "direct" }, "sender": { "id": sender },
    })
}

fn tiny() -> Vec<Value> {
    vec![json!({ "id": "bot" })]
}

#[tokio::test]
async fn the_smallest_bridge_works() {
    let page = json!({ "updates": [update(1, "ada", "hello")] });
    let odd = Odd::with(tiny(), page).await;
    let (desk, relay) = (Desk::open(), relay_to(&odd.url));
    // It does not look at `after`, which ends the connection, but not before the message is in.
    let ended = in_time(relay.receive(&desk)).await;
    assert_eq!(desk.texts(), ["hello"]);
    assert!(
        matches!(&ended, Disconnected::Lost { detail } if detail == "update 1 came again after it was acknowledged"),
        "{ended:?}"
    );
    let capabilities = relay.capabilities();
    assert!(capabilities.can.is_empty());
    assert_eq!(capabilities.text_limit.max, 4_096);
    assert_eq!(capabilities.text_limit.unit, TextUnit::Utf16);
}

#[tokio::test]
async fn what_the_bot_said_itself_and_unknown_kinds_are_passed_over() {
    let page = json!({ "updates": [
        update(1, "bot", "re: hello"),
        { "offset": 2, "kind": "reaction" },
        update(3, "ada", "hello"),
    ]});
    let odd = Odd::with(tiny(), page).await;
    let desk = Desk::open();
    odd.lost(&desk).await;
    assert_eq!(desk.texts(), ["hello"]);
}

#[tokio::test]
async fn what_cannot_be_read_stops_there_and_is_said() {
    let mut broken = update(2, "ada", "two");
    broken["sender"] = json!("ada");
    let page = json!({ "updates": [update(1, "ada", "one"), broken, update(3, "ada", "three")] });
    let odd = Odd::with(tiny(), page).await;
    let desk = Desk::open();
    let detail = odd.lost(&desk).await;
    assert!(detail.starts_with("update 2 cannot be read: "), "{detail}");
    assert_eq!(desk.texts(), ["one"]);
    // One question: nothing was acknowledged, so that it all comes again.
    assert_eq!(odd.polls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_bridge_that_does_not_say_who_it_is_is_not_talked_to() {
    for about in [
        json!({}),
        json!({ "id": "" }),
        json!({ "id": 5 }),
        json!({ "id": "bot", "limit": 0 }),
        json!({ "id": "bot", "unit": "pages" }),
        json!([]),
    ] {
        let odd = Odd::with(vec![about.clone()], json!({ "updates": [] })).await;
        odd.lost(&Desk::open()).await;
        assert_eq!(odd.polls.load(Ordering::SeqCst), 0, "{about}");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_page_is_said() {
    for page in [json!({}), json!([]), json!({ "updates": "none" })] {
        let odd = Odd::with(tiny(), page).await;
        let detail = odd.lost(&Desk::open()).await;
        assert!(detail.contains("`updates` cannot be read"), "{detail}");
    }
}

#[tokio::test]
async fn another_bot_behind_the_same_account_is_noticed() {
    let about = vec![json!({ "id": "bot" }), json!({ "id": "another" })];
    let odd = Odd::with(about, json!({ "updates": "none" })).await;
    let (desk, relay) = (Desk::open(), relay_to(&odd.url));
    in_time(relay.receive(&desk)).await;
    let ended = in_time(relay.receive(&desk)).await;
    assert!(
        matches!(&ended, Disconnected::Lost { detail } if detail.contains("another bot")),
        "{ended:?}"
    );
}
