//! When nothing answers, one sentence says so and what to do.

use tokio::net::TcpListener;

use crate::program::{Home, KEY};

const COMMANDS: &[&[&str]] = &[
    &["chat"],
    &["status"],
    &["trace", "x"],
    &["sessions", "list"],
    &["dead", "list"],
    &["jobs", "list"],
    &["schedule", "list"],
    &["send", "x:1", "hello"],
    &["key", "list"],
];

#[tokio::test]
async fn nothing_was_ever_started() {
    let home = Home::empty();
    for command in COMMANDS {
        let alone = home.run(command).await;
        alone.fails(69, &["no gateway was ever started", "`talaria up`"]);
        assert_eq!(alone.err.lines().count(), 1, "one sentence: {}", alone.err);
        assert_eq!(alone.out, "");
    }
}

#[tokio::test]
async fn it_was_started_and_is_gone() {
    let home = Home::empty();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    home.write("operator.key", KEY, 0o600);
    home.write(
        "gateway.json",
        &format!("{{\"listen\":\"{address}\",\"pid\":1}}"),
        0o644,
    );
    for command in COMMANDS {
        let gone = home.run(command).await;
        gone.fails(
            69,
            &[
                &address.to_string(),
                "nothing listens there",
                "`talaria up`",
            ],
        );
        assert_eq!(gone.err.lines().count(), 1, "one sentence: {}", gone.err);
    }
}

#[tokio::test]
async fn without_a_note_the_configured_address_is_tried() {
    let home = Home::empty();
    home.write("operator.key", KEY, 0o600);
    home.write(
        "talaria.toml",
        "[server]\nlisten = \"127.0.0.1:1\"\n",
        0o644,
    );
    home.run(&["status"])
        .await
        .fails(69, &["http://127.0.0.1:1/"]);
    let variables = [("TALARIA_LISTEN", "127.0.0.1:2")];
    let other = home.run_with(&["status"], &variables, "").await;
    other.fails(69, &["http://127.0.0.1:2/"]);
}

#[tokio::test]
async fn somebody_else_answers_there() {
    let home = Home::empty();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut serving = tokio::task::JoinSet::new();
    let router = axum::Router::new().route("/api/status", axum::routing::get(|| async { "hello" }));
    serving.spawn(async move { axum::serve(listener, router).await });
    home.write("operator.key", KEY, 0o600);
    home.write(
        "gateway.json",
        &format!("{{\"listen\":\"{address}\",\"pid\":1}}"),
        0o644,
    );
    home.run(&["status"])
        .await
        .fails(69, &["is not a talaria gateway"]);
    home.run(&["dead", "list"])
        .await
        .fails(69, &["is not a talaria gateway"]);
}

#[tokio::test]
async fn a_key_that_others_can_read_is_refused() {
    let home = Home::empty();
    home.write("operator.key", KEY, 0o644);
    for command in [&["status"][..], &["up"]] {
        let refused = home.run(command).await;
        refused.fails(78, &["can be read by others", "chmod 600"]);
        assert!(!refused.err.contains(KEY));
    }
}
