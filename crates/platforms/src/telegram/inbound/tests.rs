//! Updates as core.telegram.org/bots/api has them (`Update`, `Message`, `CallbackQuery`, `MessageReactionUpdated`,
//! `ChatMemberUpdated`), each with fields that nobody here reads.

use serde_json::{Value, json};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{
    AttachmentKind, Author, Content, DedupeKey, Event, EventKind, MembershipChange,
    MembershipSubject, Mention, Quote, ReactionChange,
};
use talaria_domain::ids::SeededIds;
use talaria_domain::names::{MessageId, ThreadId};
use talaria_domain::principal::{Principal, Role};
use talaria_domain::profile::Account;
use talaria_domain::question::{Choice, TokenHash};

use super::{Arrived, Listener, number, read};
use crate::telegram::wire::User;

const NOW: Timestamp = Timestamp::from_millis(9_000);

fn arrived(update: Value) -> Result<Arrived, String> {
    let account = Account {
        platform: "telegram".into(),
        name: "office".into(),
        profile: "assistant".into(),
    };
    let me: User = serde_json::from_value(
        json!({ "id": 7, "is_bot": true, "first_name": "B", "username": "our_bot" }),
    )
    .unwrap();
    let listener = Listener {
        account: &account,
        me: &me,
        ids: &SeededIds::from_seed(1),
        now: NOW,
    };
    read(listener, update)
}

fn event_of(update: Value) -> Event {
    let mut events = arrived(update).unwrap().events;
    assert_eq!(events.len(), 1);
    events.remove(0)
}

fn content_of(update: Value) -> Content {
    match event_of(update).kind {
        EventKind::Message(content) | EventKind::Edited(content) => content,
        other => panic!("unexpected {other:?}"),
    }
}

fn ada() -> Value {
    json!({ "id": 42, "is_bot": false, "first_name": "Ada", "last_name": "L.", "username": "ada", "language_code": "en" })
}

fn principal(user: &str, name: &str) -> Principal {
    Principal {
        platform: "telegram".into(),
        account: "office".into(),
        user: user.into(),
        alternate: None,
        display_name: Some(name.to_owned()),
        role: Role::Guest,
    }
}

fn key(token: &str) -> DedupeKey {
    DedupeKey::derive(&"telegram".into(), &"office".into(), token)
}

/// A message in a forum's topic that answers another; `more` is put into it.
fn message(more: &Value) -> Value {
    let mut message = json!({
        "message_id": 5, "message_thread_id": 42, "is_topic_message": true, "from": ada(), "date": 1_700_000_000,
        "chat": { "id": -1_001_234, "type": "supergroup", "title": "Work", "is_forum": true },
        "text": "hello", "has_protected_content": true, "a_field_of_a_later_api": { "x": [1] },
        "reply_to_message": { "message_id": 3, "from": ada(), "date": 1, "text": "who is there?",
            "chat": { "id": -1_001_234, "type": "supergroup" } },
    });
    for (name, value) in more.as_object().unwrap() {
        if value.is_null() {
            message.as_object_mut().unwrap().remove(name);
        } else {
            message[name] = value.clone();
        }
    }
    json!({ "update_id": 17, "message": message })
}

#[test]
fn every_field_has_its_place() {
    let event = event_of(message(&json!({})));
    let expected = Event {
        id: event.id,
        dedupe: key("message:-1001234:5"),
        address: Address {
            platform: "telegram".into(),
            account: "office".into(),
            chat_kind: ChatKind::Forum,
            chat: "-1001234".into(),
            thread: Some("42".into()),
            reply_to: Some("5".into()),
        },
        principal: principal("42", "Ada L."),
        message: Some("5".into()),
        kind: EventKind::Message(Content {
            text: "hello".to_owned(),
            quote: Some(Quote {
                message: "3".into(),
                author: Some(principal("42", "Ada L.")),
                text: Some("who is there?".to_owned()),
            }),
            ..Content::default()
        }),
        sent_at: Some(Timestamp::from_millis(1_700_000_000_000)),
        received_at: NOW,
    };
    assert_eq!(event, expected);
    assert_eq!(number(&message(&json!({}))), Some(17));
}

