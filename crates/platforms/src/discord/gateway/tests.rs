//! The frames of "Gateway" and "Gateway Events", as the pages show them.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Dispatch, Heard, beat, first_beat, heard, identify, resume};
use crate::discord::place::{Session, Shard};

#[test]
fn every_word_is_heard() {
    let dispatch = Heard::Dispatch(Dispatch {
        seq: 42,
        name: "GATEWAY_EVENT_NAME".to_owned(),
        body: json!({}),
    });
    for (frame, expected) in [
        (
            r#"{"op":10,"d":{"heartbeat_interval":45000}}"#,
            Some(Heard::Hello(Duration::from_secs(20))),
        ),
        (
            r#"{"op":10,"d":{"heartbeat_interval":10000}}"#,
            Some(Heard::Hello(Duration::from_secs(10))),
        ),
        (
            r#"{"op":10,"d":{"heartbeat_interval":0}}"#,
            Some(Heard::Hello(Duration::from_millis(50))),
        ),
        (r#"{"op":11}"#, Some(Heard::Ack)),
        (r#"{"op":1,"d":null}"#, Some(Heard::BeatNow)),
        (r#"{"op":7,"d":null}"#, Some(Heard::Reconnect)),
        (
            r#"{"op":9,"d":false}"#,
            Some(Heard::Invalid {
                is_resumable: false,
            }),
        ),
        (
            r#"{"op":9,"d":true}"#,
            Some(Heard::Invalid { is_resumable: true }),
        ),
        (
            r#"{"op":0,"d":{},"s":42,"t":"GATEWAY_EVENT_NAME"}"#,
            Some(dispatch),
        ),
        (r#"{"op":99,"d":{}}"#, Some(Heard::Nothing)),
        (r#"{"op":0,"d":{}}"#, None),
        (r#"{"op":10,"d":{}}"#, None),
        ("[]", None),
        ("", None),
    ] {
        assert_eq!(heard(frame), expected, "{frame}");
    }
}

#[test]
fn every_word_is_said() {
    let read = |text: String| serde_json::from_str::<Value>(&text).unwrap();
    assert_eq!(read(beat(Some(251))), json!({ "op": 1, "d": 251 }));
    assert_eq!(read(beat(None)), json!({ "op": 1, "d": null }));
    let said = read(identify("my_token", Shard { index: 1, count: 2 }));
    assert_eq!(said["op"], 2);
    assert_eq!(said["d"]["token"], "my_token");
    assert_eq!(said["d"]["intents"], 46_593);
    assert_eq!(said["d"]["shard"], json!([1, 2]));
    let session = Session {
        id: "session_id_i_stored".to_owned(),
        url: String::new(),
        seq: 1_337,
        count: 1,
    };
    let expected = json!({
        "op": 6,
        "d": { "token": "my_token", "session_id": "session_id_i_stored", "seq": 1337 },
    });
    assert_eq!(read(resume("my_token", &session)), expected);
}

#[test]
fn the_first_beat_comes_within_the_pace() {
    let pace = Duration::from_secs(41);
    assert_eq!(first_beat(pace, 0), Duration::ZERO);
    assert!(first_beat(pace, 128) < pace);
    assert!(first_beat(pace, 255) < pace);
}
