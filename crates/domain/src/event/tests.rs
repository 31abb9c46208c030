//! What an event tells of itself.

use super::Hearing::{AsItGrows, AtItsEnd, Left};
use super::*;
use crate::address::ChatKind;
use crate::principal::Role;

fn event(kind: EventKind) -> Event {
    Event {
        id: EventId::from_bytes([3; 16]),
        dedupe: DedupeKey::derive(&"example".into(), &"bot".into(), "1"),
        address: Address {
            platform: "example".into(),
            account: "bot".into(),
            chat_kind: ChatKind::Direct,
            chat: "chat".into(),
            thread: None,
            reply_to: None,
        },
        principal: Principal {
            platform: "example".into(),
            account: "bot".into(),
            user: "key".into(),
            alternate: None,
            display_name: None,
            role: Role::Member,
        },
        message: None,
        kind,
        sent_at: None,
        received_at: Timestamp::ZERO,
    }
}

fn wishing(hearing: Hearing) -> Content {
    let wishes = Wishes {
        hearing,
        ..Wishes::default()
    };
    Content {
        wishes: Some(Box::new(wishes)),
        ..Content::default()
    }
}

#[test]
fn only_a_message_brings_wishes_and_says_when_it_is_heard_of() {
    let news = EventKind::Internal {
        cause: InternalCause::Handoff,
        text: String::new(),
    };
    let table = [
        (EventKind::Message(wishing(AtItsEnd)), (true, AtItsEnd)),
        (EventKind::Message(wishing(AsItGrows)), (true, AsItGrows)),
        (EventKind::Message(wishing(Left)), (true, Left)),
        (EventKind::Message(Content::default()), (false, Left)),
        (EventKind::Edited(wishing(AtItsEnd)), (false, Left)),
        (news, (false, Left)),
    ];
    for (kind, expected) in table {
        let event = event(kind);
        let told = (event.wishes().is_some(), event.hearing());
        assert_eq!(told, expected, "{:?}", event.kind);
    }
}
