//! A run that is stopped does nothing more, wherever it was.

use std::path::Path;

use talaria_domain::run::{RunEvent, RunOutcome};

use crate::openai_talks::{HELLO, calling, completed};
use crate::server::{Reply, Server, lines};
use crate::world::{Recorder, run};

/// A turn with two tools, each of which makes a file, with the host stopping at one of its calls. Answers the outcome,
/// how often the host was called, and what was made.
async fn stopped_at(call: usize) -> (RunOutcome, Recorder, Vec<&'static str>) {
    let directory = tempfile::tempdir().unwrap();
    let touch = |name: &str| format!("touch {}", directory.path().join(name).display());
    let server = Server::with([
        calling("a", &touch("first")),
        calling("b", &touch("second")),
        Reply::events(&HELLO),
    ])
    .await;
    let host = Recorder::stopping_at(call);
    let outcome = run(server.openai(), "go", &host).await;
    let is_made = |name: &&str| directory.path().join(Path::new(name)).exists();
    (
        outcome,
        host,
        ["first", "second"].into_iter().filter(is_made).collect(),
    )
}

#[tokio::test]
async fn nothing_happens_after_the_host_said_so_whichever_call_it_was() {
    for call in 1.. {
        let (outcome, host, made) = stopped_at(call).await;
        let starts = host
            .story()
            .iter()
            .filter(|line| line.starts_with("start"))
            .count();
        assert_eq!(
            made.len(),
            starts,
            "a tool runs exactly if its start was recorded (call {call})"
        );
        if host.calls() < call {
            assert_eq!(outcome, completed(19, 8));
            assert!(call > 10, "the whole turn was gone through: {call}");
            return;
        }
        assert_eq!(outcome, RunOutcome::Cancelled, "call {call}");
        assert_eq!(host.calls(), call, "the host is not called again");
    }
}

#[tokio::test]
async fn a_model_that_talks_is_interrupted() {
    let server = Server::with([Reply::Hang(lines(&HELLO[..1]))]).await;
    let host = Recorder::new();
    let stop = async {
        host.heard(|event| matches!(event, RunEvent::MessageDelta { .. }))
            .await;
        host.stop();
    };
    let (outcome, ()) = tokio::join!(run(server.openai(), "hi", &host), stop);
    assert_eq!(outcome, RunOutcome::Cancelled);
    assert_eq!(host.story(), ["delta: Hel"]);
}

#[tokio::test]
async fn a_model_that_is_waited_for_is_not_waited_for_any_longer() {
    let server = Server::with([Reply::Silence]).await;
    let host = Recorder::new();
    let stop = async {
        server.was_asked(1).await;
        host.stop();
    };
    let (outcome, ()) = tokio::join!(run(server.openai(), "hi", &host), stop);
    assert_eq!(outcome, RunOutcome::Cancelled);
    assert_eq!(host.story(), [""; 0]);
}

#[tokio::test]
async fn a_tool_that_runs_is_ended_and_recorded_as_stopped() {
    let server = Server::with([calling("a", "echo begun; exec sleep 1000")]).await;
    let host = Recorder::new();
    let stop = async {
        host.heard(|event| matches!(event, RunEvent::ToolStarted { .. }))
            .await;
        host.stop();
    };
    let (outcome, ()) = tokio::join!(run(server.openai(), "go", &host), stop);
    assert_eq!(outcome, RunOutcome::Cancelled);
    let story = host.story();
    let last = story.last().unwrap();
    assert!(
        last.starts_with("Cancelled a: ") && last.ends_with("[stopped: the run was stopped]"),
        "{last}"
    );
    assert_eq!(server.asked().len(), 1, "the model is not asked again");
}
