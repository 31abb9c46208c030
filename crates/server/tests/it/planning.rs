//! What happens at a time, as an operator sees it.

use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn a_schedule_is_made_looked_at_changed_and_ended() {
    let world = World::start().await;
    let operator = world.operator();
    let body = json!({
        "to": "example:-100:42", "when": "0 9 * * 1-5", "zone": "Europe/Berlin",
        "what": "say", "text": "stand up",
    });
    let made = operator.post("/api/schedules", &body).await;
    assert_eq!(made.status, StatusCode::CREATED);
    assert_eq!(made.body["name"], "stand up");
    assert_eq!(made.body["when"], "0 9 * * 1-5 (Europe/Berlin)");
    assert_eq!(made.body["to"]["thread"], "42");
    assert!(made.body["next_at"].is_i64());
    let path = format!("/api/schedules/{}", made.text("id"));
    for (verb, state) in [("pause", "paused"), ("resume", "active"), ("run", "active")] {
        let changed = operator.post(&format!("{path}/{verb}"), &json!({})).await;
        assert_eq!(
            (changed.status, &changed.body["state"]),
            (StatusCode::OK, &json!(state)),
            "{verb}"
        );
    }
    let shown = operator.get(&path).await;
    assert_eq!(shown.body["occurrences"][0]["state"], "skipped");
    assert_eq!(
        shown.body["occurrences"][0]["reason"],
        "nothing is said here"
    );
    let listed = operator.get("/api/schedules?state=active").await;
    assert_eq!(listed.body["data"][0]["id"], made.body["id"]);
    let gone = operator.send(Method::DELETE, &path, "").await;
    assert_eq!(
        (gone.status, &gone.body["state"]),
        (StatusCode::OK, &json!("done"))
    );
    let listed = operator.get("/api/schedules?state=active").await;
    assert_eq!(listed.body["data"], json!([]));
    let again = operator.post(&format!("{path}/resume"), &json!({})).await;
    again.refused(StatusCode::CONFLICT, "conflict");
    world.end().await;
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_in_words() {
    let world = World::start().await;
    let operator = world.operator();
    let body = |when: &str, what: &str| json!({ "to": "example:1", "when": when, "what": what, "text": "x" });
    let table = [
        (body("soon", "say"), "`30m`"),
        (body("every 5s", "say"), "once in a minute"),
        (body("30m", "sing"), "say or ask"),
        (
            json!({ "to": "", "when": "30m", "what": "say", "text": "x" }),
            "PLATFORM:CHAT",
        ),
        (
            json!({ "to": "example:1", "when": "30m" }),
            "what was expected",
        ),
    ];
    for (body, expected) in table {
        let refused = operator.post("/api/schedules", &body).await;
        let message = refused.refused(StatusCode::BAD_REQUEST, "bad_input");
        assert!(message.contains(expected), "{body}: {message}");
    }
    let unknown = "/api/schedules/0198c0de-0000-7000-8000-000000000001";
    operator
        .get(unknown)
        .await
        .refused(StatusCode::NOT_FOUND, "not_found");
    operator
        .send(Method::DELETE, unknown, "")
        .await
        .refused(StatusCode::NOT_FOUND, "not_found");
    world.end().await;
}
