//! Platforms call us: whoever they are is for the account's adapter to find out.

use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn a_call_reaches_its_account_with_its_signature_and_every_byte() {
    let world = World::start().await;
    let caller = world
        .nobody()
        .saying("x-signature", "v0=abc")
        .saying("host", "bots.example.org")
        .saying("origin", "https://elsewhere.example.org");
    let answer = caller
        .send(Method::POST, "/hooks/example/bot", "{\"no\": json")
        .await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.body, json!({ "signature": "v0=abc", "bytes": 11 }));
    world.end().await;
}

#[tokio::test]
async fn nobody_is_called_where_no_account_is() {
    let world = World::start().await;
    for path in ["/hooks/example/other", "/hooks/other/bot", "/hooks/a%2Fb/c"] {
        let answer = world.nobody().send(Method::POST, path, "{}").await;
        answer.refused(StatusCode::NOT_FOUND, "not_found");
    }
    let answer = world.nobody().get("/hooks/example/bot").await;
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    let huge = "x".repeat(11 * 1024 * 1024);
    let nobody = world.nobody();
    let answer = nobody.send(Method::POST, "/hooks/example/bot", huge).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    world.end().await;
}
