//! What is shown, and when.

use std::time::Duration;

use serde_json::json;
use talaria_domain::clock::Timestamp;
use talaria_domain::run::{RunEvent, ToolResult};

use super::{Growing, Show};

const PACE: Duration = Duration::from_secs(1);

fn said(text: &str) -> RunEvent {
    let text = text.to_owned();
    RunEvent::MessageDelta { text }
}

fn started(command: &str) -> RunEvent {
    RunEvent::ToolStarted {
        call: "1".to_owned(),
        tool: "terminal".to_owned(),
        arguments: json!({ "command": command }),
    }
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_000_000 + millis)
}

fn show(answer: &str, visible: &str) -> Show {
    Show {
        answer: answer.to_owned(),
        visible: visible.to_owned(),
    }
}

#[test]
fn what_is_going_on_is_shown_until_there_are_words() {
    let mut growing = Growing::default();
    assert_eq!(growing.take(at(0), PACE), None);
    growing.hear(&said("let me look"), true);
    assert_eq!(
        growing.take(at(0), PACE),
        Some(show("let me look", "let me look"))
    );
    growing.hear(&started("ls"), true);
    assert_eq!(
        growing.take(at(1_000), PACE),
        Some(show("", "_terminal: ls…_"))
    );
    let ended = RunEvent::ToolCompleted {
        call: "1".to_owned(),
        output: "a b".to_owned(),
        result: ToolResult::Done,
    };
    growing.hear(&ended, true);
    growing.hear(&said(" "), true);
    growing.take(at(2_000), PACE);
    growing.hear(&said("two files"), true);
    let words = Some(show(" two files", " two files"));
    assert_eq!(growing.take(at(3_000), PACE), words);
    assert_eq!(growing.take(at(4_000), PACE), None, "nothing is new");
}

#[test]
fn the_newest_state_wins_and_is_shown_as_soon_as_it_may_be() {
    let mut growing = Growing::default();
    growing.hear(&started("one"), true);
    growing.take(at(0), PACE).unwrap();
    growing.hear(&started("two"), true);
    assert_eq!(growing.take(at(999), PACE), None);
    growing.hear(&started("three"), true);
    assert_eq!(growing.due_at(PACE), Some(at(1_000)));
    let shown = growing.take(at(1_000), PACE);
    assert_eq!(shown, Some(show("", "_terminal: three…_")));
    assert_eq!(growing.due_at(PACE), None);
}

#[test]
fn whoever_wants_no_progress_sees_words_alone() {
    let mut growing = Growing::default();
    growing.hear(&said("let me look"), false);
    growing.hear(&started("ls"), false);
    assert_eq!(growing.take(at(0), PACE), None);
    growing.hear(&said("done"), false);
    assert_eq!(growing.take(at(0), PACE), Some(show("done", "done")));
}
