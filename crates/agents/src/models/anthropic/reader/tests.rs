//! Answers as the server sends them. The streams follow "Streaming messages", Claude docs.

use serde_json::json;
use talaria_domain::run::Usage;

use super::Reader;
use crate::models::exchange::Reader as _;
use crate::models::fault::Fault;
use crate::models::sse::Decoder;
use crate::models::{Answer, Delta, Finish};

fn read(pieces: &[&[u8]]) -> Result<(Vec<Delta>, Answer), Fault> {
    let (mut decoder, mut reader) = (Decoder::default(), Reader::default());
    let mut deltas = Vec::new();
    for piece in pieces {
        for event in decoder.push(piece).unwrap() {
            deltas.extend(reader.take(&event)?);
        }
    }
    if let Some(event) = decoder.finish() {
        deltas.extend(reader.take(&event)?);
    }
    Ok((deltas, reader.finish()?))
}

fn stream(events: &[&str]) -> String {
    let one = |json: &&str| {
        let kind: serde_json::Value = serde_json::from_str(json).unwrap();
        format!(
            "event: {}\ndata: {json}\n\n",
            kind["type"].as_str().unwrap()
        )
    };
    events.iter().map(one).collect()
}

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"cache_read_input_tokens":10,"cache_creation_input_tokens":5,"output_tokens":1}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

const HELLO: [&str; 8] = [
    START,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    r#"{"type": "ping"}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße, "}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"world 👋"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15}}"#,
    STOP,
];

#[test]
fn text_is_heard_as_it_grows() {
    let (deltas, answer) = read(&[stream(&HELLO).as_bytes()]).unwrap();
    assert_eq!(
        deltas,
        ["Grüße, ", "world 👋"].map(|text| Delta::Text(text.to_owned()))
    );
    let expected = Answer {
        text: "Grüße, world 👋".to_owned(),
        usage: Usage {
            input_tokens: 40,
            output_tokens: 15,
        },
        ..Answer::default()
    };
    assert_eq!(answer, expected);
}

#[test]
fn a_cut_at_any_byte_changes_nothing() {
    let text = stream(&HELLO);
    let bytes = text.as_bytes();
    let whole = read(&[bytes]).unwrap();
    for at in 0..=bytes.len() {
        let (first, second) = bytes.split_at(at);
        assert_eq!(read(&[first, second]), Ok(whole.clone()), "cut at {at}");
    }
    let single: Vec<_> = bytes.chunks(1).collect();
    assert_eq!(read(&single), Ok(whole));
}

const WITH_TOOLS: [&str; 13] = [
    START,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hmm"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"Let me look."}}"#,
    r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_a","name":"terminal","input":{}}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"command\": \"l"}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"s\"}"}}"#,
    r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_b","name":"list","input":{}}}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":89}}"#,
    STOP,
];

#[test]
fn thoughts_words_and_calls_are_kept_apart() {
    let (deltas, answer) = read(&[stream(&WITH_TOOLS).as_bytes()]).unwrap();
    assert_eq!(
        deltas,
        [
            Delta::Reasoning("hmm".to_owned()),
            Delta::Text("Let me look.".to_owned())
        ]
    );
    assert_eq!(
        (answer.reasoning.as_str(), answer.text.as_str()),
        ("hmm", "Let me look.")
    );
    let calls: Vec<_> = answer
        .calls
        .iter()
        .map(|call| (call.id.as_str(), call.tool.as_str(), &call.arguments))
        .collect();
    let (ls, nothing) = (json!({"command": "ls"}), json!({}));
    assert_eq!(
        calls,
        [("toolu_a", "terminal", &ls), ("toolu_b", "list", &nothing)]
    );
}

/// "In accordance with our versioning policy, we may add new event types": "Streaming messages", Claude docs.
#[test]
fn what_is_not_known_yet_is_skipped() {
    let mut events = HELLO.to_vec();
    events.insert(2, r#"{"type":"content_block_start","index":7,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}"#);
    events.insert(3, r#"{"type":"content_block_delta","index":7,"delta":{"type":"citations_delta","citation":{}}}"#);
    events.insert(4, r#"{"type":"something_new","x":1}"#);
    let (_, answer) = read(&[stream(&events).as_bytes()]).unwrap();
    assert_eq!(answer.text, "Grüße, world 👋");
    assert_eq!(answer.calls, []);
}

/// "Stop reasons and fallback", Claude docs.
#[test]
fn the_reason_for_the_end_is_kept() {
    let finish = |reason: &str| {
        let end = format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}},"usage":{{}}}}"#
        );
        read(&[stream(&[START, &end, STOP]).as_bytes()])
            .unwrap()
            .1
            .finish
    };
    assert_eq!(finish("end_turn"), Finish::Stop);
    assert_eq!(finish("tool_use"), Finish::Stop);
    assert_eq!(finish("max_tokens"), Finish::Length);
    assert_eq!(finish("model_context_window_exceeded"), Finish::Length);
    assert_eq!(finish("refusal"), Finish::ContentFilter);
}

#[test]
fn an_error_in_the_middle_is_one() {
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let read = read(&[stream(&[START, error]).as_bytes()]);
    let (why, after) = ("Overloaded".to_owned(), None);
    assert_eq!(read, Err(Fault::Busy { why, after }));
}

#[test]
fn a_stream_that_just_ends_has_broken_off() {
    let cut = read(&[stream(&HELLO[..5]).as_bytes()]);
    assert!(matches!(cut, Err(Fault::Passing { .. })), "{cut:?}");
    let without_stop = read(&[stream(&HELLO[..7]).as_bytes()]);
    assert!(without_stop.is_ok(), "it said why it ended");
}

#[test]
fn nonsense_is_a_sentence() {
    for text in [
        "data: nonsense\n\n",
        "data: {}\n\n",
        "<html></html>\n\n",
        "data: {\"type\":\"ping\"}\n\n",
    ] {
        let read = read(&[text.as_bytes()]);
        assert!(
            matches!(read, Err(Fault::Unreadable(_))),
            "{text}: {read:?}"
        );
    }
}

#[test]
fn a_whole_answer_is_read_as_well() {
    let whole = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [
            {"type": "thinking", "thinking": "hmm", "signature": "x"},
            {"type": "text", "text": "ok"},
            {"type": "tool_use", "id": "toolu_a", "name": "terminal", "input": {"command": "ls"}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    });
    let answer = Reader::whole(&whole.to_string()).unwrap();
    assert_eq!(
        (answer.text.as_str(), answer.reasoning.as_str()),
        ("ok", "hmm")
    );
    assert_eq!(answer.calls[0].arguments, json!({"command": "ls"}));
    assert_eq!(
        (answer.usage.input_tokens, answer.usage.output_tokens),
        (3, 4)
    );
}

#[test]
fn a_whole_error_is_one() {
    let error = r#"{"type":"error","error":{"type":"not_found_error","message":"model: m"}}"#;
    assert_eq!(
        Reader::whole(error),
        Err(Fault::Refused("model: m".to_owned()))
    );
    let other = Reader::whole(r#"{"hello":"world"}"#);
    assert!(matches!(other, Err(Fault::Unreadable(_))), "{other:?}");
}