#[test]
fn each_kind_of_chat_is_known() {
    for (chat, kind, thread, anchor) in [
        (
            json!({ "id": 42, "type": "private" }),
            ChatKind::Direct,
            Some("42"),
            None,
        ),
        (
            json!({ "id": -5, "type": "group" }),
            ChatKind::Group,
            Some("42"),
            Some("5"),
        ),
        (
            json!({ "id": -1_005, "type": "supergroup" }),
            ChatKind::Group,
            Some("42"),
            Some("5"),
        ),
        (
            json!({ "id": -1_005, "type": "supergroup", "is_forum": true }),
            ChatKind::Forum,
            Some("42"),
            Some("5"),
        ),
        (
            json!({ "id": -1_005, "type": "channel" }),
            ChatKind::Channel,
            Some("42"),
            Some("5"),
        ),
        (
            json!({ "id": -1_005, "type": "party" }),
            ChatKind::Group,
            Some("42"),
            Some("5"),
        ),
    ] {
        let address = event_of(message(&json!({ "chat": chat }))).address;
        assert_eq!(address.chat_kind, kind, "{chat}");
        assert_eq!(
            address.thread.as_ref().map(ThreadId::as_str),
            thread,
            "{chat}"
        );
        assert_eq!(
            address.reply_to.as_ref().map(MessageId::as_str),
            anchor,
            "{chat}"
        );
    }
}

#[test]
fn only_a_topic_is_a_thread() {
    let group = json!({ "id": -1_005, "type": "supergroup" });
    let forum = json!({ "id": -1_005, "type": "supergroup", "is_forum": true });
    let below = json!({ "id": -1_005, "type": "supergroup", "is_direct_messages": true });
    for (more, thread) in [
        // An answer has a thread as well, which nobody can write to.
        (json!({ "chat": group, "is_topic_message": null }), None),
        (
            json!({ "chat": forum, "is_topic_message": null, "message_thread_id": 3 }),
            Some("1"),
        ),
        (
            json!({ "chat": forum, "is_topic_message": null, "message_thread_id": null }),
            Some("1"),
        ),
        (
            json!({ "chat": below, "is_topic_message": null, "direct_messages_topic": { "topic_id": 9 } }),
            Some("direct:9"),
        ),
    ] {
        let address = event_of(message(&more)).address;
        assert_eq!(
            address.thread.as_ref().map(ThreadId::as_str),
            thread,
            "{more}"
        );
    }
}

#[test]
fn whoever_opened_a_topic_is_not_answered_by_everybody_in_it() {
    let ours = json!({ "id": 7, "is_bot": true, "first_name": "B" });
    let opened = json!({ "message_id": 42, "from": ours, "date": 1, "forum_topic_created": { "name": "x", "icon_color": 1 } });
    let content = content_of(message(&json!({ "reply_to_message": opened })));
    assert_eq!((content.quote, content.mention), (None, Mention::Absent));
    let bare = json!({ "message_id": 42, "from": ours, "date": 1 });
    let content = content_of(message(&json!({ "reply_to_message": bare })));
    assert_eq!((content.quote, content.mention), (None, Mention::Absent));
    let real = json!({ "message_id": 43, "from": ours, "date": 1, "text": "may I?" });
    let content = content_of(message(&json!({ "reply_to_message": real })));
    assert_eq!(content.mention, Mention::Reply);
    assert_eq!(content.quote.unwrap().author.unwrap().user.as_str(), "7");
}

#[test]
fn a_passage_wins_over_the_whole_and_another_chat_is_named() {
    let content = content_of(message(
        &json!({ "quote": { "text": "who", "position": 0 } }),
    ));
    assert_eq!(content.quote.unwrap().text.as_deref(), Some("who"));
    let external = json!({
        "reply_to_message": null, "quote": { "text": "elsewhere", "position": 0 },
        "external_reply": { "origin": { "type": "hidden_user", "date": 1, "sender_user_name": "x" },
            "chat": { "id": -9, "type": "group" }, "message_id": 8 },
    });
    let quote = content_of(message(&external)).quote.unwrap();
    assert_eq!(
        (quote.message.as_str(), quote.author, quote.text.as_deref()),
        ("-9:8", None, Some("elsewhere"))
    );
}

#[test]
fn who_speaks_is_who_answers_for_it() {
    let group = json!({ "id": -1_001_234, "type": "supergroup", "title": "Work" });
    let nobody = json!({ "id": 1_087_968_824, "is_bot": true, "first_name": "Group", "username": "GroupAnonymousBot" });
    let service = json!({ "id": 777_000, "is_bot": false, "first_name": "Telegram" });
    let robot = json!({ "id": 99, "is_bot": true, "first_name": "R" });
    for (more, user, author) in [
        (json!({}), "42", Author::Person),
        (json!({ "from": robot }), "99", Author::Bot),
        // An admin who does not want to be seen is the group, and not the bot that stands for all of them.
        (
            json!({ "from": nobody, "sender_chat": group }),
            "-1001234",
            Author::Person,
        ),
        (
            json!({ "from": service, "sender_chat": group, "is_automatic_forward": true }),
            "-1001234",
            Author::Bot,
        ),
    ] {
        let event = event_of(message(&more));
        assert_eq!(event.principal.user.as_str(), user, "{more}");
        assert!(
            matches!(event.kind, EventKind::Message(content) if content.author == author),
            "{more}"
        );
    }
}

