//! A text without an agent.

use reqwest::StatusCode;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn a_text_is_recorded_and_can_be_followed() {
    let world = World::start().await;
    let operator = world.operator();
    let sent = operator
        .post(
            "/api/send",
            &json!({"to": "example:-100:42", "text": "the *build* is green"}),
        )
        .await;
    assert_eq!(sent.status, StatusCode::ACCEPTED);
    let trace = operator
        .get(&format!("/api/trace/{}", sent.text("reply_id")))
        .await;
    assert_eq!(trace.status, StatusCode::OK);
    let reply = &trace.body["replies"][0];
    assert_eq!(
        (&reply["text"], &reply["state"]),
        (&json!("the *build* is green"), &json!("finished"))
    );
    assert_eq!(
        (&reply["to"]["chat"], &reply["to"]["thread"]),
        (&json!("-100"), &json!("42"))
    );
    assert_eq!(reply["parts"][0]["state"], "queued");
    assert_eq!(trace.body["event"], json!(null));
    world.end().await;
}

#[tokio::test]
async fn a_place_that_is_not_there_is_said_so() {
    let world = World::start().await;
    let refused = world
        .operator()
        .post("/api/send", &json!({"to": "nowhere", "text": "hi"}))
        .await;
    let message = refused.refused(StatusCode::BAD_REQUEST, "bad_input");
    assert!(message.contains("nowhere"), "{message}");
    assert_eq!(refused.body["error"]["param"], "to");
    world.end().await;
}
