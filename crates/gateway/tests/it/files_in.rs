//! What people send is there when the turn that answers it begins, or it is said why not. Never anywhere else, and never
//! twice.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use talaria_domain::binding::{Binding, BindingScope, EventPattern, Policy};
use talaria_domain::event::{Attachment, AttachmentKind, Event, EventKind, Kept};
use talaria_domain::profile::BusyPolicy;
use talaria_gateway::binding::{Bindings, Bound, Thinker};
use talaria_gateway::settings::Limits;
use talaria_sim::chat::{Mood, Moods};

use crate::world::{Setup, World};

const MEGABYTE: u64 = 1 << 20;

fn carrying() -> Setup {
    Setup {
        most_bytes: Some(MEGABYTE),
        ..Setup::default()
    }
}

fn attached(name: &str, locator: &str) -> Attachment {
    Attachment {
        kind: AttachmentKind::File,
        locator: locator.to_owned(),
        file_name: Some(name.to_owned()),
        media_type: None,
        size_bytes: None,
        kept: None,
    }
}

fn with(mut event: Event, attachments: &[Attachment]) -> Event {
    if let EventKind::Message(content) = &mut event.kind {
        content.attachments = attachments.to_vec();
    }
    event
}

fn kept(event: &Event) -> Vec<Option<Kept>> {
    let EventKind::Message(content) = &event.kind else {
        return Vec::new();
    };
    let attachments = content.attachments.iter();
    attachments.map(|it| it.kept.clone()).collect()
}

fn paths(event: &Event) -> Vec<PathBuf> {
    let path = |kept: Option<Kept>| match kept {
        Some(Kept::At(path)) => path,
        other => unreachable!("it is not kept: {other:?}"),
    };
    kept(event).into_iter().map(path).collect()
}

