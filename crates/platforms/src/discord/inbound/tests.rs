//! Every field of a payload has its place in the event. The fixtures name the page that they follow.

use serde_json::{Value, json};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{
    Attachment, AttachmentKind, Author, Content, DedupeKey, Event, EventKind, Mention, Quote,
    ReactionChange,
};
use talaria_domain::ids::EventId;
use talaria_domain::principal::{Principal, Role};
use talaria_domain::profile::Account;
use talaria_domain::question::{Choice, TokenHash};

use super::{Listener, Spot, edited, interaction, located, message, reacted};

const ID: EventId = EventId::from_bytes([7; 16]);
const NOW: Timestamp = Timestamp::from_millis(9_000);
const WRITTEN: &str = include_str!("../fixtures/message_create.json");
const USED: &str = include_str!("../fixtures/interaction_create.json");

fn account() -> Account {
    Account {
        platform: "discord".into(),
        name: "office".into(),
        profile: "assistant".into(),
    }
}

fn listener(account: &Account) -> Listener<'_> {
    Listener {
        account,
        bot: "111",
        id: ID,
        now: NOW,
    }
}

fn room(kind: ChatKind) -> Spot {
    Spot {
        chat: "290926798999357250".to_owned(),
        thread: None,
        kind,
    }
}

/// The fixture with these fields instead.
fn with(fields: &Value) -> Value {
    let mut body: Value = serde_json::from_str(WRITTEN).unwrap();
    for (name, value) in fields.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn arrived(body: Value, kind: ChatKind) -> Option<Event> {
    let account = account();
    message(
        listener(&account),
        &room(kind),
        &serde_json::from_value(body).unwrap(),
    )
}

fn content(event: &Event) -> &Content {
    match &event.kind {
        EventKind::Message(content) | EventKind::Edited(content) => content,
        other => panic!("{other:?}"),
    }
}

fn principal(user: &str, name: &str) -> Principal {
    Principal {
        platform: "discord".into(),
        account: "office".into(),
        user: user.into(),
        alternate: None,
        display_name: Some(name.to_owned()),
        role: Role::Guest,
    }
}

fn key(token: &str) -> DedupeKey {
    DedupeKey::derive(&"discord".into(), &"office".into(), token)
}

#[test]
fn every_field_has_its_place() {
    let expected = Event {
        id: ID,
        dedupe: key("message:334385199974967042"),
        address: Address {
            platform: "discord".into(),
            account: "office".into(),
            chat_kind: ChatKind::Group,
            chat: "290926798999357250".into(),
            thread: None,
            reply_to: Some("334385199974967042".into()),
        },
        principal: principal("53908099506183680", "the mason"),
        message: Some("334385199974967042".into()),
        kind: EventKind::Message(Content {
            text: "Supa Hot".to_owned(),
            attachments: vec![Attachment {
                kind: AttachmentKind::Image,
                locator: "290926798999357250/334385199974967042/1310000000000000001".to_owned(),
                file_name: Some("cat.png".to_owned()),
                media_type: Some("image/png".to_owned()),
                size_bytes: Some(4_321),
                kept: None,
            }],
            quote: Some(Quote {
                message: "306588351130107906".into(),
                author: Some(principal("222", "Benjamin")),
                text: Some("Supa Cold".to_owned()),
            }),
            mention: Mention::Direct,
            author: Author::Person,
            wishes: None,
        }),
        // The time that is in the id; the page's example has another in its text.
        sent_at: Some(Timestamp::from_millis(1_499_794_044_250)),
        received_at: NOW,
    };
    assert_eq!(arrived(with(&json!({})), ChatKind::Group), Some(expected));
}

#[test]
fn in_a_direct_chat_nothing_is_anchored() {
    let event = arrived(with(&json!({})), ChatKind::Direct).unwrap();
    assert_eq!(event.address.reply_to, None);
}

#[test]
fn we_are_spoken_to_by_id() {
    let named = json!([{ "id": "111" }]);
    let answer = |author: &str| json!({ "id": "5", "channel_id": "1", "content": "?", "author": { "id": author } });
    for (text, mentions, answered, expected, rest) in [
        ("<@111> hi", &named, answer("222"), Mention::Direct, "hi"),
        (
            "<@!111>  <@111> hi",
            &named,
            answer("222"),
            Mention::Direct,
            "hi",
        ),
        (
            "hi <@111>",
            &named,
            answer("222"),
            Mention::Direct,
            "hi <@111>",
        ),
        // Whoever is answered is among the mentions, and is not named.
        ("hi", &named, answer("111"), Mention::Reply, "hi"),
        ("hi", &json!([]), answer("111"), Mention::Reply, "hi"),
        (
            "@talaria hi",
            &json!([]),
            Value::Null,
            Mention::Absent,
            "@talaria hi",
        ),
        (
            "<@1112> hi",
            &json!([{ "id": "1112" }]),
            Value::Null,
            Mention::Absent,
            "<@1112> hi",
        ),
        // In code it is only a text.
        (
            "`<@111>`",
            &json!([]),
            Value::Null,
            Mention::Absent,
            "`<@111>`",
        ),
    ] {
        let body =
            with(&json!({ "content": text, "mentions": mentions, "referenced_message": answered }));
        let event = arrived(body, ChatKind::Group).unwrap();
        assert_eq!(content(&event).mention, expected, "{text}");
        assert_eq!(content(&event).text, rest, "{text}");
    }
}

#[test]
fn programs_are_told_apart_and_we_are_not_heard() {
    for (fields, author) in [
        (json!({ "author": { "id": "5", "bot": true } }), Author::Bot),
        (
            json!({ "webhook_id": "5", "author": { "id": "5" } }),
            Author::Bot,
        ),
        (json!({ "author": { "id": "5" } }), Author::Person),
    ] {
        let event = arrived(with(&fields), ChatKind::Group).unwrap();
        assert_eq!(content(&event).author, author, "{fields}");
    }
    assert_eq!(
        arrived(
            with(&json!({ "author": { "id": "111", "bot": true } })),
            ChatKind::Group
        ),
        None
    );
}

#[test]
fn what_nobody_wrote_is_nothing() {
    // "Message Resource", message types: somebody joined, something was pinned, a thread began.
    for kind in [1, 6, 7, 8, 18, 21, 46] {
        assert_eq!(
            arrived(with(&json!({ "type": kind })), ChatKind::Group),
            None,
            "{kind}"
        );
    }
    let empty = json!({ "content": "", "attachments": [] });
    assert_eq!(arrived(with(&empty), ChatKind::Group), None);
    let forwarded = json!({
        "content": "", "attachments": [], "message_snapshots": [{ "message": { "content": "look" } }],
    });
    let event = arrived(with(&forwarded), ChatKind::Group).unwrap();
    assert_eq!(content(&event).text, "look");
}

#[test]
fn each_kind_of_file_is_known() {
    let voice = 1 << 13;
    for (media_type, flags, kind) in [
        (json!("image/png"), 0, AttachmentKind::Image),
        (json!("video/mp4"), 0, AttachmentKind::Video),
        (json!("audio/ogg"), 0, AttachmentKind::Audio),
        (json!("audio/ogg"), voice, AttachmentKind::Voice),
        (json!("application/pdf"), 0, AttachmentKind::File),
        (json!(null), 0, AttachmentKind::File),
    ] {
        let file = json!([{ "id": "9", "filename": "f", "size": 1, "url": "u", "content_type": media_type }]);
        let body = with(&json!({ "attachments": file, "flags": flags }));
        let event = arrived(body, ChatKind::Group).unwrap();
        assert_eq!(content(&event).attachments[0].kind, kind, "{media_type}");
    }
}

#[test]
fn a_file_is_found_again_and_nothing_else_is() {
    assert_eq!(located("1/2/3"), Some(("1", "2", "3")));
    for odd in ["", "1/2", "1/2/3/4", "1//3", "1/2/x", "../2/3"] {
        assert_eq!(located(odd), None, "{odd}");
    }
}

#[test]
fn a_change_is_one_only_with_its_time() {
    let account = account();
    let read = |fields: Value| {
        let body = serde_json::from_value(with(&fields)).unwrap();
        edited(listener(&account), &room(ChatKind::Group), &body)
    };
    assert_eq!(read(json!({})), None, "a preview of a link");
    let own = json!({ "edited_timestamp": "t", "author": { "id": "111" } });
    assert_eq!(read(own), None);
    let event = read(json!({ "edited_timestamp": "2017-07-11T18:00:00+00:00" })).unwrap();
    assert!(matches!(event.kind, EventKind::Edited(_)));
    assert_eq!(
        event.dedupe,
        key("edit:334385199974967042:2017-07-11T18:00:00+00:00")
    );
    let again = read(json!({ "edited_timestamp": "later" })).unwrap();
    assert_ne!(again.dedupe, event.dedupe);
}

/// "Gateway Events", message reaction add.
#[test]
fn a_reaction_is_known_by_its_place() {
    let account = account();
    let read = |emoji: Value, user: &str, place: &str| {
        let body = json!({
            "user_id": user, "channel_id": "1", "message_id": "5", "guild_id": "2", "emoji": emoji,
            "member": { "user": { "id": user, "username": "ada", "bot": user == "77" } },
        });
        let body = serde_json::from_value(body).unwrap();
        let change = (ReactionChange::Added, place);
        reacted(listener(&account), &room(ChatKind::Group), body, change)
    };
    let fire = json!({ "id": null, "name": "🔥" });
    let event = read(fire.clone(), "6", "s:9").unwrap();
    let expected = EventKind::Reaction {
        reaction: "🔥".to_owned(),
        change: ReactionChange::Added,
    };
    assert_eq!(event.kind, expected);
    assert_eq!(event.dedupe, key("reaction:s:9"));
    assert_eq!(event.principal, principal("6", "ada"));
    assert_eq!(event.message, Some("5".into()));
    let own = read(
        json!({ "id": "41771983429993937", "name": "LUL" }),
        "6",
        "s:10",
    )
    .unwrap();
    assert!(
        matches!(own.kind, EventKind::Reaction { reaction, .. } if reaction == "LUL:41771983429993937")
    );
    assert_eq!(read(fire.clone(), "111", "s:11"), None, "our own");
    assert_eq!(read(fire, "77", "s:12"), None, "another bot's");
}

fn used(fields: &Value) -> Option<Event> {
    let mut body: Value = serde_json::from_str(USED).unwrap();
    for (name, value) in fields.as_object().unwrap() {
        body[name] = value.clone();
    }
    let account = account();
    let spot = Spot {
        thread: Some("645027906669510667".to_owned()),
        ..room(ChatKind::Thread)
    };
    interaction(
        listener(&account),
        &spot,
        serde_json::from_value(body).unwrap(),
    )
}

#[test]
fn a_command_is_the_text_that_it_stands_for() {
    let event = used(&json!({})).unwrap();
    assert_eq!(content(&event).text, "/cardsearch The Gitrog Monster");
    assert_eq!(content(&event).mention, Mention::Direct);
    assert_eq!(event.dedupe, key("command:786008729715212338"));
    assert_eq!(event.principal, principal("53908232506183680", "Mason"));
    assert_eq!(event.address.thread, Some("645027906669510667".into()));
    assert_eq!((event.message, event.address.reply_to), (None, None));
    let bare = used(&json!({ "data": { "name": "help" } })).unwrap();
    assert_eq!(content(&bare).text, "/help");
}

#[test]
fn a_press_is_what_the_button_carried() {
    let pressed = json!({
        "type": 3, "data": { "custom_id": "tok:y", "component_type": 2 }, "message": { "id": "5" },
        "member": null, "user": { "id": "6", "username": "ada" },
    });
    let event = used(&pressed).unwrap();
    let expected = EventKind::Pressed {
        token: TokenHash::of("tok"),
        choice: Choice::Approve,
    };
    assert_eq!(event.kind, expected);
    assert_eq!(event.dedupe, key("press:786008729715212338"));
    assert_eq!(event.message, Some("5".into()));
    assert_eq!(event.principal, principal("6", "ada"));
    let mut foreign = pressed.clone();
    foreign["data"]["custom_id"] = json!("somebody else's");
    assert_eq!(used(&foreign), None);
    assert_eq!(used(&json!({ "type": 1 })), None, "a ping");
    assert_eq!(used(&json!({ "member": null })), None, "nobody");
}
