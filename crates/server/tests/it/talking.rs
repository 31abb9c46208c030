//! Conversations over HTTP: begun, named, listed, and said something in.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use talaria_domain::adapter::{Accepted, NotAccepted};
use talaria_domain::clock::Clock as _;
use talaria_domain::event::EventKind;
use talaria_domain::ids::{EventId, SessionId};
use talaria_domain::runner::Speaker;
use talaria_store::keys;
use talaria_store::sessions::{self, Opening};
use talaria_store::transcripts::{self, Stretch, Utterance, Visibility};

use crate::world::{START, World};

#[tokio::test]
async fn conversations_are_begun_named_and_listed_newest_first() {
    let world = World::start().await;
    let operator = world.operator();
    let made = operator
        .post(
            "/api/sessions",
            &json!({"title": " Herons ", "surface": "terminal"}),
        )
        .await;
    assert_eq!(made.status, StatusCode::CREATED);
    let mut expected = json!({
        "title": "Herons", "state": "active", "generation": 0, "parent": null, "last_seq": 0,
        "created_at": START, "updated_at": START,
    });
    expected["id"] = made.body["id"].clone();
    assert_eq!(made.body, expected);

    world.gateway.clock.advance(Duration::from_secs(1));
    let second = operator.begins().await;
    world.gateway.clock.advance(Duration::from_secs(1));
    let third = operator.begins().await;
    let renamed = operator
        .send(
            Method::PATCH,
            &format!("/api/sessions/{third}"),
            r#"{"title":"Egrets"}"#,
        )
        .await;
    assert_eq!(
        (renamed.status, &renamed.body["title"]),
        (StatusCode::OK, &json!("Egrets"))
    );

    let first_page = operator.get("/api/sessions?limit=2").await;
    let ids: Vec<&Value> = first_page.rows().iter().map(|row| &row["id"]).collect();
    assert_eq!(ids, [&json!(third), &json!(second)]);
    let next = first_page.text("next");
    let second_page = operator
        .get(&format!("/api/sessions?limit=2&after={next}"))
        .await;
    assert_eq!(second_page.rows()[0]["id"], made.body["id"]);
    assert_eq!(second_page.body["next"], Value::Null);

    let shown = operator.get(&format!("/api/sessions/{third}")).await;
    assert_eq!(shown.body["title"], "Egrets");
    assert_eq!(
        (&shown.body["current"], &shown.body["running"]),
        (&json!(third), &Value::Null)
    );
    world.end().await;
}

#[tokio::test]
async fn a_message_arrives_at_the_conversations_own_place() {
    let world = World::start().await;
    let operator = world.operator();
    let made = operator
        .post("/api/sessions", &json!({"surface": "terminal"}))
        .await;
    let session: SessionId = made.text("id").parse().unwrap();
    let said = operator.says(session, "what is a heron?").await;
    assert_eq!(said.text("session_id"), session.to_string());
    operator.says(session, "/Stop now").await;
    let events = world.gateway.accepted.lock().unwrap().clone();
    let [message, command] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!(said.text("event_id"), message.id.to_string());
    assert_eq!(
        (
            message.address.platform.as_str(),
            message.address.account.as_str()
        ),
        ("terminal", "default")
    );
    assert_eq!(message.principal.user.as_str(), "operator");
    assert!(
        matches!(&message.kind, EventKind::Message(content) if content.text == "what is a heron?")
    );
    assert!(matches!(&command.kind, EventKind::Message(content) if content.text == "/Stop now"));
    assert_eq!(command.address, message.address);
    let shown = operator.get(&format!("/api/sessions/{session}")).await;
    let waiting = shown.body["waiting"].as_array().unwrap();
    assert_eq!(
        (waiting.len(), &waiting[0]["text"]),
        (2, &json!("what is a heron?"))
    );

    let (ada, id) = world.somebody("ada", &["chat"]).await;
    let hers = ada.begins().await;
    ada.says(hers, "hello").await;
    let event = world
        .gateway
        .accepted
        .lock()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(
        (
            event.principal.platform.as_str(),
            event.principal.user.as_str()
        ),
        ("api", id.as_str())
    );
    assert_eq!(event.address.platform.as_str(), "web");
    world.end().await;
}

#[tokio::test]
async fn a_message_that_is_sent_again_is_recorded_once() {
    let world = World::start().await;
    let (operator, (ada, _)) = (world.operator(), world.somebody("ada", &["chat"]).await);
    let (one, other, hers) = (
        operator.begins().await,
        operator.begins().await,
        ada.begins().await,
    );
    let body = json!({"text": "once", "id": "client-1"});
    let path = |session| format!("/api/sessions/{session}/messages");
    let first = operator.post(&path(one), &body).await;
    assert_eq!(first.status, StatusCode::ACCEPTED);
    let again = operator.post(&path(one), &body).await;
    assert_eq!(again.status, StatusCode::OK);
    assert_eq!(
        again.body,
        json!({"event_id": first.text("event_id"), "duplicate": true})
    );
    for answer in [
        operator.post(&path(other), &body).await,
        ada.post(&path(hers), &body).await,
    ] {
        assert_eq!(
            answer.status,
            StatusCode::ACCEPTED,
            "another chat's or another person's is another one"
        );
    }
    let same_words = json!({"text": "once"});
    for _ in 0..2 {
        let answer = operator.post(&path(one), &same_words).await;
        assert_eq!(
            answer.status,
            StatusCode::ACCEPTED,
            "without an id, every one counts"
        );
    }
    assert_eq!(operator.get("/api/inbox").await.rows().len(), 5);
    world.end().await;
}

