//! Files in and out.

use std::path::PathBuf;

use serde_json::json;
use talaria_domain::adapter::{Adapter as _, NotFetched, Outgoing};
use talaria_domain::address::ChatKind;
use talaria_domain::delivery::{Outcome, PartBody, Rejection};
use talaria_domain::event::{Attachment, AttachmentKind};
use talaria_sim::vendor::{File, On, Written};

use super::world::{ADA, Desk, World, class, content, in_time, part_of, place, receipt};

/// A file on the disk. Dropped, it is gone.
struct OnDisk(PathBuf);

impl OnDisk {
    fn with(name: &str, content: &[u8]) -> Self {
        let path =
            std::env::temp_dir().join(format!("talaria-files-{}-{name}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        Self(path)
    }
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

fn file(kind: AttachmentKind, name: &str, media_type: &str) -> Attachment {
    Attachment {
        kind,
        locator: String::new(),
        file_name: Some(name.to_owned()),
        media_type: Some(media_type.to_owned()),
        size_bytes: None,
        kept: None,
    }
}

fn part(attachment: Attachment, caption: &str, on_disk: &OnDisk) -> Outgoing {
    let body = PartBody::File {
        attachment,
        caption: caption.to_owned(),
    };
    let mut outgoing = part_of(1, body, place(ADA, ChatKind::Direct, None));
    outgoing.file = Some(on_disk.0.clone());
    outgoing
}

#[tokio::test]
async fn each_kind_of_file_is_sent_as_what_it_is() {
    use AttachmentKind::{Audio, File as Document, Image, Video, Voice};
    for (kind, media_type, method) in [
        (Image, "image/png", "sendphoto"),
        (Image, "image/gif", "senddocument"),
        (Document, "text/plain", "senddocument"),
        (Voice, "audio/ogg", "sendvoice"),
        (Voice, "audio/wav", "senddocument"),
        (Audio, "audio/mpeg", "sendaudio"),
        (Audio, "audio/flac", "senddocument"),
        (Video, "video/mp4", "sendvideo"),
        (Video, "video/webm", "senddocument"),
    ] {
        let world = World::with_ada().await;
        let name = format!("{}-{}", method, media_type.replace('/', "-"));
        let on_disk = OnDisk::with(&name, b"what is in it");
        let attachment = file(kind, "na\"me.bin", media_type);
        let sent = receipt(world.send(&part(attachment, "**look**", &on_disk)).await);
        let shown = &world.vendor().chat(ADA).messages[1];
        assert_eq!(sent.message.as_str(), shown.message_id);
        assert_eq!(shown.text, "look", "{media_type}");
        let seen = shown.file.as_ref().unwrap();
        assert_eq!(
            (seen.content.as_str(), seen.media_type.as_str()),
            ("what is in it", media_type)
        );
        assert_eq!(seen.name, "na%22me.bin");
        assert_eq!(world.asked(method).len(), 1, "{media_type}");
    }
}

#[tokio::test]
async fn a_large_file_arrives_to_the_byte() {
    let world = World::with_ada().await;
    let large: Vec<u8> = (0..3_000_000_u32)
        .map(|number| b'a' + (number % 26) as u8)
        .collect();
    let on_disk = OnDisk::with("large", &large);
    receipt(
        world
            .send(&part(
                file(AttachmentKind::File, "large.txt", "text/plain"),
                "",
                &on_disk,
            ))
            .await,
    );
    let shown = world.vendor().chat(ADA).messages.pop().unwrap();
    assert!(
        shown.file.unwrap().content.as_bytes() == large,
        "not the same"
    );
    assert_eq!(shown.text, "");
}

#[tokio::test]
async fn a_picture_that_is_none_goes_as_a_document() {
    let world = World::with_ada().await;
    world.order(On::Upload, "400 PHOTO_INVALID_DIMENSIONS", 1);
    let on_disk = OnDisk::with("banner", b"very long and very thin");
    receipt(
        world
            .send(&part(
                file(AttachmentKind::Image, "b.png", "image/png"),
                "",
                &on_disk,
            ))
            .await,
    );
    assert_eq!(
        (
            world.asked("sendphoto").len(),
            world.asked("senddocument").len()
        ),
        (1, 1)
    );
    assert_eq!(world.seen(ADA).len(), 1);
}

#[tokio::test]
async fn a_caption_that_is_too_long_follows_its_file_whole() {
    let world = World::with_ada().await;
    let on_disk = OnDisk::with("caption", b"x");
    let caption = "word ".repeat(1_000);
    let outgoing = part(
        file(AttachmentKind::File, "x.txt", "text/plain"),
        caption.trim(),
        &on_disk,
    );
    let outcome = world.send(&outgoing).await;
    let Outcome::Delivered { receipts } = outcome else {
        panic!("{outcome:?}");
    };
    let seen = world.seen(ADA);
    assert_eq!(
        (receipts.len(), seen.len()),
        (3, 3),
        "a file and two messages"
    );
    assert_eq!(seen[0], "");
    let words: usize = seen.iter().map(|text| text.matches("word").count()).sum();
    assert_eq!(words, 1_000);
}

#[tokio::test]
async fn half_of_it_is_never_sent_twice() {
    let world = World::with_ada().await;
    world.order(On::Send, "429", 1);
    let on_disk = OnDisk::with("half", b"x");
    let caption = "word ".repeat(300);
    let outgoing = part(
        file(AttachmentKind::File, "x.txt", "text/plain"),
        &caption,
        &on_disk,
    );
    let outcome = world.send(&outgoing).await;
    assert!(
        matches!(&outcome, Outcome::Unknown { detail } if detail.contains("the file is there")),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn a_file_goes_wrong_like_a_message() {
    let world = World::with_ada().await;
    let on_disk = OnDisk::with("wrong", b"x");
    let outgoing = part(
        file(AttachmentKind::File, "x.txt", "text/plain"),
        "",
        &on_disk,
    );
    world.order(On::Upload, "429", 1);
    assert!(matches!(
        world.send(&outgoing).await,
        Outcome::NotSent {
            retry_after: Some(_),
            ..
        }
    ));
    world.order(On::Upload, "drop_after_accept", 1);
    assert!(matches!(
        world.send(&outgoing).await,
        Outcome::Unknown { .. }
    ));
    world.order(On::Upload, "413", 1);
    assert_eq!(
        class(&world.send(&outgoing).await),
        Some(Rejection::Invalid)
    );
    let mut nowhere = outgoing.clone();
    nowhere.file = Some("/nowhere/at/all".into());
    assert_eq!(class(&world.send(&nowhere).await), Some(Rejection::Invalid));
    nowhere.file = None;
    assert_eq!(class(&world.send(&nowhere).await), Some(Rejection::Invalid));
}

#[tokio::test]
async fn what_somebody_sent_can_be_fetched() {
    let world = World::new().await;
    let written = Written {
        files: vec![File {
            name: "notes.txt".to_owned(),
            media_type: "text/plain".to_owned(),
            content: "what I noticed".to_owned(),
        }],
        ..Written::to_chat(ADA, "direct", (ADA, ""))
    };
    world.vendor().write(&written);
    let desk = Desk::open();
    world.while_connected(&desk, world.done()).await;
    let attachment = content(&desk.events()[0]).attachments[0].clone();
    let media = world.telegram.abilities().media.unwrap();
    assert_eq!(media.most_bytes(), 50 * 1024 * 1024);
    let fetched = in_time(media.fetch(&attachment, 1_000)).await;
    assert_eq!(fetched.unwrap(), b"what I noticed");

    let too_much = in_time(media.fetch(&attachment, 3)).await.unwrap_err();
    assert!(too_much.reason.contains("14 bytes"), "{too_much}");
    for mishap in ["302", "404", "500", "close"] {
        world.order(On::Fetch, mishap, 1);
        let NotFetched { reason } = in_time(media.fetch(&attachment, 1_000)).await.unwrap_err();
        assert!(
            !reason.is_empty() && !reason.contains("AAa-token"),
            "{mishap}: {reason}"
        );
    }
    let unknown = Attachment {
        locator: "no-such-file".to_owned(),
        ..attachment
    };
    let gone = in_time(media.fetch(&unknown, 1_000)).await.unwrap_err();
    assert!(gone.reason.contains("wrong file_id"), "{gone}");
    assert_eq!(
        world.asked("getfile")[0],
        json!({ "file_id": attachment_id(&desk) })
    );
}

fn attachment_id(desk: &Desk) -> String {
    content(&desk.events()[0]).attachments[0].locator.clone()
}
