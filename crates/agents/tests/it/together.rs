//! Tools that may be under way together are; the others come one after the other.

use std::sync::Arc;

use serde_json::{Value, json};
use talaria_agents::native::NativeRunner;
use talaria_domain::run::{Failure, RunEvent, RunOutcome};
use talaria_domain::runner::Runner as _;

use crate::desk::Desk;
use crate::openai_talks::{HELLO, calling, completed};
use crate::server::{Reply, Server};
use crate::world::{Recorder, runner, turn, within};

/// A stream that calls several tools in one answer.
fn calling_all(calls: &[(&str, &str, Value)]) -> Reply {
    let call = |(number, (id, tool, arguments)): (usize, &(&str, &str, Value))| {
        let function = json!({"name": tool, "arguments": arguments.to_string()});
        json!({"index": number, "id": id, "type": "function", "function": function})
    };
    let calls: Vec<_> = calls.iter().enumerate().map(call).collect();
    let chunk =
        json!({"choices": [{"delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}]});
    Reply::events(&[&chunk.to_string(), "[DONE]"])
}

fn is_start(event: &RunEvent) -> bool {
    matches!(event, RunEvent::ToolStarted { .. })
}

#[tokio::test]
async fn delegations_of_one_answer_are_under_way_together() {
    let goal = |goal: &str| json!({ "goal": goal });
    let server = Server::with([
        calling_all(&[
            ("a", "delegate_task", goal("one")),
            ("b", "delegate_task", goal("two")),
        ]),
        Reply::events(&HELLO),
    ])
    .await;
    let host = Recorder::new();
    let (runner, turn) = (runner(server.openai()), turn("go", &["delegate_task"]));
    let running = within(runner.run(&turn, &host));
    let watching = async {
        while host.beyond.tasks.lock().unwrap().len() < 2 {
            tokio::task::yield_now().await;
        }
        let events = host.events();
        assert_eq!(
            events.iter().filter(|event| is_start(event)).count(),
            2,
            "both are recorded"
        );
        assert_eq!(events.len(), 2, "and none has ended: {events:?}");
        host.beyond.done.add_permits(2);
    };
    let (outcome, ()) = tokio::join!(running, watching);
    assert_eq!(outcome, completed(9, 2));
    let messages = server.asked()[1].body["messages"].clone();
    let results: Vec<_> = messages
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["role"] == "tool")
        .collect();
    let ids: Vec<_> = results.iter().map(|it| &it["tool_call_id"]).collect();
    assert_eq!(ids, ["a", "b"], "in the order of the calls");
    assert!(
        results[0]["content"].as_str().unwrap().contains("did one"),
        "{results:?}"
    );
}

#[tokio::test]
async fn commands_of_one_answer_come_one_after_the_other() {
    let directory = tempfile::tempdir().unwrap();
    let run = |command: &str| json!({"command": command, "cwd": directory.path()});
    let server = Server::with([
        calling_all(&[
            ("a", "terminal", run("mkdir x && echo made >x/file")),
            ("b", "terminal", run("cat x/file")),
        ]),
        Reply::events(&HELLO),
    ])
    .await;
    let host = Recorder::new();
    within(runner(server.openai()).run(&turn("go", &["terminal"]), &host)).await;
    let story: Vec<_> = host
        .story()
        .into_iter()
        .map(|it| it[..7].to_owned())
        .collect();
    assert_eq!(story[..4], ["start a", "Done a:", "start b", "Done b:"]);
    assert!(host.story()[3].contains("made"), "{:?}", host.story());
}

#[tokio::test]
async fn a_stopped_run_ends_all_that_is_under_way() {
    let goal = |goal: &str| json!({ "goal": goal });
    let server = Server::with([calling_all(&[
        ("a", "delegate_task", goal("one")),
        ("b", "delegate_task", goal("two")),
    ])])
    .await;
    let host = Recorder::new();
    let (runner, turn) = (runner(server.openai()), turn("go", &["delegate_task"]));
    let running = within(runner.run(&turn, &host));
    let stopping = async {
        while host.beyond.tasks.lock().unwrap().len() < 2 {
            tokio::task::yield_now().await;
        }
        host.stop();
    };
    let (outcome, ()) = tokio::join!(running, stopping);
    assert_eq!(outcome, RunOutcome::Cancelled);
    assert_eq!(host.beyond.cancelled.lock().unwrap().len(), 2);
    let ended = host
        .story()
        .iter()
        .filter(|it| it.starts_with("Cancelled"))
        .count();
    assert_eq!(ended, 2, "each end is recorded: {:?}", host.story());
}

#[tokio::test]
async fn nothing_is_told_to_a_host_that_said_stop_while_tools_are_together() {
    for call in 2..=5 {
        let desk = Desk::new();
        let poll = || json!({"action": "list"});
        let server = Server::with([
            calling_all(&[("a", "process", poll()), ("b", "process", poll())]),
            Reply::events(&HELLO),
        ])
        .await;
        // The host itself complains when it is called again.
        let host = Recorder::stopping_at(call);
        let runner = NativeRunner::new(server.openai(), desk.tools.clone());
        let outcome = within(runner.run(&turn("go", &["process"]), &host)).await;
        assert_eq!(outcome, RunOutcome::Cancelled, "call {call}");
        assert_eq!(host.calls(), call);
    }
}

#[tokio::test]
async fn a_model_that_loops_for_ever_ends_with_a_clear_answer() {
    let silent = || calling_all(&[("same", "terminal", json!({"command": "true"}))]);
    let replies = std::iter::repeat_with(silent).take(100);
    let server = Server::with(replies).await;
    let host = Recorder::new();
    let runner = Arc::new(runner(server.openai()));
    let outcome = within(runner.run(&turn("go", &["terminal"]), &host)).await;
    let RunOutcome::Failed(Failure { reason, .. }) = outcome else {
        panic!("{outcome:?}");
    };
    assert!(
        reason.starts_with("no answer after 24 rounds of tools")
            && reason.contains("ask for a smaller step"),
        "{reason}"
    );
    assert_eq!(
        host.events().iter().filter(|event| is_start(event)).count(),
        24
    );
    assert_eq!(server.asked().len(), 25, "one last word was asked for");

    let server = Server::with(
        std::iter::repeat_with(|| calling("same", "true"))
            .take(24)
            .chain([Reply::events(&HELLO)]),
    )
    .await;
    let host = Recorder::new();
    within(crate::world::run(server.openai(), "go", &host)).await;
    assert_eq!(
        host.story().last().map(String::as_str),
        Some("message: Hello")
    );
}
