//! The schedule, and what overrules it.

use std::time::Duration;

use super::{Next, Patience, Progress, asked_wait, decide};
use crate::models::fault::Fault;

fn passing(after: Option<Duration>) -> Fault {
    Fault::Passing {
        why: "busy".to_owned(),
        after,
    }
}

#[test]
fn the_schedule_doubles_and_ends() {
    let patience = Patience::default();
    let next = |attempt| decide(&passing(None), Progress::Nothing, attempt, &patience);
    let waits: Vec<_> = (1..=5).map(next).collect();
    let wait = |millis| Next::Wait(Duration::from_millis(millis));
    assert_eq!(
        waits,
        [
            wait(500),
            wait(1_000),
            wait(2_000),
            wait(4_000),
            Next::GiveUp
        ]
    );
}

#[test]
fn the_server_says_when_within_reason() {
    let patience = Patience::default();
    let next = |seconds| {
        let fault = passing(Some(Duration::from_secs(seconds)));
        decide(&fault, Progress::Nothing, 1, &patience)
    };
    assert_eq!(next(0), Next::Wait(Duration::ZERO));
    assert_eq!(next(7), Next::Wait(Duration::from_secs(7)));
    assert_eq!(next(60), Next::Wait(Duration::from_mins(1)));
    assert_eq!(
        next(61),
        Next::GiveUp,
        "the user is told instead of waiting"
    );
}

#[test]
fn nothing_is_asked_twice_once_something_was_heard() {
    let next = decide(&passing(None), Progress::Something, 1, &Patience::default());
    assert_eq!(next, Next::GiveUp);
}

#[test]
fn only_what_passes_is_tried_again() {
    let why = || "no".to_owned();
    let patience = Duration::from_secs(1);
    let faults = [
        Fault::Silent { patience },
        Fault::Unreadable(why()),
        Fault::Refused(why()),
        Fault::Unauthorized(why()),
        Fault::Misconfigured(why()),
        Fault::TooLong(why()),
    ];
    for fault in faults {
        let next = decide(&fault, Progress::Nothing, 1, &Patience::default());
        assert_eq!(next, Next::GiveUp, "{fault:?}");
    }
}

/// "Rate limits", Claude docs (`retry-after`, seconds); the OpenAI SDKs also read `retry-after-ms`.
#[test]
fn both_headers_are_read() {
    let table = [
        (None, None, None),
        (None, Some("3"), Some(3_000)),
        (None, Some(" 0.25 "), Some(250)),
        (Some("40"), Some("3"), Some(40)),
        (Some("soon"), Some("3"), Some(3_000)),
        (None, Some("Wed, 21 Oct 2026 07:28:00 GMT"), None),
        (None, Some("-1"), None),
        (None, Some("inf"), None),
        (None, Some("NaN"), None),
    ];
    for (millis, seconds, expected) in table {
        let expected = expected.map(Duration::from_millis);
        assert_eq!(
            asked_wait(millis, seconds),
            expected,
            "{millis:?} {seconds:?}"
        );
    }
}
