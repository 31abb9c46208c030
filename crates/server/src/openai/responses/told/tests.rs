//! Journals, and the events that are written of them.

use talaria_domain::run::{FailureCode, Usage};

use super::*;

fn teller() -> Teller {
    Teller::of(Frame {
        turn: "1".to_owned(),
        created: 7,
        model: "assistant".to_owned(),
        instructions: None,
        previous: None,
        metadata: json!({}),
        is_stored: true,
    })
}

fn over(end: End, text: &str) -> Over {
    Over {
        end,
        text: text.to_owned(),
        reason: "why".to_owned(),
        usage: Usage::default(),
        retry_after_seconds: None,
    }
}

fn delta(text: &str) -> RunEvent {
    let text = text.to_owned();
    RunEvent::MessageDelta { text }
}

fn completed(text: &str) -> RunEvent {
    let text = text.to_owned();
    RunEvent::MessageCompleted { text }
}

#[test]
fn every_segment_is_an_item_and_every_event_has_its_number() {
    let mut teller = teller();
    for what in [completed("one"), delta("t"), delta("wo"), completed("two")] {
        teller.tell(&what);
    }
    let response = teller.end(&over(End::Completed(Finish::Stop), "two"));
    let written = teller.take();
    let kinds: Vec<&str> = written
        .iter()
        .map(|event| {
            event["type"]
                .as_str()
                .unwrap()
                .trim_start_matches("response.")
        })
        .collect();
    let item = |deltas| {
        let mut kinds = vec!["output_item.added", "content_part.added"];
        kinds.extend(vec!["output_text.delta"; deltas]);
        kinds.extend(["output_text.done", "content_part.done", "output_item.done"]);
        kinds
    };
    let expected = [
        vec!["created", "in_progress"],
        item(1),
        item(2),
        vec!["completed"],
    ];
    assert_eq!(kinds, expected.concat());
    for (number, event) in written.iter().enumerate() {
        assert_eq!(event["sequence_number"], number);
    }
    let texts: Vec<&Value> = response["output"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["content"][0]["text"])
        .collect();
    assert_eq!(texts, ["one", "two"]);
    assert_eq!(written.last().unwrap()["response"], response);
}

fn started(call: &str) -> RunEvent {
    RunEvent::ToolStarted {
        call: call.to_owned(),
        tool: "lever".to_owned(),
        arguments: json!({ "up": true }),
    }
}

fn ended(call: &str, result: ToolResult) -> RunEvent {
    RunEvent::ToolCompleted {
        call: call.to_owned(),
        output: format!("out of {call}"),
        result,
    }
}

#[test]
fn a_tool_is_an_item_that_clients_do_not_run() {
    let mut teller = teller();
    teller.take();
    for what in [
        delta("look"),
        started("a"),
        started("b"),
        ended("b", ToolResult::Refused),
        ended("a", ToolResult::Done),
        started("c"),
    ] {
        teller.tell(&what);
    }
    let open = teller.response("in_progress")["output"][3].clone();
    assert_eq!(open["status"], "in_progress");
    let response = teller.end(&over(End::Interrupted, ""));
    let call = |at: usize, status: &str, output: Option<&str>, error: Option<&str>| {
        json!({
            "id": format!("mcp_1_{at}"), "type": "mcp_call", "server_label": "talaria", "name": "lever",
            "arguments": "{\"up\":true}", "status": status, "output": output, "error": error,
        })
    };
    let output = response["output"].as_array().unwrap();
    assert_eq!(output[0]["content"][0]["text"], "look");
    assert_eq!(output[1], call(1, "completed", Some("out of a"), None));
    assert_eq!(output[2], call(2, "failed", None, Some("out of b")));
    let stopped = Some("stopped before it ended");
    assert_eq!(output[3], call(3, "incomplete", None, stopped));
    let written = teller.take();
    let about = |at: usize| -> Vec<&str> {
        let kind = |event: &'_ Value| event["output_index"] == at;
        let events = written.iter().filter(|event| kind(event));
        events
            .map(|event| event["type"].as_str().unwrap())
            .collect()
    };
    let begun = [
        "response.output_item.added",
        "response.mcp_call.in_progress",
        "response.mcp_call_arguments.done",
    ];
    for (at, end) in [(1, "completed"), (2, "failed"), (3, "failed")] {
        let end = format!("response.mcp_call.{end}");
        let expected = [&begun[..], &[end.as_str(), "response.output_item.done"]].concat();
        assert_eq!(about(at), expected);
    }
}

#[test]
fn an_answer_after_tools_that_was_not_journalled_is_told() {
    let mut teller = teller();
    teller.tell(&started("a"));
    teller.tell(&ended("a", ToolResult::Done));
    let response = teller.end(&over(End::Completed(Finish::Stop), "done"));
    assert_eq!(response["output"][1]["content"][0]["text"], "done");
}

#[test]
fn an_answer_that_was_cut_is_incomplete() {
    for (finish, reason) in [
        (Finish::Length, "max_output_tokens"),
        (Finish::ContentFilter, "content_filter"),
    ] {
        let mut teller = teller();
        let response = teller.end(&over(End::Completed(finish), "half"));
        assert_eq!(response["status"], "incomplete");
        assert_eq!(response["incomplete_details"], json!({ "reason": reason }));
        assert_eq!(response["output"][0]["content"][0]["text"], "half");
        assert_eq!(response["error"], Value::Null);
        let last = teller.take().pop().unwrap();
        assert_eq!(last["type"], "response.incomplete");
        assert_eq!(last["response"], response);
    }
}

#[test]
fn an_end_without_an_answer_says_why() {
    for (end, kind, status, code) in [
        (
            End::Failed(FailureCode::Other),
            "response.failed",
            "failed",
            "run_failed",
        ),
        (
            End::Interrupted,
            "response.failed",
            "failed",
            "run_interrupted",
        ),
        (
            End::Cancelled,
            "response.incomplete",
            "cancelled",
            "run_cancelled",
        ),
    ] {
        let mut teller = teller();
        let response = teller.end(&over(end, "I could not finish this"));
        assert_eq!(response["status"], status);
        assert_eq!(response["error"], json!({ "code": code, "message": "why" }));
        assert_eq!(response["output"], json!([]));
        assert_eq!(teller.take().last().unwrap()["type"], kind);
    }
}
