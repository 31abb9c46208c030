//! Journals, and the events that are written of them.

use talaria_domain::run::Usage;

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
    let response = teller.end(&over(End::Completed, "two"));
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

#[test]
fn an_end_without_an_answer_says_why() {
    for (end, kind, status, code) in [
        (End::Failed, "response.failed", "failed", "run_failed"),
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
