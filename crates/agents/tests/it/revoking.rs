//! What is taken away from a run while it is under way counts at its next effect.

use std::sync::Arc;

use serde_json::json;
use talaria_domain::authority::{Authority, ResourceKind};
use talaria_domain::effects::Answer;
use talaria_domain::run::{FailureCode, RunEvent, RunOutcome, ToolResult};
use talaria_domain::runner::{Runner as _, Turn};

use crate::openai_talks::{HELLO, calling, completed};
use crate::server::{Reply, Server};
use crate::world::{Recorder, run, runner, turn, within};

/// A host that grants this kind so often and then no more.
fn revoking(kind: ResourceKind, times: usize) -> Recorder {
    let host = Recorder::new();
    *host.person.revoked.lock().unwrap() = Some((kind, times));
    host
}

fn results(host: &Recorder) -> Vec<(String, ToolResult)> {
    let result = |event| match event {
        RunEvent::ToolCompleted { output, result, .. } => Some((output, result)),
        _ => None,
    };
    host.events().into_iter().filter_map(result).collect()
}

#[tokio::test]
async fn a_revocation_counts_at_the_next_tool() {
    let directory = tempfile::tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|name| directory.path().join(name));
    let server = Server::with([
        calling("call_a", &format!("touch {}", first.display())),
        calling("call_b", &format!("touch {}", second.display())),
        Reply::events(&HELLO),
    ])
    .await;
    let host = revoking(ResourceKind::Tool, 1);
    let outcome = run(server.openai(), "go", &host).await;
    assert!(
        matches!(outcome, RunOutcome::Completed { .. }),
        "{outcome:?}"
    );
    assert!(first.exists(), "it still might");
    assert!(!second.exists(), "it might not any more");
    let results = results(&host);
    assert_eq!(results[0].1, ToolResult::Done);
    let refusal = "\"terminal\" was taken away from this run";
    assert_eq!(results[1], (refusal.to_owned(), ToolResult::Refused));
    let told = server.asked()[2].body["messages"]
        .as_array()
        .and_then(|all| all.last().cloned());
    assert_eq!(told.unwrap()["content"], json!(refusal));
}

#[tokio::test]
async fn a_revocation_counts_at_the_next_model_call() {
    let server = Server::with([calling("call_a", "true"), Reply::events(&HELLO)]).await;
    let host = revoking(ResourceKind::Model, 1);
    let outcome = run(server.openai(), "go", &host).await;
    let refusal = "\"main\" was taken away from this run";
    assert_eq!(outcome, RunOutcome::failed(FailureCode::Other, refusal));
    assert_eq!(server.asked().len(), 1, "the model is not asked again");
}

#[tokio::test]
async fn a_revocation_while_a_person_thinks_counts_although_they_say_yes() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("made");
    let touch = format!("touch {}", file.display());
    let server = Server::with([calling("call_a", &touch), Reply::events(&HELLO)]).await;
    let host = revoking(ResourceKind::Tool, 0);
    *host.person.answer.lock().unwrap() = Some(Ok(Answer::Approved));
    let runner = runner(server.openai()).approving(["terminal".to_owned()].into());
    within(runner.run(&turn("go", &["terminal"]), &host)).await;
    assert_eq!(host.person.asked.lock().unwrap().len(), 1);
    assert!(!file.exists());
    assert_eq!(results(&host)[0].1, ToolResult::Refused);
}

#[tokio::test]
async fn every_model_call_and_every_tool_is_checked_once() {
    let server = Server::with([calling("call_a", "true"), Reply::events(&HELLO)]).await;
    let host = Recorder::new();
    assert_eq!(run(server.openai(), "go", &host).await, completed(14, 5));
    let expected = [
        (ResourceKind::Model, "main"),
        (ResourceKind::Tool, "terminal"),
        (ResourceKind::Model, "main"),
    ];
    let expected = expected.map(|(kind, name)| (kind, name.to_owned()));
    assert_eq!(*host.person.checked.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_run_without_a_model_asks_none() {
    let server = Server::with([Reply::events(&HELLO)]).await;
    let turn = Turn {
        authority: Arc::new(Authority::default().freeze()),
        ..turn("go", &[])
    };
    let host = Recorder::new();
    let outcome = within(runner(server.openai()).run(&turn, &host)).await;
    let refusal = "this run may not use any model: its binding names none";
    assert_eq!(outcome, RunOutcome::failed(FailureCode::Other, refusal));
    assert_eq!(server.asked().len(), 0);
}
