//! What a program is told, word for word.

use talaria_domain::adapter::TextForm;
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::delivery::{Part, ReplyKind};
use talaria_domain::event::{Attachment, AttachmentKind};
use talaria_domain::ids::SeededIds;

use super::*;

fn outgoing(kind: ReplyKind, body: PartBody) -> Outgoing {
    let now = Timestamp::from_millis(1_700_000_000_999);
    Outgoing {
        part: Part {
            id: PartId::next(&SeededIds::from_seed(1), now),
            reply: ReplyId::from_bytes([2; 16]),
            ordinal: 0,
            body,
        },
        to: Address {
            platform: "callback".into(),
            account: "default".into(),
            chat_kind: ChatKind::Webhook,
            chat: "https://example.org/hooks/1".into(),
            thread: Some("the session".into()),
            reply_to: Some("the job".into()),
        },
        kind,
        form: TextForm::Markdown,
        prompt: None,
        file: None,
    }
}

fn said(text: &str) -> PartBody {
    PartBody::Text {
        markdown: text.to_owned(),
    }
}

#[test]
fn a_part_becomes_a_body() {
    let body = of(&outgoing(ReplyKind::Final, said("\"done\"\n"))).unwrap();
    let expected = r#"{"type":"reply.final","session_id":"the session","job_id":"the job","reply_id":"02020202-0202-0202-0202-020202020202","text":"\"done\"\n","created":1700000000}"#;
    assert_eq!(body, expected);
    let notice = of(&outgoing(ReplyKind::Notice, said("done"))).unwrap();
    assert!(notice.starts_with(r#"{"type":"reply.notice","#), "{notice}");
}

#[test]
fn a_file_is_refused_with_a_reason() {
    let file = PartBody::File {
        attachment: Attachment {
            kind: AttachmentKind::File,
            locator: "x".to_owned(),
            file_name: None,
            media_type: None,
            size_bytes: None,
            kept: None,
        },
        caption: String::new(),
    };
    let refused = of(&outgoing(ReplyKind::Final, file));
    let class = Rejection::Invalid;
    assert!(
        matches!(refused, Err(Outcome::Rejected { class: found, .. }) if found == class),
        "{refused:?}"
    );
}
