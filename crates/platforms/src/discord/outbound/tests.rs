//! Every part has its request ("Message Resource", create message; "Component Reference"; "Channel Resource").

use std::path::PathBuf;

use serde_json::json;
use talaria_domain::adapter::{Outgoing, TextForm};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::delivery::{Outcome, Part, PartBody, Rejection, ReplyKind};
use talaria_domain::event::{Attachment, AttachmentKind};
use talaria_domain::ids::{PartId, ReplyId};
use talaria_domain::question::{Button, Choice, PressToken, Prompt, TokenHash};

use super::{carried, change, channel, file_name, message, thread};

fn outgoing(text: &str) -> Outgoing {
    Outgoing {
        part: Part {
            id: PartId::from_bytes([255; 16]),
            reply: ReplyId::from_bytes([1; 16]),
            ordinal: 0,
            body: PartBody::Text {
                markdown: text.to_owned(),
            },
        },
        to: Address {
            platform: "discord".into(),
            account: "office".into(),
            chat_kind: ChatKind::Group,
            chat: "100".into(),
            thread: None,
            reply_to: None,
        },
        kind: ReplyKind::Final,
        form: TextForm::Plain,
        prompt: None,
        file: None,
    }
}

fn answer(text: &str) -> Choice {
    Choice::Answer {
        text: text.to_owned(),
    }
}

#[test]
fn a_message_is_written_so_that_nobody_is_notified() {
    let mut outgoing = outgoing("hello @everyone");
    outgoing.to.reply_to = Some("7".into());
    let expected = json!({
        "content": "hello @everyone",
        "allowed_mentions": { "parse": [], "replied_user": false },
        "components": [],
        "nonce": "_____________________w",
        "enforce_nonce": true,
        "message_reference": { "message_id": "7", "fail_if_not_exists": false },
    });
    assert_eq!(message(&outgoing), Ok(expected));
    let changed = change(&outgoing).unwrap();
    assert!(changed.get("nonce").is_none() && changed.get("message_reference").is_none());
}

#[test]
fn a_thread_is_a_channel_of_its_own() {
    let mut to = outgoing("").to;
    assert_eq!(channel(&to), "100");
    to.thread = Some("200".into());
    assert_eq!(channel(&to), "200");
}

#[test]
fn a_file_is_named_and_has_to_be_there() {
    let mut outgoing = outgoing("");
    outgoing.part.body = PartBody::File {
        attachment: Attachment {
            kind: AttachmentKind::File,
            locator: String::new(),
            file_name: Some("a.txt".to_owned()),
            media_type: None,
            size_bytes: None,
            kept: None,
        },
        caption: "here".to_owned(),
    };
    let Err(Outcome::Rejected { class, .. }) = message(&outgoing) else {
        panic!("a file that is not there");
    };
    assert_eq!(class, Rejection::Invalid);
    outgoing.file = Some(PathBuf::from("somewhere"));
    let body = message(&outgoing).unwrap();
    assert_eq!(body["content"], "here");
    assert_eq!(
        body["attachments"],
        json!([{ "id": 0, "filename": "a.txt" }])
    );
}

#[test]
fn a_files_name_breaks_nothing() {
    for (name, shown) in [
        (Some("a b.txt"), "a b.txt"),
        (Some("a\"\r\nb\\c/d.txt"), "abcd.txt"),
        (Some("\n"), "file"),
        (Some(""), "file"),
        (None, "file"),
    ] {
        assert_eq!(file_name(name), shown);
    }
}

#[test]
fn buttons_carry_what_they_mean() {
    let long = "y".repeat(90);
    let choices = [
        Choice::Approve,
        Choice::Deny,
        answer("2"),
        answer("a:b=c"),
        answer(&long),
        answer("sixth"),
    ];
    let button = |choice: &Choice| Button {
        label: long.clone(),
        choice: choice.clone(),
    };
    let token = PressToken::from_random([171; 16]);
    let mut outgoing = outgoing("may I?");
    outgoing.prompt = Some(Prompt {
        token: token.clone(),
        buttons: choices.iter().map(button).collect(),
    });
    let body = message(&outgoing).unwrap();
    let rows = body["components"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["type"] == 1));
    let buttons: Vec<_> = rows
        .iter()
        .flat_map(|row| row["components"].as_array().unwrap())
        .collect();
    assert_eq!(buttons.len(), 6);
    let expected = [
        Choice::Approve,
        Choice::Deny,
        answer("2"),
        answer("a:b=c"),
        answer("5"),
        answer("sixth"),
    ];
    for (button, choice) in buttons.into_iter().zip(expected) {
        let carries = button["custom_id"].as_str().unwrap();
        assert!(carries.chars().count() <= 100, "{carries}");
        assert_eq!(button["label"].as_str().unwrap().chars().count(), 80);
        assert_eq!(carried(carries), Some((token.hash(), choice)));
    }
    let styles: Vec<_> = rows[0]["components"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["style"])
        .collect();
    assert_eq!(styles[..3], [&json!(3), &json!(4), &json!(2)]);
}

#[test]
fn what_is_no_button_of_ours_means_nothing() {
    for odd in ["", "token", "token:", "token:q", "token:yes", "token:é"] {
        assert_eq!(carried(odd), None, "{odd}");
    }
    assert_eq!(carried("t:y"), Some((TokenHash::of("t"), Choice::Approve)));
}

#[test]
fn no_more_buttons_than_fit() {
    let token = PressToken::from_random([1; 16]);
    let button = |number: usize| Button {
        label: number.to_string(),
        choice: answer(&number.to_string()),
    };
    let mut outgoing = outgoing("which?");
    outgoing.prompt = Some(Prompt {
        token,
        buttons: (0..40).map(button).collect(),
    });
    let body = message(&outgoing).unwrap();
    assert_eq!(body["components"].as_array().unwrap().len(), 5);
}

#[test]
fn a_thread_is_opened_where_there_are_any() {
    let at = |chat_kind, reply_to: Option<&str>| Address {
        chat_kind,
        reply_to: reply_to.map(Into::into),
        ..outgoing("").to
    };
    for (parent, kind, anchor) in [
        (at(ChatKind::Group, None), Some(11), None),
        (at(ChatKind::Group, Some("7")), Some(11), Some("7")),
        (at(ChatKind::Channel, Some("7")), Some(10), Some("7")),
        // A message of a thread cannot begin another.
        (at(ChatKind::Thread, Some("7")), Some(11), None),
        (at(ChatKind::Forum, Some("7")), None, None),
    ] {
        let (body, begins_at) = thread(&parent, " plans ").unwrap();
        assert_eq!(body["name"], "plans");
        assert_eq!(body["auto_archive_duration"], 1_440);
        assert_eq!(body["type"].as_u64(), kind, "{parent:?}");
        assert_eq!(begins_at, anchor, "{parent:?}");
        assert_eq!(
            body["message"].is_object(),
            parent.chat_kind == ChatKind::Forum
        );
    }
    assert!(thread(&at(ChatKind::Direct, None), "plans").is_none());
    let parent = at(ChatKind::Group, None);
    let (body, _) = thread(&parent, &"x".repeat(101)).unwrap();
    assert_eq!(body["name"].as_str().unwrap().chars().count(), 100);
    let (body, _) = thread(&parent, " ").unwrap();
    assert_eq!(body["name"], "…");
}
