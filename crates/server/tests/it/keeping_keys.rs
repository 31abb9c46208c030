//! When a key was used, and what happens to whoever uses it when it is taken back.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::Value;
use talaria_domain::clock::Clock as _;
use talaria_store::bind;

use crate::programs;
use crate::watching::Reader;
use crate::world::{PATIENCE, START, World};

/// When the only key was used last.
async fn last_used(world: &World) -> Value {
    let listed = world.operator().get("/api/keys").await;
    listed.rows()[0]["last_used_at"].clone()
}

/// How many things the server remembers.
async fn remembered(world: &World) -> i64 {
    let count = "SELECT COUNT(*) FROM state";
    world
        .read(|tx| Ok(tx.row(count, bind![], |row| row.get(0))?.unwrap()))
        .await
}

#[tokio::test]
async fn a_use_is_seen_at_once_and_written_when_the_server_stops() {
    let world = World::start().await;
    let (ada, id) = world.somebody("ada", &["chat"]).await;
    assert_eq!(last_used(&world).await, Value::Null);
    for _ in 0..20 {
        world.gateway.clock.advance(Duration::from_secs(1));
        assert_eq!(ada.get("/api/sessions").await.status, StatusCode::OK);
    }
    let used = world.gateway.clock.now().as_millis();
    assert_eq!(last_used(&world).await, used);
    assert_eq!(remembered(&world).await, 1, "a request is never a write");
    let world = world.stopped().await.restarted().await;
    assert_eq!(world.gateway.clock.now(), START, "time begins anew here");
    assert_eq!(last_used(&world).await, used);
    assert_eq!(remembered(&world).await, 2);
    let gone = world
        .operator()
        .send(Method::DELETE, &format!("/api/keys/{id}"), "")
        .await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    assert_eq!(remembered(&world).await, 0, "nothing is left of it");
    world.end().await;
}

#[tokio::test]
async fn a_wrong_secret_is_no_use_of_a_key() {
    let world = World::start().await;
    let (_, id) = world.somebody("ada", &["chat"]).await;
    let guess = format!("tal_{id}_{}", "0".repeat(64));
    let refused = world.with(&guess).get("/api/sessions").await;
    refused.refused(StatusCode::UNAUTHORIZED, "unauthorized");
    assert_eq!(last_used(&world).await, Value::Null);
    world.end().await;
}

#[tokio::test]
async fn a_stream_ends_when_its_key_is_taken_back() {
    let world = World::start().await;
    let (ada, id) = world.somebody("ada", &["chat"]).await;
    let (bob, _) = world.somebody("bob", &["chat"]).await;
    let (hers, his) = (ada.begins().await, bob.begins().await);
    let mut open = Reader::of(&ada, hers).await;
    let mut other = Reader::of(&bob, his).await;
    assert!(open.block().await.is_some() && other.block().await.is_some());
    let path = format!("/api/keys/{id}");
    let gone = world.operator().send(Method::DELETE, &path, "").await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    let ended = tokio::time::timeout(PATIENCE, open.block()).await;
    assert_eq!(ended.expect("it ends"), None);
    let happening = talaria_domain::live::Happening::Missed;
    world.gateway.tell(his, happening).await;
    assert!(other.block().await.is_some(), "nobody else's does");
    world.end().await;
}

#[tokio::test]
async fn a_turn_whose_key_is_taken_back_is_cancelled() {
    let world = programs::World::start().await;
    let ada = world.program("ada").await;
    let body = programs::saying("hang");
    let waiting = ada.post("/v1/chat/completions", &body);
    let taking_back = async {
        world.parrot.until(|it| it.turns().len() == 1).await;
        let listed = world.operator().get("/api/keys").await;
        let id = listed.body["data"][0]["id"].as_str().unwrap().to_owned();
        world.operator().delete(&format!("/api/keys/{id}")).await
    };
    let (answer, gone) = tokio::join!(waiting, taking_back);
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    answer.refused(StatusCode::UNAUTHORIZED, "unauthorized");
    world.parrot.until(|it| it.stopped().len() == 1).await;
    world.end().await;
}

#[tokio::test]
async fn a_key_that_takes_itself_back_is_told_that_it_did() {
    let world = World::start().await;
    let (eve, id) = world.somebody("eve", &["operator"]).await;
    let gone = eve
        .send(Method::DELETE, &format!("/api/keys/{id}"), "")
        .await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    eve.get("/api/status")
        .await
        .refused(StatusCode::UNAUTHORIZED, "unauthorized");
    world.end().await;
}
