//! What Slack tells, as its own pages write it down (`fixtures`, each with the page it follows), and what it comes to.

use serde_json::{Value, json};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{
    Attachment, AttachmentKind, Author, Content, DedupeKey, Event, EventKind, Mention,
    ReactionChange,
};
use talaria_domain::ids::EventId;
use talaria_domain::principal::{Principal, Role};
use talaria_domain::profile::Account;
use talaria_domain::question::{Choice, TokenHash};

use super::{Arrived, Listener, Me, Names, Told, read};

const ID: EventId = EventId::from_bytes([7; 16]);
const NOW: Timestamp = Timestamp::from_millis(9_000);

fn fixture(text: &str) -> Value {
    let fixture: Value = serde_json::from_str(text).unwrap();
    let page = fixture["page"].as_str().unwrap();
    assert!(page.starts_with("https://docs.slack.dev/"), "{page}");
    fixture["payload"].clone()
}

fn account() -> Account {
    Account {
        platform: "slack".into(),
        name: "office".into(),
        profile: "assistant".into(),
    }
}

fn arrived(told: Told<'_>) -> Result<Arrived, String> {
    let (account, names) = (account(), Names::from([("U0BEN".into(), "Ben".into())]));
    let me = Me {
        team: "T0TEAM".to_owned(),
        user: "U0BOT".to_owned(),
        bot: Some("B0BOT".to_owned()),
    };
    let listener = Listener {
        account: &account,
        me: &me,
        names: &names,
        id: ID,
        now: NOW,
    };
    read(listener, told)
}

fn event_of(told: Told<'_>) -> Event {
    match arrived(told) {
        Ok(Arrived::Event(event)) => *event,
        other => panic!("no event: {other:?}"),
    }
}

fn content_of(payload: &Value) -> Content {
    match event_of(Told::Event(payload)).kind {
        EventKind::Message(content) | EventKind::Edited(content) => content,
        other => panic!("no message: {other:?}"),
    }
}

fn key(token: &str) -> DedupeKey {
    DedupeKey::derive(&"slack".into(), &"office".into(), token)
}

fn place(chat: &str, kind: ChatKind, thread: Option<&str>) -> Address {
    Address {
        platform: "slack".into(),
        account: "office".into(),
        chat_kind: kind,
        chat: chat.into(),
        thread: thread.map(Into::into),
        reply_to: None,
    }
}

fn direct() -> Value {
    fixture(include_str!("fixtures/message_im.json"))
}

fn in_channel() -> Value {
    fixture(include_str!("fixtures/message_channel.json"))
}

/// A payload whose inner event has these fields set, or taken away.
fn with(mut payload: Value, fields: &[(&str, Value)]) -> Value {
    for (name, value) in fields {
        if value.is_null() {
            payload["event"].as_object_mut().unwrap().remove(*name);
        } else {
            payload["event"][*name] = value.clone();
        }
    }
    payload
}

#[test]
fn a_direct_message_has_every_field_in_its_place() {
    let expected = Event {
        id: ID,
        dedupe: key("message:D0ADA:1355517523.000005"),
        address: place("D0ADA", ChatKind::Direct, None),
        principal: Principal {
            platform: "slack".into(),
            account: "office".into(),
            user: "U0ADA".into(),
            alternate: None,
            display_name: None,
            role: Role::Guest,
        },
        message: Some("1355517523.000005".into()),
        kind: EventKind::Message(Content {
            text: "hello & <welcome>".to_owned(),
            ..Content::default()
        }),
        sent_at: Some(Timestamp::from_millis(1_355_517_523_000)),
        received_at: NOW,
    };
    assert_eq!(event_of(Told::Event(&direct())), expected);
}

#[test]
fn a_mention_told_twice_is_one_event() {
    let message = event_of(Told::Event(&in_channel()));
    let mention = fixture(include_str!("fixtures/app_mention.json"));
    assert_eq!(event_of(Told::Event(&mention)), message);
    assert_eq!(message.dedupe, key("message:C0ROOM:1515449522.000016"));
    let EventKind::Message(content) = &message.kind else {
        panic!("a message");
    };
    assert_eq!(content.mention, Mention::Direct);
    assert_eq!(content.text, "what about #news and @Ben?");
}

