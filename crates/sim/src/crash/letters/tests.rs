//! Which letter speaks for which message.

use serde_json::{Value, json};

use super::{Letter, Marked, is_told};

fn trace() -> Value {
    let address = json!({ "platform": "relay", "account": "plain", "chat": "chat of ada" });
    json!({
        "event": { "id": "e1", "address": address, "content": { "text": "w3x4" } },
        "replies": [
            { "to": address, "parts": [{ "id": "p1", "body": { "body": "text", "markdown": "hello" } }] },
            { "to": address, "parts": [
                { "id": "p2", "body": { "body": "text", "markdown": "re: w1x2\nw3x4" } },
                { "id": "p3", "body": { "body": "file" } },
            ] },
        ],
    })
}

const MISSED: Marked<'_> = Marked {
    account: "plain",
    chat: "chat of ada",
    word: "w3x4",
};

fn speaks(thing: &str, marked: Marked<'_>) -> bool {
    let letters: Vec<_> = Letter::about(thing, &trace()).into_iter().collect();
    is_told(&letters, marked)
}

#[test]
fn the_part_or_the_event_that_was_given_up_speaks_for_its_message() {
    assert!(speaks("p2", MISSED));
    assert!(speaks("e1", MISSED));
}

#[test]
fn another_part_of_the_same_trace_does_not() {
    assert!(!speaks("p1", MISSED));
    assert!(!speaks("p3", MISSED));
    assert!(!speaks("p9", MISSED));
}

#[test]
fn a_letter_about_another_word_chat_or_account_does_not() {
    for other in [
        Marked {
            word: "w3x40",
            ..MISSED
        },
        Marked {
            word: "w3x",
            ..MISSED
        },
        Marked {
            chat: "chat of bob",
            ..MISSED
        },
        Marked {
            account: "edits",
            ..MISSED
        },
    ] {
        assert!(!speaks("p2", other), "{other:?}");
    }
    assert!(!is_told(&[], MISSED));
}
