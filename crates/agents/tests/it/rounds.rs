//! How a turn goes on: what is refused, what people say meanwhile, and when it is enough.

use serde_json::{Value, json};
use talaria_domain::run::{Failure, FailureCode, Finish, RunEvent, RunOutcome, ToolResult, Usage};
use talaria_domain::runner::Runner as _;

use crate::openai_talks::{HELLO, calling, completed};
use crate::server::{Reply, Server};
use crate::world::{Recorder, run, runner, turn, within};

/// A stream that calls a tool with arguments as they are.
fn calling_with(tool: &str, arguments: &str) -> Reply {
    let call =
        json!([{"index": 0, "id": "call_a", "function": {"name": tool, "arguments": arguments}}]);
    let chunk =
        json!({"choices": [{"delta": {"tool_calls": call}, "finish_reason": "tool_calls"}]});
    Reply::events(&[&chunk.to_string(), "[DONE]"])
}

/// What the model is told about a call.
async fn answer_to(reply: Reply, allowed: &[&str]) -> (String, ToolResult) {
    let server = Server::with([reply, Reply::events(&HELLO)]).await;
    let host = Recorder::new();
    let outcome = within(runner(server.openai()).run(&turn("go", allowed), &host)).await;
    assert_eq!(outcome, completed(9, 2));
    let completed = host.events().into_iter().find_map(|event| match event {
        RunEvent::ToolCompleted { output, result, .. } => Some((output, result)),
        _ => None,
    });
    let (output, result) = completed.expect("the call is answered");
    let told = server.asked()[1].body["messages"]
        .as_array()
        .and_then(|all| all.last().cloned())
        .unwrap();
    assert_eq!(
        told["content"],
        Value::from(output.as_str()),
        "the model is told what is journalled"
    );
    (output, result)
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_refused() {
    let (output, result) = answer_to(calling_with("teleport", "{}"), &["terminal"]).await;
    assert_eq!(result, ToolResult::Refused);
    assert_eq!(output, "there is no tool `teleport`: there is terminal");
}

#[tokio::test]
async fn a_tool_that_is_not_allowed_is_refused_and_not_run() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("made");
    let touch = json!({"command": format!("touch {}", file.display())}).to_string();
    let (output, result) = answer_to(calling_with("terminal", &touch), &[]).await;
    assert_eq!(result, ToolResult::Refused);
    assert!(output.contains("not allowed"), "{output}");
    assert!(!file.exists());
}