#[test]
fn a_message_in_a_room_opens_its_thread_and_an_answer_stays_in_it() {
    let opening = event_of(Told::Event(&in_channel()));
    let expected = place("C0ROOM", ChatKind::Group, Some("1515449522.000016"));
    assert_eq!(opening.address, expected);
    let reply = fixture(include_str!("fixtures/thread_reply.json"));
    let reply = event_of(Told::Event(&reply));
    assert_eq!(reply.address, expected);
    assert_eq!(reply.message, Some("1515449600.000100".into()));
    assert!(matches!(reply.kind, EventKind::Message(content) if content.mention == Mention::Reply));
}

#[test]
fn a_direct_chat_has_threads_only_where_somebody_made_one() {
    let in_thread = with(direct(), &[("thread_ts", json!("1.2"))]);
    let event = event_of(Told::Event(&in_thread));
    assert_eq!(event.address, place("D0ADA", ChatKind::Direct, Some("1.2")));
}

#[test]
fn each_kind_of_chat_is_known() {
    for (channel, told, kind) in [
        ("D1", json!("im"), ChatKind::Direct),
        ("G1", json!("mpim"), ChatKind::Group),
        ("G1", json!("group"), ChatKind::Group),
        ("C1", json!("channel"), ChatKind::Group),
        ("D1", Value::Null, ChatKind::Direct),
        ("C1", Value::Null, ChatKind::Group),
    ] {
        let payload = with(
            direct(),
            &[("channel", json!(channel)), ("channel_type", told.clone())],
        );
        let event = event_of(Told::Event(&payload));
        assert_eq!(event.address.chat_kind, kind, "{channel} {told}");
    }
}

#[test]
fn files_come_along() {
    let payload = fixture(include_str!("fixtures/file_share.json"));
    let content = content_of(&payload);
    let attachment = |kind, locator: &str| Attachment {
        kind,
        locator: locator.to_owned(),
        file_name: None,
        media_type: None,
        size_bytes: None,
        kept: None,
    };
    let expected = [
        Attachment {
            file_name: Some("cat.png".to_owned()),
            media_type: Some("image/png".to_owned()),
            size_bytes: Some(4_321),
            ..attachment(AttachmentKind::Image, "F0PIC")
        },
        Attachment {
            file_name: Some("audio_message.m4a".to_owned()),
            media_type: Some("audio/mp4".to_owned()),
            size_bytes: Some(100),
            ..attachment(AttachmentKind::Voice, "F0CLIP")
        },
        attachment(AttachmentKind::File, "F0CONNECT"),
    ];
    assert_eq!(content.attachments, expected);
    assert_eq!(content.text, "look");
}

#[test]
fn a_program_is_known_as_one() {
    let payload = fixture(include_str!("fixtures/bot_message.json"));
    let event = event_of(Told::Event(&payload));
    assert_eq!(event.principal.user.as_str(), "B0CI");
    assert_eq!(event.principal.display_name.as_deref(), Some("build"));
    let content = content_of(&payload);
    assert_eq!(content.author, Author::Bot);
    assert_eq!(content.text, "Build 7 (https://ci.example.org/7) failed");
    // Programs of today have a user as well.
    let payload = with(
        direct(),
        &[
            ("bot_id", json!("B0CI")),
            ("bot_profile", json!({ "name": "ci" })),
        ],
    );
    let event = event_of(Told::Event(&payload));
    assert_eq!(event.principal.user.as_str(), "U0ADA");
    assert_eq!(event.principal.display_name.as_deref(), Some("ci"));
    assert_eq!(content_of(&payload).author, Author::Bot);
}

#[test]
fn a_changed_message_is_an_event_of_its_own() {
    let payload = fixture(include_str!("fixtures/message_changed.json"));
    let event = event_of(Told::Event(&payload));
    assert_eq!(
        event.dedupe,
        key("edit:C0ROOM:1355517523.000005:1358878755.000001")
    );
    assert_eq!(event.message, Some("1355517523.000005".into()));
    assert_eq!(
        event.address.thread,
        Some("1355517523.000005".into()),
        "the thread of the message"
    );
    assert!(matches!(event.kind, EventKind::Edited(content) if content.text == "Hello, world!"));
}

