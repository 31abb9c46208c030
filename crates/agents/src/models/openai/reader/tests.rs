//! Answers as servers send them, whole and in pieces. The shapes are those of "The chat completion chunk object" and
//! "The chat completion object", OpenAI API reference; departures name the server they were seen at.

use serde_json::json;
use talaria_domain::run::Usage;

use super::Reader;
use crate::models::exchange::Reader as _;
use crate::models::fault::Fault;
use crate::models::sse::Decoder;
use crate::models::{Answer, Delta, Finish};

/// Reads a stream as it comes off the wire, in the given pieces.
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

fn stream(chunks: &[&str]) -> String {
    let lines: Vec<_> = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    lines.concat()
}

fn answer(chunks: &[&str]) -> Answer {
    read(&[stream(chunks).as_bytes()]).unwrap().1
}

const HELLO: [&str; 6] = [
    r#"{"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null}"#,
    r#"{"id":"chatcmpl-123","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Grüße, "},"finish_reason":null}],"usage":null}"#,
    r#"{"id":"chatcmpl-123","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"world 👋"},"finish_reason":null}],"usage":null}"#,
    r#"{"id":"chatcmpl-123","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}"#,
    r#"{"id":"chatcmpl-123","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}"#,
    "[DONE]",
];

fn hello() -> Answer {
    Answer {
        text: "Grüße, world 👋".to_owned(),
        usage: Usage {
            input_tokens: 9,
            output_tokens: 12,
        },
        ..Answer::default()
    }
}

#[test]
fn text_is_heard_as_it_grows() {
    let (deltas, answer) = read(&[stream(&HELLO).as_bytes()]).unwrap();
    let expected = ["Grüße, ", "world 👋"].map(|text| Delta::Text(text.to_owned()));
    assert_eq!(deltas, expected);
    assert_eq!(answer, hello());
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

/// "Function calling", OpenAI docs: the arguments come as fragments of JSON, by index.
#[test]
fn tool_calls_are_put_together() {
    let answer = answer(&[
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"terminal","arguments":""}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"comm"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"and\":\"ls\"}"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"terminal","arguments":"{\"command\":\"pwd\"}"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
        "[DONE]",
    ]);
    let calls: Vec<_> = answer
        .calls
        .iter()
        .map(|call| (call.id.as_str(), &call.arguments))
        .collect();
    let (ls, pwd) = (json!({"command": "ls"}), json!({"command": "pwd"}));
    assert_eq!(calls, [("call_a", &ls), ("call_b", &pwd)]);
    assert!(answer.calls.iter().all(|call| call.tool == "terminal"));
}

// "Reasoning Model (deepseek-reasoner)", DeepSeek API guides (`reasoning_content`); "Reasoning Tokens", OpenRouter docs
// (`reasoning`). Some servers send both names with the same content.
#[test]
fn thoughts_are_kept_apart_under_either_name() {
    for thought in [
        r#"{"reasoning_content":"hmm","content":null}"#,
        r#"{"reasoning":"hmm","content":""}"#,
        r#"{"reasoning_content":"hmm","reasoning":"hmm"}"#,
    ] {
        let thought = format!(r#"{{"choices":[{{"delta":{thought}}}]}}"#);
        let text = r#"{"choices":[{"delta":{"content":"yes"},"finish_reason":"stop"}]}"#;
        let (deltas, answer) = read(&[stream(&[&thought, text]).as_bytes()]).unwrap();
        assert_eq!(
            deltas,
            [
                Delta::Reasoning("hmm".to_owned()),
                Delta::Text("yes".to_owned())
            ]
        );
        assert_eq!(
            (answer.reasoning.as_str(), answer.text.as_str()),
            ("hmm", "yes")
        );
    }
}

#[test]
fn the_reason_for_the_end_is_kept() {
    let finish = |reason: &str| {
        let chunk =
            format!(r#"{{"choices":[{{"delta":{{"content":"a"}},"finish_reason":"{reason}"}}]}}"#);
        answer(&[&chunk]).finish
    };
    assert_eq!(finish("stop"), Finish::Stop);
    assert_eq!(finish("tool_calls"), Finish::Stop);
    assert_eq!(finish("length"), Finish::Length);
    assert_eq!(finish("content_filter"), Finish::ContentFilter);
    assert_eq!(
        finish("eos_token"),
        Finish::Stop,
        "what a server calls it is its own affair"
    );
}

#[test]
fn what_compatible_servers_do_differently_is_understood() {
    let table: [(&str, &[&str]); 6] = [
        (
            "vLLM: null choices in the last chunk",
            &[
                r#"{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}"#,
                r#"{"choices":null,"usage":{"prompt_tokens":1,"completion_tokens":1}}"#,
            ],
        ),
        (
            "Azure: no choices in the first chunk",
            &[
                r#"{"choices":[],"prompt_filter_results":[{"prompt_index":0}]}"#,
                r#"{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}"#,
            ],
        ),
        (
            "no reason, but the end",
            &[r#"{"choices":[{"delta":{"content":"ok"}}]}"#, "[DONE]"],
        ),
        (
            "a reason, but no end",
            &[r#"{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}"#],
        ),
        (
            "Mistral: content in parts",
            &[
                r#"{"choices":[{"delta":{"content":[{"type":"text","text":"o"},{"type":"text","text":"k"}]}}]}"#,
                "[DONE]",
            ],
        ),
        (
            "a refusal",
            &[r#"{"choices":[{"delta":{"refusal":"ok"}}]}"#, "[DONE]"],
        ),
    ];
    for (what, chunks) in table {
        assert_eq!(answer(chunks).text, "ok", "{what}");
    }
}

#[test]
fn arguments_may_be_an_object() {
    let answer = answer(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"t","arguments":{"x":1}}}]}}]}"#,
        "[DONE]",
    ]);
    assert_eq!(answer.calls[0].arguments, json!({"x": 1}));
}

