//! What is understood, and what is not.

use super::*;

fn read_body(body: &Value) -> Result<Wanted, Refusal> {
    read(body.as_object().unwrap())
}

#[test]
fn how_a_response_is_told_is_in_the_query() {
    let read = |query: &str| reading(&format!("/v1/responses/x{query}").parse().unwrap());
    let table = [
        ("", Some(Reading::Whole)),
        ("?stream=false", Some(Reading::Whole)),
        ("?stream=true", Some(Reading::Stream { last: None })),
        (
            "?stream=true&starting_after=7&include_obfuscation=false",
            Some(Reading::Stream { last: Some(7) }),
        ),
        ("?starting_after=7", None),
        ("?stream=yes", None),
        ("?stream=true&starting_after=-1", None),
        ("?stream=true&starting_after=", None),
        ("?include=usage", None),
    ];
    for (query, expected) in table {
        assert_eq!(read(query).ok(), expected, "{query}");
    }
}

#[test]
fn a_question_is_the_same_in_both_formats() {
    let response = json!({
        "model": "assistant", "instructions": "be brief", "max_output_tokens": 9, "temperature": 1,
        "input": [
            { "role": "developer", "content": "be kind" },
            { "type": "message", "role": "user", "content": [
                { "type": "input_text", "text": "hello" },
                { "type": "input_image", "image_url": "https://example.org/a.png" },
            ]},
        ],
        "text": { "format": { "type": "json_schema", "name": "n", "schema": {} } },
    });
    let completion = json!({
        "model": "assistant", "max_tokens": 9, "temperature": 1,
        "messages": [
            { "role": "system", "content": "be brief" },
            { "role": "developer", "content": "be kind" },
            { "role": "user", "content": [
                { "type": "text", "text": "hello" },
                { "type": "image_url", "image_url": { "url": "https://example.org/a.png" } },
            ]},
        ],
        "response_format": { "type": "json_schema", "json_schema": { "name": "n", "schema": {} } },
    });
    let wanted = read_body(&response).unwrap();
    let asked = completions::read(completion.as_object().unwrap()).unwrap();
    assert_eq!(wanted.asked, asked);
    assert!(wanted.is_stored && !wanted.is_streamed);
}

#[test]
fn what_is_not_done_is_refused() {
    for (name, value) in [
        ("background", json!(true)),
        ("prompt", json!({ "id": "x" })),
        ("tools", json!([{ "type": "web_search" }])),
        ("store", json!("no")),
        ("stream", json!(1)),
        ("conversation", json!(7)),
        ("previous_response_id", json!(7)),
        ("max_output_tokens", json!(0)),
        ("instructions", json!([])),
        ("input", json!([{ "type": "function_call_output" }])),
        ("input", json!(null)),
    ] {
        let mut body = json!({ "input": "hello" });
        body[name] = value;
        assert!(read_body(&body).is_err(), "{body}");
    }
    let both = json!({ "input": "x", "previous_response_id": "a", "conversation": "b" });
    assert!(read_body(&both).is_err());
}
