//! Every piece is JSON, and together they are the answer.

use serde_json::{Value, json};

use super::{Cost, Frame, Spoken, cut, stream, whole};

const FRAME: Frame<'static> = Frame {
    number: 7,
    model: "a \"model\"",
    prompt_tokens: 3,
};

fn events(spoken: Spoken<'_>, pieces: usize, cost: Cost) -> Vec<Value> {
    let bytes = stream(FRAME, spoken, pieces, cost).bytes;
    let text = String::from_utf8(bytes).unwrap();
    let (events, done) = text.split_at(text.len() - "data: [DONE]\n\n".len());
    assert_eq!(done, "data: [DONE]\n\n");
    let event = |event: &str| serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap();
    events.split_terminator("\n\n").map(event).collect()
}

#[test]
fn a_text_is_cut_between_characters() {
    for (text, pieces, expected) in [
        ("abcdef", 3, vec!["ab", "cd", "ef"]),
        ("abcde", 2, vec!["abc", "de"]),
        ("ab", 5, vec!["a", "b"]),
        ("äöü", 4, vec!["ä", "ö", "ü"]),
        ("", 4, vec![""]),
        ("abc", 0, vec!["abc"]),
    ] {
        assert_eq!(cut(text, pieces).collect::<Vec<_>>(), expected, "{text}");
    }
}

#[test]
fn no_more_is_said_than_may_be() {
    for (text, most, expected, finish) in [
        ("abcdefgh", 2, "abcdefgh", "stop"),
        ("abcdefgh", 1, "abcd", "length"),
        ("abc🦀", 1, "abc", "length"),
        ("abcd", 0, "", "length"),
        ("", 0, "", "stop"),
        ("abcd", usize::MAX, "abcd", "stop"),
    ] {
        let spoken = Spoken::within(text, most);
        let whole: Value = serde_json::from_slice(&whole(FRAME, spoken)).unwrap();
        let choice = &whole["choices"][0];
        assert_eq!(choice["message"]["content"], expected, "{text} {most}");
        assert_eq!(choice["finish_reason"], finish, "{text} {most}");
        let last = events(spoken, 3, Cost::Untold).pop().unwrap();
        assert_eq!(last["choices"][0]["finish_reason"], finish);
    }
}

#[test]
fn the_pieces_together_are_the_answer() {
    let text = "say \"hi\"\n🦀";
    for pieces in 1..8 {
        let events = events(Spoken::Text(text), pieces, Cost::Untold);
        let said = |event: &Value| {
            event["choices"][0]["delta"]["content"]
                .as_str()
                .map(str::to_owned)
        };
        assert_eq!(events.iter().filter_map(said).collect::<String>(), text);
        assert_eq!(events[0]["choices"][0]["delta"]["role"], "assistant");
        let last = events.last().unwrap();
        assert_eq!(last["choices"][0]["finish_reason"], "stop");
        assert!(events.iter().all(|event| event["id"] == "chatcmpl-7"
            && event["model"] == "a \"model\""
            && event["object"] == "chat.completion.chunk"));
    }
}

#[test]
fn a_stream_has_as_many_pieces_as_it_should() {
    let streamed = stream(FRAME, Spoken::Text("abcdef"), 3, Cost::Told);
    let pieces = streamed.ends.iter().map(|end| &streamed.bytes[..*end]);
    assert!(pieces.clone().all(|piece| piece.ends_with(b"\n\n")));
    assert_eq!(pieces.len(), 3);
    assert_eq!(streamed.ends.last(), Some(&streamed.bytes.len()));
}

#[test]
fn the_cost_is_told_at_the_end() {
    let events = events(Spoken::Text("12345"), 1, Cost::Told);
    let last = events.last().unwrap();
    assert_eq!(last["choices"], json!([]));
    assert_eq!(
        last["usage"],
        json!({ "prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5 })
    );
}

#[test]
fn a_call_carries_its_command() {
    let command = "echo \"a\\b\"";
    let streamed = &events(Spoken::Call(command), 4, Cost::Untold);
    let whole: Value = serde_json::from_slice(&whole(FRAME, Spoken::Call(command))).unwrap();
    assert_eq!(streamed.len(), 2);
    assert_eq!(streamed[1]["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(whole["choices"][0]["finish_reason"], "tool_calls");
    for message in [
        &streamed[0]["choices"][0]["delta"],
        &whole["choices"][0]["message"],
    ] {
        let call = &message["tool_calls"][0];
        assert_eq!(call["id"], "call_7");
        assert_eq!(call["function"]["name"], "terminal");
        let arguments = call["function"]["arguments"].as_str().unwrap();
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        assert_eq!(arguments, json!({ "command": command }));
    }
}

#[test]
fn a_whole_answer_says_the_same() {
    let whole: Value = serde_json::from_slice(&whole(FRAME, Spoken::Text("12345"))).unwrap();
    assert_eq!(whole["object"], "chat.completion");
    assert_eq!(whole["choices"][0]["message"]["content"], "12345");
    assert_eq!(whole["choices"][0]["finish_reason"], "stop");
    assert_eq!(whole["usage"]["total_tokens"], 5);
}