#[test]
fn a_channel_speaks_for_itself() {
    let channel = json!({ "id": -1_009, "type": "channel", "title": "News" });
    let post = json!({ "message_id": 5, "sender_chat": channel, "chat": channel, "date": 1, "text": "news" });
    let event = event_of(json!({ "update_id": 1, "channel_post": post }));
    assert_eq!(event.principal, principal("-1009", "News"));
    assert_eq!(event.address.chat_kind, ChatKind::Channel);
    let event = event_of(json!({ "update_id": 2, "edited_channel_post": post }));
    assert!(matches!(event.kind, EventKind::Edited(_)));
}

#[test]
fn what_is_nothing_for_us_is_no_event() {
    let ours = json!({ "id": 7, "is_bot": true, "first_name": "B" });
    for update in [
        json!({ "update_id": 1 }),
        json!({ "update_id": 1, "a_word_of_a_later_api": { "x": 1 } }),
        message(&json!({ "from": ours })),
        message(&json!({ "from": null })),
        message(&json!({ "text": null, "new_chat_members": [ada()] })),
        message(&json!({ "text": null, "pinned_message": { "message_id": 1 } })),
        message(
            &json!({ "text": "/stop@other_bot", "entities": [{ "type": "bot_command", "offset": 0, "length": 15 }] }),
        ),
    ] {
        let arrived = arrived(update.clone()).unwrap();
        assert_eq!(arrived, Arrived::default(), "{update}");
    }
}

#[test]
fn a_group_that_became_another_is_told() {
    let chat = json!({ "id": -5, "type": "group" });
    let before = arrived(message(
        &json!({ "text": null, "chat": chat, "migrate_to_chat_id": -1_005 }),
    ))
    .unwrap();
    let chat = json!({ "id": -1_005, "type": "supergroup" });
    let after = arrived(message(
        &json!({ "text": null, "chat": chat, "migrate_from_chat_id": -5 }),
    ))
    .unwrap();
    for arrived in [before, after] {
        assert_eq!(
            (arrived.moved, arrived.events.len()),
            (Some((-5, -1_005)), 0)
        );
    }
}

#[test]
fn what_comes_with_a_message_has_its_kind() {
    let fixture: Value =
        serde_json::from_str(include_str!("../fixtures/attachments.json")).unwrap();
    for case in fixture["cases"].as_array().unwrap() {
        let mut more = case["message"].clone();
        more["text"] = Value::Null;
        let content = content_of(message(&more));
        let [attachment] = content.attachments.as_slice() else {
            panic!("not one: {case}");
        };
        let kind: AttachmentKind = serde_json::from_value(case["kind"].clone()).unwrap();
        assert_eq!(attachment.kind, kind, "{case}");
        assert_eq!(case["locator"], attachment.locator.as_str(), "{case}");
        assert_eq!(
            case["media_type"],
            attachment.media_type.as_deref().unwrap()
        );
    }
}

#[test]
fn what_is_no_text_is_said_in_words() {
    for (more, text) in [
        (
            json!({ "location": { "latitude": 52.5, "longitude": 13.4 } }),
            "[location: 52.5, 13.4]",
        ),
        (
            json!({ "venue": { "title": "Café", "address": "Street 1", "location": {} }, "location": { "latitude": 1.0, "longitude": 2.0 } }),
            "[place: Café, Street 1]",
        ),
        (
            json!({ "contact": { "phone_number": "+49", "first_name": "Ben" } }),
            "[contact: Ben, +49]",
        ),
        (
            json!({ "poll": { "id": "1", "question": "Tea?" } }),
            "[poll: Tea?]",
        ),
        (json!({ "dice": { "emoji": "🎲", "value": 6 } }), "🎲 6"),
        (
            json!({ "caption": "look", "photo": [{ "file_id": "f" }] }),
            "look",
        ),
    ] {
        let mut more = more;
        more["text"] = Value::Null;
        assert_eq!(content_of(message(&more)).text, text);
    }
}

#[test]
fn the_same_thing_has_the_same_key_however_it_comes() {
    let again = |update_id: i64, field: &str| {
        let mut update = message(&json!({}));
        let message = update.as_object_mut().unwrap().remove("message").unwrap();
        event_of(json!({ "update_id": update_id, field: message })).dedupe
    };
    assert_eq!(again(17, "message"), again(99, "message"));
    assert_eq!(again(17, "edited_message"), again(17, "edited_message"));
    assert_ne!(
        again(17, "edited_message"),
        again(18, "edited_message"),
        "two changes of one second"
    );
    assert_ne!(again(17, "edited_message"), again(17, "message"));
}

