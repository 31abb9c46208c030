//! What a model is told about arguments that do not fit.

use serde::Deserialize;
use serde_json::{Value, json};

use super::read;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    name: String,
    count: Option<u64>,
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"count": {"type": "integer"}, "name": {"type": "string"}},
        "required": ["name"],
    })
}

#[test]
fn arguments_that_fit_are_read() {
    let read: Result<Wanted, _> = read(&json!({"name": "a"}), &schema());
    let expected = Wanted {
        name: "a".to_owned(),
        count: None,
    };
    assert_eq!(read, Ok(expected));
}

#[test]
fn others_are_told_what_was_expected() {
    let table = [
        (json!({}), "missing field `name`"),
        (json!({"name": 7}), "expected a string"),
        (json!({"name": "a", "count": "b"}), "expected u64"),
        (json!({"name": "a", "size": 1}), "unknown field `size`"),
        (json!("{\"name\":"), "not valid JSON"),
        (json!(["a"]), "not an object"),
        (json!(null), "not an object"),
    ];
    for (arguments, expected) in table {
        let told = read::<Wanted>(&arguments, &schema()).unwrap_err();
        assert!(told.contains(expected), "{arguments}: {told}");
        let fields = "expected an object with `count` (integer), `name` (string, required)";
        assert!(told.ends_with(fields), "{told}");
    }
}
