//! What an operator takes away from a run that is under way.

use reqwest::StatusCode;
use serde_json::{Value, json};
use talaria_domain::authority::{Revocation, Right};
use talaria_domain::ids::RunId;
use talaria_store::runs;

use crate::programs::{Program, World};

/// A run that hangs, and its id as operators know it.
async fn hangs(world: &World, program: &Program<'_>) -> RunId {
    let made = program.post("/v1/runs", &json!({ "input": "hang" })).await;
    assert_eq!(made.status, StatusCode::ACCEPTED, "{}", made.words);
    world
        .parrot
        .until(|parrot| !parrot.turns().is_empty())
        .await;
    let listed = world.operator().get("/api/runs?state=running").await;
    listed.body["data"][0]["id"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap()
}

fn path(run: impl std::fmt::Display) -> String {
    format!("/api/runs/{run}/revoke")
}

#[tokio::test]
async fn what_is_taken_away_is_in_the_ledger_and_in_the_trace() {
    let world = World::start().await;
    let ada = world.program("ada").await;
    let run = hangs(&world, &ada).await;
    let body = json!({ "kind": "right", "name": "ask" });
    let done = world.operator().post(&path(run), &body).await;
    assert_eq!(done.status, StatusCode::OK, "{}", done.words);
    assert_eq!(done.body, json!({ "runs": [run] }));
    let taken = world.read(move |tx| runs::revocations(tx, run)).await;
    assert_eq!(taken, [Revocation::Right(Right::Ask)]);
    let trace = world.operator().get(&format!("/api/trace/{run}")).await;
    assert!(trace.words.contains("revoked"), "{}", trace.words);
    let refused = ada.post(&path(run), &body).await;
    refused.refused(StatusCode::FORBIDDEN, "forbidden");
    world.end().await;
}

#[tokio::test]
async fn what_makes_no_sense_is_answered_in_words_and_takes_nothing() {
    let world = World::start().await;
    let ada = world.program("ada").await;
    let run = hangs(&world, &ada).await;
    let table: [(Value, &str); 9] = [
        (json!({}), "kind"),
        (json!({ "kind": "everything" }), "everything"),
        (json!({ "kind": "tool" }), "found nothing"),
        (json!({ "kind": "tool", "name": " " }), "found nothing"),
        (json!({ "kind": "right", "name": "fly" }), "history_page"),
        (
            json!({ "kind": "right", "name": "ask", "operation": "x" }),
            "operations",
        ),
        (json!({ "kind": "state", "name": "actor" }), "expected none"),
        (json!({ "kind": "state", "operation": "set" }), "operations"),
        (json!({ "kind": "tool", "name": "a", "more": 1 }), "more"),
    ];
    for (body, word) in table {
        let refused = world.operator().post(&path(run), &body).await;
        let words = refused.refused(StatusCode::BAD_REQUEST, "bad_input");
        assert!(words.contains(word), "{body}: {words}");
    }
    let taken = world.read(move |tx| runs::revocations(tx, run)).await;
    assert_eq!(taken, []);
    world.end().await;
}

#[tokio::test]
async fn a_run_that_is_over_or_nobodys_is_told_apart() {
    let world = World::start().await;
    let body = json!({ "kind": "state" });
    let said = world.program("ada").await.says("hello").await;
    assert_eq!(said.status, StatusCode::OK, "{}", said.words);
    let listed = world.operator().get("/api/runs").await;
    let over = listed.body["data"][0]["id"].as_str().unwrap();
    let refused = world.operator().post(&path(over), &body).await;
    refused.refused(StatusCode::CONFLICT, "conflict");
    let nobody = world
        .operator()
        .post(&path(RunId::from_bytes([9; 16])), &body)
        .await;
    nobody.refused(StatusCode::NOT_FOUND, "not_found");
    world.end().await;
}
