//! Only the last question counts, however it is written.

use std::borrow::Cow;

use serde_json::json;

use super::Request;

fn read(json: &str) -> Request<'_> {
    serde_json::from_str(json).unwrap()
}

#[test]
fn the_last_thing_a_user_said_counts() {
    let body = json!({ "model": "m", "messages": [
        { "role": "system", "content": "be brief" },
        { "role": "user", "content": "first" },
        { "role": "assistant", "content": "re: first" },
        { "role": "user", "content": "second" },
    ]})
    .to_string();
    let request = read(&body);
    assert_eq!(request.model.0, "m");
    assert_eq!(request.messages.said, "second");
    assert!(matches!(request.messages.said, Cow::Borrowed(_)));
    assert_eq!(request.messages.result, None);
    assert!(!request.stream && !request.wants_usage());
}

#[test]
fn the_most_that_may_be_said_has_two_names() {
    for (name, expected) in [
        ("max_tokens", 5),
        ("max_completion_tokens", 5),
        ("most", usize::MAX),
    ] {
        let body = json!({ "messages": [], name: 5 }).to_string();
        assert_eq!(read(&body).most(), expected, "{name}");
    }
}

#[test]
fn a_tools_result_counts_until_a_user_speaks() {
    let call = json!([{ "id": "c", "type": "function", "function": { "name": "terminal", "arguments": "{}" } }]);
    let asked = json!({ "role": "user", "content": "tool: ls" });
    let called = json!({ "role": "assistant", "content": null, "tool_calls": call });
    let without = json!({ "role": "assistant", "tool_calls": call });
    let result = json!({ "role": "tool", "tool_call_id": "c", "content": "a\nb" });
    let later = json!({ "role": "user", "content": "thanks" });
    for (messages, expected) in [
        (vec![&asked, &called, &result], Some("a\nb")),
        (vec![&asked, &without, &result], Some("a\nb")),
        (vec![&asked, &called, &result, &later], None),
    ] {
        let body = json!({ "messages": messages }).to_string();
        assert_eq!(read(&body).messages.result.as_deref(), expected);
    }
}

#[test]
fn words_may_come_in_parts() {
    let parts = json!([{ "type": "text", "text": "one " }, { "type": "image_url" }, { "type": "text", "text": "\"two\"" }]);
    let body = json!({ "messages": [{ "role": "user", "content": parts }] }).to_string();
    assert_eq!(read(&body).messages.said, "one \"two\"");
}

#[test]
fn usage_is_told_when_asked() {
    let options = json!({ "include_usage": true });
    let body = json!({ "messages": [], "stream": true, "stream_options": options }).to_string();
    let request = read(&body);
    assert!(request.stream && request.wants_usage());
    assert_eq!(request.messages.said, "");
}

#[test]
fn what_is_not_a_request_is_refused() {
    for body in [
        "",
        "[]",
        "{}",
        r#"{"messages":5}"#,
        r#"{"messages":[{"content":"x"}]}"#,
    ] {
        assert!(serde_json::from_str::<Request<'_>>(body).is_err(), "{body}");
    }
}
