//! Conversations that are erased, and others that go on from one.

use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::programs::{Program, World, saying};

/// A conversation in which this was said and answered.
async fn said(program: &Program<'_>, text: &str) -> String {
    let answer = program.says(text).await;
    assert_eq!(answer.content(), format!("re: {text}"));
    answer.session().to_owned()
}

#[tokio::test]
async fn an_erased_conversation_is_gone_with_all_that_was_said_in_it() {
    let world = World::start().await;
    let (ada, bob) = (world.program("ada").await, world.program("bob").await);
    let session = said(&ada, "a secret").await;
    let path = format!("/api/sessions/{session}");
    for other in [&bob, &world.operator()] {
        other
            .delete(&path)
            .await
            .refused(StatusCode::NOT_FOUND, "not_found");
    }
    let gone = ada.delete(&path).await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT, "{}", gone.words);
    for path in [
        path.clone(),
        format!("{path}/messages"),
        format!("{path}/notices"),
    ] {
        ada.get(&path)
            .await
            .refused(StatusCode::NOT_FOUND, "not_found");
    }
    ada.delete(&path)
        .await
        .refused(StatusCode::NOT_FOUND, "not_found");
    let left = world
        .read(|tx| {
            let inbox = "SELECT event FROM inbox";
            let mut left: Vec<String> = tx.rows(inbox, &[], |row| row.get(0))?;
            for sql in [
                "SELECT text FROM transcripts",
                "SELECT text FROM replies",
                "SELECT COALESCE(answer, '') FROM inbox",
                "SELECT body FROM parts",
                "SELECT event FROM run_events",
                "SELECT COALESCE(last_words, '') FROM runs",
            ] {
                left.extend(tx.rows(sql, &[], |row| row.get::<String>(0))?);
            }
            Ok(left)
        })
        .await;
    assert_eq!(left, Vec::<String>::new());
    world.end().await;
}

#[tokio::test]
async fn a_conversation_is_not_erased_under_a_turn() {
    let world = World::start().await;
    let ada = world.program("ada").await;
    let run = ada.post("/v1/runs", &json!({ "input": "hang" })).await;
    let (session, run) = (run.session().to_owned(), run.body["run_id"].clone());
    world.parrot.until(|it| it.turns().len() == 1).await;
    let path = format!("/api/sessions/{session}");
    let refused = ada.delete(&path).await;
    let message = refused.refused(StatusCode::CONFLICT, "conflict");
    assert!(message.contains("under way"), "{message}");
    assert_eq!(ada.get(&path).await.status, StatusCode::OK);
    let run = run.as_str().unwrap();
    ada.post(&format!("/v1/runs/{run}/cancel"), &json!({}))
        .await;
    let events = format!("/v1/runs/{run}/events");
    let reader = ada.opens(Method::GET, &events, &json!({})).await;
    reader.all().await;
    let erasing = async {
        // The lane lets go of it a moment after its end is told.
        while ada.delete(&path).await.status == StatusCode::CONFLICT {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::world::PATIENCE, erasing)
        .await
        .expect("it is over");
    ada.get(&path)
        .await
        .refused(StatusCode::NOT_FOUND, "not_found");
    world.end().await;
}

#[tokio::test]
async fn a_fork_knows_what_was_said_and_goes_its_own_way() {
    let world = World::start().await;
    let (ada, bob) = (world.program("ada").await, world.program("bob").await);
    let session = said(&ada, "one").await;
    let path = format!("/api/sessions/{session}/fork");
    for other in [&bob, &world.operator()] {
        other
            .post(&path, &json!({}))
            .await
            .refused(StatusCode::NOT_FOUND, "not_found");
    }
    let fork = ada.post(&path, &json!({ "title": "another way" })).await;
    assert_eq!(fork.status, StatusCode::CREATED, "{}", fork.words);
    assert_eq!(fork.body["parent"], json!(session));
    assert_eq!(fork.body["title"], "another way");
    let fork = fork.body["id"].as_str().unwrap().to_owned();
    assert_ne!(fork, session);
    let on = ada.clone().saying("x-talaria-session-id", &fork);
    let answer = on.post("/v1/chat/completions", &saying("two")).await;
    assert_eq!(answer.session(), fork, "a conversation of its own");
    let turns = world.parrot.turns();
    let history: Vec<&str> = turns[1]
        .history
        .iter()
        .map(|said| said.text.as_str())
        .collect();
    assert_eq!(history, ["one", "re: one"]);
    let messages = |session: &str| format!("/api/sessions/{session}/messages");
    let count = |answer: crate::programs::Answer| answer.body["data"].as_array().unwrap().len();
    assert_eq!(count(ada.get(&messages(&session)).await), 2);
    assert_eq!(count(ada.get(&messages(&fork)).await), 4);
    let bad = ada.post(&path, &json!({ "titel": "x" })).await;
    bad.refused(StatusCode::BAD_REQUEST, "bad_input");
    bob.get(&messages(&fork))
        .await
        .refused(StatusCode::NOT_FOUND, "not_found");
    world.end().await;
}
