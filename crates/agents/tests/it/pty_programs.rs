//! Programs that insist on a terminal get one.

use serde_json::json;
use talaria_domain::machine::JobState;
use talaria_domain::run::ToolResult;

use crate::desk::Desk;

#[tokio::test]
async fn a_program_in_the_foreground_has_a_terminal() {
    let desk = Desk::new();
    let table = [
        (
            "test -t 0 && test -t 1 && test -t 2 && echo yes",
            "yes\n[exit code 0]",
        ),
        ("stty size", "24 80\n[exit code 0]"),
        ("echo one; echo two >&2; exit 3", "one\ntwo\n[exit code 3]"),
    ];
    for (command, expected) in table {
        let arguments = json!({"command": command, "pty": true});
        let (text, result) = desk.call_as(&desk.turn, "terminal", arguments).await;
        assert_eq!(
            (text.as_str(), result),
            (expected, ToolResult::Done),
            "{command}"
        );
    }
    let (text, _) = desk
        .call_as(
            &desk.turn,
            "terminal",
            json!({"command": "tty", "pty": true}),
        )
        .await;
    assert!(text.starts_with("/dev/pts/"), "{text}");
    let (text, _) = desk
        .call_as(&desk.turn, "terminal", json!({"command": "tty"}))
        .await;
    assert!(text.starts_with("not a tty"), "{text}");
}

#[tokio::test]
async fn a_program_in_a_terminal_that_takes_too_long_is_gone() {
    let desk = Desk::new();
    let arguments = json!({"command": "trap '' TERM HUP; echo on; sleep 1000", "pty": true, "timeout_seconds": 1});
    let (text, result) = desk.call_as(&desk.turn, "terminal", arguments).await;
    assert_eq!(result, ToolResult::Refused);
    assert_eq!(
        text,
        "on\n[ended after 1 s: it took longer than `timeout_seconds`]"
    );
}

#[tokio::test]
async fn a_program_in_the_background_can_be_talked_with() {
    let desk = Desk::new();
    let command = "tty; stty size; printf 'name? '; read name; echo hello $name; exit 5";
    let arguments = json!({
        "command": command, "background": true, "pty": true, "notify_on_complete": true
    });
    let answer = desk.call("terminal", arguments).await;
    assert!(
        answer["pty"]
            .as_str()
            .is_some_and(|it| it.contains("does not survive")),
        "{answer}"
    );
    let job = answer["process_id"].as_str().unwrap().parse().unwrap();
    let output = desk.shows(job, |output| output.contains("name? ")).await;
    assert!(
        output.starts_with("/dev/pts/") && output.contains("24 80"),
        "{output}"
    );
    desk.call(
        "process",
        json!({"action": "submit", "process_id": job, "text": "ada"}),
    )
    .await;
    let end = desk.book().ended(job).await;
    assert_eq!(
        (end.state, &end.result["exit_code"]),
        (JobState::Failed, &json!(5))
    );
    assert!(end.text.contains("hello ada"), "{}", end.text);
    assert_eq!(desk.book().entry(job).wakes.len(), 1);
}

#[tokio::test]
async fn closing_what_is_typed_ends_a_program_that_reads() {
    let desk = Desk::new();
    let arguments =
        json!({"command": "cat >/dev/null; echo over", "background": true, "pty": true});
    let job = desk.start_with(arguments).await;
    desk.process("close", job).await;
    let end = desk.book().ended(job).await;
    assert_eq!(end.state, JobState::Completed);
    assert!(
        end.result["output"].as_str().unwrap().contains("over"),
        "{}",
        end.result
    );
}

#[tokio::test]
async fn a_program_in_a_terminal_is_killed_with_its_group() {
    let desk = Desk::new();
    let command = "trap '' TERM HUP; echo ready; while :; do sleep 1000; done";
    let job = desk
        .start_with(json!({"command": command, "background": true, "pty": true}))
        .await;
    desk.shows(job, |output| output.contains("ready")).await;
    let answer = desk.process("kill", job).await;
    assert_eq!(
        (&answer["status"], &answer["exit_code"]),
        (&json!("ended"), &json!(137))
    );
}