#[test]
fn a_message_that_changed_but_not_in_its_words_is_nothing() {
    let changed = || fixture(include_str!("fixtures/message_changed.json"));
    let mut previewed = changed();
    previewed["event"]["previous_message"]["text"] = previewed["event"]["message"]["text"].clone();
    let mut unedited = changed();
    unedited["event"]["message"]
        .as_object_mut()
        .unwrap()
        .remove("edited");
    let mut ours = changed();
    ours["event"]["message"]["user"] = json!("U0BOT");
    let mut bots = changed();
    bots["event"]["message"]["bot_id"] = json!("B0BOT");
    for payload in [previewed, unedited, ours, bots] {
        let found = arrived(Told::Event(&payload));
        assert_eq!(found, Ok(Arrived::Nothing), "{payload}");
    }
}

#[test]
fn what_is_not_said_to_anybody_is_nothing() {
    for fields in [
        vec![("user", json!("U0BOT"))],
        vec![("bot_id", json!("B0BOT"))],
        vec![("subtype", json!("channel_join"))],
        vec![("subtype", json!("message_deleted"))],
        vec![("subtype", json!("channel_topic"))],
        vec![("subtype", json!("assistant_app_thread"))],
        vec![("subtype", json!("message_replied"))],
        vec![("hidden", json!(true))],
        vec![("type", json!("assistant_thread_started"))],
        vec![
            ("type", json!("channel_rename")),
            ("channel", json!({ "id": "C1" })),
        ],
    ] {
        let payload = with(direct(), &fields);
        let found = arrived(Told::Event(&payload));
        assert_eq!(found, Ok(Arrived::Nothing), "{fields:?}");
    }
}

#[test]
fn what_is_said_to_a_room_and_in_a_thread_counts() {
    for subtype in ["thread_broadcast", "me_message", "file_share"] {
        let payload = with(direct(), &[("subtype", json!(subtype))]);
        assert!(
            matches!(arrived(Told::Event(&payload)), Ok(Arrived::Event(_))),
            "{subtype}"
        );
    }
}

#[test]
fn a_reaction_is_put_and_taken_away() {
    let added = fixture(include_str!("fixtures/reaction_added.json"));
    let event = event_of(Told::Event(&added));
    assert_eq!(event.message, Some("1360782400.498405".into()));
    assert_eq!(event.address, place("C0ROOM", ChatKind::Group, None));
    assert_eq!(
        event.kind,
        EventKind::Reaction {
            reaction: "thumbsup".to_owned(),
            change: ReactionChange::Added,
        }
    );
    let removed = with(added.clone(), &[("type", json!("reaction_removed"))]);
    let removed = event_of(Told::Event(&removed));
    assert_ne!(removed.dedupe, event.dedupe);
    let ours = with(added, &[("user", json!("U0BOT"))]);
    assert_eq!(arrived(Told::Event(&ours)), Ok(Arrived::Nothing));
}

#[test]
fn a_pressed_button_says_what_it_carried() {
    let payload = fixture(include_str!("fixtures/block_actions.json"));
    let event = event_of(Told::Interaction(&payload));
    assert_eq!(
        event.dedupe,
        key("press:C0ROOM:1548261231.000200:1548426417.840180")
    );
    assert_eq!(
        event.address,
        place("C0ROOM", ChatKind::Group, Some("1548261200.000100"))
    );
    assert_eq!(event.principal.user.as_str(), "U0ADA");
    assert_eq!(event.message, Some("1548261231.000200".into()));
    assert_eq!(
        event.kind,
        EventKind::Pressed {
            token: TokenHash::of("00112233"),
            choice: Choice::Approve,
        }
    );
    let mut others = payload.clone();
    others["actions"][0]["action_id"] = json!("somebody_elses");
    assert_eq!(arrived(Told::Interaction(&others)), Ok(Arrived::Nothing));
    let mut view = payload;
    view["type"] = json!("view_submission");
    assert_eq!(arrived(Told::Interaction(&view)), Ok(Arrived::Nothing));
}

