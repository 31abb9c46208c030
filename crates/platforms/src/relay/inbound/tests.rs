//! Every field of an update has its place in the event; what cannot be read is said without quoting anybody.

use serde_json::{Value, json};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Author, Content, DedupeKey, Event, EventKind, Mention, Quote};
use talaria_domain::ids::EventId;
use talaria_domain::principal::{Principal, Role};
use talaria_domain::profile::Account;

use super::{Arrived, Listener, read};

const ID: EventId = EventId::from_bytes([7; 16]);
const NOW: Timestamp = Timestamp::from_millis(9_000);

fn account() -> Account {
    Account {
        platform: "relay".into(),
        name: "office".into(),
        profile: "assistant".into(),
    }
}

fn arrived(update: Value) -> Result<Arrived, String> {
    let account = account();
    let listener = Listener {
        account: &account,
        bot: "bot-1",
        id: ID,
        now: NOW,
    };
    read(listener, update)
}

fn event_of(update: Value) -> Event {
    arrived(update).unwrap().event.unwrap()
}

fn full() -> Value {
    json!({
        "offset": 17, "id": "u17", "kind": "message",
        "chat": { "id": "room", "kind": "group" }, "thread": "topic", "message_id": "m1",
        "sender": { "id": "ada", "name": "Ada" }, "text": "hello", "mentioned": true,
        "reply_to": { "message_id": "m0", "text": "who is there?" }, "sent_at": 8_000,
    })
}

/// The same with a field set to something else, or taken away.
fn with(field: &str, value: &Value) -> Value {
    let mut update = full();
    let fields = update.as_object_mut().unwrap();
    if value.is_null() {
        fields.remove(field);
    } else {
        fields.insert(field.to_owned(), value.clone());
    }
    update
}

#[test]
fn every_field_has_its_place() {
    let (platform, account) = ("relay", "office");
    let expected = Event {
        id: ID,
        dedupe: DedupeKey::derive(&platform.into(), &account.into(), "u17"),
        address: Address {
            platform: platform.into(),
            account: account.into(),
            chat_kind: ChatKind::Group,
            chat: "room".into(),
            thread: Some("topic".into()),
            reply_to: None,
        },
        principal: Principal {
            platform: platform.into(),
            account: account.into(),
            user: "ada".into(),
            alternate: None,
            display_name: Some("Ada".to_owned()),
            role: Role::Guest,
        },
        message: Some("m1".into()),
        kind: EventKind::Message(Content {
            text: "hello".to_owned(),
            attachments: Vec::new(),
            quote: Some(Quote {
                message: "m0".into(),
                author: None,
                text: Some("who is there?".to_owned()),
            }),
            mention: Mention::Direct,
            author: Author::Person,
            wishes: None,
        }),
        sent_at: Some(Timestamp::from_millis(8_000)),
        received_at: NOW,
    };
    let arrived = arrived(full()).unwrap();
    assert_eq!(arrived.offset, 17);
    assert_eq!(arrived.event, Some(expected));
}

#[test]
fn a_small_bridge_may_leave_out_what_it_does_not_know() {
    let event = event_of(json!({
        "offset": 1, "id": "u1", "kind": "message", "chat": { "id": "c", "kind": "direct" },
        "sender": { "id": "ada" }, "text": "hello",
    }));
    assert_eq!(event.address.thread, None);
    assert_eq!(event.message, None);
    assert_eq!(event.principal.display_name, None);
    assert_eq!(event.sent_at, None);
    let EventKind::Message(content) = event.kind else {
        panic!("a message");
    };
    assert_eq!(content.quote, None);
    assert_eq!(content.mention, Mention::Absent);
}

#[test]
fn an_empty_text_where_none_is_meant_is_none() {
    let mut update = full();
    update["thread"] = json!("");
    update["message_id"] = json!("");
    update["sender"]["name"] = json!("");
    update["reply_to"]["message_id"] = json!("");
    let event = event_of(update);
    assert_eq!(event.address.thread, None);
    assert_eq!(event.message, None);
    assert_eq!(event.principal.display_name, None);
    assert!(matches!(event.kind, EventKind::Message(content) if content.quote.is_none()));
}

#[test]
fn each_kind_of_chat_is_known() {
    for (name, kind) in [
        ("direct", ChatKind::Direct),
        ("group", ChatKind::Group),
        ("channel", ChatKind::Channel),
        ("thread", ChatKind::Thread),
    ] {
        let event = event_of(with("chat", &json!({ "id": "c", "kind": name })));
        assert_eq!(event.address.chat_kind, kind, "{name}");
    }
}

#[test]
fn a_changed_message_is_an_event_of_its_own() {
    let event = event_of(with("kind", &json!("edited")));
    assert!(matches!(event.kind, EventKind::Edited(content) if content.text == "hello"));
}

#[test]
fn the_same_update_has_the_same_key_however_it_comes() {
    let first = event_of(full());
    let again = event_of(with("offset", &json!(99)));
    let other = event_of(with("id", &json!("u18")));
    assert_eq!(first.dedupe, again.dedupe);
    assert_ne!(first.dedupe, other.dedupe);
}

#[test]
fn what_the_bot_said_itself_is_nothing_for_us() {
    let arrived = arrived(with("sender", &json!({ "id": "bot-1" }))).unwrap();
    assert_eq!((arrived.offset, arrived.event), (17, None));
}

#[test]
fn a_word_of_a_later_protocol_is_nothing_for_us() {
    let arrived = arrived(json!({ "offset": 3, "kind": "reaction", "emoji": "x" })).unwrap();
    assert_eq!((arrived.offset, arrived.event), (3, None));
}

#[test]
fn what_cannot_be_read_is_said() {
    for (update, why) in [
        (json!(5), "an update cannot be read: "),
        (with("offset", &Value::Null), "an update cannot be read: "),
        (with("offset", &json!(-1)), "an update cannot be read: "),
        (with("chat", &Value::Null), "missing field `chat`"),
        (with("sender", &Value::Null), "missing field `sender`"),
        (with("text", &Value::Null), "missing field `text`"),
        (with("kind", &Value::Null), "missing field `kind`"),
        (
            with("id", &json!("")),
            "update 17 cannot be read: `id` is empty",
        ),
        (
            with("chat", &json!({ "id": "", "kind": "direct" })),
            "update 17 cannot be read: `chat.id` is empty",
        ),
        (
            with("sender", &json!({ "id": "" })),
            "update 17 cannot be read: `sender.id` is empty",
        ),
        (
            with("chat", &json!({ "id": "c", "kind": "party" })),
            "unknown variant `party`",
        ),
    ] {
        let said = arrived(update.clone()).unwrap_err();
        assert!(said.contains(why), "{update}: {said}");
    }
}

#[test]
fn nobody_is_quoted_in_a_complaint() {
    let said = arrived(with("chat", &json!("a \"private\" word"))).unwrap_err();
    assert!(said.starts_with("update 17 cannot be read: "), "{said}");
    assert!(!said.contains("private"), "{said}");
}
