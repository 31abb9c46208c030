//! Clients that are slow, that send too much, or that are too many.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::json;
use talaria_server::{Terms, TurnLimits};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::world::{OPERATOR, PATIENCE, World};

/// Short enough for a test to wait for.
const SOON: Duration = Duration::from_millis(200);

/// Reads until the server closes the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    let reading = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut read)).await;
    // Whether it is closed or torn down, it is over.
    let _ = reading.expect("the server ends the connection");
    String::from_utf8_lossy(&read).into_owned()
}

async fn sends(world: &World, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn whoever_never_finishes_their_headers_is_sent_away() {
    let world = World::on(Terms {
        header_time: SOON,
        ..Terms::default()
    })
    .await;
    for slow in [
        "",
        "GET",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    ] {
        let mut stream = sends(&world, slow).await;
        let answer = rest(&mut stream).await;
        assert!(!answer.contains(" 200 "), "{slow:?}: {answer}");
    }
    assert_eq!(world.nobody().get("/healthz").await.status, StatusCode::OK);
    world.end().await;
}

#[tokio::test]
async fn whoever_never_finishes_their_body_hears_so_and_is_sent_away() {
    let world = World::on(Terms {
        body_time: SOON,
        ..Terms::default()
    })
    .await;
    let head = format!(
        "POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {OPERATOR}\r\n"
    );
    for slow in [
        format!("{head}Content-Length: 1000\r\n\r\n{{"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n1\r\n{{\r\n"),
    ] {
        let mut stream = sends(&world, &slow).await;
        let answer = rest(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        assert!(answer.contains("\"too_slow\""), "{answer}");
        assert!(
            answer.contains("x-content-type-options: nosniff"),
            "{answer}"
        );
    }
    assert_eq!(world.operator().get("/api/sessions").await.rows().len(), 0);
    world.end().await;
}

#[tokio::test]
async fn headers_that_are_too_large_are_refused() {
    let world = World::on(Terms {
        header_limit: 8 * 1024,
        ..Terms::default()
    })
    .await;
    let large = world.operator().saying("x-large", &"x".repeat(9 * 1024));
    let refused = large.get("/api/status").await;
    refused.refused(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "too_large");
    assert_eq!(refused.header("x-frame-options"), "DENY");
    let head = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";
    let huge = format!("{head}X-Huge: {}", "x".repeat(1024 * 1024));
    let mut stream = TcpStream::connect(world.address).await.unwrap();
    // It may hang up while we are still talking.
    let _ = stream.write_all(huge.as_bytes()).await;
    let answer = rest(&mut stream).await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431 "),
        "{answer}"
    );
    let many: Vec<String> = (0..300).map(|at| format!("X-{at}: 1\r\n")).collect();
    let many = many.concat();
    let mut stream = sends(&world, &format!("{head}{many}\r\n")).await;
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    assert_eq!(world.nobody().get("/healthz").await.status, StatusCode::OK);
    world.end().await;
}

#[tokio::test]
async fn a_body_is_read_as_far_as_the_operator_says() {
    let world = World::on(Terms {
        body_limit: 1024 * 1024,
        ..Terms::default()
    })
    .await;
    let operator = world.operator();
    let body = |length: usize| json!({ "title": "x".repeat(length) }).to_string();
    let large = operator
        .send(Method::POST, "/api/sessions", body(2 * 1024 * 1024))
        .await;
    let message = large.refused(StatusCode::PAYLOAD_TOO_LARGE, "too_large");
    assert!(message.contains("1048576"), "{message}");
    let fits = operator
        .send(Method::POST, "/api/sessions", body(200))
        .await;
    assert_eq!(fits.status, StatusCode::CREATED);
    world.end().await;
}

#[tokio::test]
async fn whoever_comes_when_all_places_are_taken_hears_so() {
    let world = World::on(Terms {
        connections: 2,
        ..Terms::default()
    })
    .await;
    let ask = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut kept = Vec::new();
    for _ in 0..2 {
        let mut stream = sends(&world, ask).await;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
        kept.push(stream);
    }
    let mut late = sends(&world, ask).await;
    let answer = rest(&mut late).await;
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(answer.contains("retry-after: 1\r\n"), "{answer}");
    assert!(answer.contains("x-frame-options: DENY\r\n"), "{answer}");
    assert!(answer.contains("\"code\":\"unavailable\""), "{answer}");
    kept.clear();
    // A place is free once the server has noticed.
    let again = async {
        loop {
            let mut stream = sends(
                &world,
                &ask.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"),
            )
            .await;
            if rest(&mut stream).await.starts_with("HTTP/1.1 200 ") {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, again)
        .await
        .expect("a place is free again");
    world.end().await;
}

#[tokio::test]
async fn a_key_asks_as_often_as_the_operator_says() {
    let world = World::on(Terms {
        turns: TurnLimits {
            at_once: 10,
            in_a_row: 2,
            per_second: 1,
        },
        ..Terms::default()
    })
    .await;
    let (ada, _) = world.somebody("ada", &["chat"]).await;
    let (bob, _) = world.somebody("bob", &["chat"]).await;
    let run = json!({ "input": "hello" });
    for _ in 0..2 {
        let taken = ada.post("/v1/runs", &run).await;
        assert_eq!(taken.status, StatusCode::ACCEPTED, "{}", taken.words);
    }
    let refused = ada.post("/v1/runs", &run).await;
    refused.refused(StatusCode::TOO_MANY_REQUESTS, "rate_limit_exceeded");
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(
        bob.post("/v1/runs", &run).await.status,
        StatusCode::ACCEPTED
    );
    world.gateway.clock.advance(Duration::from_secs(1));
    assert_eq!(
        ada.post("/v1/runs", &run).await.status,
        StatusCode::ACCEPTED
    );
    world.end().await;
}
