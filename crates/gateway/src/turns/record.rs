//! From a run's journal to what is remembered of it. Pure. Tool calls and their results are kept in pairs, as models
//! demand: a call that never ended gets a result that says so.

use talaria_domain::run::RunEvent;
use talaria_domain::runner::{Said, Speaker, ToolCall};

/// What the run said and did, in order, and its last words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    /// For the transcript.
    pub said: Vec<Said>,
    /// The answer: what was said after the last tool call, or, if nothing was, what was said right before it: somebody who
    /// answers first and tidies up afterwards has answered.
    pub answer: String,
}

/// Makes the record of a run.
pub fn record(journal: &[RunEvent]) -> Record {
    let mut said = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut last_words = Vec::new();
    let mut is_past = false;
    for event in journal {
        match event {
            RunEvent::MessageCompleted { text } if !text.is_empty() => {
                said.push(Said::plain(Speaker::Assistant, text));
                if std::mem::take(&mut is_past) {
                    last_words.clear();
                }
                last_words.push(text.clone());
            }
            RunEvent::Steered { text } => said.push(Said::plain(Speaker::User, text)),
            RunEvent::ToolStarted {
                call,
                tool,
                arguments,
            } => {
                let called = ToolCall {
                    id: call.clone(),
                    tool: tool.clone(),
                    arguments: arguments.clone(),
                };
                add_call(&mut said, called, &open);
                open.push(call.clone());
                is_past = true;
            }
            RunEvent::ToolCompleted { call, output, .. } => {
                open.retain(|other| other != call);
                said.push(result(call, output));
            }
            _ => {}
        }
    }
    said.extend(
        open.iter()
            .map(|call| result(call, "(stopped before it ended)")),
    );
    Record {
        said,
        answer: last_words.join("\n\n"),
    }
}

/// Calls that are made together belong to one message.
fn add_call(said: &mut Vec<Said>, called: ToolCall, open: &[String]) {
    let last = said.last_mut().filter(|last| {
        last.speaker == Speaker::Assistant && (last.calls.is_empty() || !open.is_empty())
    });
    if let Some(last) = last {
        last.calls.push(called);
        return;
    }
    said.push(Said {
        calls: vec![called],
        ..Said::plain(Speaker::Assistant, "")
    });
}

fn result(call: &str, output: &str) -> Said {
    Said {
        answers: Some(call.to_owned()),
        ..Said::plain(Speaker::Tool, output)
    }
}

#[cfg(test)]
mod tests {
    //! Journals and what is remembered of them.

    use serde_json::json;
    use talaria_domain::run::ToolResult;

    use super::*;

    fn text(text: &str) -> RunEvent {
        RunEvent::MessageCompleted {
            text: text.to_owned(),
        }
    }

    fn started(call: &str) -> RunEvent {
        RunEvent::ToolStarted {
            call: call.to_owned(),
            tool: "terminal".to_owned(),
            arguments: json!({}),
        }
    }

    fn completed(call: &str) -> RunEvent {
        RunEvent::ToolCompleted {
            call: call.to_owned(),
            output: format!("out {call}"),
            result: ToolResult::Done,
        }
    }

    fn shape(record: &Record) -> Vec<String> {
        let one = |said: &Said| {
            let calls: Vec<&str> = said.calls.iter().map(|call| call.id.as_str()).collect();
            format!(
                "{} {:?} {} {}",
                said.speaker.as_str(),
                said.text,
                calls.join("+"),
                said.answers.as_deref().unwrap_or("")
            )
            .trim()
            .to_owned()
        };
        record.said.iter().map(one).collect()
    }

    #[test]
    fn calls_and_results_stay_in_pairs() {
        let journal = [
            text("let me look"),
            started("a"),
            started("b"),
            completed("a"),
            completed("b"),
            started("c"),
            completed("c"),
            text("done"),
        ];
        let record = record(&journal);
        assert_eq!(
            shape(&record),
            [
                "assistant \"let me look\" a+b",
                "tool \"out a\"  a",
                "tool \"out b\"  b",
                "assistant \"\" c",
                "tool \"out c\"  c",
                "assistant \"done\"",
            ]
        );
        assert_eq!(record.answer, "done");
    }

    #[test]
    fn whoever_answers_first_and_tidies_up_afterwards_has_answered() {
        let journal = [
            text("let me look"),
            started("a"),
            completed("a"),
            text("it rains"),
            text("take a coat"),
            started("b"),
            completed("b"),
            started("c"),
            completed("c"),
        ];
        assert_eq!(record(&journal).answer, "it rains\n\ntake a coat");
    }

    #[test]
    fn a_call_that_never_ended_says_so() {
        let record = record(&[started("a")]);
        assert_eq!(
            shape(&record),
            ["assistant \"\" a", "tool \"(stopped before it ended)\"  a"]
        );
        assert_eq!(record.answer, "", "it had nothing to say");
    }

    #[test]
    fn deltas_and_thoughts_are_not_remembered() {
        let delta = RunEvent::MessageDelta {
            text: "do".to_owned(),
        };
        let thought = RunEvent::Reasoning {
            text: "hm".to_owned(),
        };
        assert_eq!(
            shape(&record(&[thought, delta, text("done")])),
            ["assistant \"done\""]
        );
    }
}
