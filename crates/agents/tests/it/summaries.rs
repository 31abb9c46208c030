//! Summaries through the runner.

use serde_json::json;
use talaria_domain::runner::{Runner as _, Said, Speaker};

use crate::openai_talks::HELLO;
use crate::server::{Reply, Server};
use crate::world::{runner, within};

fn said() -> Vec<Said> {
    vec![
        Said::plain(Speaker::User, "what is two and two?"),
        Said::plain(Speaker::Assistant, "four"),
    ]
}

#[tokio::test]
async fn a_model_is_asked_for_a_summary_without_tools() {
    let server = Server::with([Reply::events(&HELLO)]).await;
    let summary = within(runner(server.openai()).summarise(&said())).await;
    assert_eq!(summary, Ok("Hello".to_owned()));
    let body = &server.asked()[0].body;
    let text = "user: what is two and two?\n\nassistant: four";
    assert_eq!(
        body["messages"][1],
        json!({"role": "user", "content": text})
    );
    assert_eq!(body.get("tools"), None);
}

#[tokio::test]
async fn a_summary_that_fails_or_says_nothing_is_an_error() {
    let silent = r#"{"choices":[{"delta":{"content":" "},"finish_reason":"stop"}]}"#;
    for (reply, expected) in [
        (Reply::events(&[silent]), "the summary is empty"),
        (Reply::json(400, r#"{"error":"no"}"#), "refused"),
    ] {
        let server = Server::with([reply]).await;
        let summary = within(runner(server.openai()).summarise(&said())).await;
        assert!(
            matches!(&summary, Err(reason) if reason.contains(expected)),
            "{summary:?}"
        );
    }
}

#[tokio::test]
async fn the_window_is_the_models() {
    let server = Server::with([]).await;
    assert_eq!(runner(server.openai()).window(), 10_000);
}
