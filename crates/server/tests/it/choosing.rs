//! Programs choose whose agent they talk to: profiles are models, and a conversation stays with the one it began with.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::programs::World;

const PATH: &str = "/v1/chat/completions";

fn asking(model: &str, text: &str) -> Value {
    json!({ "model": model, "messages": [{ "role": "user", "content": text }] })
}

/// The profiles that have thought, in order.
fn thinkers(world: &World) -> Vec<String> {
    let turns = world.parrot.turns();
    turns.iter().map(|it| it.profile.name.to_string()).collect()
}

#[tokio::test]
async fn every_profile_is_a_model_and_answers_as_itself() {
    let world = World::start().await;
    let program = world.program("ada").await;
    let models = program.get("/v1/models").await;
    let names = models.body["data"].as_array().unwrap();
    let names: Vec<&str> = names.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(names, ["assistant", "scholar"]);
    let answer = program.post(PATH, &asking("scholar", "hello")).await;
    assert_eq!(
        (answer.content(), &answer.body["model"]),
        ("re: hello", &json!("scholar"))
    );
    let by_header = program.clone().saying("x-talaria-profile", "scholar");
    by_header.post(PATH, &asking("assistant", "hello")).await;
    program.says("hello").await;
    let run = program
        .post("/v1/runs", &json!({ "input": "hello", "model": "scholar" }))
        .await;
    assert_eq!(run.status, StatusCode::ACCEPTED, "{}", run.words);
    let run = format!("/v1/runs/{}", run.body["run_id"].as_str().unwrap());
    assert_eq!(program.get(&run).await.body["model"], "scholar");
    world.parrot.until(|it| it.turns().len() == 4).await;
    assert_eq!(
        thinkers(&world),
        ["scholar", "scholar", "assistant", "scholar"]
    );
    let unknown = program.post(PATH, &asking("nobody", "hello")).await;
    unknown.refused(StatusCode::NOT_FOUND, "model_not_found");
    world.end().await;
}

#[tokio::test]
async fn a_conversation_stays_with_its_profile() {
    let world = World::start().await;
    let operator = world.operator();
    let first = operator.post(PATH, &asking("scholar", "one")).await;
    let session = first.session().to_owned();
    let goes_on = operator.clone().saying("x-talaria-session-id", &session);
    let other = goes_on.post(PATH, &asking("assistant", "two")).await;
    let why = other.refused(StatusCode::CONFLICT, "conflict");
    assert!(why.contains("\"scholar\""), "{why}");
    let unnamed = json!({ "messages": [{ "role": "user", "content": "two" }] });
    let second = goes_on.post(PATH, &unnamed).await;
    assert_eq!(
        (second.content(), second.session()),
        ("re: two", session.as_str())
    );
    // Also where the operator writes to it, by the other door.
    let path = format!("/api/sessions/{session}/messages");
    let posted = operator.post(&path, &json!({ "text": "three" })).await;
    assert_eq!(
        posted.body["session_id"],
        session.as_str(),
        "{}",
        posted.words
    );
    world.parrot.until(|it| it.turns().len() == 3).await;
    assert_eq!(thinkers(&world), ["scholar"; 3]);
    world.end().await;
}
