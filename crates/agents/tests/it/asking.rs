//! A person is asked: by the model, or before a tool of the model's choice starts.

use std::sync::Arc;

use serde_json::{Value, json};
use talaria_agents::models::{self, Client, Model, ModelSettings, Provider};
use talaria_agents::native::NativeRunner;
use talaria_domain::effects::{Answer, Refusal, RefusalCode};
use talaria_domain::run::{Action, RunEvent, RunOutcome, ToolResult};
use talaria_domain::runner::Runner as _;

use crate::desk::Desk;
use crate::world::{turn, within};

fn demo() -> Arc<dyn Model> {
    let settings = ModelSettings {
        provider: Provider::Demo,
        base_url: None,
        model: String::new(),
        api_key: None,
        window: None,
    };
    models::build(settings, Client::new(models::tls().unwrap()))
}

fn said(text: &str) -> Answer {
    let text = text.to_owned();
    Answer::Said { text }
}

fn refused(code: RefusalCode) -> Result<Answer, Refusal> {
    Err(Refusal::new(code, "for a reason"))
}

#[tokio::test]
async fn a_question_is_asked_and_its_answer_is_what_the_model_is_told() {
    let table = [
        (Ok(said("blue")), "blue", ToolResult::Done),
        (
            Ok(Answer::Denied),
            "the person does not want to answer that",
            ToolResult::Refused,
        ),
        (
            refused(RefusalCode::Expired),
            "no answer: for a reason",
            ToolResult::Refused,
        ),
        (
            refused(RefusalCode::Disabled),
            "no answer: for a reason",
            ToolResult::Refused,
        ),
        (
            refused(RefusalCode::RunEnded),
            "[stopped: the run was stopped before anybody answered]",
            ToolResult::Cancelled,
        ),
    ];
    for (answer, expected, result) in table {
        let desk = Desk::new();
        *desk.host.person.answer.lock().unwrap() = Some(answer);
        let arguments = json!({"question": "Which?", "choices": ["red", "blue"]});
        let told = desk.call_as(&desk.turn, "ask_user", arguments).await;
        assert_eq!((told.0.as_str(), told.1), (expected, result));
        let asked = desk.host.person.asked.lock().unwrap();
        let expected = Action::Question {
            text: "Which?".to_owned(),
            choices: vec!["red".to_owned(), "blue".to_owned()],
        };
        assert_eq!(asked[0].action, expected);
    }
}

#[tokio::test]
async fn nonsense_is_not_asked() {
    let desk = Desk::new();
    for arguments in [
        json!({}),
        json!({"question": 1}),
        json!({"question": "a", "choices": "b"}),
        json!({"question": "a", "more": 1}),
    ] {
        let why = desk.refusal("ask_user", arguments).await;
        assert!(why.contains("wrong arguments"), "{why}");
    }
    assert!(desk.host.person.asked.lock().unwrap().is_empty());
}

/// What a turn comes to whose terminal needs a yes.
async fn with_consent(desk: &Desk, prompt: &str, tools: &[&str]) -> RunOutcome {
    let runner = NativeRunner::new(demo(), desk.tools.clone());
    let runner = runner.approving(["terminal".to_owned()].into());
    within(runner.run(&turn(prompt, tools), &desk.host)).await
}

#[tokio::test]
async fn a_tool_that_needs_a_yes_starts_after_it_and_not_without() {
    let table = [
        (Ok(Answer::Approved), true),
        (Ok(Answer::Denied), false),
        (Ok(said("yes")), false),
        (refused(RefusalCode::Expired), false),
        (refused(RefusalCode::Disabled), false),
    ];
    for (answer, is_run) in table {
        let desk = Desk::new();
        *desk.host.person.answer.lock().unwrap() = Some(answer.clone());
        let outcome = with_consent(&desk, "run: echo pulled", &["terminal"]).await;
        assert!(
            matches!(outcome, RunOutcome::Completed { .. }),
            "{outcome:?}"
        );
        let completed = desk
            .host
            .events()
            .into_iter()
            .find_map(|event| match event {
                RunEvent::ToolCompleted { output, result, .. } => Some((output, result)),
                _ => None,
            });
        let (output, result) = completed.unwrap();
        assert_eq!(result == ToolResult::Done, is_run, "{answer:?}: {output}");
        assert_eq!(output.contains("pulled"), is_run, "{answer:?}: {output}");
        let asked = desk.host.person.asked.lock().unwrap();
        let effect = "terminal\ncommand: echo pulled".to_owned();
        assert_eq!(asked[0].action, Action::Approval { effect });
    }
}

#[tokio::test]
async fn a_run_that_is_stopped_while_it_waits_has_started_nothing() {
    let desk = Desk::new();
    *desk.host.person.answer.lock().unwrap() = Some(refused(RefusalCode::RunEnded));
    let outcome = with_consent(&desk, "run: echo pulled", &["terminal"]).await;
    assert_eq!(outcome, RunOutcome::Cancelled);
    let is_start = |event: &RunEvent| matches!(event, RunEvent::ToolStarted { .. });
    assert!(!desk.host.events().iter().any(is_start));
}

#[tokio::test]
async fn nobody_is_asked_about_a_tool_that_may_not_be_called_or_needs_no_yes() {
    let desk = Desk::new();
    with_consent(&desk, "run: echo pulled", &[]).await;
    with_consent(&desk, "ask: which? red | blue", &["terminal", "ask_user"]).await;
    let asked = desk.host.person.asked.lock().unwrap();
    let actions: Vec<Value> = asked
        .iter()
        .map(|question| json!(question.action))
        .collect();
    let question = json!({"action": "question", "text": "which?", "choices": ["red", "blue"]});
    assert_eq!(actions, [question], "the demo asks, and nothing else does");
}
