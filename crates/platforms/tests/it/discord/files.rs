//! Files come with messages and go out with parts.

use talaria_domain::adapter::{Adapter as _, Outgoing};
use talaria_domain::delivery::{Outcome, PartBody, Rejection};
use talaria_domain::event::{Attachment, AttachmentKind, EventKind};
use talaria_sim::discord::{On, Written};
use talaria_sim::vendor::File;

use super::world::{Desk, World, class, in_time, part, receipt};

fn file(name: &str, media_type: &str, content: &str) -> File {
    File {
        name: name.to_owned(),
        media_type: media_type.to_owned(),
        content: content.to_owned(),
    }
}

/// A file part. The file is the story's own.
fn sending(number: u8, path: &std::path::Path) -> Outgoing {
    let mut outgoing = part(number, "");
    outgoing.part.body = PartBody::File {
        attachment: Attachment {
            kind: AttachmentKind::File,
            locator: String::new(),
            file_name: Some("report \"1\".txt".to_owned()),
            media_type: Some("text/plain".to_owned()),
            size_bytes: None,
            kept: None,
        },
        caption: "the report".to_owned(),
    };
    outgoing.file = Some(path.to_owned());
    outgoing
}

/// A message with two files, as it was handed in.
async fn arrived(world: &World) -> Vec<Attachment> {
    let desk = Desk::open();
    let story = async {
        desk.was_kept(1).await;
        world.vendor().write(&Written {
            files: vec![
                file("cat.png", "image/png", "a picture"),
                file("notes.txt", "text/plain", "some notes"),
            ],
            ..Written::to_chat("general", "group", ("ada", ""))
        });
        desk.was_handed(1).await;
    };
    world.while_connected(&desk, story).await;
    match desk.events().remove(0).kind {
        EventKind::Message(content) => content.attachments,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_somebody_sent_is_fetched() {
    let world = World::start().await;
    let files = arrived(&world).await;
    assert_eq!(files[0].kind, AttachmentKind::Image);
    assert_eq!(files[0].file_name.as_deref(), Some("cat.png"));
    assert_eq!(files[0].media_type.as_deref(), Some("image/png"));
    assert_eq!(files[0].size_bytes, Some(9));
    assert_eq!(files[1].kind, AttachmentKind::File);
    assert!(!files[0].locator.contains("http"), "{}", files[0].locator);
    let media = world.discord.abilities().media.unwrap();
    assert_eq!(media.most_bytes(), 10 * 1024 * 1024);
    let fetched = in_time(media.fetch(&files[0], 9)).await;
    assert_eq!(fetched, Ok(b"a picture".to_vec()));
    let fetched = in_time(media.fetch(&files[1], 100)).await;
    assert_eq!(fetched, Ok(b"some notes".to_vec()));
}

#[tokio::test]
async fn what_cannot_be_had_is_said() {
    let world = World::start().await;
    let files = arrived(&world).await;
    let media = world.discord.abilities().media.unwrap();
    let why =
        |fetched: Result<Vec<u8>, talaria_domain::adapter::NotFetched>| fetched.unwrap_err().reason;
    let large = why(in_time(media.fetch(&files[0], 8)).await);
    assert_eq!(large, "it is larger than 8 bytes");
    for (mishap, words) in [("404", "404"), ("close", "closed"), ("302", "302")] {
        world.order(On::Fetch, mishap);
        let reason = why(in_time(media.fetch(&files[0], 9)).await);
        assert!(!reason.is_empty(), "{mishap} {words}: {reason}");
    }
    for locator in ["", "1/2", "http://evil.example/x", "1/2/../3", "1/2/3/4"] {
        let odd = Attachment {
            locator: locator.to_owned(),
            ..files[0].clone()
        };
        let reason = why(in_time(media.fetch(&odd, 9)).await);
        assert_eq!(reason, "this is no file of this platform", "{locator}");
    }
    let gone = Attachment {
        locator: files[0].locator.replace(|c: char| c != '/', "4"),
        ..files[0].clone()
    };
    let reason = why(in_time(media.fetch(&gone, 9)).await);
    assert!(reason.contains("10008"), "{reason}");
}

#[tokio::test]
async fn a_file_is_sent_with_its_caption() {
    let world = World::start().await;
    let asked = world.say("the report, please");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.txt");
    let content = "line\r\n".repeat(30_000);
    std::fs::write(&path, &content).unwrap();
    let mut outgoing = sending(1, &path);
    outgoing.to.reply_to = Some(asked.as_str().into());
    let sent = receipt(world.send(&outgoing).await);
    let shown = &world.vendor().chat("general").messages[1];
    assert_eq!(sent.message.as_str(), shown.message_id);
    assert_eq!(shown.text, "the report");
    assert_eq!(shown.reply_to.as_deref(), Some(&*asked));
    let file = shown.file.as_ref().unwrap();
    assert_eq!(
        (file.name.as_str(), file.media_type.as_str()),
        ("report 1.txt", "text/plain")
    );
    assert!(file.content == content, "{} bytes", file.content.len());
}

#[tokio::test]
async fn a_file_that_cannot_be_sent_is_said() {
    let world = World::start().await;
    world.say("the report, please");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.txt");
    let outcome = world.send(&sending(1, &path)).await;
    assert_eq!(class(&outcome), Some(Rejection::Invalid));
    assert!(
        !format!("{outcome:?}").contains("report.txt"),
        "{outcome:?}"
    );

    let large = std::fs::File::create(&path).unwrap();
    large.set_len(10 * 1024 * 1024 + 1).unwrap();
    let outcome = world.send(&sending(1, &path)).await;
    assert_eq!(class(&outcome), Some(Rejection::TooLong));

    std::fs::write(&path, "small").unwrap();
    for (mishap, is_there) in [("500", false), ("drop_after_accept", true)] {
        world.order(On::Upload, mishap);
        let outcome = world.send(&sending(2, &path)).await;
        assert!(
            matches!(outcome, Outcome::Unknown { .. }),
            "{mishap}: {outcome:?}"
        );
        assert_eq!(world.seen().len(), usize::from(is_there), "{mishap}");
    }
}

#[tokio::test]
async fn a_placeholder_becomes_a_file() {
    let world = World::start().await;
    world.say("the report, please");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.txt");
    std::fs::write(&path, "all is well").unwrap();
    let placed = receipt(world.send(&part(1, "…")).await);
    let edit = world.discord.abilities().edit.unwrap();
    receipt(in_time(edit.edit(&placed, &sending(1, &path))).await);
    let shown = &world.vendor().chat("general").messages[1];
    assert_eq!(shown.text, "the report");
    assert_eq!(shown.file.as_ref().unwrap().content, "all is well");
}
