//! Who gets in, as whom, and what they find there.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::json;
use talaria_store::{bind, state};

use crate::world::{ENVIRONMENT, OPERATOR, World};

#[tokio::test]
async fn nobody_and_wrong_keys_are_refused_everywhere_but_at_the_probes() {
    let world = World::start().await;
    let closed = [
        "/api/status",
        "/api/sessions",
        "/api/inbox",
        "/api/outbox",
        "/api/runs",
        "/api/jobs",
        "/api/dead",
        "/api/keys",
        "/api/trace/1",
    ];
    for path in closed {
        for key in [
            "",
            "wrong",
            &OPERATOR[1..],
            "tal_0198c0de-0000-7000-8000-000000000001_00",
        ] {
            let answer = world.with(key).get(path).await;
            answer.refused(StatusCode::UNAUTHORIZED, "unauthorized");
            assert_eq!(answer.header("www-authenticate"), "Bearer");
        }
    }
    for header in ["Basic b3A6", OPERATOR, "Bearer", "Bearer "] {
        let answer = world
            .nobody()
            .saying("authorization", header)
            .get("/api/status")
            .await;
        answer.refused(StatusCode::UNAUTHORIZED, "unauthorized");
    }
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(
            world.nobody().get(path).await.status,
            StatusCode::OK,
            "{path}"
        );
    }
    world.end().await;
}

#[tokio::test]
async fn both_operator_keys_are_the_same_person() {
    let world = World::start().await;
    let session = world.operator().begins().await;
    let other = world.with(ENVIRONMENT);
    assert_eq!(
        other.get(&format!("/api/sessions/{session}")).await.status,
        StatusCode::OK
    );
    let scheme = world
        .nobody()
        .saying("authorization", &format!("bearer {OPERATOR}"));
    assert_eq!(scheme.get("/api/status").await.status, StatusCode::OK);
    world.end().await;
}

#[tokio::test]
async fn a_key_for_conversations_does_nothing_else() {
    let world = World::start().await;
    let (ada, _) = world.somebody("ada", &["chat"]).await;
    let session = ada.begins().await;
    ada.says(session, "hello").await;
    for path in [
        "/api/status",
        "/api/inbox",
        "/api/outbox",
        "/api/runs",
        "/api/jobs",
        "/api/dead",
        "/api/keys",
        "/api/trace/1",
    ] {
        ada.get(path)
            .await
            .refused(StatusCode::FORBIDDEN, "forbidden");
    }
    for (path, body) in [
        ("/api/keys", json!({"name": "more", "scopes": ["operator"]})),
        ("/api/send", json!({"to": "example:1", "text": "hi"})),
        ("/api/login", json!({})),
    ] {
        ada.post(path, &body)
            .await
            .refused(StatusCode::FORBIDDEN, "forbidden");
    }
    world.end().await;
}

#[tokio::test]
async fn a_key_for_operators_does_everything_but_become_the_operator() {
    let world = World::start().await;
    let (eve, _) = world.somebody("eve", &["operator"]).await;
    assert_eq!(eve.get("/api/status").await.status, StatusCode::OK);
    let session = eve.begins().await;
    assert_eq!(
        eve.get(&format!("/api/sessions/{session}")).await.status,
        StatusCode::OK
    );
    eve.post("/api/login", &json!({}))
        .await
        .refused(StatusCode::FORBIDDEN, "forbidden");
    world.end().await;
}

#[tokio::test]
async fn a_revoked_key_is_nobodys() {
    let world = World::start().await;
    let (ada, id) = world.somebody("ada", &["chat"]).await;
    let (bob, _) = world.somebody("bob", &["chat"]).await;
    let listed = world.operator().get("/api/keys").await;
    assert_eq!(listed.rows().len(), 2);
    assert_eq!(
        (&listed.rows()[0]["name"], &listed.rows()[0]["scopes"]),
        (&json!("ada"), &json!(["chat"]))
    );
    assert!(
        !listed.words.contains("digest") && !listed.words.contains("\"key\""),
        "{}",
        listed.words
    );
    let revoke = || world.operator();
    let gone = revoke()
        .send(Method::DELETE, &format!("/api/keys/{id}"), "")
        .await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    ada.get("/api/sessions")
        .await
        .refused(StatusCode::UNAUTHORIZED, "unauthorized");
    assert_eq!(bob.get("/api/sessions").await.status, StatusCode::OK);
    let again = revoke()
        .send(Method::DELETE, &format!("/api/keys/{id}"), "")
        .await;
    again.refused(StatusCode::NOT_FOUND, "not_found");
    world.end().await;
}

