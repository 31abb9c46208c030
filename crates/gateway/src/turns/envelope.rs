//! What the model is told about an event. Pure. There is one way from an event to a prompt, whatever brought it there:
//! the normal path, the queue, steering, a retry. So nothing of the envelope can be lost on one of them.

use std::fmt::Write as _;

use talaria_domain::event::{Attachment, AttachmentKind, Content, Event, EventKind, Kept, Quote};
use talaria_domain::principal::Principal;

/// Whether several people meet in the conversation, so that each message has to say whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Company {
    /// One person.
    Alone,
    /// Several.
    Shared,
}

/// Events as one text.
pub fn prompt<'a>(events: impl IntoIterator<Item = &'a Event>, company: Company) -> String {
    let mut text = String::new();
    for (number, event) in events.into_iter().enumerate() {
        if number > 0 {
            text.push_str("\n\n");
        }
        one(&mut text, event, company);
    }
    text
}

fn one(text: &mut String, event: &Event, company: Company) {
    match &event.kind {
        EventKind::Message(content) | EventKind::Edited(content) => {
            if company == Company::Shared {
                // Writing to a string cannot fail.
                write!(text, "[{}] ", name(&event.principal)).unwrap_or_default();
            }
            said(text, content);
        }
        EventKind::Internal { text: told, .. } => text.push_str(told),
        EventKind::Command { name, arguments } => {
            text.push_str(format!("/{name} {arguments}").trim_end());
        }
        EventKind::Reaction { reaction, .. } => text.push_str(reaction),
        // An answer is told by whoever asked.
        EventKind::Pressed { .. } | EventKind::Membership { .. } => {}
    }
}

fn said(text: &mut String, content: &Content) {
    let before = text.len();
    if let Some(quote) = &content.quote {
        text.push_str(&quoted(quote));
    }
    text.push_str(&content.text);
    for attachment in &content.attachments {
        let gap = if text.len() == before { "" } else { "\n" };
        // Writing to a string cannot fail.
        write!(text, "{gap}[{}]", attached(attachment)).unwrap_or_default();
    }
}

fn quoted(quote: &Quote) -> String {
    let author = quote
        .author
        .as_ref()
        .map_or_else(String::new, |author| format!(" from {}", name(author)));
    match &quote.text {
        Some(text) => format!("[in answer to{author}: \"{text}\"]\n"),
        None => format!(
            "[in answer to message {}{author}]\n",
            quote.message.as_str()
        ),
    }
}

fn attached(attachment: &Attachment) -> String {
    let kind = match attachment.kind {
        AttachmentKind::Image => "image",
        AttachmentKind::Audio => "audio",
        AttachmentKind::Voice => "voice message",
        AttachmentKind::Video => "video",
        AttachmentKind::File => "file",
    };
    let name = attachment
        .file_name
        .as_deref()
        .map(|name| format!(" {name:?}"));
    let size = attachment.size_bytes.map(|size| format!(", {size} bytes"));
    let kept = attachment.kept.as_ref().map(|kept| match kept {
        Kept::At(path) => format!(", kept as {}", path.display()),
        Kept::Missing(reason) => format!(": not fetched: {reason}"),
    });
    format!(
        "{kind}{}{}{}",
        name.unwrap_or_default(),
        size.unwrap_or_default(),
        kept.unwrap_or_default()
    )
}

fn name(principal: &Principal) -> &str {
    let shown = principal
        .display_name
        .as_deref()
        .filter(|name| !name.is_empty());
    shown.unwrap_or_else(|| principal.user.as_str())
}

#[cfg(test)]
mod tests {
    //! Nothing of the envelope is lost.

    use talaria_domain::address::{Address, ChatKind};
    use talaria_domain::clock::Timestamp;
    use talaria_domain::event::{Author, DedupeKey, Mention};
    use talaria_domain::ids::EventId;
    use talaria_domain::principal::Role;

    use super::*;

    fn ada() -> Principal {
        Principal {
            platform: "example".into(),
            account: "bot".into(),
            user: "7".into(),
            alternate: None,
            display_name: Some("Ada".to_owned()),
            role: Role::Member,
        }
    }

    fn event(content: Content) -> Event {
        let address = Address {
            platform: "example".into(),
            account: "bot".into(),
            chat_kind: ChatKind::Group,
            chat: "room".into(),
            thread: None,
            reply_to: None,
        };
        Event {
            id: EventId::from_bytes([1; 16]),
            dedupe: DedupeKey::derive(&address.platform, &address.account, "1"),
            address,
            principal: ada(),
            message: None,
            kind: EventKind::Message(content),
            sent_at: None,
            received_at: Timestamp::ZERO,
        }
    }

    #[test]
    fn the_whole_envelope_is_told() {
        let content = Content {
            text: "yes, send the same".to_owned(),
            attachments: vec![Attachment {
                kind: AttachmentKind::File,
                locator: "x".to_owned(),
                file_name: Some("list.pdf".to_owned()),
                media_type: None,
                size_bytes: Some(12),
                kept: None,
            }],
            quote: Some(Quote {
                message: "5".into(),
                author: Some(ada()),
                text: Some("draft A".to_owned()),
            }),
            mention: Mention::Direct,
            author: Author::Person,
            wishes: None,
        };
        let shared = prompt(&[event(content.clone())], Company::Shared);
        assert_eq!(
            shared,
            "[Ada] [in answer to from Ada: \"draft A\"]\nyes, send the same\n[file \"list.pdf\", 12 bytes]"
        );
        let alone = prompt(&[event(content.clone()), event(content)], Company::Alone);
        assert_eq!(
            alone.matches("draft A").count(),
            2,
            "each of several has its own"
        );
        assert!(!alone.contains("[Ada]"));
    }

    #[test]
    fn a_file_is_named_with_its_place_or_with_what_was_in_the_way() {
        let sent = |kept: Option<Kept>| Attachment {
            kind: AttachmentKind::File,
            locator: "secret".to_owned(),
            file_name: Some("a \"b\".pdf".to_owned()),
            media_type: None,
            size_bytes: None,
            kept,
        };
        let content = Content {
            attachments: vec![
                sent(Some(Kept::At("/files/in/1/0-a.pdf".into()))),
                sent(Some(Kept::Missing("too large".to_owned()))),
                sent(None),
            ],
            ..Content::default()
        };
        let told = prompt(&[event(content)], Company::Alone);
        let expected = [
            "[file \"a \\\"b\\\".pdf\", kept as /files/in/1/0-a.pdf]",
            "[file \"a \\\"b\\\".pdf\": not fetched: too large]",
            "[file \"a \\\"b\\\".pdf\"]",
        ];
        assert_eq!(told, expected.join("\n"));
    }
}
