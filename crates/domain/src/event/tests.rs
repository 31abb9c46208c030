//! What an event tells of itself.

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

fn wishing(is_awaited: bool) -> Content {
    let wishes = Wishes {
        is_awaited,
        ..Wishes::default()
    };
    Content {
        wishes: Some(Box::new(wishes)),
        ..Content::default()
    }
}

#[test]
fn only_a_message_brings_wishes_and_is_awaited_if_it_says_so() {
    let news = EventKind::Internal {
        cause: InternalCause::Handoff,
        text: String::new(),
    };
    let table = [
        (EventKind::Message(wishing(true)), (true, true)),
        (EventKind::Message(wishing(false)), (true, false)),
        (EventKind::Message(Content::default()), (false, false)),
        (EventKind::Edited(wishing(true)), (false, false)),
        (news, (false, false)),
    ];
    for (kind, expected) in table {
        let event = event(kind);
        let told = (event.wishes().is_some(), event.is_awaited());
        assert_eq!(told, expected, "{:?}", event.kind);
    }
}
