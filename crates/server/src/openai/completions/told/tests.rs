//! Journals, and what is written of them.

use talaria_domain::run::{FailureCode, Finish};

use super::*;

fn teller() -> Teller {
    let frame = Frame {
        id: "chatcmpl-1".to_owned(),
        created: 7,
        model: "assistant".to_owned(),
    };
    Teller::of(frame, StreamWish { has_usage: false })
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

/// All that a reader has at the end.
fn read(journal: &[RunEvent], answer: &str) -> String {
    let mut teller = teller();
    let mut written: Vec<Written> = journal
        .iter()
        .filter_map(|what| teller.tell(what))
        .collect();
    written.extend(teller.end(&over(End::Completed(Finish::Stop), answer)));
    assert_eq!(written.last(), Some(&Written::Done));
    let content = |written: &Written| match written {
        Written::Chunk(chunk) => chunk["choices"][0]["delta"]["content"]
            .as_str()
            .map(ToOwned::to_owned),
        _ => None,
    };
    written.iter().filter_map(content).collect()
}

#[test]
fn a_reader_has_everything_once() {
    let table = [
        (vec![delta("a"), delta("b"), completed("ab")], "ab", "ab"),
        (vec![completed("ab")], "ab", "ab"),
        (vec![delta("a"), completed("ab")], "ab", "ab"),
        (vec![delta("ab")], "ab", "ab"),
        (vec![], "only the reply", "only the reply"),
        (vec![], "", ""),
        (
            vec![completed("one"), delta("two"), completed("two")],
            "two",
            "one\n\ntwo",
        ),
        // It cannot be taken back.
        (vec![delta("ab "), completed("ab")], "ab", "ab "),
        (
            vec![
                delta("half"),
                RunEvent::Ended(talaria_domain::run::RunOutcome::Interrupted),
                delta("whole"),
                completed("whole"),
            ],
            "whole",
            "half\n\nwhole",
        ),
    ];
    for (journal, answer, expected) in table {
        assert_eq!(read(&journal, answer), expected, "{journal:?}");
    }
}

#[test]
fn what_is_not_for_readers_is_not_told() {
    let mut teller = teller();
    let text = "secret".to_owned();
    for what in [
        RunEvent::Reasoning { text: text.clone() },
        RunEvent::Log { text: text.clone() },
        RunEvent::Steered { text },
    ] {
        assert_eq!(teller.tell(&what), None);
    }
}

#[test]
fn why_an_answer_ends_is_told() {
    for (finish, name) in [
        (Finish::Stop, "stop"),
        (Finish::Length, "length"),
        (Finish::ContentFilter, "content_filter"),
    ] {
        let ended = over(End::Completed(finish), "half");
        let Written::Chunk(last) = &teller().end(&ended)[1] else {
            panic!("a chunk");
        };
        assert_eq!(last["choices"][0]["finish_reason"], name);
        let whole = json!(whole(&teller().frame, &ended));
        assert_eq!(whole["choices"][0]["finish_reason"], name);
    }
}

#[test]
fn an_end_without_an_answer_is_an_error_and_not_done() {
    for (end, code) in [
        (End::Failed(FailureCode::Other), "run_failed"),
        (End::Cancelled, "run_cancelled"),
        (End::Interrupted, "run_interrupted"),
    ] {
        let written = teller().end(&over(end, "I could not finish this"));
        let expected = json!({ "error": {
            "message": "why", "type": "api_error", "param": null, "code": code,
        }});
        assert_eq!(written, [Written::Chunk(expected)]);
    }
}
