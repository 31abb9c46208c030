//! An agent sends a file: into its own thread, as it was when it was sent, once; or it is told why not.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use talaria_domain::address::{Address, ChatKind};
use talaria_domain::delivery::{Outcome, PartBody, Rejection, ReplyKind};
use talaria_domain::event::{Attachment, AttachmentKind, EventKind};
use talaria_domain::ids::PartId;
use talaria_domain::machine::PartState;
use talaria_sim::chat::{Mood, Moods, Offer, Sent, Shown};
use talaria_sim::people::direct_chat;
use talaria_store::{dead, outbox};

use crate::world::{Setup, World};

const SOON: Duration = Duration::from_secs(1);
const FLOODED: [Mood; 1] = [Mood::Flooded(Duration::from_secs(30))];

fn carrying() -> Setup {
    Setup {
        most_bytes: Some(1_000),
        ..Setup::default()
    }
}

/// A file in the place where an agent works.
fn made(world: &World, name: &str, bytes: &[u8]) -> PathBuf {
    let path = world.setup.home.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

fn topic() -> Address {
    Address {
        chat_kind: ChatKind::Forum,
        chat: "room".into(),
        thread: Some("42".into()),
        ..direct_chat("ada")
    }
}

fn files(world: &World) -> Vec<Shown> {
    let shown = world.vendor.all().into_iter();
    shown.filter(|shown| shown.file.is_some()).collect()
}

fn copies(world: &World) -> Vec<PathBuf> {
    let folder = world.setup.home.path().join("data/files/out");
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The part that shows the only file that was sent.
fn part(world: &World) -> PartId {
    let copy = copies(world).remove(0);
    let name = copy.file_name().unwrap().to_str().unwrap();
    name[..36].parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_file_goes_into_its_own_thread_and_has_a_receipt() {
    for offer in [Offer::Plain, Offer::Keys, Offer::Edits] {
        let world = World::begin(Setup {
            offer,
            ..carrying()
        })
        .await;
        let path = made(&world, "work/report.pdf", b"pages");
        let said = format!("file {} the report", path.display());
        world.says_at("ada", topic(), &said);
        world.ends().await;
        let files = files(&world);
        assert_eq!(files.len(), 1, "{offer:?}: {files:?}");
        let sent = Sent {
            kind: AttachmentKind::File,
            name: "report.pdf".to_owned(),
            bytes: Some(b"pages".to_vec()),
        };
        assert_eq!(files[0].file, Some(sent));
        assert_eq!(files[0].text, "the report");
        assert_eq!(files[0].thread.as_deref(), Some("42"));
        assert_eq!(files[0].edits, 0, "no placeholder stood there");
        let id = part(&world);
        let (part, receipts, reply) = world
            .read(move |tx| {
                let part = outbox::get_part(tx, id)?;
                let reply = outbox::get(tx, part.part.reply)?;
                Ok((part, outbox::receipts(tx, id)?, reply))
            })
            .await;
        assert_eq!(part.state, PartState::Delivered);
        assert_eq!(receipts[0].message.as_str(), files[0].id.to_string());
        assert_eq!(reply.kind, ReplyKind::Notice);
        assert!(reply.run.is_some(), "a trace finds it");
        assert_eq!(reply.text, "the report\n[file \"report.pdf\"]");
        let seen = world.sees_in(&topic());
        let is_answer = |text: &String| text.contains("recorded as reply");
        assert!(seen.iter().any(is_answer), "{seen:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_goes_to_the_place_that_is_named() {
    let world = World::begin(carrying()).await;
    let path = made(&world, "work/report.pdf", b"pages");
    let said = format!("mail example:room:42 {} for all", path.display());
    world.says("ada", &said);
    world.ends().await;
    let files = files(&world);
    assert_eq!(files.len(), 1, "{files:?}");
    let place = (files[0].chat.as_str(), files[0].thread.as_deref());
    assert_eq!(place, ("room", Some("42")));
    assert_eq!(files[0].text, "for all");
}

#[tokio::test(start_paused = true)]
async fn a_file_of_a_task_goes_to_whoever_gave_it() {
    let world = World::begin(carrying()).await;
    let path = made(&world, "work/cat.png", b"png");
    world.says("ada", &format!("give file {} from below", path.display()));
    world.ends().await;
    let files = files(&world);
    assert_eq!(files.len(), 1, "what a task sends is seen");
    assert_eq!(files[0].chat, "chat of ada");
    assert_eq!(files[0].file.as_ref().unwrap().kind, AttachmentKind::Image);
}

async fn refusal(world: &World, path: &Path) -> String {
    world.says("ada", &format!("file {}", path.display()));
    world.passes(SOON).await;
    world.sees("ada").pop().unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_may_not_be_sent_is_refused_in_words() {
    let world = World::begin(carrying()).await;
    let key = made(&world, "data/operator.key", b"secret");
    let outside = made(&world, "elsewhere/a.txt", b"a");
    let large = made(&world, "work/large.bin", &[1; 1_001]);
    let empty = made(&world, "work/empty.txt", b"");
    let work = world.setup.home.path().join("work");
    let link = work.join("innocent.txt");
    std::os::unix::fs::symlink(&key, &link).unwrap();
    let way_out = work.join("..").join("elsewhere").join("a.txt");
    let pipe = work.join("pipe");
    let is_made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(is_made.unwrap().success());
    let table: [(&Path, &str); 9] = [
        (&link, "is the gateway's own and is never sent"),
        (&key, "is the gateway's own and is never sent"),
        (&work, "is a directory"),
        (&pipe, "is not a regular file"),
        (&outside, "is not where files may be sent from"),
        (&way_out, "is not where files may be sent from"),
        (&large, "has 1001 bytes, and at most 1000 can be sent here"),
        (&empty, "is empty"),
        (&work.join("nothing"), "there is no file"),
    ];
    for (path, why) in table {
        let refused = refusal(&world, path).await;
        assert!(refused.starts_with("refused: "), "{path:?}: {refused}");
        assert!(refused.contains(why), "{path:?}: {refused}");
    }
    world.ends().await;
    assert_eq!(files(&world), []);
    assert_eq!(
        copies(&world),
        Vec::<PathBuf>::new(),
        "nothing is left over"
    );
}

#[tokio::test(start_paused = true)]
async fn where_no_file_can_be_sent_the_agent_is_told_what_to_do() {
    let world = World::begin(Setup::default()).await;
    let path = made(&world, "work/report.pdf", b"pages");
    let refused = refusal(&world, &path).await;
    assert_eq!(
        refused,
        "refused: no file can be sent on \"example\": put what matters into your answer, or say where the file is"
    );
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_file_of_another_conversation_is_not_there() {
    let world = World::begin(carrying()).await;
    world.vendor.media.store("x", b"for ada");
    let mut event = world.draft("ada", "keep this");
    if let EventKind::Message(content) = &mut event.kind {
        content.attachments = vec![Attachment {
            kind: AttachmentKind::File,
            locator: "x".to_owned(),
            file_name: Some("x.txt".to_owned()),
            media_type: None,
            size_bytes: None,
            kept: None,
        }];
    }
    let event = world.writes(event);
    world.passes(SOON).await;
    let kept = format!("data/files/in/{}/0-x.txt", event.id);
    let path = world.setup.home.path().join(kept);
    world.says("bob", &format!("file {}", path.display()));
    world.passes(SOON).await;
    let refused = world.sees("bob").pop().unwrap();
    let expected = format!("refused: there is no file {}", path.display());
    assert_eq!(refused, expected);
    world.says("ada", &format!("file {}", path.display()));
    world.ends().await;
    let files = files(&world);
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(files[0].chat, "chat of ada");
}

/// The first requests are of these moods, then everything is fine.
struct First(AtomicUsize, &'static [Mood]);

impl Moods for First {
    fn next(&self) -> Mood {
        let number = self.0.fetch_add(1, Ordering::SeqCst);
        self.1.get(number).copied().unwrap_or(Mood::Fine)
    }
}

fn beginning(moods: &'static [Mood]) -> Arc<First> {
    Arc::new(First(AtomicUsize::new(0), moods))
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_is_what_was_there_when_it_was_recorded() {
    let mut world = World::begin(Setup {
        moods: beginning(&FLOODED),
        ..carrying()
    })
    .await;
    let path = made(&world, "work/report.pdf", b"as it was");
    world.says("ada", &format!("file {}", path.display()));
    world.passes(SOON).await;
    assert_eq!(files(&world), [], "it has to wait");
    std::fs::write(&path, b"as it is now").unwrap();
    world.crash().await;
    std::fs::remove_file(&path).unwrap();
    world.ends().await;
    let files = files(&world);
    assert_eq!(files.len(), 1, "{files:?}");
    let bytes = files[0].file.as_ref().unwrap().bytes.as_deref();
    assert_eq!(bytes, Some(b"as it was".as_slice()));
}

#[tokio::test(start_paused = true)]
async fn a_file_without_an_answer_is_listed_as_unknown_and_not_doubled() {
    let table = [
        (Offer::Plain, PartState::Unknown),
        (Offer::Edits, PartState::Unknown),
        (Offer::Keys, PartState::Delivered),
    ];
    for (offer, state) in table {
        let world = World::begin(Setup {
            offer,
            ..carrying()
        })
        .await;
        let path = made(&world, "work/report.pdf", b"pages");
        world.vendor.media.fall_mute();
        world.says("ada", &format!("file {}", path.display()));
        world.passes(Duration::from_mins(5)).await;
        assert_eq!(files(&world).len(), 1, "{offer:?}");
        let id = part(&world);
        let (part, letters) = world
            .read(move |tx| Ok((outbox::get_part(tx, id)?, dead::list(tx, None, 9)?)))
            .await;
        assert_eq!(part.state, state, "{offer:?}");
        let listed = usize::from(state == PartState::Unknown);
        assert_eq!(letters.len(), listed, "{offer:?}: {letters:?}");
        world.ends().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_gone_fails_with_words_and_holds_nobody() {
    let world = World::begin(Setup {
        moods: beginning(&FLOODED),
        ..carrying()
    })
    .await;
    let path = made(&world, "work/report.pdf", b"pages");
    world.says("ada", &format!("file {}", path.display()));
    world.passes(SOON).await;
    let id = part(&world);
    std::fs::remove_file(&copies(&world)[0]).unwrap();
    world.ends().await;
    let (part, attempts) = world
        .read(move |tx| Ok((outbox::get_part(tx, id)?, outbox::attempts(tx, id)?)))
        .await;
    assert_eq!(part.state, PartState::Failed);
    assert!(matches!(part.part.body, PartBody::File { .. }));
    let gone = |outcome: &Outcome| matches!(outcome, Outcome::Rejected { class: Rejection::Gone, detail } if detail.contains("not kept here"));
    assert!(attempts.last().is_some_and(gone), "{attempts:?}");
    assert_eq!(files(&world), []);
    assert_eq!(world.sees("ada").len(), 1, "the answer is there");
}