#[tokio::test]
async fn what_was_said_is_listed_in_order_without_what_was_undone() {
    let world = World::start().await;
    let session = world.operator().begins().await;
    world
        .write(move |tx| {
            for (text, speaker) in [
                ("a", Speaker::User),
                ("b", Speaker::Assistant),
                ("c", Speaker::User),
                ("d", Speaker::Tool),
            ] {
                let said = Utterance {
                    speaker,
                    text: text.to_owned(),
                    detail: json!({"calls": []}),
                    run: None,
                    at: START,
                };
                transcripts::append(tx, session, &said)?;
            }
            transcripts::hide(tx, session, &[Stretch::one(2)], Visibility::Undone)?;
            transcripts::hide(tx, session, &[Stretch::one(1)], Visibility::Compacted)
        })
        .await;
    let path = format!("/api/sessions/{session}/messages");
    let all = world.operator().get(&path).await;
    let texts: Vec<&str> = all
        .rows()
        .iter()
        .map(|row| row["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["a", "c", "d"]);
    let expected = json!({
        "seq": 4, "speaker": "tool", "text": "d", "detail": {"calls": []}, "run_id": null, "visibility": "shown",
        "at": START,
    });
    assert_eq!(all.rows()[2], expected);
    assert_eq!(all.body["next"], Value::Null);
    let page = world.operator().get(&format!("{path}?limit=2")).await;
    assert_eq!(
        (page.rows().len(), &page.body["next"]),
        (1, &json!(2)),
        "what is hidden still counts as a place"
    );
    let rest = world.operator().get(&format!("{path}?after=2")).await;
    assert_eq!(rest.rows().len(), 2);
    world.end().await;
}

#[tokio::test]
async fn a_message_to_a_conversation_that_was_reset_goes_on_in_the_next_one() {
    let world = World::start().await;
    let operator = world.operator();
    let before = operator.begins().await;
    let (id, at) = (
        world.gateway.id(SessionId::from_bytes),
        world.gateway.clock.now(),
    );
    let after = world
        .write(move |tx| {
            let session = sessions::get(tx, before)?;
            let key = keys::origin(tx, session.key)?;
            sessions::reset(tx, &Opening::of(key, session.owner, id, at), "/new")
        })
        .await;
    let shown = operator.get(&format!("/api/sessions/{before}")).await;
    assert_eq!(
        (&shown.body["state"], &shown.body["current"]),
        (&json!("ended"), &json!(after))
    );
    let said = operator.says(before, "still there?").await;
    assert_eq!(said.text("session_id"), after.to_string());
    let listed = operator.get("/api/sessions").await;
    assert_eq!(listed.rows()[0]["parent"], json!(before));
    world.end().await;
}

#[tokio::test]
async fn a_conversation_elsewhere_is_not_written_to_from_here() {
    let world = World::start().await;
    let sent = world
        .operator()
        .post("/api/send", &json!({"to": "example:7", "text": "hi"}))
        .await;
    assert_eq!(sent.status, StatusCode::ACCEPTED);
    let listed = world.operator().get("/api/sessions").await;
    let id = listed.rows()[0]["id"].as_str().unwrap();
    let said = world
        .operator()
        .post(
            &format!("/api/sessions/{id}/messages"),
            &json!({"text": "hi"}),
        )
        .await;
    let message = said.refused(StatusCode::CONFLICT, "conflict");
    assert!(message.contains("example"), "{message}");
    world.end().await;
}

#[tokio::test]
async fn what_intake_does_not_take_is_not_acknowledged() {
    let world = World::start().await;
    let (operator, (ada, _)) = (world.operator(), world.somebody("ada", &["chat"]).await);
    let (mine, hers) = (operator.begins().await, ada.begins().await);
    let path = |session| format!("/api/sessions/{session}/messages");
    let body = json!({"text": "hello", "id": "1"});
    let says = |answer| *world.gateway.refusal.lock().unwrap() = answer;

    says(Some(Err(NotAccepted {
        reason: "/secret/store.db is full".to_owned(),
    })));
    let answer = operator.post(&path(mine), &body).await;
    let message = answer.refused(StatusCode::SERVICE_UNAVAILABLE, "unavailable");
    assert!(!message.contains("secret"), "{message}");
    says(Some(Ok(Accepted::Refused {
        reason: "nobody is allowed".to_owned(),
    })));
    let answer = operator.post(&path(mine), &body).await;
    assert!(
        answer
            .refused(StatusCode::FORBIDDEN, "forbidden")
            .contains("nobody is allowed")
    );
    let answer = ada.post(&path(hers), &body).await;
    assert!(
        !answer
            .refused(StatusCode::FORBIDDEN, "forbidden")
            .contains("nobody is allowed")
    );
    says(None);
    let answer = operator.post(&path(mine), &body).await;
    let event: EventId = answer.text("event_id").parse().unwrap();
    let row = world
        .read(move |tx| talaria_store::inbox::get(tx, event))
        .await;
    assert_eq!(row.session, mine, "nothing was recorded before");
    world.end().await;
}
