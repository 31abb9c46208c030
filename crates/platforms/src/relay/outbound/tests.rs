//! What a bridge is asked, word for word.

use serde_json::json;
use talaria_domain::adapter::{Outgoing, TextForm};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::delivery::{Outcome, Part, PartBody, Rejection, ReplyKind};
use talaria_domain::event::{Attachment, AttachmentKind};
use talaria_domain::ids::{PartId, ReplyId};

use super::message;

fn outgoing(body: PartBody) -> Outgoing {
    Outgoing {
        part: Part {
            id: PartId::from_bytes([1; 16]),
            reply: ReplyId::from_bytes([2; 16]),
            ordinal: 0,
            body,
        },
        to: Address {
            platform: "relay".into(),
            account: "office".into(),
            chat_kind: ChatKind::Group,
            chat: "room".into(),
            thread: Some("topic".into()),
            reply_to: Some("m1".into()),
        },
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

#[test]
fn a_part_becomes_a_message() {
    let outgoing = outgoing(text("**hello**"));
    let asked = serde_json::to_value(message(&outgoing).unwrap()).unwrap();
    assert_eq!(
        asked,
        json!({
            "key": "01010101-0101-0101-0101-010101010101",
            "chat": "room", "thread": "topic", "reply_to": "m1",
            "text": "**hello**", "format": "markdown",
        })
    );
}

#[test]
fn what_is_not_there_is_null_and_plain_text_says_so() {
    let mut outgoing = outgoing(text("**hello**"));
    outgoing.to.thread = None;
    outgoing.to.reply_to = None;
    outgoing.form = TextForm::Plain;
    let asked = serde_json::to_value(message(&outgoing).unwrap()).unwrap();
    assert_eq!(asked["thread"], json!(null));
    assert_eq!(asked["reply_to"], json!(null));
    assert_eq!(asked["text"], "**hello**");
    assert_eq!(asked["format"], "plain");
}

#[test]
fn a_file_is_refused_and_not_passed_over() {
    let outgoing = outgoing(PartBody::File {
        attachment: Attachment {
            kind: AttachmentKind::File,
            locator: "somewhere".to_owned(),
            file_name: None,
            media_type: None,
            size_bytes: None,
            kept: None,
        },
        caption: "look".to_owned(),
    });
    let refused = message(&outgoing).unwrap_err();
    assert!(matches!(
        refused,
        Outcome::Rejected {
            class: Rejection::Invalid,
            ..
        }
    ));
}
