//! What the Bot API is asked, word for word (core.telegram.org/bots/api: `sendMessage`, `sendDocument`,
//! `editMessageText`, `InlineKeyboardButton`, `setMessageReaction`, `sendChatAction`, `createForumTopic`).

use serde_json::{Value, json};
use talaria_domain::adapter::{Mark, Outgoing, TextForm};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::delivery::{Outcome, Part, PartBody, ReplyKind};
use talaria_domain::event::{Attachment, AttachmentKind, ReactionChange};
use talaria_domain::ids::{PartId, ReplyId};
use talaria_domain::question::{Button, Choice, PressToken, Prompt};

use super::{Request, carried, change, mark, messages, open, typing};

fn place(chat: &str, thread: Option<&str>, reply_to: Option<&str>) -> Address {
    Address {
        platform: "telegram".into(),
        account: "office".into(),
        chat_kind: ChatKind::Group,
        chat: chat.into(),
        thread: thread.map(Into::into),
        reply_to: reply_to.map(Into::into),
    }
}

fn outgoing(body: PartBody, to: Address) -> Outgoing {
    Outgoing {
        part: Part {
            id: PartId::from_bytes([1; 16]),
            reply: ReplyId::from_bytes([2; 16]),
            ordinal: 0,
            body,
        },
        to,
        kind: ReplyKind::Final,
        form: TextForm::Markdown,
        prompt: None,
        file: None,
    }
}

fn text(markdown: &str) -> PartBody {
    PartBody::Text {
        markdown: markdown.to_owned(),
    }
}

fn file(kind: AttachmentKind, media_type: &str, caption: &str) -> PartBody {
    PartBody::File {
        attachment: Attachment {
            kind,
            locator: String::new(),
            file_name: Some("../x.bin".to_owned()),
            media_type: Some(media_type.to_owned()),
            size_bytes: None,
            kept: None,
        },
        caption: caption.to_owned(),
    }
}

fn prompt(labels: &[&str]) -> Prompt {
    let buttons = labels.iter().map(|label| Button {
        label: (*label).to_owned(),
        choice: Choice::Answer {
            text: (*label).to_owned(),
        },
    });
    Prompt {
        token: PressToken::from_random([0xcd; 16]),
        buttons: buttons.collect(),
    }
}

fn one(outgoing: &Outgoing) -> Request {
    let mut requests = messages(outgoing, 10).unwrap();
    assert_eq!(requests.len(), 1);
    requests.remove(0)
}

#[test]
fn a_part_becomes_a_message() {
    let request = one(&outgoing(
        text("**hello** <you>"),
        place("-100", Some("42"), Some("7")),
    ));
    assert_eq!(request.method, "sendMessage");
    assert_eq!(
        Value::Object(request.fields),
        json!({
            "chat_id": -100, "message_thread_id": 42, "text": "<b>hello</b> &lt;you&gt;", "parse_mode": "HTML",
            "link_preview_options": { "is_disabled": true },
            "reply_parameters": { "message_id": 7, "allow_sending_without_reply": true },
        })
    );
}

#[test]
fn plain_text_has_no_mode_and_a_public_chat_its_name() {
    let mut outgoing = outgoing(text("**a** <b"), place("@news", None, None));
    outgoing.form = TextForm::Plain;
    let request = one(&outgoing);
    assert_eq!(
        Value::Object(request.fields),
        json!({ "chat_id": "@news", "text": "**a** <b", "link_preview_options": { "is_disabled": true } })
    );
}

#[test]
fn each_kind_of_thread_has_its_parameter() {
    for (thread, name, value) in [
        ("42", "message_thread_id", json!(42)),
        ("direct:9", "direct_messages_topic_id", json!(9)),
    ] {
        let to = place("-100", Some(thread), None);
        for body in [text("x"), file(AttachmentKind::File, "text/plain", "x")] {
            let request = one(&outgoing(body, to.clone()));
            assert_eq!(request.fields[name], value, "{thread}");
        }
    }
    let general = one(&outgoing(text("x"), place("-100", Some("1"), None)));
    assert_eq!(general.fields.get("message_thread_id"), None);
    assert_eq!(
        typing(&place("-100", Some("1"), None)).fields["message_thread_id"],
        json!(1)
    );
    assert_eq!(
        typing(&place("-100", Some("42"), None)).fields["message_thread_id"],
        json!(42)
    );
    assert_eq!(
        typing(&place("-100", Some("direct:9"), None))
            .fields
            .get("message_thread_id"),
        None
    );
}

#[test]
fn buttons_carry_at_most_64_bytes_and_are_read_back() {
    let mut outgoing = outgoing(text("May I?"), place("1", None, None));
    outgoing.prompt = Some(Prompt {
        buttons: vec![
            Button {
                label: "Approve".to_owned(),
                choice: Choice::Approve,
            },
            Button {
                label: "Deny".to_owned(),
                choice: Choice::Deny,
            },
        ],
        ..prompt(&[])
    });
    let keyboard = one(&outgoing).fields["reply_markup"]["inline_keyboard"].clone();
    assert_eq!(
        keyboard.as_array().unwrap().len(),
        1,
        "short ones share a row"
    );
    let token = "cd".repeat(16);
    let approve = keyboard[0][0]["callback_data"].as_str().unwrap();
    assert_eq!(approve, format!("{token}:yes"));
    assert_eq!(carried(approve), Some((token.as_str(), Choice::Approve)));

    let labels: Vec<String> = (0..100)
        .map(|number| format!("choice {number} {}", "ö".repeat(40)))
        .collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    outgoing.prompt = Some(prompt(&labels));
    let keyboard = one(&outgoing).fields["reply_markup"]["inline_keyboard"].clone();
    for (row, number) in keyboard.as_array().unwrap().iter().zip(1..) {
        let data = row[0]["callback_data"].as_str().unwrap();
        assert!(data.len() <= 64, "{data}");
        let text = number.to_string();
        assert_eq!(
            carried(data),
            Some((token.as_str(), Choice::Answer { text }))
        );
    }
}

