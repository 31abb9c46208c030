//! Late results are promised where they can be delivered, and nowhere else.

use serde_json::{Value, json};
use talaria_agents::context::{self, Context};
use talaria_agents::tools::ToolContext;
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::job::Promise;
use talaria_domain::run::ToolResult;

use crate::desk::Desk;
use crate::world::within;

fn sleeping(wish: &Value) -> Value {
    let mut arguments = json!({"command": "sleep 30 && echo DONE", "background": true});
    for (name, value) in wish.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    arguments
}

/// A conversation that is gone once it has its answer.
fn by_api() -> Desk {
    let mut desk = Desk::new();
    desk.turn.window = DeliveryWindow::InTurnOnly;
    desk
}

#[tokio::test]
async fn the_api_skips_the_watcher_and_explains() {
    for wish in [
        json!({"notify_on_complete": true}),
        json!({"watch_patterns": ["DONE"]}),
        json!({"notify_on_complete": true, "watch_patterns": ["DONE"]}),
    ] {
        let desk = by_api();
        let answer = desk.call("terminal", sleeping(&wish)).await;
        assert_eq!(answer["notify_on_complete"], false, "{answer}");
        let words = answer["notify_unsupported"].as_str().unwrap();
        assert!(words.contains("process(action=\"poll\")"), "{words}");
        let entry = desk.book().entry(desk.book().only());
        assert_eq!(entry.order.promise, Promise::Nothing);
        assert_eq!(entry.order.work["watch_patterns"], json!([]));
        assert!(
            answer["pid"].as_u64().is_some_and(|pid| pid > 0),
            "the process runs: {answer}"
        );
    }
}

#[tokio::test]
async fn what_the_api_started_can_be_polled() {
    let desk = by_api();
    let arguments =
        json!({"command": "echo hello", "background": true, "notify_on_complete": true});
    let job = desk.start_with(arguments).await;
    let answer = desk.process("wait", job).await;
    assert_eq!(
        (&answer["status"], &answer["exit_code"]),
        (&json!("ended"), &json!(0))
    );
    assert_eq!(answer["output"], "hello\n");
    desk.book().ended(job).await;
    assert_eq!(desk.book().entry(job).wakes, [""; 0]);
}

#[tokio::test]
async fn a_chat_platform_registers_exactly_one_promise() {
    let desk = Desk::new();
    let answer = desk
        .call("terminal", sleeping(&json!({"notify_on_complete": true})))
        .await;
    assert_eq!(answer["notify_on_complete"], true);
    assert_eq!(answer.get("notify_unsupported"), None);
    let entry = desk.book().entry(desk.book().only());
    assert_eq!(entry.order.promise, Promise::Wake);
    assert_eq!(
        entry.order.return_to, desk.turn.return_to,
        "the way back is fixed"
    );
    assert_eq!(entry.order.run, desk.turn.run);
}

#[tokio::test]
async fn the_terminal_stays_supported() {
    // Nobody bound anything: as for whoever does not know of all this.
    let desk = Desk::new();
    let terminal = desk
        .tools
        .iter()
        .find(|it| it.name() == "terminal")
        .unwrap();
    let arguments = sleeping(&json!({"notify_on_complete": true}));
    let context = ToolContext {
        turn: &desk.turn,
        host: &desk.host,
    };
    let output = within(context::scope(
        Context::default(),
        terminal.call(&arguments, &context),
    ))
    .await;
    assert_eq!(output.result, ToolResult::Done);
    let answer: Value = serde_json::from_str(&output.text).unwrap();
    assert_eq!(answer["notify_on_complete"], true);
    assert_eq!(answer.get("notify_unsupported"), None);
}

#[tokio::test]
async fn no_delivery_does_not_outlive_the_turn() {
    let mut desk = by_api();
    let notify = || sleeping(&json!({"notify_on_complete": true}));
    assert_eq!(
        desk.call("terminal", notify()).await["notify_on_complete"],
        false
    );
    // The same conversation goes on where it can be reached.
    desk.turn.window = DeliveryWindow::Always;
    assert_eq!(
        desk.call("terminal", notify()).await["notify_on_complete"],
        true
    );
}

#[tokio::test]
async fn notify_wins_over_patterns() {
    let desk = Desk::new();
    let both = json!({"notify_on_complete": true, "watch_patterns": ["DONE"]});
    let answer = desk.call("terminal", sleeping(&both)).await;
    assert_eq!(answer["notify_on_complete"], true);
    assert!(answer["watch_patterns_ignored"].is_string(), "{answer}");
    let entry = desk.book().entry(desk.book().only());
    assert_eq!(entry.order.work["watch_patterns"], json!([]));
}

#[tokio::test]
async fn a_process_that_nobody_is_told_about_says_so() {
    let desk = Desk::new();
    let answer = desk.call("terminal", sleeping(&json!({}))).await;
    assert_eq!(answer["notify_on_complete"], false);
    assert!(
        answer["hint"]
            .as_str()
            .is_some_and(|it| it.contains("poll")),
        "{answer}"
    );
}
