//! Entities as `MessageEntity` of core.telegram.org/bots/api describes them: offsets in UTF-16, by kind and never by text.

use serde_json::{Value, json};

use super::{Words, read};
use crate::telegram::wire::{Entity, User};

fn me() -> User {
    serde_json::from_value(
        json!({ "id": 7, "is_bot": true, "first_name": "B", "username": "Our_Bot" }),
    )
    .unwrap()
}

fn words(text: &str, entities: &Value) -> Words {
    let entities: Vec<Entity> = serde_json::from_value(entities.clone()).unwrap();
    read(text, &entities, &me())
}

fn entity(kind: &str, offset: usize, length: usize) -> Value {
    json!({ "type": kind, "offset": offset, "length": length })
}

#[test]
fn our_mention_is_known_and_taken_from_the_front() {
    for (text, entities, shown, is_mentioned) in [
        (
            "@Our_Bot hello",
            json!([entity("mention", 0, 8)]),
            "hello",
            true,
        ),
        (
            "@our_bot: hello",
            json!([entity("mention", 0, 8)]),
            "hello",
            true,
        ),
        (
            "🦀 @our_bot hello",
            json!([entity("mention", 3, 8)]),
            "🦀 @our_bot hello",
            true,
        ),
        ("@our_bot hello", json!([]), "@our_bot hello", false),
        (
            "@our_bots hello",
            json!([entity("mention", 0, 9)]),
            "@our_bots hello",
            false,
        ),
        ("@Our_Bot", json!([entity("mention", 0, 8)]), "", true),
        (
            "/stop@our_bot now",
            json!([entity("bot_command", 0, 13)]),
            "/stop now",
            true,
        ),
        (
            "do /stop@Our_Bot",
            json!([entity("bot_command", 3, 13)]),
            "do /stop",
            true,
        ),
        (
            "/stop now",
            json!([entity("bot_command", 0, 5)]),
            "/stop now",
            false,
        ),
    ] {
        let words = words(text, &entities);
        assert_eq!(
            (words.text.as_str(), words.is_mentioned),
            (shown, is_mentioned),
            "{text}"
        );
        assert!(!words.is_for_another, "{text}");
    }
}

#[test]
fn somebody_without_a_name_is_mentioned_by_id() {
    let by_id = |id: i64| json!([{ "type": "text_mention", "offset": 0, "length": 2, "user": { "id": id, "is_bot": true, "first_name": "B" } }]);
    assert!(words("Bo, hello", &by_id(7)).is_mentioned);
    assert!(!words("Bo, hello", &by_id(8)).is_mentioned);
}

#[test]
fn a_command_for_another_is_not_ours() {
    assert!(words("/stop@other_bot", &json!([entity("bot_command", 0, 15)])).is_for_another);
    assert!(
        !words(
            "say /stop@other_bot",
            &json!([entity("bot_command", 4, 15)])
        )
        .is_for_another
    );
}

#[test]
fn a_link_behind_words_is_shown() {
    let link = json!([
        { "type": "text_link", "offset": 0, "length": 2, "url": "https://example.org/1" },
        { "type": "text_link", "offset": 8, "length": 4, "url": "https://example.org/2" },
        entity("bold", 3, 4),
    ]);
    let words = words("🦀 and this", &link);
    assert_eq!(words.text, "🦀 (https://example.org/1) and this");
    let same = json!([{ "type": "text_link", "offset": 0, "length": 5, "url": "x.org" }]);
    assert_eq!(self::words("x.org", &same).text, "x.org");
}

#[test]
fn entities_that_are_nowhere_break_nothing() {
    for entities in [
        json!([entity("mention", 0, 99)]),
        json!([entity("mention", 99, 1)]),
        json!([entity("bot_command", 1, 1)]),
        json!([entity("mention", 0, 0)]),
        json!([entity("mention", usize::MAX, 2)]),
        json!([{ "type": "text_link", "offset": 0, "length": 2, "url": "u" }, entity("mention", 0, 2)]),
        json!([entity("mention", 0, 2), { "type": "text_link", "offset": 0, "length": 2, "url": "u" }]),
        json!([entity("a_word_of_a_later_api", 0, 2)]),
    ] {
        let words = words("🦀🦀", &entities);
        assert!(words.text.contains("🦀"), "{entities}");
    }
    // Two that claim the same place.
    let both = json!([entity("mention", 0, 8), { "type": "text_link", "offset": 0, "length": 8, "url": "u" },
        entity("bot_command", 0, 8)]);
    words("@our_bot", &both);
}
