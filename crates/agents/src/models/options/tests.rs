//! Options as programs write them. The names and their meaning: "Create chat completion", OpenAI API reference.

use serde_json::{Value, json};

use super::{FORMAT, Options, SEED, known, most_tokens, number, refuse, stops};
use crate::models::ModelError;

fn options(written: Value) -> Options {
    serde_json::from_value(written).unwrap()
}

fn why(error: ModelError) -> String {
    match error {
        ModelError::AskDifferently { why } => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn known_names_are_kept_as_they_were_written() {
    let written = json!({
        "max_tokens": 5, "max_completion_tokens": "many", "temperature": 0.5, "top_p": 1, "stop": ["a"],
        "response_format": {"type": "json_object"}, "seed": 7,
    });
    let mut more = options(written.clone());
    more.insert("model".to_owned(), json!("another"));
    more.insert("messages".to_owned(), json!([]));
    let kept: Options = known(&more)
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    assert_eq!(kept, options(written));
}

#[test]
fn null_wants_nothing() {
    let none =
        options(json!({"max_tokens": null, "seed": null, "stop": null, "response_format": null}));
    assert_eq!(known(&none).count(), 0);
    assert_eq!(most_tokens(&none), Ok(None));
    assert_eq!(stops(&none), Ok(Vec::new()));
    assert_eq!(refuse(&none, "it", &[FORMAT, SEED]), Ok(()));
}

#[test]
fn what_is_missing_is_refused_by_name() {
    let table = [
        (json!({}), None),
        (json!({"temperature": 1}), None),
        (json!({"response_format": {"type": "text"}}), None),
        (
            json!({"response_format": {"type": "json_object"}}),
            Some(FORMAT),
        ),
        (json!({"response_format": "nonsense"}), Some(FORMAT)),
        (json!({"seed": 0}), Some(SEED)),
    ];
    for (written, expected) in table {
        let refused = refuse(&options(written.clone()), "it", &[FORMAT, SEED]);
        let expected = expected.map(|name| {
            format!("it has no `{name}`: leave it out, or use a profile with another model")
        });
        assert_eq!(refused.err().map(why), expected, "{written}");
    }
}

#[test]
fn the_most_it_may_say_has_two_names() {
    let table = [
        (json!({}), Ok(None)),
        (json!({"max_tokens": 5}), Ok(Some(5))),
        (json!({"max_completion_tokens": 6}), Ok(Some(6))),
        (
            json!({"max_tokens": 9, "max_completion_tokens": 6}),
            Ok(Some(6)),
        ),
        (
            json!({"max_tokens": 5, "max_completion_tokens": 6}),
            Ok(Some(5)),
        ),
        (
            json!({"max_tokens": 0}),
            Err("`max_tokens` has to be a whole number from 1"),
        ),
        (
            json!({"max_tokens": -1}),
            Err("`max_tokens` has to be a whole number from 1"),
        ),
        (
            json!({"max_tokens": 1.5}),
            Err("`max_tokens` has to be a whole number from 1"),
        ),
        (
            json!({"max_tokens": 5, "max_completion_tokens": "6"}),
            Err("`max_completion_tokens` has to be a whole number from 1"),
        ),
    ];
    for (written, expected) in table {
        let most = most_tokens(&options(written.clone())).map_err(why);
        assert_eq!(most, expected.map_err(str::to_owned), "{written}");
    }
}

#[test]
fn numbers_are_numbers() {
    let table = [
        (json!({}), Ok(None)),
        (json!({"top_p": 0}), Ok(Some(0.0))),
        (json!({"top_p": 0.9}), Ok(Some(0.9))),
        (json!({"top_p": "0.9"}), Err("`top_p` has to be a number")),
    ];
    for (written, expected) in table {
        let read = number(&options(written.clone()), "top_p").map_err(why);
        assert_eq!(read, expected.map_err(str::to_owned), "{written}");
    }
}

#[test]
fn an_answer_stops_at_one_text_or_at_several() {
    let unfit = "`stop` has to be a text or a list of texts";
    let table = [
        (json!({}), Ok(vec![])),
        (json!({"stop": "end"}), Ok(vec!["end"])),
        (json!({"stop": ["a", "b"]}), Ok(vec!["a", "b"])),
        (json!({"stop": []}), Ok(vec![])),
        (json!({"stop": 7}), Err(unfit)),
        (json!({"stop": ["a", 7]}), Err(unfit)),
    ];
    for (written, expected) in table {
        let options = options(written.clone());
        let read = stops(&options).map_err(why);
        assert_eq!(read, expected.map_err(str::to_owned), "{written}");
    }
}
