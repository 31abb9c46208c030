//! What waits, and what is too much.

use serde_json::json;

use super::*;

const NOW: Duration = Duration::ZERO;

fn delta(text: &str) -> Step {
    let text = text.to_owned();
    Step::Report(Report::MessageDelta { text })
}

fn log(text: &str) -> Step {
    let text = text.to_owned();
    Step::Report(Report::Log { text })
}

fn list(id: u64) -> Callback {
    Callback {
        id: json!(id),
        wanted: Wanted::Asked(Asked::ToolList {}),
        bytes: 10,
    }
}

fn call(id: u64) -> Callback {
    let asked = Asked::ToolCall {
        tool: "terminal".to_owned(),
        arguments: json!({}),
        call: None,
    };
    Callback {
        id: json!(id),
        wanted: Wanted::Asked(asked),
        bytes: 10,
    }
}

fn few() -> Limits {
    Limits {
        reports: 3,
        report_bytes: 1_000,
        in_flight: 2,
        ..Limits::default()
    }
}

#[tokio::test]
async fn deltas_that_wait_are_put_together_and_nothing_else_is() {
    let inbox = Inbox::of(Limits::default());
    let told = [
        delta("a"),
        delta("b"),
        log("x"),
        delta("c"),
        log("y"),
        log("z"),
    ];
    for step in told {
        inbox.tell(step, 1);
    }
    let mut heard = Vec::new();
    while !inbox.lock().steps.is_empty() {
        heard.push(inbox.next().await);
    }
    let joined = [delta("ab"), log("x"), delta("c"), log("y"), log("z")];
    assert_eq!(heard, joined);
    assert_eq!(inbox.lock().bytes, 0);
}

#[tokio::test]
async fn ten_thousand_deltas_are_one_and_too_many_bytes_are_too_many() {
    let inbox = Inbox::of(few());
    for _ in 0..1_000 {
        inbox.tell(delta("x"), 1);
    }
    assert_eq!(inbox.lock().steps.len(), 1);
    inbox.tell(delta("x"), 1);
    inbox.tell(delta("x"), 1);
    assert_eq!(inbox.next().await, delta(&"x".repeat(1_001)));
    assert!(matches!(inbox.next().await, Step::Broken(_)));
    assert!(inbox.lock().steps.is_empty(), "nothing is taken afterwards");
}

#[tokio::test]
async fn a_flood_breaks_off_and_what_was_told_before_is_read() {
    let inbox = Inbox::of(few());
    for number in 0..100_000 {
        inbox.tell(log(&number.to_string()), 1);
    }
    assert!(inbox.lock().steps.len() <= 5);
    assert_eq!(inbox.next().await, log("0"));
    inbox.tell(Step::Gone("died".to_owned()), 0);
    for _ in 0..3 {
        inbox.next().await;
    }
    let Step::Broken(why) = inbox.next().await else {
        panic!();
    };
    assert!(why.contains("more than could be recorded"), "{why}");
}

#[tokio::test]
async fn what_was_told_before_the_end_of_a_process_is_read_first() {
    let inbox = Inbox::of(few());
    inbox.tell(delta("last words"), 1);
    inbox.tell(Step::Gone("died".to_owned()), 0);
    inbox.tell(delta("from the grave"), 1);
    assert_eq!(inbox.next().await, delta("last words"));
    assert_eq!(inbox.next().await, Step::Gone("died".to_owned()));
    assert!(inbox.lock().steps.is_empty());
}

#[tokio::test]
async fn a_tool_call_waits_for_its_turn_and_other_callbacks_do_not() {
    let inbox = Inbox::of(few());
    inbox.tell(delta("let me look"), 1);
    inbox.ask(call(1), NOW).unwrap();
    inbox.ask(list(2), NOW).unwrap();
    assert_eq!(inbox.wanted().await, Some(vec![list(2)]));
    assert_eq!(inbox.next().await, delta("let me look"));
    assert_eq!(inbox.next().await, Step::Call(call(1)));
    assert_eq!(inbox.ask(list(3), NOW), Err(Busy::UnderWay(2)));
    inbox.answered(&json!(2), 10);
    assert_eq!(inbox.ask(list(3), NOW), Ok(()));
    assert_eq!(inbox.unanswered(), [json!(1), json!(3)]);
}

#[tokio::test]
async fn a_closed_one_gives_out_what_it_has_and_ends() {
    let inbox = Inbox::of(few());
    inbox.ask(list(1), NOW).unwrap();
    inbox.close();
    assert_eq!(inbox.wanted().await, Some(vec![list(1)]));
    assert_eq!(inbox.wanted().await, None);
    inbox.knock();
    assert_eq!(inbox.wanted().await, Some(Vec::new()));
}
