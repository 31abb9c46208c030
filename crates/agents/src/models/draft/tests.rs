//! Tool calls from fragments as servers really send them, and the bound on what is held.

use serde_json::json;

use super::{Draft, Fragment, MOST_BYTES, clip, object_of};
use crate::models::Delta;
use crate::models::fault::Fault;

fn fragment<'a>(
    index: Option<usize>,
    id: &'a str,
    tool: &'a str,
    arguments: &'a str,
) -> Fragment<'a> {
    Fragment {
        index,
        id,
        tool,
        arguments,
    }
}

/// The calls that the fragments make, as id, tool and arguments.
fn calls(fragments: &[Fragment<'_>]) -> Vec<(String, String, serde_json::Value)> {
    let mut draft = Draft::default();
    for fragment in fragments {
        draft.call(*fragment).unwrap();
    }
    let calls = draft.complete().calls.into_iter();
    calls
        .map(|call| (call.id, call.tool, call.arguments))
        .collect()
}

#[test]
fn fragments_are_put_together_by_index() {
    let found = calls(&[
        fragment(Some(0), "a", "one", ""),
        fragment(Some(1), "b", "two", "{\"y\""),
        fragment(Some(0), "", "", "{\"x\":"),
        fragment(Some(1), "", "", ":2}"),
        fragment(Some(0), "", "", "1}"),
    ]);
    assert_eq!(
        found,
        [
            ("a".to_owned(), "one".to_owned(), json!({"x": 1})),
            ("b".to_owned(), "two".to_owned(), json!({"y": 2})),
        ]
    );
}

#[test]
fn an_id_of_its_own_makes_a_call_of_its_own() {
    let found = calls(&[
        fragment(Some(0), "a", "one", "{}"),
        fragment(Some(0), "b", "two", "{\"y\":"),
        fragment(Some(0), "", "", "2}"),
    ]);
    assert_eq!(found.len(), 2);
    assert_eq!(
        found[1],
        ("b".to_owned(), "two".to_owned(), json!({"y": 2}))
    );
}

#[test]
fn without_an_index_fragments_go_on_with_the_last_call() {
    let found = calls(&[
        fragment(None, "a", "one", "{\"x\":"),
        fragment(None, "", "", "1}"),
        fragment(None, "b", "two", "{}"),
        fragment(None, "b", "two", ""),
    ]);
    let ids: Vec<_> = found.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(found[0].2, json!({"x": 1}));
}

#[test]
fn no_arguments_are_an_empty_object_and_broken_ones_a_text() {
    let found = calls(&[
        fragment(Some(0), "a", "one", " "),
        fragment(Some(1), "b", "two", "{\"cut"),
    ]);
    assert_eq!(found[0].2, json!({}));
    assert_eq!(found[1].2, json!("{\"cut"));
}

#[test]
fn pieces_that_follow_each_other_are_heard_as_one() {
    let (mut draft, mut deltas) = (Draft::default(), Vec::new());
    draft.think("hm", &mut deltas).unwrap();
    draft.think("m", &mut deltas).unwrap();
    draft.say("", &mut deltas).unwrap();
    draft.say("a", &mut deltas).unwrap();
    draft.say("b", &mut deltas).unwrap();
    let expected = [
        Delta::Reasoning("hmm".to_owned()),
        Delta::Text("ab".to_owned()),
    ];
    assert_eq!(deltas, expected);
    let answer = draft.complete();
    assert_eq!(
        (answer.text.as_str(), answer.reasoning.as_str()),
        ("ab", "hmm")
    );
}

#[test]
fn an_answer_without_an_end_is_refused() {
    let mut draft = Draft::default();
    let half = "x".repeat(MOST_BYTES / 2);
    draft.say(&half, &mut Vec::new()).unwrap();
    draft.think(&half, &mut Vec::new()).unwrap();
    let end = draft.call(fragment(Some(0), "", "", "x"));
    assert!(matches!(end, Err(Fault::Unreadable(_))), "{end:?}");
}

#[test]
fn arguments_go_back_as_an_object() {
    assert_eq!(object_of(&json!({"x": 1})), json!({"x": 1}));
    assert_eq!(object_of(&json!(null)), json!({}));
    assert_eq!(object_of(&json!("{\"cut")), json!({"malformed": "{\"cut"}));
}

#[test]
fn clipping_counts_letters() {
    assert_eq!(clip("grüße", 5), "grüße");
    assert_eq!(clip("grüße", 4), "grüß…");
    assert_eq!(clip("a b", 2), "a…");
}
