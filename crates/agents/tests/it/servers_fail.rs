//! Servers that are busy, broken, silent or something else: what is tried again, and what the user is told.

use std::time::Duration;

use talaria_agents::models::{Patience, Provider};
use talaria_domain::run::{Failure, FailureCode, RunEvent, RunOutcome};
use tokio::net::TcpListener;

use crate::openai_talks::{HELLO, completed};
use crate::server::{KEY, Reply, Server, lines, model, quick};
use crate::world::{Recorder, run};

fn failure(outcome: RunOutcome) -> Failure {
    match outcome {
        RunOutcome::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

fn reason(outcome: RunOutcome) -> String {
    failure(outcome).reason
}

fn busy(retry_after: &str) -> Reply {
    let body = r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#;
    Reply::Body(
        429,
        vec![("retry-after", retry_after.to_owned())],
        body.to_owned(),
    )
}

#[tokio::test]
async fn every_failure_has_a_code_for_programs() {
    let body = |status, body: &str| vec![Reply::json(status, body)];
    let broken = || Reply::json(500, r#"{"error":{"message":"oh"}}"#);
    let overloaded = r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let page = "<html>Welcome to nginx</html>\n".to_owned();
    let table = [
        (
            vec![busy("3600")],
            FailureCode::ModelOverloaded,
            Some(3_600),
        ),
        (
            vec![Reply::events(&[HELLO[0], overloaded])],
            FailureCode::ModelOverloaded,
            None,
        ),
        (
            (0..5).map(|_| broken()).collect(),
            FailureCode::ModelUnreachable,
            None,
        ),
        (
            vec![Reply::Cut(lines(&HELLO[..1]))],
            FailureCode::ModelUnreachable,
            None,
        ),
        (body(401, "{}"), FailureCode::ModelAuth, None),
        (body(403, "{}"), FailureCode::ModelAuth, None),
        (body(400, "{}"), FailureCode::ModelRefused, None),
        (body(404, "{}"), FailureCode::ModelRefused, None),
        (body(413, "{}"), FailureCode::ContextTooLong, None),
        (
            body(400, r#"{"error":{"code":"context_length_exceeded"}}"#),
            FailureCode::ContextTooLong,
            None,
        ),
        (
            vec![Reply::Body(200, Vec::new(), page)],
            FailureCode::ModelUnreadable,
            None,
        ),
    ];
    for (replies, code, retry_after_seconds) in table {
        let server = Server::with(replies).await;
        let failure = failure(run(server.openai(), "hi", &Recorder::new()).await);
        assert_eq!(
            (failure.code, failure.retry_after_seconds),
            (code, retry_after_seconds),
            "{failure:?}"
        );
    }
    let nowhere = model(Provider::OpenAi, "localhost:1".to_owned(), quick());
    let failure = failure(run(nowhere, "hi", &Recorder::new()).await);
    assert_eq!(failure.code, FailureCode::ModelMisconfigured);
}

#[tokio::test]
async fn a_busy_server_is_asked_again_when_it_says() {
    let server = Server::with([busy("0"), Reply::events(&HELLO)]).await;
    // Whoever went by the schedule would still wait when the test has given up.
    let patience = Patience {
        waits: vec![Duration::from_hours(1)],
        ..Patience::default()
    };
    let host = Recorder::new();
    let outcome = run(server.openai_with(patience), "hi", &host).await;
    assert_eq!(outcome, completed(9, 2));
    assert_eq!(host.story(), ["message: Hello"]);
}

#[tokio::test]
async fn a_server_that_wants_too_much_patience_is_not_waited_for() {
    let server = Server::with([busy("3600")]).await;
    let reason = reason(run(server.openai(), "hi", &Recorder::new()).await);
    assert!(
        reason.contains("slow down") && reason.contains("try again later"),
        "{reason}"
    );
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_server_that_breaks_three_times_is_asked_a_fourth() {
    let broken = || Reply::json(500, r#"{"error":{"message":"oh"}}"#);
    let server = Server::with([broken(), broken(), broken(), Reply::events(&HELLO)]).await;
    let outcome = run(server.openai(), "hi", &Recorder::new()).await;
    assert_eq!(outcome, completed(9, 2));
}

#[tokio::test]
async fn a_server_that_stays_broken_is_given_up() {
    let broken = || Reply::json(500, r#"{"error":{"message":"oh"}}"#);
    let server = Server::with((0..5).map(|_| broken())).await;
    let reason = reason(run(server.openai(), "hi", &Recorder::new()).await);
    assert!(
        reason.contains("after 5 attempt(s) (status 500: oh): try again later"),
        "{reason}"
    );
    assert_eq!(server.asked().len(), 5);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let model = model(
        Provider::OpenAi,
        format!("http://me:hush@{address}/v1"),
        quick(),
    );
    let reason = reason(run(model, "hi", &Recorder::new()).await);
    assert!(
        reason.contains(&address.to_string()) && reason.contains("try again later"),
        "{reason}"
    );
    assert!(!reason.contains("hush"), "{reason}");
}

#[tokio::test]
async fn a_stream_that_breaks_before_anything_was_heard_is_asked_again() {
    let empty = r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#;
    let server = Server::with([
        Reply::Cut(lines(&[empty])),
        Reply::Stream(lines(&[empty])),
        Reply::Stream(Vec::new()),
        Reply::events(&HELLO),
    ])
    .await;
    let host = Recorder::new();
    assert_eq!(run(server.openai(), "hi", &host).await, completed(9, 2));
    assert_eq!(host.story(), ["message: Hello"]);
}

#[tokio::test]
async fn a_stream_that_breaks_later_is_told() {
    for reply in [
        Reply::Cut(lines(&HELLO[..1])),
        Reply::Stream(lines(&HELLO[..1])),
    ] {
        let server = Server::with([reply]).await;
        let host = Recorder::new();
        let reason = reason(run(server.openai(), "hi", &host).await);
        assert!(
            reason.contains("broke off") && reason.ends_with("ask again"),
            "{reason}"
        );
        assert_eq!(
            host.story(),
            ["delta: Hel"],
            "what was heard was heard, and is not complete"
        );
        assert_eq!(server.asked().len(), 1);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_after_its_end_counts() {
    let server = Server::with([Reply::Cut(lines(&HELLO[..2]))]).await;
    let host = Recorder::new();
    assert_eq!(run(server.openai(), "hi", &host).await, completed(0, 0));
    assert_eq!(host.story(), ["message: Hello"]);
}

#[tokio::test]
async fn garbage_is_a_sentence() {
    let page = || {
        Reply::Body(
            200,
            Vec::new(),
            "<html>Welcome to nginx</html>\n".to_owned(),
        )
    };
    let replies = [
        page(),
        Reply::json(200, r#"{"hello":"world"}"#),
        Reply::json(200, "{not json"),
        Reply::events(&["nonsense"]),
        Reply::events(&["[DONE]"]),
    ];
    for reply in replies {
        let server = Server::with([reply]).await;
        let host = Recorder::new();
        let reason = reason(run(server.openai(), "hi", &host).await);
        assert!(
            reason.contains("not an answer") && reason.contains("base_url"),
            "{reason}"
        );
        assert_eq!(host.story(), [""; 0]);
    }
}

#[tokio::test]
async fn a_key_that_is_not_accepted_is_told_without_it() {
    let words = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    for status in [401, 403] {
        let server = Server::with([Reply::json(status, &words)]).await;
        let reason = reason(run(server.openai(), "hi", &Recorder::new()).await);
        assert!(reason.contains("api_key"), "{reason}");
        assert!(!reason.contains(KEY), "{reason}");
    }
}

#[tokio::test]
async fn a_refusal_is_told_in_the_servers_words() {
    let server = Server::with([Reply::json(
        404,
        r#"{"error":"model 'some-model' not found, try pulling it"}"#,
    )])
    .await;
    let reason = reason(run(server.openai(), "hi", &Recorder::new()).await);
    assert!(reason.contains("model 'some-model' not found"), "{reason}");
    assert!(reason.contains("talaria.toml"), "{reason}");
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_told_so() {
    let words = r#"{"error":{"message":"too much","code":"context_length_exceeded"}}"#;
    let server = Server::with([Reply::json(400, words)]).await;
    let reason = reason(run(server.openai(), "hi", &Recorder::new()).await);
    assert!(reason.contains("/compress"), "{reason}");
}

#[tokio::test]
async fn a_redirect_does_not_carry_the_key_away() {
    let elsewhere = Server::with([Reply::events(&HELLO)]).await;
    let location = format!("{}/v1/chat/completions", elsewhere.address());
    let headers = vec![("location", location)];
    let server = Server::with([Reply::Body(307, headers, String::new())]).await;
    let reason = reason(run(server.openai(), "hi", &Recorder::new()).await);
    assert!(reason.contains("another address"), "{reason}");
    assert_eq!(elsewhere.asked().len(), 0);
}

#[tokio::test]
async fn an_address_that_is_none_is_told() {
    for provider in [Provider::OpenAi, Provider::Anthropic] {
        let model = model(provider, "localhost:11434".to_owned(), quick());
        let reason = reason(run(model, "hi", &Recorder::new()).await);
        assert!(
            reason.contains("base_url") && reason.contains("talaria.toml"),
            "{reason}"
        );
    }
}

#[tokio::test]
async fn a_server_that_falls_silent_is_not_waited_for_for_ever() {
    let server = Server::with([Reply::Hang(lines(&HELLO[..1]))]).await;
    let host = Recorder::new();
    let heard = async {
        host.heard(|event| matches!(event, RunEvent::MessageDelta { .. }))
            .await;
        // From here on nothing moves but the clock.
        tokio::time::pause();
    };
    let model = server.openai_with(Patience::default());
    let (outcome, ()) = tokio::join!(run_patiently(model, &host), heard);
    let Failure { reason, code, .. } = failure(outcome);
    assert!(reason.contains("nothing came for 120 s"), "{reason}");
    assert_eq!(code, FailureCode::Timeout);
    assert_eq!(host.story(), ["delta: Hel"]);
}

#[tokio::test]
async fn a_server_that_never_answers_is_not_waited_for_for_ever() {
    let server = Server::with([Reply::Silence]).await;
    let host = Recorder::new();
    let asked = async {
        server.was_asked(1).await;
        tokio::time::pause();
    };
    let model = server.openai_with(Patience::default());
    let (outcome, ()) = tokio::join!(run_patiently(model, &host), asked);
    let Failure { reason, code, .. } = failure(outcome);
    assert!(
        reason.contains("after 1 attempt(s) (nothing came for 300 s)"),
        "{reason}"
    );
    assert_eq!(code, FailureCode::Timeout);
}

/// Without a timeout of the test's own, which the stopped clock would fire first.
async fn run_patiently(
    model: std::sync::Arc<dyn talaria_agents::models::Model>,
    host: &Recorder,
) -> RunOutcome {
    use talaria_domain::runner::Runner as _;
    crate::world::runner(model)
        .run(&crate::world::turn("hi", &[]), host)
        .await
}
