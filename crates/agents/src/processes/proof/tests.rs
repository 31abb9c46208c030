//! What becomes of a process job after a restart.

use talaria_domain::machine::JobState;

use super::{Found, Handle, Verdict, decide};

fn handle() -> Handle {
    Handle {
        pid: 7,
        start: 100,
        boot: "today".to_owned(),
        directory: "/somewhere".into(),
    }
}

/// Everything as it was left.
fn found() -> Found {
    Found {
        exit: None,
        start: Some(100),
        boot: "today".to_owned(),
        has_output: true,
        is_pty: false,
    }
}

fn verdict(found: &Found) -> &'static str {
    word(&decide(JobState::Running, Some(&handle()), found))
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Runs => "runs",
        Verdict::Ended(_) => "ended",
        Verdict::Lost(_) => "lost",
        Verdict::End(_) => "end",
    }
}

#[test]
fn only_what_can_be_proven_is_believed() {
    let with = |change: fn(&mut Found)| {
        let mut found = found();
        change(&mut found);
        found
    };
    let table = [
        (found(), "runs"),
        (with(|it| it.exit = Some(3)), "ended"),
        (with(|it| (it.exit, it.start) = (Some(3), None)), "ended"),
        (
            with(|it| (it.exit, it.start) = (Some(3), Some(101))),
            "ended",
        ),
        (
            with(|it| (it.exit, it.has_output) = (Some(0), false)),
            "ended",
        ),
        (
            with(|it| (it.exit, it.boot) = (Some(0), "tomorrow".to_owned())),
            "ended",
        ),
        (with(|it| it.start = None), "lost"),
        (with(|it| it.start = Some(101)), "lost"),
        (with(|it| it.boot = "tomorrow".to_owned()), "lost"),
        (with(|it| it.has_output = false), "end"),
        (
            with(|it| (it.has_output, it.start) = (false, Some(101))),
            "lost",
        ),
        (with(|it| it.is_pty = true), "end"),
    ];
    for (found, expected) in table {
        assert_eq!(verdict(&found), expected, "{found:?}");
    }
}

#[test]
fn what_was_not_started_is_lost_whatever_is_found() {
    for (state, handle) in [
        (JobState::Queued, None),
        (JobState::Queued, Some(handle())),
        (JobState::Running, None),
    ] {
        let verdict = decide(state, handle.as_ref(), &found());
        assert!(
            matches!(verdict, Verdict::Lost(why) if why.contains("was not started")),
            "{verdict:?}"
        );
    }
}
