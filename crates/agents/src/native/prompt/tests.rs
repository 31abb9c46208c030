//! What a turn begins with.

use std::sync::Arc;

use std::path::Path;

use talaria_domain::address::{Address, ChatKind, ReturnAddress};
use talaria_domain::authority::Authority;
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{
    Attachment, AttachmentKind, Content, DedupeKey, Event, EventKind, InternalCause, Kept,
};
use talaria_domain::ids::{EventId, JobId, RunId, ScheduleId, SessionId};
use talaria_domain::principal::{Principal, Role};
use talaria_domain::profile::{BusyPolicy, Profile};
use talaria_domain::runner::{Said, Speaker, Turn};
use talaria_domain::scope::StatePolicy;
use talaria_domain::session_key::Sharing;

use super::{Picture, pictures, prompt};
use crate::models::NEWS;

fn place() -> ReturnAddress {
    ReturnAddress {
        address: Address {
            platform: "example".into(),
            account: "bot".into(),
            chat_kind: ChatKind::Direct,
            chat: "chat".into(),
            thread: None,
            reply_to: None,
        },
        requester: Principal {
            platform: "example".into(),
            account: "bot".into(),
            user: "ada".into(),
            alternate: None,
            display_name: None,
            role: Role::Member,
        },
        profile: "assistant".into(),
        session: SessionId::from_bytes([8; 16]),
    }
}

fn turn(depth: u32, history: Vec<Said>, kinds: Vec<EventKind>) -> Turn {
    let event = |kind: EventKind| Event {
        id: EventId::from_bytes([1; 16]),
        dedupe: DedupeKey::derive(&"example".into(), &"bot".into(), "1"),
        address: place().address,
        principal: place().requester,
        message: None,
        kind,
        sent_at: None,
        received_at: Timestamp::ZERO,
    };
    Turn {
        run: RunId::from_bytes([7; 16]),
        profile: Profile {
            name: "assistant".into(),
            runner: "native".into(),
            instructions: String::new(),
            busy: BusyPolicy::default(),
            sharing: Sharing::default(),
            state: StatePolicy::default(),
        },
        authority: Arc::new(Authority::default().freeze()),
        return_to: place(),
        session_key: "key".to_owned(),
        window: DeliveryWindow::Always,
        depth,
        history,
        input: kinds.into_iter().map(event).collect(),
        prompt: "words".to_owned(),
        state: talaria_domain::scope::Snapshot::default(),
        config: serde_json::Map::default(),
        options: std::collections::BTreeMap::default(),
    }
}

fn ended() -> EventKind {
    EventKind::Internal {
        cause: InternalCause::JobEnded {
            job: JobId::from_bytes([2; 16]),
        },
        text: "words".to_owned(),
    }
}

fn message() -> EventKind {
    EventKind::Message(Content::default())
}

#[test]
fn only_what_nobody_said_is_news() {
    let before = || vec![Said::plain(Speaker::User, "hi")];
    let due = EventKind::Internal {
        cause: InternalCause::Schedule {
            schedule: ScheduleId::from_bytes([7; 16]),
            due: Timestamp::ZERO,
        },
        text: "words".to_owned(),
    };
    let task = EventKind::Internal {
        cause: InternalCause::Delegated {
            job: JobId::from_bytes([2; 16]),
        },
        text: "words".to_owned(),
    };
    let table = [
        (turn(0, Vec::new(), vec![ended()]), true),
        (turn(0, before(), vec![ended(), ended()]), true),
        (turn(0, before(), vec![ended(), message()]), false),
        (turn(0, before(), vec![message()]), false),
        (turn(0, before(), vec![due]), false),
        (turn(0, before(), Vec::new()), false),
        (turn(1, Vec::new(), vec![task]), false),
        (turn(1, before(), vec![ended()]), true),
    ];
    for (turn, is_news) in table {
        let expected = if is_news {
            format!("{NEWS}\nwords")
        } else {
            "words".to_owned()
        };
        assert_eq!(prompt(&turn), expected, "{:?}", turn.input);
    }
}

fn showing(attachments: &[(AttachmentKind, &str)]) -> EventKind {
    let attachment = |(kind, locator): &(AttachmentKind, &str)| Attachment {
        kind: *kind,
        locator: (*locator).to_owned(),
        file_name: None,
        media_type: None,
        size_bytes: None,
        kept: None,
    };
    EventKind::Message(Content {
        attachments: attachments.iter().map(attachment).collect(),
        ..Content::default()
    })
}

#[test]
fn pictures_with_an_address_are_shown() {
    use AttachmentKind::{File, Image, Video};
    let (inline, remote) = ("data:image/png;base64,QUFB", "https://example.org/cat.png");
    let EventKind::Message(content) = showing(&[(Image, remote)]) else {
        unreachable!("it is a message");
    };
    let edited = EventKind::Edited(content);
    let table = [
        (vec![], vec![]),
        (vec![message(), ended()], vec![]),
        (
            vec![showing(&[(Image, inline), (Image, remote)])],
            vec![inline, remote],
        ),
        (
            vec![showing(&[(Image, inline)]), ended(), edited],
            vec![inline, remote],
        ),
        (
            vec![showing(&[
                (File, remote),
                (Video, remote),
                (Image, "AgACAgI"),
            ])],
            vec![],
        ),
        (
            vec![showing(&[(Image, "http://example.org/cat.png")])],
            vec![],
        ),
    ];
    for (kinds, expected) in table {
        let turn = turn(0, Vec::new(), kinds);
        let expected: Vec<_> = expected.into_iter().map(Picture::Address).collect();
        let found: Vec<_> = pictures(&turn).collect();
        assert_eq!(found, expected, "{:?}", turn.input);
    }
}

#[test]
fn pictures_that_are_kept_here_are_shown_from_there() {
    let mut kind = showing(&[
        (AttachmentKind::Image, "AgACAgI"),
        (AttachmentKind::Image, "AgACAgJ"),
        (AttachmentKind::File, "AgACAgK"),
    ]);
    let EventKind::Message(content) = &mut kind else {
        unreachable!("it is a message");
    };
    let kept = [
        Kept::At("/files/a".into()),
        Kept::Missing("too large".to_owned()),
        Kept::At("/files/c".into()),
    ];
    for (attachment, kept) in content.attachments.iter_mut().zip(kept) {
        attachment.kept = Some(kept);
    }
    let turn = turn(0, Vec::new(), vec![kind]);
    let found: Vec<_> = pictures(&turn).collect();
    assert_eq!(found, [Picture::Kept(Path::new("/files/a"))]);
}
