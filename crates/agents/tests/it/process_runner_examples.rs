//! The examples for people who write runners, as they are: each remembers, streams and calls a tool.

use std::path::Path;

use serde_json::json;
use talaria_domain::run::{RunEvent, RunOutcome, Usage};

use crate::process_runner_house::{House, Outside, turn};

async fn works(language: &str, script: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/runners")
        .join(script);
    let outside = Outside::script(language, &script);
    let host = House::with_terminal();
    for number in 1..=2 {
        let outcome = outside.run(&turn(number, "hello"), &host).await;
        assert_eq!(outcome, RunOutcome::completed(Usage::default()));
    }
    let messages = host.messages();
    for (message, number) in messages.iter().zip(1..) {
        let start = format!("Message {number}: you wrote 'hello', in the year 2");
        assert!(message.starts_with(&start), "{messages:?}");
    }
    assert_eq!(messages.len(), 2);
    let events = host.recorder.events();
    let is_delta = |event: &RunEvent| matches!(event, RunEvent::MessageDelta { .. });
    assert!(events.iter().any(is_delta), "it streams");
    let started = events.iter().find_map(|event| match event {
        RunEvent::ToolStarted {
            tool, arguments, ..
        } => Some((tool.as_str(), arguments)),
        _ => None,
    });
    assert_eq!(started, Some(("terminal", &json!({"command": "date +%Y"}))));

    let refused = House::bare();
    let outcome = outside.run(&turn(3, "hello"), &refused).await;
    let RunOutcome::Failed(failure) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(
        failure.reason, "this run may not do that",
        "a refusal reaches the runner"
    );
    outside.close().await;
}

#[tokio::test]
async fn the_example_in_python_works() {
    works("python3", "python/runner.py").await;
}

#[tokio::test]
async fn the_example_in_node_works() {
    works("node", "node/runner.mjs").await;
}
