//! Shapes that are made from types.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde_json::json;

use super::Operation;

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is looked at")]
struct Order {
    name: String,
    note: Option<String>,
}

#[test]
fn a_body_is_needed_where_something_in_it_is() {
    let written = Operation::of("Orders.").takes::<Order>().into_value();
    let body = &written["requestBody"];
    assert_eq!(body["required"], true);
    let shape = &body["content"]["application/json"]["schema"];
    assert_eq!(shape["required"], json!(["name"]));
    assert_eq!(shape["additionalProperties"], false);
    assert_eq!(
        shape["properties"]["note"]["type"],
        json!(["string", "null"])
    );
    assert!(written["responses"]["400"].is_object());
}

#[test]
fn an_answer_may_have_two_formats() {
    let operation = Operation::of("Tells.")
        .gives::<Order>(StatusCode::OK)
        .streams();
    let content = &operation.into_value()["responses"]["200"]["content"];
    let types: Vec<&String> = content.as_object().unwrap().keys().collect();
    assert_eq!(types, ["application/json", "text/event-stream"]);
    let shape = &content["application/json"]["schema"];
    assert_eq!(
        shape["required"],
        json!(["name", "note"]),
        "what is written is all there"
    );
}