/// A press on a button with this in it.
fn press(data: &Value, message: &Value) -> Value {
    json!({ "update_id": 17, "callback_query": {
        "id": "4382", "from": ada(), "message": message, "chat_instance": "1", "data": data } })
}

#[test]
fn a_press_is_read_and_always_answered() {
    let token = "cd".repeat(16);
    let shown = json!({ "message_id": 5, "date": 1, "message_thread_id": 42, "is_topic_message": true,
        "chat": { "id": -1_005, "type": "supergroup", "is_forum": true } });
    for (choice, expected) in [
        ("yes", Choice::Approve),
        ("no", Choice::Deny),
        (
            "3",
            Choice::Answer {
                text: "3".to_owned(),
            },
        ),
    ] {
        let arrived = arrived(press(&json!(format!("{token}:{choice}")), &shown)).unwrap();
        let event = &arrived.events[0];
        let (token, choice) = (TokenHash::of(&token), expected);
        assert_eq!(event.kind, EventKind::Pressed { token, choice });
        assert_eq!(event.dedupe, key("press:4382"));
        assert_eq!(event.address.thread, Some("42".into()));
        assert_eq!(event.principal, principal("42", "Ada L."));
        assert_eq!(arrived.press.as_deref(), Some("4382"));
    }
    for (data, message) in [
        (json!("something else"), shown.clone()),
        (json!(null), shown.clone()),
        (json!(format!("{token}:yes")), json!(null)),
    ] {
        let arrived = arrived(press(&data, &message)).unwrap();
        assert_eq!(
            (arrived.events.len(), arrived.press.as_deref()),
            (0, Some("4382")),
            "{data}"
        );
    }
}

#[test]
fn marks_that_changed_are_told_one_by_one() {
    let update = json!({ "update_id": 17, "message_reaction": {
        "chat": { "id": 42, "type": "private" }, "message_id": 5, "user": ada(), "date": 1,
        "old_reaction": [{ "type": "emoji", "emoji": "👍" }, { "type": "paid" }],
        "new_reaction": [{ "type": "paid" }, { "type": "emoji", "emoji": "🎉" }, { "type": "custom_emoji", "custom_emoji_id": "9" }],
    } });
    let events = arrived(update).unwrap().events;
    let expected = [
        ("👍", ReactionChange::Removed),
        ("🎉", ReactionChange::Added),
        ("custom:9", ReactionChange::Added),
    ];
    assert_eq!(events.len(), expected.len());
    for (event, (reaction, change)) in events.iter().zip(expected) {
        let reaction = reaction.to_owned();
        assert_eq!(event.kind, EventKind::Reaction { reaction, change });
    }
    assert_ne!(events[1].dedupe, events[2].dedupe);
    assert_ne!(events[1].id, events[2].id);
    let ours = json!({ "update_id": 17, "message_reaction": {
        "chat": { "id": 42, "type": "private" }, "message_id": 5, "date": 1, "old_reaction": [],
        "user": { "id": 7, "is_bot": true, "first_name": "B" }, "new_reaction": [{ "type": "emoji", "emoji": "👍" }],
    } });
    assert!(arrived(ours).unwrap().events.is_empty());
}

#[test]
fn we_come_and_go() {
    for (old, new, change) in [
        ("left", "member", Some(MembershipChange::Joined)),
        ("member", "kicked", Some(MembershipChange::Left)),
        ("administrator", "left", Some(MembershipChange::Left)),
        ("member", "administrator", None),
        ("member", "restricted", None),
    ] {
        let update = json!({ "update_id": 17, "my_chat_member": {
            "chat": { "id": -5, "type": "group" }, "from": ada(), "date": 1,
            "old_chat_member": { "status": old, "user": {} }, "new_chat_member": { "status": new, "user": {} },
        } });
        let events = arrived(update).unwrap().events;
        let kinds: Vec<_> = events.into_iter().map(|event| event.kind).collect();
        let about = MembershipSubject::Ourselves;
        let expected = change.map(|change| EventKind::Membership { change, about });
        assert_eq!(kinds, Vec::from_iter(expected), "{old} {new}");
    }
}

#[test]
fn what_cannot_be_read_is_said_and_nobody_is_quoted() {
    for update in [
        json!(5),
        json!({ "message": {} }),
        message(&json!({ "date": null })),
        message(&json!({ "chat": null })),
        message(&json!({ "message_id": "a \"private\" word" })),
        message(&json!({ "chat": "a private word" })),
    ] {
        let said = arrived(update.clone()).unwrap_err();
        assert!(
            !said.is_empty() && !said.contains("private"),
            "{update}: {said}"
        );
    }
}
