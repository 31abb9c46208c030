//! What the gateway tells about itself.

use reqwest::StatusCode;
use serde_json::{Value, json};
use talaria_server::health::Condition;

use crate::world::{START, World};

#[tokio::test]
async fn it_is_ready_when_all_of_its_parts_are() {
    let world = World::start().await;
    let healthy = world.nobody().get("/healthz").await;
    assert_eq!(
        (healthy.status, &healthy.body),
        (StatusCode::OK, &json!({"status": "ok"}))
    );
    let ready = world.nobody().get("/readyz").await;
    let store = json!({"name": "store", "state": "connected", "detail": null});
    assert_eq!(
        (ready.status, &ready.body),
        (StatusCode::OK, &json!({"ready": true, "parts": [store]}))
    );
    for (state, name, is_ready) in [
        (Condition::Connected, "connected", true),
        (Condition::Degraded, "degraded", true),
        (Condition::Starting, "starting", false),
        (Condition::AuthFailed, "auth_failed", false),
        (Condition::LoggedOut, "logged_out", false),
        (Condition::Conflict, "conflict", false),
        (Condition::Stopped, "stopped", false),
    ] {
        world.gateway.reports("bot", state);
        let answer = world.nobody().get("/readyz").await;
        let status = if is_ready {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        };
        assert_eq!(
            (answer.status, &answer.body["ready"]),
            (status, &json!(is_ready)),
            "{name}"
        );
        assert_eq!(
            answer.body["parts"][1],
            json!({"name": "bot", "state": name, "detail": "because"})
        );
        assert_eq!(world.nobody().get("/healthz").await.status, StatusCode::OK);
    }
    world.end().await;
}

#[tokio::test]
async fn a_store_that_is_gone_is_not_ready_and_is_said_so() {
    let world = World::start().await;
    world.gateway.ledger.close().await;
    let ready = world.nobody().get("/readyz").await;
    assert_eq!(ready.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(ready.body["parts"][0]["state"], "stopped");
    let refused = world.operator().get("/api/sessions").await;
    refused.refused(StatusCode::SERVICE_UNAVAILABLE, "unavailable");
    assert_eq!(
        world.nobody().get("/healthz").await.status,
        StatusCode::OK,
        "the process is still there"
    );
    world.end().await;
}

#[tokio::test]
async fn the_status_is_the_gateway_on_one_screen() {
    let world = World::start().await;
    world.gateway.reports("bot", Condition::Connected);
    let session = world.operator().begins().await;
    world.operator().says(session, "hello").await;
    world
        .operator()
        .post("/api/send", &json!({"to": "example:1", "text": "hi"}))
        .await;
    let status = world.operator().get("/api/status").await;
    let expected = json!({
        "version": "1.2.3", "profile": "assistant", "model": "demo", "store": "sqlite", "started_at": START,
        "listen": world.address.to_string(),
        "parts": [
            {"name": "store", "state": "connected", "detail": null, "last_receive": null, "last_send": null},
            {"name": "bot", "state": "connected", "detail": "because", "last_receive": START, "last_send": null},
        ],
        "lanes": {"open": 1, "running": 3, "waiting": 0},
        "inbox": {"queued": 1, "claimed": 0},
        "outbox": {"queued": 1, "sending": 0, "retry": 0, "doubted": 0, "unknown": 0, "oldest_undelivered": START},
        "dead": 0,
    });
    assert_eq!(status.body, expected);
    world.end().await;
}

#[tokio::test]
async fn the_meters_are_the_same_counts() {
    let world = World::start().await;
    let session = world.operator().begins().await;
    world.operator().says(session, "hello").await;
    let metrics = world.nobody().get("/metrics").await;
    assert!(
        metrics
            .header("content-type")
            .starts_with("text/plain; version=0.0.4")
    );
    assert_eq!(metrics.body, Value::Null);
    for line in [
        "talaria_inbox_events{state=\"queued\"} 1",
        "talaria_part_ready{name=\"store\"} 1",
        "talaria_lanes_open 1",
    ] {
        assert!(
            metrics.words.lines().any(|found| found == line),
            "{line} in\n{}",
            metrics.words
        );
    }
    world.end().await;
}