/// Every file below a directory.
fn below(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let mut all: Vec<PathBuf> = entries
        .flat_map(|entry| {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path)
            } else {
                vec![path]
            }
        })
        .collect();
    all.sort();
    all
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test(start_paused = true)]
async fn an_album_is_kept_whole_and_its_places_are_in_the_prompt() {
    let world = World::begin(carrying()).await;
    let names = ["a.pdf", "b.pdf", "c.pdf"];
    let album: Vec<Attachment> = names
        .iter()
        .map(|name| attached(name, &format!("file {name}")))
        .collect();
    for name in names {
        let bytes = format!("this is {name}");
        world
            .vendor
            .media
            .store(&format!("file {name}"), bytes.as_bytes());
    }
    let event = world.writes(with(world.draft("ada", "read these"), &album));
    world.passes(Duration::from_secs(1)).await;
    let seen = world.script.seen().remove(0);
    let paths = paths(&seen.input[0]);
    let folder = world
        .setup
        .home
        .path()
        .join(format!("data/files/in/{}", event.id));
    for (number, name) in names.iter().enumerate() {
        let path = folder.join(format!("{number}-{name}"));
        assert_eq!(paths[number], path);
        let expected = format!("this is {name}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        assert_eq!((mode(&path), mode(&folder)), (0o600, 0o700));
        let line = format!("[file {name:?}, kept as {}]", path.display());
        assert!(seen.prompt.contains(&line), "{}", seen.prompt);
    }
    assert_eq!(below(world.setup.home.path()).len(), 3, "and nothing else");
    let EventKind::Message(content) = &seen.input[0].kind else {
        unreachable!("it is a message");
    };
    assert_eq!(content.attachments[2].locator, "file c.pdf", "as it came");
    world.says("ada", "and?");
    world.ends().await;
    let later = world.script.seen().remove(1);
    let remembered = &later.history[0].text;
    assert!(remembered.contains("2-c.pdf"), "{remembered}");
}

#[tokio::test(start_paused = true)]
async fn messages_that_become_one_turn_keep_all_their_files() {
    let world = World::begin(Setup {
        merge_window: Duration::from_secs(2),
        ..carrying()
    })
    .await;
    for name in ["one", "two", "three"] {
        world.vendor.media.store(name, name.as_bytes());
        world.writes(with(world.draft("ada", ""), &[attached("x.txt", name)]));
        world.passes(Duration::from_millis(500)).await;
    }
    world.ends().await;
    let seen = world.script.seen();
    assert_eq!(seen.len(), 1, "one turn");
    let read = |event: &Event| std::fs::read_to_string(&paths(event)[0]).unwrap();
    let texts: Vec<String> = seen[0].input.iter().map(read).collect();
    assert_eq!(texts, ["one", "two", "three"]);
    assert_eq!(seen[0].prompt.matches("kept as").count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_file_that_comes_while_a_turn_runs_is_told_to_it() {
    let world = World::begin(Setup {
        busy: BusyPolicy::Steer,
        ..carrying()
    })
    .await;
    world.says("ada", "think 5");
    world.passes(Duration::from_secs(1)).await;
    world.vendor.media.store("late", b"late");
    world.writes(with(
        world.draft("ada", "this, too"),
        &[attached("late.txt", "late")],
    ));
    world.ends().await;
    let seen = world.sees("ada");
    let answer = seen.last().unwrap();
    assert!(answer.contains("0-late.txt]"), "{seen:?}");
}

/// Always of one mood.
struct Only(Mood);

impl Moods for Only {
    fn next(&self) -> Mood {
        self.0
    }
}

async fn told_of(setup: Setup, attachment: Attachment) -> String {
    let world = World::begin(setup).await;
    world.writes(with(world.draft("ada", "read this"), &[attachment]));
    world.passes(Duration::from_secs(40)).await;
    let seen = world.script.seen();
    assert_eq!(seen.len(), 1, "the turn goes on");
    assert_eq!(below(world.setup.home.path()), Vec::<PathBuf>::new());
    seen[0].prompt.clone()
}

#[tokio::test(start_paused = true)]
async fn a_file_that_cannot_be_had_is_named_with_its_reason() {
    let moody = |mood: Mood| Setup {
        moods: Arc::new(Only(mood)),
        ..carrying()
    };
    let huge = Attachment {
        size_bytes: Some(30 * MEGABYTE),
        ..attached("x", "x")
    };
    let table = [
        (
            carrying(),
            attached("x", "x"),
            "[file \"x\": not fetched: the platform has it no longer]",
        ),
        (
            carrying(),
            huge,
            "[file \"x\", 31457280 bytes: not fetched: too large: at most 20 MB are fetched]",
        ),
        (
            moody(Mood::Hung),
            attached("x", "x"),
            "[file \"x\": not fetched: it took too long]",
        ),
        (
            moody(Mood::Refusing),
            attached("x", "x"),
            "[file \"x\": not fetched: the adapter broke while it was fetching]",
        ),
        (
            Setup::default(),
            attached("x", "x"),
            "[file \"x\": not fetched: this account cannot fetch files]",
        ),
    ];
    for (setup, attachment, expected) in table {
        let prompt = told_of(setup, attachment).await;
        assert_eq!(prompt, format!("read this\n{expected}"));
    }
}

#[tokio::test(start_paused = true)]
async fn what_has_an_address_is_left_where_it_is() {
    let world = World::begin(carrying()).await;
    let album = [
        attached("a", "data:text/plain;base64,aGk="),
        attached("b", "https://example.org/b"),
    ];
    world.writes(with(world.draft("ada", "read this"), &album));
    world.ends().await;
    assert_eq!(world.vendor.media.asked(), Vec::<String>::new());
    assert_eq!(kept(&world.script.seen()[0].input[0]), [None, None]);
}

/// The profile's own agent under a binding that allows this.
fn bound(policy: Policy) -> Bindings {
    let binding = Binding {
        id: "desk".into(),
        scope: BindingScope::Global,
        events: vec![EventPattern::any()],
        runner: "native".into(),
        config: serde_json::Map::new(),
        policy,
    };
    let thinker = Thinker::Profile;
    Bindings::of(vec![Bound { binding, thinker }]).unwrap()
}

#[tokio::test(start_paused = true)]
async fn where_a_binding_grants_no_files_nothing_is_fetched() {
    for files in [false, true] {
        let mut policy = Policy::default();
        policy.resources.files = files;
        let world = World::begin(Setup {
            bindings: bound(policy),
            ..carrying()
        })
        .await;
        world.vendor.media.store("x", b"bytes");
        world.writes(with(world.draft("ada", "read this"), &[attached("x", "x")]));
        world.ends().await;
        assert_eq!(world.vendor.media.asked().len(), usize::from(files));
        let prompt = world.script.seen()[0].prompt.clone();
        assert!(prompt.contains("[file \"x\""), "{prompt}");
        assert_eq!(prompt.contains("kept as"), files, "{prompt}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_between_fetch_and_answer_fetches_once() {
    let mut world = World::begin(carrying()).await;
    world.vendor.media.store("x", b"bytes");
    world.writes(with(world.draft("ada", "think 5"), &[attached("x", "x")]));
    world.passes(Duration::from_secs(1)).await;
    world.crash().await;
    world.ends().await;
    let seen = world.script.seen();
    assert_eq!(seen.len(), 2, "it is done again");
    assert_eq!(seen[0].prompt, seen[1].prompt);
    assert!(seen[1].prompt.contains("kept as"), "{}", seen[1].prompt);
    assert_eq!(world.vendor.media.asked(), ["x"]);
}

#[tokio::test(start_paused = true)]
async fn no_name_leads_out_of_its_folder() {
    let world = World::begin(carrying()).await;
    world.vendor.media.store("x", b"bytes");
    let long = "n".repeat(300);
    let names = ["../../x", "/etc/passwd", ".ssh", "", "..", &long, "a\n]b"];
    let sent: Vec<Attachment> = names.iter().map(|name| attached(name, "x")).collect();
    let event = world.writes(with(world.draft("ada", "read this"), &sent));
    world.ends().await;
    let folder = world
        .setup
        .home
        .path()
        .join(format!("data/files/in/{}", event.id));
    let files = below(world.setup.home.path());
    assert_eq!(files.len(), names.len(), "{files:?}");
    let expected = ["0-x", "1-passwd", "2-ssh", "3-file", "4-file"];
    for (number, name) in expected.iter().enumerate() {
        assert_eq!(files[number], folder.join(name));
    }
    assert_eq!(files[5], folder.join(format!("5-{}", "n".repeat(100))));
    assert_eq!(files[6], folder.join("6-a__b"));
}

#[tokio::test(start_paused = true)]
async fn files_that_are_old_go_but_those_of_an_open_event_stay() {
    let day = Duration::from_hours(24);
    let world = World::begin(Setup {
        limits: Limits {
            turn_time: day * 100,
            no_progress: day * 100,
            idle_run: day * 100,
            lease: Duration::from_hours(2),
            ..Limits::default()
        },
        ..carrying()
    })
    .await;
    world.vendor.media.store("x", b"bytes");
    let done = world.writes(with(world.draft("ada", "one"), &[attached("x", "x")]));
    let open = world.writes(with(world.draft("bob", "hang"), &[attached("x", "x")]));
    let work = world.setup.home.path().join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join("report.pdf"), b"pdf").unwrap();
    let path = work.join("report.pdf");
    world.says("cyd", &format!("file {}", path.display()));
    world.passes(day * 6).await;
    let data = world.setup.home.path().join("data");
    assert_eq!(below(&data).len(), 3, "{:?}", below(&data));
    world.passes(day * 2).await;
    let left = below(&data);
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].to_string_lossy().contains(&open.id.to_string()));
    assert!(!data.join(format!("files/in/{}", done.id)).exists());
    world.says("bob", "/stop");
    world.ends().await;
}
