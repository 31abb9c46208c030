//! A process belongs to the conversation that started it.

use serde_json::json;
use talaria_domain::run::ToolResult;

use crate::desk::Desk;

const NOBODYS: &str = "0198c0de-0000-7000-8000-000000000001";

#[tokio::test]
async fn somebody_elses_process_is_not_there_whatever_is_asked() {
    let desk = Desk::new();
    let job = desk.start("cat").await;
    let stranger = desk.stranger();
    for action in ["poll", "log", "wait", "kill", "write", "submit", "close"] {
        let asked = |id: &str| json!({"action": action, "process_id": id, "text": "x", "timeout_seconds": 1});
        let theirs = desk
            .call_as(&stranger, "process", asked(&job.to_string()))
            .await;
        let unknown = desk.call_as(&stranger, "process", asked(NOBODYS)).await;
        assert_eq!(theirs.1, ToolResult::Refused, "{action}");
        assert_eq!(
            theirs.0.replace(&job.to_string(), NOBODYS),
            unknown.0,
            "{action}: one cannot tell the two apart"
        );
        assert!(theirs.0.starts_with("there is no process"), "{}", theirs.0);
    }
    let (listed, _) = desk
        .call_as(&stranger, "process", json!({"action": "list"}))
        .await;
    assert_eq!(listed, r#"{"processes":[]}"#);
    let poll = desk.process("poll", job).await;
    assert_eq!(
        (&poll["status"], &poll["output"]),
        (&json!("running"), &json!("")),
        "nothing happened to it"
    );
    let entry = desk.book().entry(job);
    assert!(!entry.is_consumed && entry.end.is_none());
}

#[tokio::test]
async fn nonsense_is_answered() {
    let desk = Desk::new();
    let table = [
        (json!({"action": "poll"}), "`process_id` is missing"),
        (
            json!({"action": "poll", "process_id": "7"}),
            "there is no process \"7\"",
        ),
        (json!({"action": "dance"}), "unknown variant `dance`"),
        (json!({}), "missing field `action`"),
        (
            json!({"action": "list", "banana": 1}),
            "unknown field `banana`",
        ),
        (json!("list"), "not valid JSON"),
    ];
    for (arguments, expected) in table {
        let why = desk.refusal("process", arguments.clone()).await;
        assert!(why.contains(expected), "{arguments}: {why}");
    }
    let job = desk.start("cat").await;
    let why = desk
        .refusal("process", json!({"action": "write", "process_id": job}))
        .await;
    assert!(why.contains("`text` is missing"), "{why}");
}
