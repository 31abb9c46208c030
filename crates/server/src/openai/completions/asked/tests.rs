//! What is understood. What is not is a table in the tests through the front door.

use serde_json::json;

use super::*;

fn content(body: &Value, memory: Memory) -> Content {
    read(body.as_object().unwrap())
        .unwrap()
        .content(memory, None, Hearing::Left)
}

/// All that every program asks for: its request is the only way back.
fn nothing_later() -> Wishes {
    Wishes {
        window: Some(DeliveryWindow::InTurnOnly),
        ..Wishes::default()
    }
}

#[test]
fn plain_words_bring_no_wishes_but_that_nothing_comes_later() {
    let body = json!({ "messages": [{ "role": "user", "content": "hello" }] });
    let expected = Content {
        text: "hello".to_owned(),
        mention: Mention::Direct,
        wishes: Some(Box::new(nothing_later())),
        ..Content::default()
    };
    assert_eq!(content(&body, Memory::Theirs), expected);
}

#[test]
fn their_history_counts_only_where_we_have_none() {
    let body = json!({ "messages": [
        { "role": "system", "content": "be brief" },
        { "role": "user", "content": "one" },
        { "role": "assistant", "content": "two" },
        { "role": "user", "content": "three" },
    ]});
    let theirs = content(&body, Memory::Theirs).wishes.unwrap();
    assert_eq!(theirs.history.map(|said| said.len()), Some(2));
    let ours = content(&body, Memory::Ours).wishes.unwrap();
    assert_eq!(ours.history, None);
    assert_eq!(
        ours.instructions.as_deref(),
        Some("be brief"),
        "instructions are for this turn"
    );
}

#[test]
fn what_means_nothing_is_left_out() {
    let body = json!({
        "messages": [{ "role": "user", "content": "hello" }],
        "temperature": null, "max_tokens": null, "stop": null, "response_format": { "type": "text" },
        "tools": null, "tool_choice": "auto", "logprobs": false, "logit_bias": {}, "presence_penalty": 0.0,
        "modalities": ["text"], "stream": null, "stream_options": null, "metadata": { "a": "b" },
        "parallel_tool_calls": true,
    });
    let wishes = content(&body, Memory::Theirs).wishes;
    assert_eq!(wishes.as_deref(), Some(&nothing_later()));
}

#[test]
fn a_callback_comes_with_the_turn_and_its_request_still_ends_with_the_answer() {
    let body = json!({ "messages": [{ "role": "user", "content": "hello" }] });
    let callback = crate::surfaces::program("elsewhere".into());
    let asked = read(body.as_object().unwrap()).unwrap();
    let wishes = asked
        .content(Memory::Ours, Some(callback.clone()), Hearing::AtItsEnd)
        .wishes;
    let expected = Wishes {
        callback: Some(callback),
        hearing: Hearing::AtItsEnd,
        ..nothing_later()
    };
    assert_eq!(wishes.as_deref(), Some(&expected));
}
