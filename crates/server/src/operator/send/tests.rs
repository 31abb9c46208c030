//! How a destination is written.

use serde_json::json;

use super::*;

fn read(place: Value) -> Option<Destination> {
    destination(serde_json::from_value(place).ok()?).ok()
}

#[test]
fn a_place_is_written_in_short_or_in_full() {
    let place = |chat: Option<&str>, thread: Option<&str>| Destination {
        platform: "example".into(),
        account: None,
        chat: chat.map(ChatId::from),
        thread: thread.map(ThreadId::from),
    };
    let in_full = json!({"platform": "example", "account": "bot", "chat": "!a:b"});
    let elsewhere = Destination {
        account: Some("bot".into()),
        ..place(Some("!a:b"), None)
    };
    let expected = [
        (json!("example"), place(None, None)),
        (json!("example:-100"), place(Some("-100"), None)),
        (json!("example:-100:42"), place(Some("-100"), Some("42"))),
        (json!("example:-100:a:b"), place(Some("-100"), Some("a:b"))),
        (in_full, elsewhere),
    ];
    for (written, place) in expected {
        assert_eq!(read(written.clone()), Some(place), "{written}");
    }
}

#[test]
fn half_a_place_is_refused() {
    for place in [
        json!(""),
        json!(":1"),
        json!("example:"),
        json!("example:1:"),
        json!(7),
        json!({"chat": "1"}),
        json!({"platform": "example", "thread": "1"}),
        json!({"platform": "example", "room": "1"}),
    ] {
        assert_eq!(read(place.clone()), None, "{place}");
    }
}