#[test]
fn a_stream_that_just_ends_has_broken_off() {
    let cut = read(&[stream(&HELLO[..3]).as_bytes()]);
    assert!(matches!(cut, Err(Fault::Passing { .. })), "{cut:?}");
}

#[test]
fn a_malformed_piece_is_a_sentence() {
    for piece in [
        "{\"choices\":[",
        "nonsense",
        "[1]",
        "\"text\"",
        r#"{"choices":7}"#,
    ] {
        let read = read(&[stream(&[piece, "[DONE]"]).as_bytes()]);
        assert!(
            matches!(read, Err(Fault::Unreadable(_))),
            "{piece}: {read:?}"
        );
    }
}

#[test]
fn something_else_is_no_answer() {
    for text in [
        "<html>hello</html>\n\n",
        "data: {\"ok\":true}\n\n",
        "data: [DONE]\n\n",
    ] {
        let read = read(&[text.as_bytes()]);
        assert!(
            matches!(read, Err(Fault::Unreadable(_))),
            "{text}: {read:?}"
        );
    }
}

// "Streaming", OpenRouter docs: an error in the middle is an event with an `error` in it.
#[test]
fn an_error_in_the_middle_is_one() {
    let chunk = r#"{"error":{"code":502,"message":"Provider disconnected"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#;
    let read = read(&[stream(&[HELLO[1], chunk]).as_bytes()]);
    assert_eq!(read, Err(Fault::passing("Provider disconnected")));
}

#[test]
fn a_whole_answer_is_read_as_well() {
    let whole = json!({
        "id": "chatcmpl-123",
        "object": "chat.completion",
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant", "content": "ok", "refusal": null, "reasoning_content": "hmm",
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "one", "arguments": "{}"}},
                    {"id": "b", "type": "function", "function": {"name": "two", "arguments": "{}"}},
                ],
            },
            "finish_reason": "tool_calls",
        }],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4},
    });
    let answer = Reader::whole(&whole.to_string()).unwrap();
    assert_eq!(
        (answer.text.as_str(), answer.reasoning.as_str()),
        ("ok", "hmm")
    );
    let tools: Vec<_> = answer.calls.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(tools, ["one", "two"]);
    assert_eq!(answer.usage.output_tokens, 4);
}

#[test]
fn calls_of_a_whole_answer_need_no_ids() {
    let call = |tool: &str| json!({"function": {"name": tool, "arguments": "{}"}});
    let whole = json!({"choices": [{"message": {"tool_calls": [call("one"), call("two"), call("three")]}}]});
    let answer = Reader::whole(&whole.to_string()).unwrap();
    let tools: Vec<_> = answer.calls.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(tools, ["one", "two", "three"]);
}

#[test]
fn a_whole_error_is_one() {
    let refused = Reader::whole(r#"{"error":{"code":404,"message":"no such model"}}"#);
    assert_eq!(refused, Err(Fault::Refused("no such model".to_owned())));
    let other = Reader::whole(r#"{"hello":"world"}"#);
    assert!(matches!(other, Err(Fault::Unreadable(_))), "{other:?}");
}
