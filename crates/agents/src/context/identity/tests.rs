//! What a turn says about itself.

use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::clock::Timestamp;
use talaria_domain::digest::Fields;
use talaria_domain::event::{Content, DedupeKey, Event, EventKind, InternalCause};
use talaria_domain::ids::{EventId, JobId, ScheduleId};
use talaria_domain::runner::Turn;

use super::{Context, Slot, Texts};
use crate::context::tests::{stale, turn};
use crate::context::{Environment, Variable};

fn event(turn: &Turn, kind: EventKind, message: Option<&str>) -> Event {
    Event {
        id: EventId::from_bytes([1; 16]),
        dedupe: DedupeKey(Fields::of("test").digest()),
        address: turn.return_to.address.clone(),
        principal: turn.return_to.requester.clone(),
        message: message.map(Into::into),
        kind,
        sent_at: None,
        received_at: Timestamp::from_millis(100),
    }
}

fn said() -> EventKind {
    EventKind::Message(Content::default())
}

fn internal(cause: InternalCause) -> EventKind {
    let text = String::new();
    EventKind::Internal { cause, text }
}

fn value(turn: &Turn, variable: Variable) -> String {
    let context = Context::of_turn(turn);
    context.get(variable, &stale()).to_owned()
}

#[test]
fn a_turn_sets_every_variable_of_its_session() {
    let mut turn = turn("example", "key", DeliveryWindow::Always);
    turn.input = [event(&turn, said(), Some("m1"))].into();
    let table = [
        (Variable::Platform, "example"),
        (Variable::Source, "message"),
        (Variable::ChatId, "chat of key"),
        (Variable::ChatName, ""),
        (Variable::ThreadId, "7"),
        (Variable::UserId, "ada"),
        (Variable::UserName, "Ada L."),
        (Variable::Key, "key"),
        (Variable::Id, "08080808-0808-0808-0808-080808080808"),
        (Variable::MessageId, "m1"),
        (Variable::Profile, "assistant"),
        (Variable::CronPlatform, "stale"),
        (Variable::CronChatId, "stale"),
        (Variable::CronThreadId, "stale"),
    ];
    assert_eq!(table.map(|(variable, _)| variable), Variable::ALL);
    for (variable, expected) in table {
        assert_eq!(value(&turn, variable), expected, "{variable:?}");
    }
}

#[test]
fn what_a_turn_does_not_know_is_empty_and_not_the_processs() {
    let mut turn = turn("example", "key", DeliveryWindow::Always);
    turn.return_to.address.thread = None;
    turn.return_to.address.reply_to = None;
    turn.return_to.requester.display_name = None;
    for variable in [
        Variable::Source,
        Variable::ChatName,
        Variable::ThreadId,
        Variable::UserName,
        Variable::MessageId,
    ] {
        assert_eq!(value(&turn, variable), "", "{variable:?}");
    }
}

#[test]
fn the_message_is_the_last_one_that_was_said_else_the_anchor() {
    let mut turn = turn("example", "key", DeliveryWindow::Always);
    let first = event(&turn, said(), Some("m1"));
    let second = event(&turn, said(), Some("m2"));
    let wake = event(&turn, internal(InternalCause::Board), None);
    for (input, expected) in [
        (vec![first.clone(), second.clone()], "m2"),
        (vec![first, wake.clone()], "m1"),
        (vec![wake], "anchor"),
        (vec![], "anchor"),
    ] {
        turn.input = input.into();
        assert_eq!(value(&turn, Variable::MessageId), expected);
    }
}

#[test]
fn the_source_is_what_began_the_turn() {
    let mut turn = turn("example", "key", DeliveryWindow::Always);
    let job = JobId::from_bytes([1; 16]);
    for (kind, expected) in [
        (said(), "message"),
        (internal(InternalCause::JobEnded { job }), "job"),
        (internal(InternalCause::Delegated { job }), "delegation"),
        (internal(InternalCause::Handoff), "handoff"),
        (
            internal(InternalCause::Schedule {
                schedule: ScheduleId::from_bytes([7; 16]),
                due: Timestamp::ZERO,
            }),
            "schedule",
        ),
        (internal(InternalCause::Board), "board"),
    ] {
        turn.input = [event(&turn, kind, None)].into();
        assert_eq!(value(&turn, Variable::Source), expected);
    }
}

#[test]
fn whoever_works_at_a_time_knows_where_the_answer_goes_by_itself() {
    let mut turn = turn("example", "key", DeliveryWindow::Always);
    let planned = internal(InternalCause::Schedule {
        schedule: ScheduleId::from_bytes([7; 16]),
        due: Timestamp::ZERO,
    });
    let cron = |turn: &Turn| {
        let context = Context::of_turn(turn);
        let slot = context.slot(Variable::CronChatId);
        matches!(slot, Slot::Set(chat) if chat == turn.return_to.address.chat.as_str())
    };
    turn.input = [event(&turn, said(), None)].into();
    assert!(!cron(&turn), "a person asks");
    turn.input = [event(&turn, planned, None)].into();
    assert!(cron(&turn));
}

#[test]
fn late_delivery_is_what_the_conversation_says_when_the_turn_is_asked_for() {
    let until = |millis| DeliveryWindow::Until(Timestamp::from_millis(millis));
    for (window, expected) in [
        (DeliveryWindow::Always, true),
        (until(101), true),
        (until(99), false),
        (DeliveryWindow::InTurnOnly, false),
        (DeliveryWindow::Never, false),
    ] {
        let mut turn = turn("example", "key", window);
        turn.input = [event(&turn, said(), None)].into();
        let context = Context::of_turn(&turn);
        assert_eq!(context.supports_async_delivery(), expected, "{window:?}");
    }
}

#[test]
fn nobody_is_unset_throughout() {
    for variable in Variable::ALL {
        assert_eq!(Context::default().slot(variable), Slot::Unset);
        let nothing = Environment::default();
        assert_eq!(Context::default().get(variable, &nothing), "");
    }
}

#[test]
fn texts_are_found_whatever_they_hold() {
    let texts = Texts::of(["", "ä", "", "b\0c", ""]);
    let found: Vec<_> = (0..6).map(|at| texts.get(at)).collect();
    assert_eq!(found, ["", "ä", "", "b\0c", "", ""]);
}
