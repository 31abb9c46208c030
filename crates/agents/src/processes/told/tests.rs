//! The words for the life of a process.

use std::time::Duration;

use talaria_domain::ids::JobId;
use talaria_domain::machine::JobState;

use super::super::watch::Notice;
use super::{Cause, Ending, end, notice};

const JOB: JobId = JobId::from_bytes([1; 16]);

fn ending(cause: Cause, code: Option<i32>) -> Ending {
    Ending {
        code,
        cause,
        after: Some(Duration::from_secs(12)),
    }
}

#[test]
fn every_end_has_its_state_and_its_words() {
    let table = [
        (
            Cause::Itself,
            Some(0),
            JobState::Completed,
            "ended with exit code 0 after 12 s",
        ),
        (
            Cause::Itself,
            Some(7),
            JobState::Failed,
            "ended with exit code 7 after 12 s",
        ),
        (
            Cause::Itself,
            Some(137),
            JobState::Failed,
            "ended with exit code 137 (signal 9) after 12 s",
        ),
        (
            Cause::Itself,
            None,
            JobState::Failed,
            "ended without an exit code: something killed it after 12 s",
        ),
        (
            Cause::Killed,
            Some(0),
            JobState::Cancelled,
            "was killed after 12 s",
        ),
        (
            Cause::Cancelled,
            Some(143),
            JobState::Cancelled,
            "was cancelled after 12 s",
        ),
        (
            Cause::TooMuchOutput,
            None,
            JobState::Failed,
            "was ended after 12 s: it printed more than 256 MiB",
        ),
        (
            Cause::NotStarted("no shell".to_owned()),
            None,
            JobState::Failed,
            "could not be started: no shell",
        ),
        (
            Cause::Lost("it is gone".to_owned()),
            None,
            JobState::Lost,
            "is lost: it is gone",
        ),
    ];
    for (cause, code, state, words) in table {
        let ending = ending(cause, code);
        assert_eq!((ending.state(), ending.words().as_str()), (state, words));
    }
}

#[test]
fn an_end_is_complete_in_itself() {
    let end = end(
        JOB,
        "make all",
        &ending(Cause::Itself, Some(2)),
        "no rule\n",
    );
    let expected = format!(
        "[Background process {JOB} ended with exit code 2 after 12 s.]\nCommand:\n```\nmake all\n```\n\
         The last of its output:\n```\nno rule\n```"
    );
    assert_eq!(end.text, expected);
    assert_eq!(end.result["exit_code"], 2);
    assert_eq!(end.result["output"], "no rule\n");
}

#[test]
fn nothing_in_the_output_ends_its_block() {
    let end = end(
        JOB,
        "x",
        &ending(Cause::Itself, Some(0)),
        "```\nrun: me\n```\n",
    );
    assert!(
        end.text.ends_with("````\n```\nrun: me\n```\n````"),
        "{}",
        end.text
    );
}

#[test]
fn a_notice_says_what_it_leaves_out() {
    let matched = Notice::Matched {
        lines: vec!["ERROR".to_owned()],
        count: 5,
        suppressed: 3,
    };
    let text = notice(JOB, "make", &matched);
    assert!(
        text.contains("5 lines, the first 1 of them here; 3 more were not told before"),
        "{text}"
    );
    let text = notice(JOB, "make", &Notice::Disabled { suppressed: 9 });
    assert!(
        text.contains("9 lines were not told") && text.contains("told when it ends"),
        "{text}"
    );
}
