//! Histories as they are, conversations as servers want them.

use serde_json::json;
use talaria_domain::runner::{Said, Speaker, ToolCall};

use super::{MISSING, Spoken, pair};

fn user(text: &str) -> Said {
    Said::plain(Speaker::User, text)
}

fn assistant(text: &str, ids: &[&str]) -> Said {
    let call = |id: &&str| ToolCall {
        id: (*id).to_owned(),
        tool: "terminal".to_owned(),
        arguments: json!({}),
    };
    Said {
        calls: ids.iter().map(call).collect(),
        ..Said::plain(Speaker::Assistant, text)
    }
}

fn tool(id: &str, text: &str) -> Said {
    Said {
        answers: Some(id.to_owned()),
        ..Said::plain(Speaker::Tool, text)
    }
}

/// The conversation in a short form: `user: text <picture>`, `assistant: text [id=result]`.
fn told(said: &[Said]) -> Vec<String> {
    let told = |spoken: &Spoken<'_>| match spoken {
        Spoken::User { text, images } => {
            let images = images.iter().map(|address| format!(" <{address}>"));
            format!("user: {text}{}", images.collect::<String>())
        }
        Spoken::Assistant { text, calls } => {
            let calls = calls
                .iter()
                .map(|call| format!(" [{}={}]", call.id, call.result()));
            format!("assistant: {text}{}", calls.collect::<String>())
        }
    };
    pair(said).iter().map(told).collect()
}

#[test]
fn results_stand_with_their_calls() {
    let said = [
        user("go"),
        assistant("ok", &["a", "b"]),
        tool("b", "two"),
        tool("a", "one"),
        assistant("done", &[]),
    ];
    let expected = [
        "user: go",
        "assistant: ok [a=one] [b=two]",
        "assistant: done",
    ];
    assert_eq!(told(&said), expected);
}

#[test]
fn a_call_whose_run_was_stopped_gets_a_result() {
    let said = [user("go"), assistant("", &["a"]), user("and now?")];
    let expected = [
        "user: go",
        &format!("assistant:  [a={MISSING}]"),
        "user: and now?",
    ];
    assert_eq!(told(&said), expected);
}

#[test]
fn people_who_talk_while_a_tool_runs_come_after_it() {
    let said = [assistant("", &["a"]), user("hurry"), tool("a", "one")];
    assert_eq!(told(&said), ["assistant:  [a=one]", "user: hurry"]);
}

#[test]
fn a_result_without_its_call_is_left_out() {
    let said = [
        tool("a", "one"),
        Said::plain(Speaker::Tool, "two"),
        user("go"),
    ];
    assert_eq!(told(&said), ["user: go"]);
}

#[test]
fn nobody_speaks_twice_in_a_row() {
    let said = [
        user("a"),
        user("b"),
        assistant("c", &[]),
        assistant("", &[]),
        assistant("d", &["x"]),
        tool("x", "1"),
        assistant("e", &[]),
    ];
    let expected = ["user: a\n\nb", "assistant: c\n\nd [x=1]", "assistant: e"];
    assert_eq!(told(&said), expected);
}

#[test]
fn pictures_stay_with_who_showed_them() {
    let shown = |text: &str, address: &str| Said {
        images: vec![address.to_owned()],
        ..user(text)
    };
    let said = [
        shown("a", "https://x/1"),
        user("b"),
        shown("", "https://x/2"),
        assistant("c", &["x"]),
        shown("d", "https://x/3"),
        tool("x", "1"),
    ];
    let expected = [
        "user: a\n\nb <https://x/1> <https://x/2>",
        "assistant: c [x=1]",
        "user: d <https://x/3>",
    ];
    assert_eq!(told(&said), expected);
}

#[test]
fn calls_with_the_same_id_stay_apart() {
    let said = [
        assistant("", &["call_0", "call_0", ""]),
        tool("call_0", "one"),
        tool("call_0", "two"),
        tool("", "three"),
        user("again"),
        assistant("", &["call_0"]),
        tool("call_0", "four"),
    ];
    let expected = [
        "assistant:  [call_0=one] [call_0_2=two] [call=three]",
        "user: again",
        "assistant:  [call_0_3=four]",
    ];
    assert_eq!(told(&said), expected);
}

#[test]
fn what_the_system_said_is_not_part_of_it() {
    assert_eq!(
        told(&[Said::plain(Speaker::System, "a summary"), user("a")]),
        ["user: a"]
    );
}
