//! What people and agents read.

use talaria_domain::schedule::{What, When};

use super::*;
use crate::schedule::due::tests::schedule;

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_millis(minutes * 60_000)
}

#[test]
fn what_is_late_says_so_and_what_is_on_time_is_left_as_it_is() {
    let once = When::Once { at: at(0) };
    let say = schedule(once.clone(), What::Say("  stand up ".to_owned()), None);
    assert_eq!(said(&say, at(0), at(1)), "stand up");
    let late = said(&say, at(0), at(150));
    assert!(late.starts_with("stand up\n\n(2 hours late: "), "{late}");
    assert!(late.contains("1970-01-01 00:00 UTC"), "{late}");

    let ask = schedule(once, What::Ask("run: date".to_owned()), None);
    let told = asked(&ask, at(0), at(0));
    assert!(
        told.ends_with("Nobody has just written.]\nrun: date"),
        "{told}"
    );
    let told = asked(&ask, at(0), at(5));
    assert!(
        told.contains("It is 5 minutes late") && told.ends_with("\nrun: date"),
        "{told}"
    );
}

#[test]
fn how_late_is_said_in_one_unit() {
    let table = [
        (61, "1 minute"),
        (125, "2 minutes"),
        (119 * 60, "119 minutes"),
        (120 * 60, "2 hours"),
        (47 * 3_600, "47 hours"),
        (48 * 3_600, "2 days"),
    ];
    for (seconds, expected) in table {
        assert_eq!(spoken(Duration::from_secs(seconds)), expected);
    }
}

#[test]
fn a_line_says_what_happens_when() {
    let every = When::Every {
        period: Duration::from_hours(2),
        from: at(0),
    };
    let text = format!("{}\nmore", "x".repeat(100));
    let mut planned = schedule(every, What::Say(text), Some(at(120)));
    let shown = line(&planned);
    for part in [
        "**the minute**",
        "next 1970-01-01 02:00 UTC",
        "every 2h",
        "say \"xxx",
        "…\"",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    assert!(!shown.contains("more"), "{shown}");
    (planned.state, planned.next_at) = (ScheduleState::Paused, None);
    assert!(line(&planned).contains(", paused: "), "{}", line(&planned));
}
