//! A message goes to the place that is named, or nowhere.

use serde_json::json;
use talaria_domain::run::ToolResult;

use crate::desk::Desk;

#[tokio::test]
async fn a_message_goes_to_its_target() {
    let desk = Desk::new();
    let arguments = json!({"target": "example:chat", "text": "hello"});
    let (text, result) = desk.call_as(&desk.turn, "send_message", arguments).await;
    assert_eq!((text.as_str(), result), ("sent", ToolResult::Done));
    let sent = desk.host.beyond.sent.lock().unwrap();
    assert_eq!(*sent, [("example:chat".to_owned(), "hello".to_owned())]);
}

#[tokio::test]
async fn there_is_no_target_that_is_meant_when_none_is_named() {
    let desk = Desk::new();
    let table = [
        (json!({"text": "hello"}), "missing field `target`"),
        (json!({"target": " ", "text": "hello"}), "`target` is empty"),
        (
            json!({"target": "example:chat", "text": ""}),
            "`text` is empty",
        ),
        (
            json!({"target": "elsewhere", "text": "hello"}),
            "there is no target \"elsewhere\"",
        ),
    ];
    for (arguments, expected) in table {
        let why = desk.refusal("send_message", arguments).await;
        assert!(why.contains(expected), "{why}");
    }
    assert!(desk.host.beyond.sent.lock().unwrap().is_empty());
}
