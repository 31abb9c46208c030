//! Work that outlives its turn: told once, where it was asked for, whatever became of the turn, the chat or the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use talaria_domain::address::{Address, ChatKind};
use talaria_domain::job::Job;
use talaria_domain::machine::JobState;
use talaria_domain::profile::BusyPolicy;
use talaria_gateway::access::AccessPolicy;
use talaria_sim::chat::{Mood, Moods};
use talaria_sim::people::direct_chat;
use talaria_store::{Row, bind, jobs};

use crate::world::{Setup, World, known};

const SOON: Duration = Duration::from_secs(1);
/// A conversation that is idle is woken within this time.
const AT_ONCE: Duration = Duration::from_millis(100);

/// A thread in a room, where people meet.
fn thread() -> Address {
    Address {
        chat_kind: ChatKind::Group,
        chat: "room".into(),
        thread: Some("one".into()),
        ..direct_chat("room")
    }
}

/// A vendor that can be away.
#[derive(Default)]
struct Switch(AtomicBool);

impl Moods for Switch {
    fn next(&self) -> Mood {
        if self.0.load(Ordering::SeqCst) {
            Mood::Deaf
        } else {
            Mood::Fine
        }
    }
}

/// Every job that was ever recorded.
async fn all_jobs(world: &World) -> Vec<Job> {
    let id = |row: &Row<'_>| row.get(0);
    let ids = world
        .read(move |tx| tx.rows("SELECT job_id FROM jobs ORDER BY job_id", bind![], id))
        .await;
    let mut all = Vec::new();
    for job in ids {
        all.push(world.read(move |tx| jobs::get(tx, job)).await);
    }
    all
}

async fn states(world: &World) -> Vec<JobState> {
    let all = all_jobs(world).await;
    all.into_iter().map(|job| job.state).collect()
}