#[tokio::test]
async fn wrong_arguments_are_answered_with_what_was_expected() {
    let table = [
        ("{}", "missing field `command`"),
        (r#"{"command": 7}"#, "expected a string"),
        (
            r#"{"command": "ls", "banana": true}"#,
            "unknown field `banana`",
        ),
        (
            r#"{"command": "ls", "notify_on_complete": true}"#,
            "are for `background`",
        ),
        (
            r#"{"command": "ls", "background": true, "watch_patterns": [""]}"#,
            "1 to 200 characters",
        ),
        (r#"{"command": "l"#, "not valid JSON"),
        (r#"["ls"]"#, "not an object"),
        (r#"{"command": "  "}"#, "`command` is empty"),
        (
            r#"{"command": "ls", "timeout_seconds": 601}"#,
            "from 1 to 600",
        ),
        (
            r#"{"command": "ls", "timeout_seconds": 0}"#,
            "from 1 to 600",
        ),
        (
            r#"{"command": "ls", "cwd": "/nowhere/at/all"}"#,
            "cannot be used",
        ),
        (r#"{"command": "ls", "cwd": "/bin/sh"}"#, "not a directory"),
    ];
    for (arguments, expected) in table {
        let (output, result) = answer_to(calling_with("terminal", arguments), &["terminal"]).await;
        assert_eq!(result, ToolResult::Refused, "{arguments}");
        assert!(
            output.starts_with("wrong arguments: ") && output.contains(expected),
            "{output}"
        );
    }
}

#[tokio::test]
async fn what_people_say_meanwhile_is_told_to_the_model() {
    let server = Server::with([calling("call_a", "true"), Reply::events(&HELLO)]).await;
    let host = Recorder::new().with_people(&[&[], &["hurry", "please"]]);
    run(server.openai(), "go", &host).await;
    let asked = server.asked();
    assert_eq!(asked[0].body["messages"].as_array().map(Vec::len), Some(2));
    let last = asked[1].body["messages"]
        .as_array()
        .and_then(|all| all.last().cloned());
    assert_eq!(
        last,
        Some(json!({"role": "user", "content": "hurry\n\nplease"}))
    );
}

async fn with_two_rounds(last: Reply) -> (RunOutcome, Recorder, Server) {
    let server = Server::with([calling("a", "true"), calling("b", "true"), last]).await;
    let host = Recorder::new();
    let runner = runner(server.openai()).with_rounds(2);
    let outcome = within(runner.run(&turn("go", &["terminal"]), &host)).await;
    (outcome, host, server)
}

#[tokio::test]
async fn when_the_rounds_are_used_up_a_last_word_is_asked_for() {
    let (outcome, host, server) = with_two_rounds(Reply::events(&HELLO)).await;
    assert_eq!(outcome, completed(19, 8));
    assert_eq!(
        host.story().last().map(String::as_str),
        Some("message: Hello")
    );
    let last = &server.asked()[2].body;
    assert_eq!(last.get("tools"), None);
    let words = last["messages"]
        .as_array()
        .and_then(|all| all.last().cloned())
        .unwrap();
    assert_eq!(words["role"], "user");
    assert!(
        words["content"].as_str().unwrap().contains("2 rounds"),
        "{words}"
    );
}

#[tokio::test]
async fn when_there_is_no_last_word_the_user_is_told() {
    let silent = r#"{"choices":[{"delta":{"content":""},"finish_reason":"stop"}]}"#;
    let table = [
        (
            Reply::events(&[silent]),
            "none when the model was asked to finish",
            FailureCode::ToolLoop,
        ),
        (
            calling("c", "touch /nowhere"),
            "message",
            FailureCode::Other,
        ),
        (
            Reply::json(400, r#"{"error":{"message":"no more"}}"#),
            "no more",
            FailureCode::ModelRefused,
        ),
    ];
    for (last, expected, class) in table {
        let (outcome, host, _server) = with_two_rounds(last).await;
        let starts = host
            .story()
            .iter()
            .filter(|line| line.starts_with("start"))
            .count();
        assert_eq!(starts, 2, "a call in the last word is not made");
        match outcome {
            RunOutcome::Failed(Failure { reason, code, .. }) => {
                assert!(
                    reason.starts_with("no answer after 2 rounds of tools"),
                    "{reason}"
                );
                assert!(reason.contains(expected), "{reason}");
                assert_eq!(code, class, "{reason}");
            }
            // The words before its call are its last word.
            other => assert_eq!((expected, other), ("message", completed(15, 9))),
        }
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_or_withheld_is_told() {
    let reply = |text: &str, finish: &str| {
        let chunk = json!({"choices": [{"delta": {"content": text}, "finish_reason": finish}]});
        Reply::events(&[&chunk.to_string(), "[DONE]"])
    };
    for (name, finish, code, reason) in [
        (
            "length",
            Finish::Length,
            FailureCode::OutputLimit,
            "used up all it may say",
        ),
        (
            "content_filter",
            Finish::ContentFilter,
            FailureCode::Withheld,
            "withheld",
        ),
    ] {
        let server = Server::with([reply("", name)]).await;
        let outcome = run(server.openai(), "hi", &Recorder::new()).await;
        assert!(
            matches!(&outcome, RunOutcome::Failed(failure)
                if failure.reason.contains(reason) && failure.code == code),
            "{outcome:?}"
        );

        let server = Server::with([reply("half", name)]).await;
        let host = Recorder::new();
        let usage = Usage::default();
        assert_eq!(
            run(server.openai(), "hi", &host).await,
            RunOutcome::Completed { usage, finish }
        );
        let story = host.story();
        assert_eq!(story[0], "message: half");
        assert!(story[1].starts_with("log: the answer is cut"), "{story:?}");
    }
}

#[tokio::test]
async fn silence_is_an_answer() {
    let silent = r#"{"choices":[{"delta":{"content":""},"finish_reason":"stop"}]}"#;
    let server = Server::with([Reply::events(&[silent])]).await;
    let host = Recorder::new();
    assert_eq!(run(server.openai(), "hi", &host).await, completed(0, 0));
    assert_eq!(host.story(), [""; 0]);
}
