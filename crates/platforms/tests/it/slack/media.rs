//! Files out by the external upload flow, and in with the token, from Slack alone.

use std::fs;
use std::path::PathBuf;

use talaria_domain::adapter::{Adapter as _, Outgoing};
use talaria_domain::delivery::{Outcome, PartBody, Rejection};
use talaria_domain::event::{Attachment, AttachmentKind};
use talaria_domain::question::{Button, Choice, PressToken, Prompt};
use talaria_sim::slack::{File, On, Written};
use tempfile::TempDir;

use super::world::{DIRECT, Desk, TOKEN, World, class, direct, in_time, part, receipt};

fn attachment(locator: &str) -> Attachment {
    Attachment {
        kind: AttachmentKind::File,
        locator: locator.to_owned(),
        file_name: Some("notes.txt".to_owned()),
        media_type: None,
        size_bytes: None,
        kept: None,
    }
}

fn file(folder: &TempDir, content: &str) -> Outgoing {
    let path = folder.path().join("a1b2");
    fs::write(&path, content).unwrap();
    showing(Some(path))
}

fn showing(path: Option<PathBuf>) -> Outgoing {
    let mut outgoing = part(1, "");
    outgoing.part.body = PartBody::File {
        attachment: attachment(""),
        caption: "**look**".to_owned(),
    };
    outgoing.file = path;
    outgoing
}

#[tokio::test]
async fn a_file_is_sent_with_its_words() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let content = "line\n".repeat(50_000);
    let sent = receipt(world.send(&file(&folder, &content)).await);
    assert!(sent.message.as_str().starts_with('F'));
    let shown = world.vendor().chat(DIRECT).messages[0].clone();
    assert_eq!(shown.text, "*look*");
    let file = shown.file.unwrap();
    assert_eq!(file.name, "notes.txt");
    assert_eq!(file.content, content);
    // Where the bytes go is proof enough; the token stays at home.
    let requests = world.vendor().requests();
    let uploads: Vec<_> = requests.iter().map(|asked| asked.path.as_str()).collect();
    assert_eq!(
        uploads,
        [
            "/api/files.getUploadURLExternal",
            "/upload/v1/F0SIM0001",
            "/api/files.completeUploadExternal",
        ]
    );
}

#[tokio::test]
async fn a_file_has_buttons_like_anything_else() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut outgoing = file(&folder, "notes");
    outgoing.prompt = Some(Prompt {
        token: PressToken::from_random([1; 16]),
        buttons: vec![Button {
            label: "Approve".to_owned(),
            choice: Choice::Approve,
        }],
    });
    receipt(world.send(&outgoing).await);
    let shown = world.vendor().chat(DIRECT).messages[0].clone();
    assert_eq!(shown.text, "*look*");
    assert_eq!(shown.buttons.len(), 1);
}

#[tokio::test]
async fn what_fails_before_the_file_is_shared_was_not_sent() {
    for mishap in [
        "500",
        "close",
        "drop_after_accept",
        "429",
        "400 something_new",
    ] {
        let world = World::start().await;
        let folder = tempfile::tempdir().unwrap();
        world.order(On::Other, mishap);
        let outcome = world.send(&file(&folder, "notes")).await;
        assert!(
            matches!(outcome, Outcome::NotSent { .. }),
            "{mishap}: {outcome:?}"
        );
        assert!(world.seen(DIRECT).is_empty(), "{mishap}");
    }
}

#[tokio::test]
async fn what_fails_while_the_file_is_shared_may_be_there() {
    for (mishap, is_there) in [
        ("500", false),
        ("close", false),
        ("drop_after_accept", true),
    ] {
        let world = World::start().await;
        let folder = tempfile::tempdir().unwrap();
        world.order(On::Upload, mishap);
        let outcome = world.send(&file(&folder, "notes")).await;
        assert!(
            matches!(outcome, Outcome::Unknown { .. }),
            "{mishap}: {outcome:?}"
        );
        assert_eq!(world.seen(DIRECT).len(), usize::from(is_there), "{mishap}");
    }
}

#[tokio::test]
async fn a_file_that_is_not_here_cannot_be_sent() {
    let world = World::start().await;
    let nowhere = Some(PathBuf::from("/nowhere/at/all"));
    for path in [None, nowhere] {
        let outcome = world.send(&showing(path)).await;
        assert_eq!(class(&outcome), Some(Rejection::Invalid), "{outcome:?}");
    }
    assert!(world.vendor().requests().is_empty());
}

async fn sent_by_ada(content: &str) -> (World, Attachment) {
    let world = World::start().await;
    let written = Written {
        files: vec![File {
            name: "notes.txt".to_owned(),
            media_type: "text/plain".to_owned(),
            content: content.to_owned(),
        }],
        ..direct("look")
    };
    world.vendor().write(&written);
    let desk = Desk::open();
    world.while_connected(&desk, world.all_acknowledged()).await;
    let attachment = desk.contents()[0].attachments[0].clone();
    (world, attachment)
}

#[tokio::test]
async fn what_somebody_sends_is_fetched() {
    let (world, attachment) = sent_by_ada("some notes").await;
    assert_eq!(attachment.file_name.as_deref(), Some("notes.txt"));
    assert_eq!(attachment.media_type.as_deref(), Some("text/plain"));
    assert_eq!(attachment.size_bytes, Some(10));
    assert!(!attachment.locator.contains(TOKEN));
    let media = world.slack.abilities().media.unwrap();
    assert!(media.most_bytes() >= 1_000_000);
    let content = in_time(media.fetch(&attachment, 10)).await.unwrap();
    assert_eq!(content, b"some notes");
}

#[tokio::test]
async fn what_is_too_large_is_not_fetched_whatever_its_size_is_said_to_be() {
    let (world, mut attachment) = sent_by_ada("some notes").await;
    let media = world.slack.abilities().media.unwrap();
    for size in [Some(10), Some(1), None] {
        attachment.size_bytes = size;
        let refused = in_time(media.fetch(&attachment, 9)).await.unwrap_err();
        assert_eq!(refused.reason, "it is larger than 9 bytes", "{size:?}");
    }
    assert_eq!(world.asked(On::Fetch), 0);
}

#[tokio::test]
async fn what_cannot_be_had_is_said() {
    let (world, attachment) = sent_by_ada("some notes").await;
    let media = world.slack.abilities().media.unwrap();
    for (on, mishap, reason) in [
        (On::Other, "400 file_not_found", "Slack says file_not_found"),
        (On::Fetch, "500", "Slack answered with 500"),
        (On::Fetch, "close", ""),
    ] {
        world.order(on, mishap);
        let refused = in_time(media.fetch(&attachment, 100)).await.unwrap_err();
        assert!(refused.reason.contains(reason), "{mishap}: {refused}");
        assert!(!refused.reason.contains("http"), "{mishap}: {refused}");
    }
    let nothing = in_time(media.fetch(&super::media::attachment("F404"), 100)).await;
    assert!(nothing.is_err());
}
