//! Pages of others: none but those that the operator lets in, and those with a key and nothing else.

use reqwest::{Method, StatusCode};
use serde_json::json;
use talaria_server::Terms;

use crate::world::{Person, World};

const FRIEND: &str = "https://app.example.org";

async fn inviting() -> World {
    World::on(Terms {
        cors_origins: vec![FRIEND.to_owned()],
        ..Terms::default()
    })
    .await
}

fn asks_first<'w>(person: Person<'w>, origin: &str) -> Person<'w> {
    person
        .saying("origin", origin)
        .saying("access-control-request-method", "POST")
        .saying(
            "access-control-request-headers",
            "authorization, x-stainless-lang",
        )
}

#[tokio::test]
async fn without_a_word_of_the_operator_no_page_is_let_in() {
    let world = World::start().await;
    let refused = asks_first(world.nobody(), FRIEND)
        .send(Method::OPTIONS, "/v1/runs", "")
        .await;
    refused.refused(StatusCode::FORBIDDEN, "forbidden");
    let refused = world
        .operator()
        .saying("origin", FRIEND)
        .get("/api/status")
        .await;
    refused.refused(StatusCode::FORBIDDEN, "forbidden");
    assert_eq!(refused.header("access-control-allow-origin"), "");
    world.end().await;
}

#[tokio::test]
async fn a_page_that_is_let_in_may_ask_and_read() {
    let world = inviting().await;
    let told = asks_first(world.nobody(), FRIEND)
        .send(Method::OPTIONS, "/v1/runs", "")
        .await;
    assert_eq!(told.status, StatusCode::NO_CONTENT);
    for (name, value) in [
        ("access-control-allow-origin", FRIEND),
        ("access-control-allow-methods", "GET, POST, PATCH, DELETE"),
        (
            "access-control-allow-headers",
            "authorization, x-stainless-lang",
        ),
        ("access-control-allow-credentials", ""),
        ("vary", "origin"),
        ("x-frame-options", "DENY"),
    ] {
        assert_eq!(told.header(name), value, "{name}");
    }
    let (ada, _) = world.somebody("ada", &["chat"]).await;
    let page = ada.saying("origin", FRIEND);
    let run = page.post("/v1/runs", &json!({ "input": "hello" })).await;
    assert_eq!(run.status, StatusCode::ACCEPTED);
    assert_eq!(run.header("access-control-allow-origin"), FRIEND);
    assert!(
        run.header("access-control-expose-headers")
            .contains("x-talaria-session-id")
    );
    let wrong = world
        .with("wrong")
        .saying("origin", FRIEND)
        .get("/v1/models")
        .await;
    wrong.refused(StatusCode::UNAUTHORIZED, "unauthorized");
    assert_eq!(
        wrong.header("access-control-allow-origin"),
        FRIEND,
        "it may read why"
    );
    world.end().await;
}

#[tokio::test]
async fn other_pages_stay_out() {
    let world = inviting().await;
    for origin in [
        "https://evil.example",
        "http://app.example.org",
        "https://app.example.org:8443",
        "https://app.example.org.evil.example",
        "https://sub.app.example.org",
        "null",
    ] {
        let asked = asks_first(world.nobody(), origin);
        let refused = asked.send(Method::OPTIONS, "/v1/runs", "").await;
        refused.refused(StatusCode::FORBIDDEN, "forbidden");
        let refused = world
            .operator()
            .saying("origin", origin)
            .get("/v1/models")
            .await;
        refused.refused(StatusCode::FORBIDDEN, "forbidden");
        assert_eq!(
            refused.header("access-control-allow-origin"),
            "",
            "{origin}"
        );
    }
    let rebound = world
        .operator()
        .saying("origin", FRIEND)
        .saying("host", "evil.example");
    let refused = rebound.get("/v1/models").await;
    refused.refused(StatusCode::FORBIDDEN, "forbidden");
    world.end().await;
}

/// A browser may send our cookie along where both are of one site.
#[tokio::test]
async fn what_a_browser_keeps_for_our_page_is_not_theirs() {
    let world = inviting().await;
    let link = world.operator().post("/api/login", &json!({})).await;
    let entered = world.nobody().get(link.text("url")).await;
    let cookie = entered
        .header("set-cookie")
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let own = world.nobody().saying("cookie", &cookie);
    assert_eq!(own.get("/api/status").await.status, StatusCode::OK);
    let theirs = own.saying("origin", FRIEND);
    theirs
        .get("/api/status")
        .await
        .refused(StatusCode::UNAUTHORIZED, "unauthorized");
    let made = theirs
        .send(
            Method::POST,
            "/api/keys",
            r#"{"name":"x","scopes":["operator"]}"#,
        )
        .await;
    made.refused(StatusCode::UNAUTHORIZED, "unauthorized");
    world.end().await;
}