#[test]
fn a_slash_command_is_the_text_after_it() {
    for (command, text, expected) in [
        ("/talaria", "stop it", "/stop it"),
        ("/talaria", "/stop", "/stop"),
        ("/talaria", "", "/help"),
        ("/talaria", "  ", "/help"),
        ("/hermes", "new", "/new"),
        ("/stop", "", "/stop"),
        ("/Title", "a &amp; b", "/title a & b"),
    ] {
        let mut payload = fixture(include_str!("fixtures/slash_command.json"));
        payload["command"] = json!(command);
        payload["text"] = json!(text);
        let event = event_of(Told::Command(&payload));
        assert_eq!(event.message, None);
        assert_eq!(event.address, place("C0ROOM", ChatKind::Group, None));
        assert_eq!(
            event.dedupe,
            key("command:13345224609.738474920.8088930838d88f008e0")
        );
        let EventKind::Message(content) = event.kind else {
            panic!("a message");
        };
        assert_eq!(content.text, expected, "{command} {text}");
    }
}

#[test]
fn where_no_slash_can_be_typed_another_mark_stands_for_it() {
    for (text, expected) in [
        ("!stop", "/stop"),
        ("<@U0BOT> !title a b", "/title a b"),
        ("!important", "!important"),
        ("!", "!"),
        ("no !stop", "no !stop"),
        ("/stop", "/stop"),
    ] {
        let payload = with(direct(), &[("text", json!(text))]);
        assert_eq!(content_of(&payload).text, expected, "{text}");
    }
}

#[test]
fn another_workspaces_events_are_not_ours() {
    let elsewhere = |mut payload: Value| {
        payload["team_id"] = json!("T0OTHER");
        payload["context_team_id"] = json!("T0OTHER");
        payload
    };
    let mut foreign = elsewhere(direct());
    // A shared channel: it happened there, and is seen here.
    assert!(matches!(
        arrived(Told::Event(&foreign)),
        Ok(Arrived::Event(_))
    ));
    foreign["authorizations"] = json!([{ "team_id": "T0OTHER" }]);
    assert_eq!(arrived(Told::Event(&foreign)), Ok(Arrived::Foreign));
    let mut press = fixture(include_str!("fixtures/block_actions.json"));
    press["team"]["id"] = json!("T0OTHER");
    assert_eq!(arrived(Told::Interaction(&press)), Ok(Arrived::Foreign));
    let command = elsewhere(fixture(include_str!("fixtures/slash_command.json")));
    assert_eq!(arrived(Told::Command(&command)), Ok(Arrived::Foreign));
}

#[test]
fn that_we_are_not_let_in_any_more_is_heard() {
    let revoked = fixture(include_str!("fixtures/tokens_revoked.json"));
    assert_eq!(arrived(Told::Event(&revoked)), Ok(Arrived::Revoked));
    let uninstalled = fixture(include_str!("fixtures/app_uninstalled.json"));
    assert_eq!(arrived(Told::Event(&uninstalled)), Ok(Arrived::Revoked));
    let mut others = revoked;
    others["event"]["tokens"]["bot"] = json!([]);
    assert_eq!(arrived(Told::Event(&others)), Ok(Arrived::Nothing));
}

#[test]
fn whose_names_help_a_reader() {
    let payload = in_channel();
    assert_eq!(Told::Event(&payload).people(), ["U0ADA", "U0BOT", "U0BEN"]);
    let changed = fixture(include_str!("fixtures/message_changed.json"));
    assert_eq!(Told::Event(&changed).people(), ["U0ADA", "U0BOT"]);
    assert!(Told::Event(&json!(5)).people().is_empty());
}

#[test]
fn what_cannot_be_read_is_said_without_quoting_anybody() {
    for (payload, why) in [
        (json!(5), "an event cannot be read: "),
        (json!({}), "missing field `type`"),
        (json!({ "event": 5 }), "missing field `type`"),
        (with(direct(), &[("channel", Value::Null)]), "`channel`"),
        (with(direct(), &[("ts", json!(""))]), "`ts`"),
        (with(direct(), &[("user", Value::Null)]), "from nobody"),
        (
            with(direct(), &[("files", json!("a \"private\" word"))]),
            "message cannot be read: ",
        ),
    ] {
        let said = arrived(Told::Event(&payload)).unwrap_err();
        assert!(said.contains(why), "{payload}: {said}");
        assert!(!said.contains("private"), "{said}");
    }
    for payload in [json!("x"), json!({ "command": "/talaria" })] {
        assert!(arrived(Told::Command(&payload)).is_err(), "{payload}");
    }
    assert!(arrived(Told::Interaction(&json!("x"))).is_err());
}
