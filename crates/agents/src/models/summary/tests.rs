//! The rule, and what a model is shown.

use serde_json::json;
use talaria_domain::runner::{Said, Speaker, ToolCall};

use super::{MOST_OF_A_TOOL, by_rule, transcript};

#[test]
fn the_rule_keeps_the_start_of_the_last_things_said() {
    let said = [
        Said::plain(Speaker::User, "what\n  is up?"),
        Said::plain(Speaker::Tool, "long output"),
        Said::plain(Speaker::Assistant, "x".repeat(500)),
    ];
    let summary = by_rule(&said);
    let lines: Vec<_> = summary.lines().collect();
    assert_eq!(lines[1], "- user: what is up?");
    assert_eq!(lines[2], format!("- assistant: {}…", "x".repeat(120)));
    assert_eq!(lines.len(), 3);
}

#[test]
fn the_rule_says_how_many_are_left_out() {
    let said: Vec<_> = (0..25)
        .map(|n| Said::plain(Speaker::User, n.to_string()))
        .collect();
    let summary = by_rule(&said);
    assert!(
        summary.contains("\n- 5 earlier ones are left out\n- user: 5\n"),
        "{summary}"
    );
    assert!(summary.ends_with("- user: 24"), "{summary}");
}

#[test]
fn a_model_is_shown_calls_and_the_start_of_their_results() {
    let call = ToolCall {
        id: "a".to_owned(),
        tool: "terminal".to_owned(),
        arguments: json!({"command": "ls"}),
    };
    let said = [
        Said {
            calls: vec![call],
            ..Said::plain(Speaker::Assistant, "let me look")
        },
        Said::plain(Speaker::Tool, "x".repeat(MOST_OF_A_TOOL + 1)),
    ];
    let text = transcript(&said, 100_000);
    assert!(text.starts_with(
        "assistant: let me look\n[calls terminal with {\"command\":\"ls\"}]\n\ntool: xx"
    ));
    assert!(text.ends_with("x…"));
}

#[test]
fn what_does_not_fit_is_left_out_in_the_middle() {
    let said = [Said::plain(
        Speaker::User,
        format!("start{}end", "ü".repeat(1_000)),
    )];
    let text = transcript(&said, 100);
    assert!(
        text.starts_with("user: start") && text.ends_with("end"),
        "{text}"
    );
    assert!(
        text.contains("[left out]") && text.chars().count() < 130,
        "{text}"
    );
}