#[tokio::test(start_paused = true)]
async fn what_ends_during_the_turn_that_began_it_is_told_once_and_stops_nothing() {
    let table = [
        (
            BusyPolicy::Queue,
            vec!["[ada the person] job 2 build think 10", "build is done"],
        ),
        (
            BusyPolicy::Interrupt,
            vec!["[ada the person] job 2 build think 10", "build is done"],
        ),
        (
            BusyPolicy::Steer,
            vec!["[ada the person] job 2 build think 10 + build is done"],
        ),
    ];
    for (busy, told) in table {
        let world = World::begin(Setup {
            busy,
            ..Setup::default()
        })
        .await;
        world.says_at("ada", thread(), "job 2 build think 10");
        world.passes(Duration::from_secs(10) + AT_ONCE).await;
        let expected: Vec<String> = told.iter().map(|told| format!("re: {told}")).collect();
        assert_eq!(world.sees_in(&thread()), expected, "{busy:?}");
        world.ends().await;
        assert_eq!(world.vendor.all().len(), expected.len(), "{busy:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_ends_while_nobody_talks_wakes_the_conversation_at_once() {
    let world = World::begin(Setup::default()).await;
    world.says_at("ada", thread(), "job 60 build");
    world.passes(Duration::from_mins(1)).await;
    assert_eq!(world.sees_in(&thread()).len(), 1);
    world.passes(AT_ONCE).await;
    let expected = ["re: [ada the person] job 60 build", "re: build is done"];
    assert_eq!(world.sees_in(&thread()), expected);
    world.ends().await;
    assert_eq!(world.vendor.all().len(), 2);
    let seen = world.script.seen();
    assert_eq!(seen[1].history.len(), 2 + 2, "it knows what it asked for");
}

#[tokio::test(start_paused = true)]
async fn what_ends_while_the_gateway_is_down_is_told_when_it_is_back() {
    for down in [Duration::from_mins(1), Duration::from_secs(3)] {
        let mut world = World::begin(Setup::default()).await;
        world.says_at("ada", thread(), "job 10 build");
        world.passes(SOON).await;
        world.crash_for(down).await;
        world.passes(AT_ONCE).await;
        let is_over = down > Duration::from_secs(10);
        assert_eq!(world.sees_in(&thread()).len(), 1 + usize::from(is_over));
        world.crash().await;
        world.ends().await;
        let expected = ["re: [ada the person] job 10 build", "re: build is done"];
        assert_eq!(world.sees_in(&thread()), expected, "{down:?}");
        assert_eq!(world.vendor.all().len(), 2, "{down:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_ends_after_a_new_conversation_began_is_told_by_the_one_that_asked() {
    let world = World::begin(Setup::default()).await;
    world.says_at("ada", thread(), "job 60 build");
    world.passes(SOON).await;
    world.says_at("ada", thread(), "/new");
    world.passes(SOON).await;
    world.says_at("ada", thread(), "hello");
    world.passes(Duration::from_mins(1)).await;
    world.ends().await;
    let seen = world.sees_in(&thread());
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert_eq!(seen[3], "re: build is done");
    assert_eq!(world.vendor.all().len(), 4);
    let shown = world.script.seen();
    assert_eq!(shown[1].history.len(), 0, "the new one knows nothing of it");
    assert_eq!(shown[2].history.len(), 4, "the old one does");
}

#[tokio::test(start_paused = true)]
async fn news_that_waits_behind_a_turn_survives_that_the_conversation_is_left() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "job 2 build think 60");
    world.passes(Duration::from_secs(5)).await;
    world.says("ada", "/new");
    world.ends().await;
    let seen = world.sees("ada");
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(seen.contains(&"re: build is done".to_owned()), "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn what_ends_while_the_platform_is_away_is_told_once_when_it_is_back() {
    let switch = Arc::new(Switch::default());
    let world = World::begin(Setup {
        moods: Arc::<Switch>::clone(&switch),
        ..Setup::default()
    })
    .await;
    world.says_at("ada", thread(), "job 10 build");
    world.passes(SOON).await;
    switch.0.store(true, Ordering::SeqCst);
    world.passes(Duration::from_mins(5)).await;
    assert_eq!(world.sees_in(&thread()).len(), 1);
    switch.0.store(false, Ordering::SeqCst);
    world.ends().await;
    let expected = ["re: [ada the person] job 10 build", "re: build is done"];
    assert_eq!(world.sees_in(&thread()), expected);
    assert_eq!(world.vendor.all().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_was_taken_is_not_told_again() {
    let table = [
        // Before its end, after it while the news waits, and after the news was told.
        (["job 10 build", "take build"], 2),
        (["job 2 build think 10 take build", "hello"], 2),
        (["job 0 build", "think 2 take build"], 3),
    ];
    for (said, expected) in table {
        let world = World::begin(Setup::default()).await;
        for text in said {
            world.says("ada", text);
            world.passes(Duration::from_secs(3)).await;
        }
        world.ends().await;
        let seen = world.sees("ada");
        let told = seen.iter().filter(|text| text.contains("is done")).count();
        assert_eq!(told, expected - 2, "{said:?}: {seen:?}");
        assert_eq!(states(&world).await, [JobState::Completed]);
    }
}

#[tokio::test(start_paused = true)]
async fn people_are_told_and_no_agent_is_where_that_was_promised() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "notice 5 build");
    world.passes(Duration::from_secs(1)).await;
    world.says("ada", "quiet 5 watch");
    world.ends().await;
    assert_eq!(
        world.sees("ada").last().unwrap(),
        "build is done",
        "word for word"
    );
    assert_eq!(world.sees("ada").len(), 3);
    assert_eq!(world.script.seen().len(), 2, "nobody thought about it");
}

#[tokio::test(start_paused = true)]
async fn a_thousand_jobs_that_end_at_once_are_all_told_once() {
    let world = World::begin(Setup {
        access: AccessPolicy {
            anyone: true,
            ..known()
        },
        ..Setup::default()
    })
    .await;
    let people: Vec<String> = (0..20).map(|number| format!("p{number}")).collect();
    for who in &people {
        world.says(who, &format!("many 50 30 {who}"));
    }
    world.passes(Duration::from_secs(30) + AT_ONCE).await;
    assert_eq!(world.machine.started().len(), 1_000);
    for who in &people {
        let seen = world.sees(who).join(" ");
        for number in 1..=50 {
            let news = format!("{who}.{number} is done");
            assert_eq!(seen.matches(&news).count(), 1, "{news}: {seen}");
        }
    }
    world.ends().await;
    let told = world.vendor.all().len();
    assert!(told <= 20 * 3, "what waits is told together: {told}");
}

#[tokio::test(start_paused = true)]
async fn news_keeps_nobody_out_and_nobody_is_told_to_wait_for_it() {
    let mut setup = Setup::default();
    setup.limits.queue = 2;
    let world = World::begin(setup).await;
    world.says("ada", "many 20 1 build think 30");
    world.passes(Duration::from_secs(5)).await;
    world.says("ada", "a");
    world.says("ada", "b");
    world.ends().await;
    let seen = world.sees("ada");
    assert!(seen[0].starts_with("Queued"), "for the person: {seen:?}");
    assert!(seen.contains(&"re: a".to_owned()) && seen.contains(&"re: b".to_owned()));
    assert!(!seen.iter().any(|text| text.starts_with("I could not take")));
}

#[tokio::test(start_paused = true)]
async fn too_many_jobs_and_jobs_of_a_stopped_run_are_refused() {
    let mut setup = Setup::default();
    setup.limits.jobs = 3;
    let world = World::begin(setup).await;
    world.says("ada", "many 4 30 build");
    world.passes(SOON).await;
    let seen = world.sees("ada");
    assert!(seen[0].starts_with("refused: 3 jobs"), "{seen:?}");
    world.says("bob", "late 2 build");
    world.passes(SOON).await;
    world.says("bob", "/stop");
    world.ends().await;
    assert_eq!(world.sees("bob"), ["Stopped."]);
    assert_eq!(world.machine.named("build"), None, "nothing was started");
    assert_eq!(all_jobs(&world).await.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn stop_leaves_what_is_done_in_the_background_alone() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "job 30 build think 60");
    world.passes(SOON).await;
    world.says("ada", "/jobs");
    world.passes(SOON).await;
    let listed = world.sees("ada");
    assert!(
        listed[0].contains("process running, 1 seconds ago: build"),
        "{listed:?}"
    );
    world.says("ada", "/stop");
    world.ends().await;
    assert_eq!(world.sees("ada")[1..], ["Stopped.", "re: build is done"]);
}