#[tokio::test]
async fn a_key_is_shown_once_and_kept_as_a_digest() {
    let world = World::start().await;
    let made = world
        .operator()
        .post(
            "/api/keys",
            &json!({"name": "ci", "scopes": ["chat", "operator"]}),
        )
        .await;
    let key = made.text("key").to_owned();
    let secret = key.rsplit('_').next().unwrap().to_owned();
    assert_eq!(secret.len(), 64, "256 bits");
    let kept = world
        .read(|tx| {
            tx.rows("SELECT name, value FROM state", bind![], |row| {
                Ok((row.get::<String>(0)?, row.get::<String>(1)?))
            })
        })
        .await;
    let [(name, value)] = kept.as_slice() else {
        panic!("{kept:?}")
    };
    assert_eq!(name, made.text("id"));
    assert!(
        value.contains("\"ci\"") && !value.contains(&secret),
        "{value}"
    );
    let listed = world.operator().get("/api/keys").await;
    assert!(!listed.words.contains(&secret));
    world.end().await;
}

#[tokio::test]
async fn a_key_needs_a_name_and_a_scope() {
    let world = World::start().await;
    let bad = [
        json!({"name": "", "scopes": ["chat"]}),
        json!({"name": "a\nb", "scopes": ["chat"]}),
        json!({"name": "x".repeat(101), "scopes": ["chat"]}),
        json!({"name": "x", "scopes": []}),
        json!({"name": "x", "scopes": ["root"]}),
        json!({"name": "x"}),
    ];
    for body in bad {
        world
            .operator()
            .post("/api/keys", &body)
            .await
            .refused(StatusCode::BAD_REQUEST, "bad_input");
    }
    assert_eq!(world.operator().get("/api/keys").await.rows().len(), 0);
    world.end().await;
}

#[tokio::test]
async fn a_foreign_conversation_is_not_found() {
    let world = World::start().await;
    let (ada, _) = world.somebody("ada", &["chat"]).await;
    let (bob, _) = world.somebody("bob", &["chat", "operator"]).await;
    let session = ada.begins().await;
    ada.says(session, "a secret").await;
    let one = format!("/api/sessions/{session}");
    for other in [&bob, &world.operator()] {
        for path in [
            one.clone(),
            format!("{one}/messages"),
            format!("{one}/events"),
            format!("{one}/notices"),
        ] {
            other
                .get(&path)
                .await
                .refused(StatusCode::NOT_FOUND, "not_found");
        }
        let said = other
            .post(&format!("{one}/messages"), &json!({"text": "hi"}))
            .await;
        said.refused(StatusCode::NOT_FOUND, "not_found");
        let renamed = other.send(Method::PATCH, &one, r#"{"title":"mine"}"#).await;
        renamed.refused(StatusCode::NOT_FOUND, "not_found");
        assert_eq!(other.get("/api/sessions").await.rows().len(), 0);
    }
    assert_eq!(world.gateway.accepted.lock().unwrap().len(), 1);
    assert_eq!(ada.get("/api/sessions").await.rows().len(), 1);
    world.end().await;
}

/// Opens a link in a browser that has nothing yet; gives its cookie.
async fn opens(world: &World, link: &str) -> Option<String> {
    let answer = world.nobody().get(link).await;
    if answer.status == StatusCode::UNAUTHORIZED {
        assert!(
            answer.words.contains("talaria status"),
            "it says how to get a new link"
        );
        return None;
    }
    assert_eq!(
        (answer.status, answer.header("location")),
        (StatusCode::SEE_OTHER, "/")
    );
    let cookie = answer.header("set-cookie");
    for word in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    cookie.split(';').next().map(str::to_owned)
}

#[tokio::test]
async fn a_login_works_once_and_makes_the_browser_the_operators() {
    let world = World::start().await;
    let door = world.nobody().get("/").await;
    assert_eq!(door.status, StatusCode::UNAUTHORIZED);
    assert!(door.words.contains("talaria status"));
    let session = world.operator().begins().await;

    let link = world.operator().post("/api/login", &json!({})).await;
    assert_eq!(link.status, StatusCode::CREATED);
    let link = link.text("url").to_owned();
    let kept = world
        .read(|tx| {
            tx.rows("SELECT name, value FROM state", bind![], |row| {
                Ok(row.get::<String>(0)? + &row.get::<String>(1)?)
            })
        })
        .await;
    let token = link.strip_prefix("/?login=").unwrap();
    assert!(!kept.concat().contains(token), "only its digest is kept");

    let cookie = opens(&world, &link).await.expect("the first time");
    assert_eq!(opens(&world, &link).await, None, "and never again");
    assert_eq!(opens(&world, "/?login=wrong").await, None);
    let browser = world.nobody().saying("cookie", &format!("a=b; {cookie}"));
    let page = browser.get("/").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.header("content-type").starts_with("text/html"));
    assert_eq!(
        browser
            .get(&format!("/api/sessions/{session}"))
            .await
            .status,
        StatusCode::OK
    );
    assert_eq!(browser.get("/api/status").await.status, StatusCode::OK);
    assert_eq!(
        browser.get(&link).await.status,
        StatusCode::SEE_OTHER,
        "a used link is no trouble to one who is in"
    );
    world.end().await;
}

