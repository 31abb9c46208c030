//! Each method answers and refuses as its page says (<https://docs.slack.dev/reference/methods/>).

use serde_json::{Value, json};
use talaria_domain::clock::Timestamp;

use super::{No, answer};
use crate::slack::world::{Terms, World};
use crate::vendor::{World as _, Written};

fn world() -> World {
    World::on(Terms::default())
}

fn ask(world: &mut World, method: &str, asked: &Value) -> Result<Value, &'static str> {
    let asked = asked.as_object().unwrap();
    answer(world, 0, method, asked).map_err(|No { code, .. }| code)
}

fn post(world: &mut World, asked: &Value) -> String {
    let posted = ask(world, "chat.postMessage", asked).unwrap();
    posted["ts"].as_str().unwrap().to_owned()
}

#[test]
fn a_message_is_posted_changed_and_marked() {
    let mut world = world();
    let ts = post(&mut world, &json!({ "channel": "C1A", "text": "…" }));
    let change = json!({ "channel": "C1A", "ts": ts, "text": "hello" });
    ask(&mut world, "chat.update", &change).unwrap();
    assert_eq!(world.room().message(&ts).unwrap().text, "hello");
    let mark = json!({ "channel": "C1A", "timestamp": ts, "name": "eyes" });
    assert!(ask(&mut world, "reactions.add", &mark).is_ok());
    assert_eq!(
        ask(&mut world, "reactions.add", &mark),
        Err("already_reacted")
    );
    assert!(ask(&mut world, "reactions.remove", &mark).is_ok());
    assert_eq!(
        ask(&mut world, "reactions.remove", &mark),
        Err("no_reaction")
    );
}

#[test]
fn what_is_not_right_has_its_error() {
    let mut world = world();
    let theirs = world.room_mut().write(
        &Written::to_chat("C1A", "channel", ("U1", "mine")),
        Timestamp::ZERO,
    );
    world.archive("C0OLD");
    let label = "l".repeat(76);
    let button = |label: &str, action: &str| json!({ "type": "button", "text": { "type": "plain_text", "text": label }, "action_id": action });
    let actions = |elements: Value| json!([{ "type": "actions", "elements": elements }]);
    for (method, asked, error) in [
        (
            "chat.postMessage",
            json!({ "text": "x" }),
            "channel_not_found",
        ),
        (
            "chat.postMessage",
            json!({ "channel": "nowhere", "text": "x" }),
            "channel_not_found",
        ),
        (
            "chat.postMessage",
            json!({ "channel": "C0OLD", "text": "x" }),
            "is_archived",
        ),
        ("chat.postMessage", json!({ "channel": "C1A" }), "no_text"),
        (
            "chat.postMessage",
            json!({ "channel": "C1A", "text": "x".repeat(40_001) }),
            "msg_too_long",
        ),
        (
            "chat.postMessage",
            json!({ "channel": "C1A", "text": "x", "thread_ts": "9.9" }),
            "thread_not_found",
        ),
        (
            "chat.postMessage",
            json!({ "channel": "C1A", "text": "x", "blocks": "?" }),
            "invalid_blocks_format",
        ),
        (
            "chat.postMessage",
            json!({ "channel": "C1A", "blocks": [{ "type": "section", "text": { "text": "x".repeat(3_001) } }] }),
            "invalid_blocks",
        ),
        (
            "chat.postMessage",
            json!({ "channel": "C1A", "blocks": actions(json!([button(&label, "a")])) }),
            "invalid_blocks",
        ),
        (
            "chat.postMessage",
            json!({ "channel": "C1A", "blocks": actions(json!([button("x", "a"), button("y", "a")])) }),
            "invalid_blocks",
        ),
        (
            "chat.update",
            json!({ "channel": "C1A", "ts": "9.9", "text": "x" }),
            "message_not_found",
        ),
        (
            "chat.update",
            json!({ "channel": "C1A", "ts": theirs.message, "text": "x" }),
            "cant_update_message",
        ),
        (
            "reactions.add",
            json!({ "channel": "C1A", "timestamp": "9.9", "name": "eyes" }),
            "message_not_found",
        ),
        (
            "assistant.threads.setStatus",
            json!({ "channel_id": "C1A", "thread_ts": "9.9", "status": "x" }),
            "invalid_thread_ts",
        ),
        ("users.info", json!({ "user": "nobody" }), "user_not_found"),
        ("files.info", json!({ "file": "F404" }), "file_not_found"),
        (
            "files.completeUploadExternal",
            json!({ "files": [{ "id": "F404" }] }),
            "file_not_found",
        ),
        ("something.else", json!({}), "unknown_method"),
    ] {
        assert_eq!(ask(&mut world, method, &asked), Err(error), "{asked}");
    }
}

#[test]
fn a_file_is_there_once_its_bytes_are() {
    let mut world = world();
    let wanted = json!({ "filename": "a.txt", "length": "3" });
    let place = ask(&mut world, "files.getUploadURLExternal", &wanted).unwrap();
    let id = place["file_id"].as_str().unwrap().to_owned();
    let share = json!({ "files": [{ "id": id }], "channel_id": "C1A", "initial_comment": "look" });
    let method = "files.completeUploadExternal";
    assert_eq!(ask(&mut world, method, &share), Err("file_not_found"));
    world.files.get_mut(&id).unwrap().content = b"abc".to_vec();
    ask(&mut world, method, &share).unwrap();
    let shown = &world.room().chat("C1A").unwrap().messages[0];
    assert_eq!(shown.text, "look");
    assert_eq!(shown.file.as_ref().unwrap().content, "abc");
    let found = ask(&mut world, "files.info", &json!({ "file": id })).unwrap();
    assert_eq!(found["file"]["size"], 3);
}

#[test]
fn whoever_writes_hears_it_as_well() {
    let mut world = world();
    post(&mut world, &json!({ "channel": "C1A", "text": "hello" }));
    let way = world.open_way(0);
    let echo = world.next_letter(way).unwrap().payload;
    assert_eq!(echo["event"]["bot_id"], "B0BOT0001");
    assert_eq!(echo["event"]["channel"], "C1A");
}
