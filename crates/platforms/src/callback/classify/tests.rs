//! A table of answers.

use super::*;

/// When it is asked again; nothing else may follow.
fn wait(reply: Reply) -> Option<Duration> {
    match outcome(reply) {
        Err(Outcome::NotSent { retry_after, .. }) => retry_after,
        other => panic!("{other:?}"),
    }
}

fn answered(status: u16, retry_after: Option<&str>) -> Reply {
    Reply::Answered(status, retry_after.map(str::to_owned))
}

#[test]
fn whoever_says_yes_has_it() {
    for status in [200, 201, 202, 204, 299] {
        assert_eq!(outcome(answered(status, None)), Ok(()), "{status}");
    }
}

#[test]
fn whoever_says_no_for_good_is_not_asked_again() {
    use Rejection::{Forbidden, Gone, Invalid, TooLong, Unauthorized};
    let table = [
        (301, Invalid),
        (302, Invalid),
        (307, Invalid),
        (400, Invalid),
        (401, Unauthorized),
        (403, Forbidden),
        (404, Gone),
        (405, Invalid),
        (409, Invalid),
        (410, Gone),
        (413, TooLong),
        (422, Invalid),
    ];
    for (status, expected) in table {
        // Not even if it says when to come back.
        for retry_after in [None, Some("3")] {
            let found = outcome(answered(status, retry_after));
            assert!(
                matches!(&found, Err(Outcome::Rejected { class, detail })
                    if *class == expected && detail.contains(&status.to_string())),
                "{status}: {found:?}"
            );
        }
    }
}

#[test]
fn whoever_cannot_now_is_asked_again_when_they_say() {
    let three = Some(Duration::from_secs(3));
    let table = [
        (408, None, None),
        (425, None, None),
        (429, None, None),
        (429, Some("3"), three),
        (429, Some(" 3 "), three),
        (429, Some("Wed, 21 Oct 2026 07:28:00 GMT"), None),
        (429, Some("-3"), None),
        (429, Some("99999999"), Some(LONGEST_WAIT)),
        (503, None, None),
        (503, Some("3"), three),
        (500, Some("3"), three),
        (502, Some("0"), Some(Duration::ZERO)),
    ];
    for (status, retry_after, expected) in table {
        let found = wait(answered(status, retry_after));
        assert_eq!(found, expected, "{status} {retry_after:?}");
    }
    assert_eq!(wait(Reply::NotSent("refused".to_owned())), None);
}

#[test]
fn whoever_may_have_it_and_does_not_say_so_is_unknown() {
    let table = [
        answered(500, None),
        answered(502, None),
        answered(504, None),
        answered(599, None),
        answered(199, None),
        answered(999, None),
        Reply::Silent("no answer in time".to_owned()),
    ];
    for reply in table {
        let found = outcome(reply.clone());
        assert!(
            matches!(found, Err(Outcome::Unknown { .. })),
            "{reply:?}: {found:?}"
        );
    }
}
