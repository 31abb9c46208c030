//! An operator lets people in, and asks why.

use reqwest::StatusCode;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn who_waits_is_listed_without_a_code() {
    let world = World::start().await;
    let listed = world.operator().get("/api/pairing").await;
    assert_eq!(listed.status, StatusCode::OK);
    assert_eq!(listed.body["pending"][0]["principal"], "example/bot/dora");
    assert_eq!(listed.body["granted"][0]["role"], "guest");
    assert!(!listed.words.contains("code"), "{}", listed.words);
    world.end().await;
}

#[tokio::test]
async fn somebody_is_let_in_by_code_or_by_id_in_the_name_of_whoever_does_it() {
    let world = World::start().await;
    let operator = world.operator();
    let by_code = operator
        .post("/api/pairing/approve", &json!({ "who": "ABCD2345" }))
        .await;
    assert_eq!(by_code.status, StatusCode::OK);
    assert_eq!(by_code.body["principal"], "example/bot/dora");
    assert_eq!(
        (&by_code.body["role"], &by_code.body["approved_by"]),
        (&json!("member"), &json!("operator"))
    );
    let by_id = json!({ "who": "example/bot/a/b", "role": "admin" });
    let by_id = operator.post("/api/pairing/approve", &by_id).await;
    assert_eq!(by_id.body["principal"], "example/bot/a/b");
    assert_eq!(by_id.body["role"], "admin");
    let wrong = json!({ "who": "ZZZZ9999" });
    let wrong = operator.post("/api/pairing/approve", &wrong).await;
    wrong.refused(StatusCode::NOT_FOUND, "not_found");
    let locked = json!({ "who": "LOCKED" });
    let locked = operator.post("/api/pairing/approve", &locked).await;
    locked.refused(StatusCode::CONFLICT, "conflict");
    let emperor = json!({ "who": "ABCD2345", "role": "emperor" });
    let emperor = operator.post("/api/pairing/approve", &emperor).await;
    emperor.refused(StatusCode::BAD_REQUEST, "bad_input");
    world.end().await;
}

#[tokio::test]
async fn somebody_is_sent_away_or_shut_out() {
    let world = World::start().await;
    let operator = world.operator();
    let denied = operator
        .post("/api/pairing/deny", &json!({ "who": "ABCD2345" }))
        .await;
    assert_eq!(denied.body["principal"], "example/bot/dora");
    let dora = json!({ "who": "example/bot/dora" });
    let revoked = operator.post("/api/pairing/revoke", &dora).await;
    assert_eq!(revoked.status, StatusCode::NO_CONTENT);
    let emil = json!({ "who": "example/bot/emil" });
    let nobody = operator.post("/api/pairing/revoke", &emil).await;
    nobody.refused(StatusCode::NOT_FOUND, "not_found");
    let unclear = json!({ "who": "dora" });
    let unclear = operator.post("/api/pairing/revoke", &unclear).await;
    unclear.refused(StatusCode::BAD_REQUEST, "bad_input");
    world.end().await;
}

#[tokio::test]
async fn a_decision_is_explained_for_a_person_and_a_place() {
    let world = World::start().await;
    let operator = world.operator();
    let path = "/api/why/example%2Fbot%2Fada?chat=-100&thread=42&command=jobs";
    let why = operator.get(path).await;
    assert_eq!(why.status, StatusCode::OK);
    assert_eq!(why.body["access"]["reason"], "-100 42 jobs");
    assert_eq!(why.body["access"]["grant"]["principal"], "example/bot/ada");
    let nobody = operator.get("/api/why/ada").await;
    nobody.refused(StatusCode::NOT_FOUND, "not_found");
    let unknown = operator.get("/api/why/a%2Fb%2Fc?colour=red").await;
    unknown.refused(StatusCode::BAD_REQUEST, "bad_input");
    world.end().await;
}
