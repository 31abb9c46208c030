//! Whatever is wrong with a request, it is answered in one shape, and with words.

use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::world::{OPERATOR, PATIENCE, World};

#[tokio::test]
async fn unknown_paths_and_wrong_methods_have_our_shape() {
    let world = World::start().await;
    let operator = world.operator();
    for path in [
        "/nothing",
        "/api",
        "/api/nothing",
        "/api/sessions/",
        "/api/dead/x/y/z",
    ] {
        operator
            .get(path)
            .await
            .refused(StatusCode::NOT_FOUND, "not_found");
        world
            .nobody()
            .get(path)
            .await
            .refused(StatusCode::NOT_FOUND, "not_found");
    }
    for (method, path) in [
        (Method::POST, "/healthz"),
        (Method::DELETE, "/api/sessions"),
        (Method::PUT, "/"),
        (Method::GET, "/api/login"),
        (Method::GET, "/api/dead/1/replay"),
        (Method::POST, "/api/status"),
    ] {
        let answer = operator.send(method.clone(), path, "").await;
        answer.refused(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed");
    }
    world.end().await;
}

#[tokio::test]
async fn bad_input_is_answered_in_words() {
    let world = World::start().await;
    let operator = world.operator();
    for path in [
        "/api/sessions?limit=0",
        "/api/sessions?limit=201",
        "/api/sessions?limit=many",
        "/api/sessions?after=x",
        "/api/inbox?state=lost",
        "/api/inbox?session=x",
        "/api/inbox?status=queued",
        "/api/outbox?session=x",
        "/api/runs?state=dead",
        "/api/jobs?state=dead",
        "/api/dead?after=x",
        "/api/inbox?after=x",
    ] {
        let answer = operator.get(path).await;
        let message = answer.refused(StatusCode::BAD_REQUEST, "bad_input");
        assert!(message.starts_with("expected"), "{path}: {message}");
        assert!(answer.body["error"]["param"].is_string(), "{path}");
    }
    let session = operator.begins().await;
    let messages = format!("/api/sessions/{session}/messages");
    for (path, body) in [
        ("/api/sessions", "{"),
        ("/api/sessions", "[]"),
        ("/api/sessions", r#"{"titel":"x"}"#),
        ("/api/sessions", r#"{"surface":"moon"}"#),
        ("/api/sessions", r#"{"title":""}"#),
        ("/api/sessions", r#"{"title":"a\nb"}"#),
        (messages.as_str(), ""),
        (messages.as_str(), r#"{"text":" \n"}"#),
        (messages.as_str(), r#"{"text":"x","id":""}"#),
        (messages.as_str(), r#"{"text":"x","id":"a b"}"#),
        (messages.as_str(), r#"{"text":7}"#),
        ("/api/send", r#"{"to":"","text":"x"}"#),
        ("/api/send", r#"{"to":"example:1","text":""}"#),
        ("/api/login", r#"{"for":"me"}"#),
    ] {
        operator
            .send(Method::POST, path, body)
            .await
            .refused(StatusCode::BAD_REQUEST, "bad_input");
    }
    for path in [
        "/api/sessions/7",
        "/api/dead/x",
        "/api/sessions/x/events",
        "/api/trace/nothing-like-this",
    ] {
        operator
            .get(path)
            .await
            .refused(StatusCode::NOT_FOUND, "not_found");
    }
    assert_eq!(world.gateway.accepted.lock().unwrap().len(), 0);
    world.end().await;
}

#[tokio::test]
async fn a_body_is_read_up_to_ten_megabytes() {
    let world = World::start().await;
    let operator = world.operator();
    let session = operator.begins().await;
    let path = format!("/api/sessions/{session}/messages");
    let body = |length: usize| json!({ "text": "x".repeat(length) }).to_string();
    let fits = operator
        .send(Method::POST, &path, body(9 * 1024 * 1024))
        .await;
    assert_eq!(fits.status, StatusCode::ACCEPTED);
    let large = operator
        .send(Method::POST, &path, body(11 * 1024 * 1024))
        .await;
    large.refused(StatusCode::PAYLOAD_TOO_LARGE, "too_large");
    let piece = |_| Ok::<_, std::io::Error>(vec![b' '; 1024 * 1024]);
    let pieces = (0..11).map(piece);
    let unannounced = reqwest::Body::wrap_stream(futures::stream::iter(pieces));
    let large = operator.send(Method::POST, &path, unannounced).await;
    large.refused(StatusCode::PAYLOAD_TOO_LARGE, "too_large");
    let elsewhere = operator
        .send(Method::POST, "/api/dead/x/replay", body(11 * 1024 * 1024))
        .await;
    elsewhere.refused(StatusCode::PAYLOAD_TOO_LARGE, "too_large");
    world.end().await;
}

#[tokio::test]
async fn other_pages_and_names_that_were_pointed_at_us_are_refused() {
    let world = World::start().await;
    let here = world.address.to_string();
    for (host, origin) in [
        ("evil.example", ""),
        ("evil.example", "http://evil.example"),
        (here.as_str(), "http://evil.example"),
        (here.as_str(), "http://127.0.0.1:1"),
        (here.as_str(), "null"),
    ] {
        let mut person = world.operator().saying("host", host);
        if !origin.is_empty() {
            person = person.saying("origin", origin);
        }
        for path in ["/", "/api/status", "/healthz"] {
            person
                .get(path)
                .await
                .refused(StatusCode::FORBIDDEN, "forbidden");
        }
    }
    let port = world.address.port();
    for host in ["localhost", "127.0.0.1", "[::1]"] {
        let host = format!("{host}:{port}");
        let person = world
            .operator()
            .saying("host", &host)
            .saying("origin", &format!("http://{host}"));
        assert_eq!(
            person.get("/api/status").await.status,
            StatusCode::OK,
            "{host}"
        );
    }
    world.end().await;
}

#[tokio::test]
async fn a_panic_fails_its_own_request_and_nothing_else() {
    let world = World::start().await;
    let operator = world.operator();
    let broken = operator
        .post("/api/send", &json!({"to": "trap", "text": "x"}))
        .await;
    let message = broken.refused(StatusCode::INTERNAL_SERVER_ERROR, "broken");
    assert!(
        !message.contains("fell"),
        "what happened inside stays inside: {message}"
    );
    assert!(!broken.header("x-request-id").is_empty());
    assert_eq!(operator.get("/api/status").await.status, StatusCode::OK);
    world.end().await;
}

#[tokio::test]
async fn every_answer_carries_its_id_and_binds_the_browser() {
    let world = World::start().await;
    for path in ["/", "/api/nothing", "/healthz", "/api/status", "/metrics"] {
        let answer = world.nobody().get(path).await;
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("x-frame-options", "DENY"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), value, "{path} {name}");
        }
        let policy = answer.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert_eq!(answer.header("x-request-id").len(), 36, "{path}");
    }
    let own = world
        .nobody()
        .saying("x-request-id", "my-request.1")
        .get("/healthz")
        .await;
    assert_eq!(own.header("x-request-id"), "my-request.1");
    let long = "x".repeat(129);
    for insane in ["two words", "", long.as_str()] {
        let answer = world
            .nobody()
            .saying("x-request-id", insane)
            .get("/healthz")
            .await;
        assert_eq!(answer.header("x-request-id").len(), 36, "{insane}");
    }
    world.end().await;
}

#[tokio::test]
async fn the_page_runs_nothing_but_its_own() {
    let world = World::start().await;
    let nonce_of = |policy: &str| {
        let start = policy.find("'nonce-").unwrap() + 7;
        policy[start..start + 32].to_owned()
    };
    let (one, two) = (world.nobody().get("/").await, world.nobody().get("/").await);
    let nonce = nonce_of(one.header("content-security-policy"));
    assert_ne!(nonce, nonce_of(two.header("content-security-policy")));
    assert!(one.words.contains(&format!("nonce=\"{nonce}\"")));
    assert!(!one.words.contains("{{"), "everything was filled in");
    world.end().await;
}

/// What comes back for bytes that no client library would send.
async fn raw(world: &World, request: &str) -> String {
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer));
    read.await.expect("the server answers and closes").unwrap();
    answer
}

#[tokio::test]
async fn strange_requests_are_refused() {
    let world = World::start().await;
    let key = format!("Authorization: Bearer {OPERATOR}\r\nConnection: close\r\n");
    let nameless = raw(&world, &format!("GET /api/status HTTP/1.0\r\n{key}\r\n")).await;
    assert!(nameless.contains(" 403 "), "{nameless}");
    let twice =
        format!("GET /api/status HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n{key}\r\n");
    let twice = raw(&world, &twice).await;
    assert!(
        twice.contains(" 403 ") || twice.contains(" 400 "),
        "{twice}"
    );
    let fine = raw(
        &world,
        &format!("GET /api/status HTTP/1.1\r\nHost: localhost\r\n{key}\r\n"),
    )
    .await;
    assert!(fine.contains(" 200 "), "{fine}");
    world.end().await;
}
