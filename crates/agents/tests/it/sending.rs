//! A message goes to the place that is named, or nowhere; a file goes there or into its own conversation.

use std::path::Path;

use serde_json::json;
use talaria_domain::run::ToolResult;
use talaria_domain::runner::Letter;

use crate::desk::Desk;

#[tokio::test]
async fn a_message_goes_to_its_target() {
    let desk = Desk::new();
    let arguments = json!({"target": "example:chat", "text": "hello"});
    let (text, result) = desk.call_as(&desk.turn, "send_message", arguments).await;
    assert_eq!((text.as_str(), result), ("sent", ToolResult::Done));
    let sent = desk.host.beyond.sent.lock().unwrap();
    let letter = Letter {
        target: Some("example:chat".to_owned()),
        text: "hello".to_owned(),
        file: None,
    };
    assert_eq!(*sent, [letter]);
}

#[tokio::test]
async fn a_file_needs_no_target_and_no_words() {
    let desk = Desk::new();
    let arguments = json!({"file": "/work/report.pdf"});
    let (text, result) = desk.call_as(&desk.turn, "send_message", arguments).await;
    assert_eq!((text.as_str(), result), ("sent", ToolResult::Done));
    let sent = desk.host.beyond.sent.lock().unwrap();
    assert_eq!(sent[0].file.as_deref(), Some(Path::new("/work/report.pdf")));
    assert_eq!((&sent[0].target, sent[0].text.as_str()), (&None, ""));
}

#[tokio::test]
async fn there_is_no_target_that_is_meant_for_words_when_none_is_named() {
    let desk = Desk::new();
    let table = [
        (json!({"text": "hello"}), "missing field `target`"),
        (json!({}), "missing field `target`"),
        (json!({"target": " ", "text": "hello"}), "`target` is empty"),
        (json!({"file": " ", "text": "hello"}), "`file` is empty"),
        (
            json!({"target": "example:chat", "text": ""}),
            "`text` is empty",
        ),
        (
            json!({"target": "elsewhere", "text": "hello"}),
            "there is no target \"elsewhere\"",
        ),
        (json!({"file": ["a"]}), "expected a string"),
    ];
    for (arguments, expected) in table {
        let why = desk.refusal("send_message", arguments).await;
        assert!(why.contains(expected), "{why}");
    }
    assert!(desk.host.beyond.sent.lock().unwrap().is_empty());
}