#[tokio::test]
async fn a_browser_stays_logged_in_over_a_restart_and_not_for_ever() {
    let world = World::start().await;
    let link = world.operator().post("/api/login", &json!({})).await;
    let cookie = opens(&world, link.text("url")).await.unwrap();
    let forged = world
        .nobody()
        .saying("cookie", &cookie.replace("talaria=1", "talaria=2"));
    let answer = forged.get("/api/status").await;
    answer.refused(StatusCode::UNAUTHORIZED, "unauthorized");
    let browser = world.nobody().saying("cookie", &cookie);
    let answer = browser
        .saying("authorization", "Bearer wrong")
        .get("/api/status")
        .await;
    answer.refused(StatusCode::UNAUTHORIZED, "unauthorized");

    let world = world.stopped().await.restarted().await;
    let browser = world.nobody().saying("cookie", &cookie);
    assert_eq!(browser.get("/").await.status, StatusCode::OK);
    world.gateway.clock.advance(Duration::from_hours(91 * 24));
    assert_eq!(browser.get("/").await.status, StatusCode::UNAUTHORIZED);
    world.end().await;
}

#[tokio::test]
async fn a_login_that_nobody_used_expires_and_is_forgotten() {
    let world = World::start().await;
    let now = talaria_domain::clock::Clock::now(&*world.gateway.clock);
    let link = talaria_server::login_link(&world.gateway.ledger, now)
        .await
        .unwrap();
    world.gateway.clock.advance(Duration::from_hours(1));
    assert_eq!(opens(&world, &link).await, None);
    for _ in 0..2 {
        world.operator().post("/api/login", &json!({})).await;
    }
    world.gateway.clock.advance(Duration::from_hours(1));
    let last = world.operator().post("/api/login", &json!({})).await;
    let kept: i64 = world
        .read(|tx| {
            Ok(tx
                .row("SELECT COUNT(*) FROM state", &[], |row| row.get(0))?
                .unwrap())
        })
        .await;
    assert_eq!(kept, 1, "the expired ones are gone");
    assert!(opens(&world, last.text("url")).await.is_some());
    world.end().await;
}

#[tokio::test]
async fn what_runners_remember_is_no_key() {
    let world = World::start().await;
    world
        .write(|tx| {
            let scope = talaria_domain::scope::ScopeKey(
                talaria_domain::digest::Fields::of("state").digest(),
            );
            let value =
                json!({"name": "x", "scopes": ["operator"], "digest": "00", "created_at": 1});
            state::set(
                tx,
                scope,
                "0198c0de-0000-7000-8000-000000000001",
                &value,
                crate::world::START,
            )
        })
        .await;
    assert_eq!(world.operator().get("/api/keys").await.rows().len(), 0);
    world.end().await;
}
