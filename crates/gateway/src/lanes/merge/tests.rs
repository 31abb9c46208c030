//! A table of neighbours.

use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Content, DedupeKey, InternalCause};
use talaria_domain::ids::{JobId, ScheduleId};
use talaria_domain::principal::{Principal, Role};

use super::*;

const WINDOW: Duration = Duration::from_secs(1);

fn said(number: u8, who: &str, thread: Option<&str>, at: i64) -> Event {
    let address = Address {
        platform: "example".into(),
        account: "bot".into(),
        chat_kind: ChatKind::Group,
        chat: "room".into(),
        thread: thread.map(Into::into),
        reply_to: Some(number.to_string().as_str().into()),
    };
    Event {
        id: EventId::from_bytes([number; 16]),
        dedupe: DedupeKey::derive(&address.platform, &address.account, &number.to_string()),
        principal: Principal {
            platform: address.platform.clone(),
            account: address.account.clone(),
            user: who.into(),
            alternate: None,
            display_name: None,
            role: Role::Member,
        },
        address,
        message: None,
        kind: EventKind::Message(Content::default()),
        sent_at: None,
        received_at: Timestamp::from_millis(at),
    }
}

fn merged(events: &[Event], window: Duration) -> usize {
    merge(&events[0], &events[1..], window).len()
}

#[test]
fn rapid_messages_of_one_sender_are_one_thought() {
    let events = [
        said(1, "ada", None, 0),
        said(2, "ada", None, 900),
        said(3, "ada", None, 1_900),
        said(4, "ada", None, 2_901),
    ];
    assert_eq!(
        merged(&events, WINDOW),
        2,
        "each within the window of the one before"
    );
    assert_eq!(merged(&events, Duration::ZERO), 0, "without a window, none");
}

#[test]
fn nothing_else_is_merged() {
    let internal = Event {
        kind: EventKind::Internal {
            cause: InternalCause::Schedule {
                schedule: ScheduleId::from_bytes([7; 16]),
                due: Timestamp::ZERO,
            },
            text: String::new(),
        },
        ..said(2, "ada", None, 1)
    };
    let table = [
        ("another sender", said(2, "bob", None, 1)),
        ("another thread", said(2, "ada", Some("t"), 1)),
        ("too late", said(2, "ada", None, 1_001)),
        ("the gateway's own", internal),
    ];
    for (why, second) in table {
        let events = [said(1, "ada", None, 0), second, said(3, "ada", None, 2)];
        assert_eq!(merged(&events, WINDOW), 0, "{why}");
    }
}

#[test]
fn news_of_ones_jobs_is_told_together_however_long_it_waited() {
    let news = |number: u8, who: &str, thread: Option<&str>, at: i64| Event {
        kind: EventKind::Internal {
            cause: InternalCause::JobEnded {
                job: JobId::from_bytes([number; 16]),
            },
            text: String::new(),
        },
        ..said(number, who, thread, at)
    };
    let first = news(1, "ada", None, 0);
    let table = [
        ("theirs", news(2, "ada", None, 1_000_000), 1),
        ("another's", news(2, "bob", None, 1), 0),
        ("another thread's", news(2, "ada", Some("t"), 1), 0),
        ("a message", said(2, "ada", None, 1), 0),
    ];
    for (why, second, expected) in table {
        for window in [Duration::ZERO, WINDOW] {
            let events = [first.clone(), second.clone()];
            assert_eq!(merged(&events, window), expected, "{why}");
        }
    }
}

#[test]
fn a_program_that_is_called_back_is_told_of_each_job_by_itself() {
    let news = |number: u8, job: u8| {
        let job = JobId::from_bytes([job; 16]);
        let mut event = said(number, "ada", Some("session"), 0);
        event.address.chat_kind = ChatKind::Webhook;
        event.address.reply_to = Some(job.to_string().as_str().into());
        event.kind = EventKind::Internal {
            cause: InternalCause::JobEnded { job },
            text: String::new(),
        };
        event
    };
    assert_eq!(merged(&[news(1, 1), news(2, 2)], WINDOW), 0);
    assert_eq!(
        merged(&[news(1, 1), news(2, 1)], WINDOW),
        1,
        "one job's own"
    );
}