#[test]
fn what_another_button_carries_is_none_of_ours() {
    let token = "cd".repeat(16);
    for data in [
        "",
        "yes",
        "x:yes",
        ":yes",
        &format!("{token}:maybe"),
        &token,
        &format!("{token}:-1"),
        &format!("{token}:"),
    ] {
        assert_eq!(carried(data), None, "{data}");
    }
}

#[test]
fn a_file_goes_by_its_kind_and_size() {
    use AttachmentKind::{Audio, File, Image, Video, Voice};
    let (small, large, too_large) = (10, 10 * 1024 * 1024 + 1, 50 * 1024 * 1024 + 1);
    for (kind, media_type, size, method, field) in [
        (Image, "image/jpeg", small, "sendPhoto", "photo"),
        (Image, "image/jpeg", large, "sendDocument", "document"),
        (Image, "image/svg+xml", small, "sendDocument", "document"),
        (Voice, "audio/ogg", small, "sendVoice", "voice"),
        (Audio, "audio/mpeg", large, "sendAudio", "audio"),
        (Video, "video/mp4", large, "sendVideo", "video"),
        (File, "application/pdf", small, "sendDocument", "document"),
    ] {
        let outgoing = outgoing(file(kind, media_type, ""), place("1", None, None));
        let request = messages(&outgoing, size).unwrap().remove(0);
        let upload = request.upload.unwrap();
        assert_eq!(
            (request.method, upload.field),
            (method, field),
            "{media_type} {size}"
        );
        assert_eq!(
            (upload.file_name.as_str(), upload.media_type.as_str()),
            ("x.bin", media_type)
        );
        assert_eq!(request.fields.get("caption"), None);
    }
    let outgoing = outgoing(file(File, "text/plain", ""), place("1", None, None));
    let refused = messages(&outgoing, too_large).unwrap_err();
    assert!(matches!(refused, Outcome::Rejected { .. }), "{refused:?}");
}

#[test]
fn a_caption_is_beside_its_file_or_follows_it() {
    let mut short = outgoing(
        file(AttachmentKind::File, "text/plain", "*look*"),
        place("1", Some("42"), None),
    );
    short.prompt = Some(prompt(&["a"]));
    let request = one(&short);
    assert_eq!(
        (&request.fields["caption"], &request.fields["parse_mode"]),
        (&json!("<i>look</i>"), &json!("HTML"))
    );
    assert!(request.fields.contains_key("reply_markup"));

    let long = file(AttachmentKind::File, "text/plain", &"x ".repeat(513));
    let mut long = outgoing(long, place("1", Some("42"), None));
    long.prompt = Some(prompt(&["a"]));
    let requests = messages(&long, 10).unwrap();
    let methods: Vec<_> = requests.iter().map(|request| request.method).collect();
    assert_eq!(methods, ["sendDocument", "sendMessage"]);
    let has_buttons: Vec<_> = requests
        .iter()
        .map(|request| request.fields.contains_key("reply_markup"))
        .collect();
    assert_eq!(has_buttons, [false, true], "they stand below the last");
    assert!(
        requests
            .iter()
            .all(|request| request.fields["message_thread_id"] == json!(42))
    );
    assert_eq!(requests[0].fields.get("caption"), None);
}

#[test]
fn a_change_names_its_message() {
    let text = outgoing(text("*hello*"), place("-100", Some("42"), Some("7")));
    let request = change(&text, (json!(-100), 5));
    assert_eq!(request.method, "editMessageText");
    assert_eq!(
        Value::Object(request.fields),
        json!({
            "chat_id": -100, "message_id": 5, "text": "<i>hello</i>", "parse_mode": "HTML",
            "link_preview_options": { "is_disabled": true },
        })
    );
    let file = outgoing(
        file(AttachmentKind::File, "text/plain", "*look*"),
        place("-100", None, None),
    );
    let request = change(&file, (json!(-100), 5));
    assert_eq!(
        (request.method, &request.fields["caption"]),
        ("editMessageCaption", &json!("<i>look</i>"))
    );
    assert_eq!(request.fields.get("link_preview_options"), None);
}

#[test]
fn what_moved_is_sent_there_without_an_anchor() {
    let request = one(&outgoing(text("x"), place("-5", None, Some("7"))));
    let moved = request.moved_to(-1_005);
    assert_eq!(moved.fields["chat_id"], json!(-1_005));
    assert_eq!(moved.fields.get("reply_parameters"), None);
}

#[test]
fn a_mark_is_one_that_the_platform_knows() {
    let at = place("1", None, None);
    for (which, emoji) in [(Mark::Seen, "👀"), (Mark::Done, "👍"), (Mark::Failed, "👎")] {
        let request = mark((&at, 5), which, ReactionChange::Added);
        assert_eq!(
            request.fields["reaction"],
            json!([{ "type": "emoji", "emoji": emoji }])
        );
        let request = mark((&at, 5), which, ReactionChange::Removed);
        assert_eq!(request.fields["reaction"], json!([]));
    }
}

#[test]
fn a_topic_has_a_name_that_is_taken() {
    let at = place("-100", None, None);
    for (name, taken) in [
        ("A report", "A report".to_owned()),
        ("  ", "New topic".to_owned()),
        (&"ö".repeat(200), "ö".repeat(128)),
    ] {
        assert_eq!(open(&at, name).fields["name"], json!(taken));
    }
}
