//! What is served and what is passed over.

use talaria_domain::address::{Address, ChatKind, ReturnAddress};
use talaria_domain::digest::Digest;
use talaria_domain::ids::{ScheduleId, SessionId};
use talaria_domain::machine::ScheduleState;
use talaria_domain::principal::{Principal, Role};
use talaria_domain::schedule::{What, When, Zone};
use talaria_domain::session_key::SessionKeyId;

use super::*;

const MINUTE: i64 = 60_000;

fn at(minute: i64) -> Timestamp {
    Timestamp::from_millis(minute * MINUTE)
}

pub(in crate::schedule) fn schedule(
    when: When,
    what: What,
    next_at: Option<Timestamp>,
) -> Schedule {
    Schedule {
        id: ScheduleId::from_bytes([1; 16]),
        name: "the minute".to_owned(),
        when,
        zone: Zone::default(),
        what,
        return_to: ReturnAddress {
            address: Address {
                platform: "example".into(),
                account: "bot".into(),
                chat_kind: ChatKind::Direct,
                chat: "chat".into(),
                thread: None,
                reply_to: None,
            },
            requester: Principal {
                platform: "example".into(),
                account: "bot".into(),
                user: "ada".into(),
                alternate: None,
                display_name: None,
                role: Role::Member,
            },
            profile: "assistant".into(),
            session: SessionId::from_bytes([2; 16]),
        },
        key: SessionKeyId(Digest::from_bytes([3; 32])),
        state: ScheduleState::Active,
        next_at,
        created_at: at(0),
    }
}

fn every_minute(next: i64) -> Schedule {
    let when = When::Every {
        period: Duration::from_mins(1),
        from: at(0),
    };
    schedule(when, What::Say("x".to_owned()), Some(at(next)))
}

#[test]
fn the_last_time_that_passed_is_served_and_the_others_are_passed_over() {
    let due_of = |passed: &[i64], serve: Option<i64>, next| {
        let passed = passed.iter().copied().map(at).collect();
        let (serve, next) = (serve.map(at), Some(at(next)));
        Some(Due {
            passed,
            serve,
            next,
        })
    };
    let table = [
        (at(5).minus(Duration::from_millis(1)), None),
        (at(5), due_of(&[], Some(5), 6)),
        (
            at(6).minus(Duration::from_millis(1)),
            due_of(&[], Some(5), 6),
        ),
        (at(6), due_of(&[5], Some(6), 7)),
        (at(8), due_of(&[5, 6, 7], Some(8), 9)),
        // Too much for once: the rest is looked at afterwards.
        (at(9), due_of(&[5, 6, 7, 8], None, 9)),
        (at(1_000), due_of(&[5, 6, 7, 8], None, 9)),
    ];
    for (now, expected) in table {
        assert_eq!(due(&every_minute(5), now, 4), expected, "{now:?}");
    }
}

#[test]
fn every_time_is_served_or_passed_over_once_however_long_nobody_was_there() {
    for gap in [0, 1, 3, 4, 5, 7, 8, 9, 100] {
        let (mut schedule, mut passed, mut served) = (every_minute(5), Vec::new(), Vec::new());
        while let Some(found) = due(&schedule, at(5 + gap), 4) {
            passed.extend(found.passed);
            served.extend(found.serve);
            schedule.next_at = found.next;
        }
        assert_eq!(served, [at(5 + gap)], "{gap}");
        assert_eq!(passed, (5..5 + gap).map(at).collect::<Vec<_>>(), "{gap}");
    }
}

#[test]
fn once_is_served_however_late_and_has_no_next_time() {
    let once = schedule(
        When::Once { at: at(5) },
        What::Say("x".to_owned()),
        Some(at(5)),
    );
    for now in [at(5), at(5_000)] {
        let served = Due {
            passed: Vec::new(),
            serve: Some(at(5)),
            next: None,
        };
        assert_eq!(due(&once, now, 4), Some(served));
    }
    let paused = Schedule {
        next_at: None,
        ..once
    };
    assert_eq!(due(&paused, at(5_000), 4), None);
}

#[test]
fn a_minute_is_on_time() {
    assert_eq!(lateness(at(5), at(6)), None);
    assert_eq!(lateness(at(6), at(5)), None);
    let late = at(6).plus(Duration::from_millis(1));
    assert!(lateness(at(5), late).is_some());
}
