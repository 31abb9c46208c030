//! Tasks for agents of their own.

use serde_json::{Value, json};
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::run::ToolResult;

use crate::desk::Desk;

fn three() -> Value {
    json!([{"goal": "a"}, {"goal": "b", "context": "all of it"}, {"goal": "c", "tools": ["terminal"]}])
}

#[tokio::test]
async fn a_task_is_waited_for() {
    let desk = Desk::new();
    desk.host.beyond.done.add_permits(1);
    let arguments = json!({"goal": "count", "context": "to ten", "tools": ["terminal"]});
    let answer = desk.call("delegate_task", arguments).await;
    let expected = json!([{"goal": "count", "status": "completed", "result": "did count"}]);
    assert_eq!(answer, json!({ "results": expected }));
    let tasks = desk.host.beyond.tasks.lock().unwrap();
    assert_eq!(
        (tasks[0].goal.as_str(), tasks[0].context.as_str()),
        ("count", "to ten")
    );
    assert_eq!(tasks[0].tools, Some(vec!["terminal".to_owned()]));
    assert!(!tasks[0].is_background);
}

#[tokio::test]
async fn three_tasks_are_under_way_together_and_answered_in_their_order() {
    let desk = Desk::new();
    let calling = desk.call("delegate_task", json!({"tasks": three()}));
    let watching = async {
        while desk.host.beyond.tasks.lock().unwrap().len() < 3 {
            tokio::task::yield_now().await;
        }
        // None has ended, and all three have begun.
        desk.host.beyond.done.add_permits(3);
    };
    let (answer, ()) = tokio::join!(calling, watching);
    let results: Vec<_> = answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["result"])
        .collect();
    assert_eq!(results, ["did a", "did b", "did c"]);
}

#[tokio::test]
async fn in_the_background_they_are_told_later() {
    let desk = Desk::new();
    let answer = desk
        .call(
            "delegate_task",
            json!({"tasks": three(), "background": true}),
        )
        .await;
    assert_eq!(answer["tasks"][2]["status"], "dispatched");
    let tasks = desk.host.beyond.tasks.lock().unwrap();
    assert!(tasks.iter().all(|task| task.is_background));
}

#[tokio::test]
async fn where_nobody_can_be_told_later_it_is_done_at_once_with_a_note() {
    let mut desk = Desk::new();
    desk.turn.window = DeliveryWindow::InTurnOnly;
    desk.host.beyond.done.add_permits(1);
    let answer = desk
        .call(
            "delegate_task",
            json!({"goal": "count", "background": true}),
        )
        .await;
    assert_eq!(answer["results"][0]["result"], "did count");
    assert!(
        answer["note"]
            .as_str()
            .is_some_and(|it| it.contains("not in the background")),
        "{answer}"
    );
    assert!(!desk.host.beyond.tasks.lock().unwrap()[0].is_background);
}

#[tokio::test]
async fn a_stopped_run_stops_what_it_delegated() {
    let desk = Desk::new();
    let calling = desk.call_as(&desk.turn, "delegate_task", json!({"tasks": three()}));
    let stopping = async {
        while desk.host.beyond.tasks.lock().unwrap().len() < 3 {
            tokio::task::yield_now().await;
        }
        desk.host.stop();
    };
    let ((text, result), ()) = tokio::join!(calling, stopping);
    assert_eq!(result, ToolResult::Cancelled, "{text}");
    assert_eq!(desk.host.beyond.cancelled.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn a_task_is_not_handed_on_for_ever() {
    let mut desk = Desk::new();
    desk.host.beyond.done.add_permits(9);
    for (depth, may_be) in [(0, true), (1, true), (2, false), (3, false)] {
        desk.turn.depth = depth;
        let (text, result) = desk
            .call_as(&desk.turn, "delegate_task", json!({"goal": "x"}))
            .await;
        assert_eq!(result == ToolResult::Done, may_be, "{depth}: {text}");
        assert_eq!(text.contains("do it yourself"), !may_be, "{text}");
    }
}

#[tokio::test]
async fn a_refusal_is_told_beside_the_results() {
    let desk = Desk::new();
    desk.host.beyond.done.add_permits(1);
    let tasks = json!([{"goal": "refuse"}, {"goal": "b"}]);
    let answer = desk.call("delegate_task", json!({ "tasks": tasks })).await;
    assert_eq!(answer["results"][0]["reason"], "too many delegations");
    assert_eq!(answer["results"][1]["result"], "did b");
    let arguments = json!({"goal": "refuse", "background": true});
    let why = desk.refusal("delegate_task", arguments).await;
    assert!(why.contains("too many delegations"), "{why}");
}

#[tokio::test]
async fn nonsense_is_answered() {
    let desk = Desk::new();
    let four = json!({"tasks": [{"goal": "a"}, {"goal": "b"}, {"goal": "c"}, {"goal": "d"}]});
    let table = [
        (json!({}), "expected `goal`, or `tasks`"),
        (json!({"goal": "a", "tasks": three()}), "not both"),
        (json!({"goal": " "}), "without a `goal`"),
        (json!({"tasks": []}), "without a `goal`"),
        (four, "4 tasks, and at most 3"),
        (
            json!({"tasks": three(), "context": "x"}),
            "each task has its own",
        ),
        (json!({"tasks": [{"context": "x"}]}), "missing field `goal`"),
        (json!({"goal": 7}), "expected a string"),
    ];
    for (arguments, expected) in table {
        let why = desk.refusal("delegate_task", arguments.clone()).await;
        assert!(why.contains(expected), "{arguments}: {why}");
    }
    assert!(desk.host.beyond.tasks.lock().unwrap().is_empty());
}
