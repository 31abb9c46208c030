//! The tables hold together, and ARCHITECTURE.md shows the same ones.

use std::fmt::Write as _;

use super::*;

fn holds_together<M: Machine + std::fmt::Debug>() {
    let start = M::STATES[0];
    for state in M::STATES.iter().copied() {
        assert_eq!(M::parse(state.as_str()), Some(state));
        let leaves = M::ARROWS.iter().any(|(from, ..)| *from == state);
        assert!(
            leaves || state.is_end(),
            "{state:?} is neither an end nor left by an arrow"
        );
        let is_reached = M::ARROWS.iter().any(|(.., to)| *to == state);
        assert!(is_reached || state == start, "{state:?} is never reached");
        let circles = M::ARROWS.iter().any(|(from, _, to)| from == to);
        assert!(!circles, "a state of the {} leads to itself", M::THING);
        assert!(ends_somewhere(state, &mut vec![]), "{state:?} never ends");
    }
    assert_eq!(M::parse("no such state"), None);
    for (from, verb, to) in M::ARROWS {
        assert!(from.may(verb, *to) && !from.may("no such verb", *to));
    }
}

fn ends_somewhere<M: Machine>(state: M, seen: &mut Vec<M>) -> bool {
    if state.is_end() {
        return true;
    }
    seen.push(state);
    let next: Vec<M> = M::ARROWS
        .iter()
        .filter(|(from, ..)| *from == state)
        .map(|(.., to)| *to)
        .collect();
    next.into_iter()
        .any(|to| !seen.contains(&to) && ends_somewhere(to, seen))
}

fn table<M: Machine>() -> String {
    let mut text = format!("| {} | verb | becomes |\n|---|---|---|\n", M::THING);
    for (from, verb, to) in M::ARROWS {
        let mark = |state: &M| {
            if state.is_end() {
                format!("**{}**", state.as_str())
            } else {
                state.as_str().to_owned()
            }
        };
        writeln!(text, "| {} | {verb} | {} |", mark(from), mark(to)).unwrap();
    }
    text
}

#[test]
fn every_machine_holds_together() {
    holds_together::<InboxState>();
    holds_together::<SessionState>();
    holds_together::<RunState>();
    holds_together::<QuestionState>();
    holds_together::<ReplyState>();
    holds_together::<PartState>();
    holds_together::<JobState>();
    holds_together::<HandoffState>();
    holds_together::<TaskState>();
    holds_together::<ScheduleState>();
    holds_together::<OccurrenceState>();
    holds_together::<DeadState>();
}

#[test]
fn architecture_shows_the_same_tables() {
    let page = include_str!("../../../../ARCHITECTURE.md");
    let tables = [
        table::<InboxState>(),
        table::<SessionState>(),
        table::<RunState>(),
        table::<QuestionState>(),
        table::<ReplyState>(),
        table::<PartState>(),
        table::<JobState>(),
        table::<HandoffState>(),
        table::<TaskState>(),
        table::<ScheduleState>(),
        table::<OccurrenceState>(),
        table::<DeadState>(),
    ];
    let missing: String = tables
        .iter()
        .filter(|table| !page.contains(table.as_str()))
        .cloned()
        .collect();
    assert!(
        missing.is_empty(),
        "ARCHITECTURE.md should contain:\n\n{missing}"
    );
}
