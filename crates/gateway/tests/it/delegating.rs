//! Tasks that are given to agents of their own: durable, narrower than whoever gives them, and silent but for their end.

use std::time::Duration;

use talaria_domain::authority::{Authority, Grant, ResourceKind};
use talaria_domain::job::JobKind;
use talaria_domain::machine::JobState;
use talaria_sim::chat::Offer;
use talaria_sim::people::person;
use talaria_store::{Row, bind, jobs, sessions};

use crate::world::{Setup, World};

const SOON: Duration = Duration::from_secs(1);

async fn states(world: &World) -> Vec<JobState> {
    let state = |row: &Row<'_>| row.state::<JobState>(0);
    world
        .read(move |tx| tx.rows("SELECT state FROM jobs ORDER BY job_id", bind![], state))
        .await
}

/// What is told of a task, without the job's id.
fn told(seen: &[String]) -> Vec<String> {
    let one = |text: &String| match (text.find(" (job "), text.find(')')) {
        (Some(from), Some(to)) if from < to => {
            let job = &text[from..=to];
            let state = job.split_once(", ").map_or(")", |(_, state)| state);
            format!("{} ({}", &text[..from], state) + &text[to + 1..]
        }
        _ => text.clone(),
    };
    seen.iter().map(one).collect()
}

#[tokio::test(start_paused = true)]
async fn a_task_is_done_apart_and_whoever_gave_it_is_told() {
    for offer in [Offer::Keys, Offer::Edits, Offer::Plain] {
        let world = World::begin(Setup {
            offer,
            ..Setup::default()
        })
        .await;
        world.says("ada", "hello");
        world.passes(SOON).await;
        world.says("ada", "give think 30 inner");
        world.ends().await;
        let seen = world.sees("ada");
        assert_eq!(
            told(&seen)[1],
            "I was told: The task \"think 30 inner\" is done ():\n\nre: think 30 inner\n\nas well as you can",
            "{offer:?}"
        );
        assert_eq!(seen.len(), 2, "{offer:?}");
        let changes = world.vendor.changes();
        let is_leaked = changes.iter().any(|change| change.text.contains("hm…"));
        assert!(!is_leaked, "{changes:?}");
        let shown = world.script.seen();
        assert_eq!(
            (shown[2].depth, shown[2].history.len()),
            (1, 0),
            "{offer:?}"
        );
        assert_eq!(states(&world).await, [JobState::Completed]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_in_the_background_wakes_the_conversation_with_its_end() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "errand think 30 inner");
    world.passes(SOON).await;
    world.says("ada", "hello");
    world.ends().await;
    let seen = told(&world.sees("ada"));
    assert_eq!(seen[..2], ["given away", "re: hello"]);
    assert!(
        seen[2].starts_with("re: The task \"think 30 inner\" is done"),
        "{seen:?}"
    );
    assert_eq!(seen.len(), 3, "{seen:?}");
    let owner = person("ada").key();
    let listed = world
        .read(move |tx| sessions::list(tx, owner, None, 10))
        .await;
    assert_eq!(listed.len(), 1, "it is nobody's conversation");
}

#[tokio::test(start_paused = true)]
async fn a_task_in_the_background_survives_a_crash_and_is_told_once() {
    let table = [
        ("errand think 30 inner", "is done ():", JobState::Completed),
        (
            "errand tool 30 inner",
            "is not done (failed): it was interrupted while it was using lever",
            JobState::Failed,
        ),
    ];
    for (said, expected, state) in table {
        let mut world = World::begin(Setup::default()).await;
        world.says("ada", said);
        world.passes(Duration::from_secs(10)).await;
        world.crash_for(SOON).await;
        world.ends().await;
        let seen = told(&world.sees("ada"));
        assert_eq!(seen.len(), 2, "{said}: {seen:?}");
        assert!(seen[1].contains(expected), "{said}: {seen:?}");
        assert_eq!(states(&world).await, [state], "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_somebody_waited_for_ends_with_them() {
    let mut world = World::begin(Setup::default()).await;
    world.says("ada", "give tool 30 inner");
    world.passes(Duration::from_secs(10)).await;
    world.crash().await;
    world.passes(SOON).await;
    world.says("ada", "give give hang");
    world.passes(SOON).await;
    assert_eq!(world.gateway.load().turns, 3);
    world.says("ada", "/stop");
    world.passes(SOON).await;
    assert_eq!(world.gateway.load().turns, 0, "all of them are told");
    world.ends().await;
    let seen = world.sees("ada");
    assert!(seen[0].starts_with("I was interrupted while I was using later"));
    assert_eq!(seen[1..], ["Stopped."]);
    assert_eq!(states(&world).await, [JobState::Cancelled; 3]);
}

#[tokio::test(start_paused = true)]
async fn stop_leaves_a_task_in_the_background_alone() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "errand think 30 inner");
    world.passes(SOON).await;
    world.says("ada", "hang");
    world.passes(SOON).await;
    world.says("ada", "/stop");
    world.ends().await;
    let seen = told(&world.sees("ada"));
    assert_eq!(seen[..2], ["given away", "Stopped."]);
    assert!(seen[2].contains("is done"), "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_called_off_stops_and_is_not_told_to_whoever_called_it_off() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "errand hang");
    world.passes(SOON).await;
    assert_eq!(world.gateway.load().turns, 1);
    world.says("bob", "recall");
    world.passes(SOON).await;
    assert_eq!(world.gateway.load().turns, 1, "it is not theirs");
    world.says("ada", "recall");
    world.passes(SOON).await;
    assert_eq!(world.gateway.load().turns, 0);
    world.ends().await;
    assert_eq!(world.sees("ada"), ["given away", "re: recall"]);
    let seen = world.sees("bob");
    assert!(seen[0].starts_with("there is no job"), "{seen:?}");
    assert_eq!(states(&world).await, [JobState::Cancelled]);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_fails_hangs_or_breaks_is_told_as_failed() {
    let mut setup = Setup::default();
    setup.limits.no_progress = Duration::from_mins(1);
    for (said, why) in [
        ("errand fail", "told to"),
        ("errand hang", "nothing happened for 60 seconds"),
        ("errand panic", "what thinks for me broke 3 times"),
        ("give hang", "nothing happened for 60 seconds"),
    ] {
        let world = World::begin(setup.clone()).await;
        world.says("ada", said);
        world.passes(Duration::from_mins(5)).await;
        world.ends().await;
        let seen = told(&world.sees("ada"));
        let last = seen.last().unwrap();
        assert!(last.contains("is not done (failed)"), "{said}: {seen:?}");
        assert!(last.contains(why), "{said}: {seen:?}");
        assert_eq!(states(&world).await, [JobState::Failed], "{said}");
    }
}

fn authority(tools: &[&str]) -> Authority {
    let grant = Grant {
        operations: ["call".to_owned()].into(),
        pinned: None,
    };
    let tools = tools.iter().map(|tool| ((*tool).to_owned(), grant.clone()));
    Authority {
        grants: [(ResourceKind::Tool, tools.collect())].into(),
        ..Authority::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_may_use_at_most_what_whoever_gave_it_may() {
    let world = World::begin(Setup {
        authority: authority(&["lever", "files"]),
        ..Setup::default()
    })
    .await;
    world.says("ada", "give one");
    world.says("ada", "only two");
    world.says("ada", "only give three");
    world.ends().await;
    let seen = world.script.seen();
    let may: Vec<(u32, Authority)> = seen
        .into_iter()
        .map(|seen| (seen.depth, seen.authority))
        .collect();
    let (all, one) = (authority(&["lever", "files"]), authority(&["lever"]));
    let expected = [
        (0, all.clone()),
        (1, all.clone()),
        (0, all.clone()),
        (1, one.clone()),
        (0, all),
        (1, one.clone()),
        (2, one),
    ];
    assert_eq!(may, expected, "what is not granted cannot be asked for");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_given_on_so_far_and_no_further() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "give give give give inner");
    world.ends().await;
    let seen = world.sees("ada");
    assert!(
        seen[0].contains("refused: a task that was delegated this far"),
        "{seen:?}"
    );
    assert_eq!(states(&world).await, [JobState::Completed; 2]);
    let depths: Vec<u32> = world.script.seen().iter().map(|seen| seen.depth).collect();
    assert_eq!(depths, [0, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_promised_to_a_task_that_ends_with_its_answer() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "give errand inner");
    world.says("bob", "give job 5 build");
    world.ends().await;
    for who in ["ada", "bob"] {
        let seen = world.sees(who);
        assert!(
            seen[0].contains("refused: this conversation cannot be reached later"),
            "{seen:?}"
        );
        assert_eq!(seen.len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_does_not_take_the_place_of_what_they_wait_for() {
    let mut setup = Setup::default();
    setup.limits.turns = 1;
    let world = World::begin(setup).await;
    world.says("ada", "give give think 5 inner");
    world.says("bob", "give think 5 inner");
    world.passes(Duration::from_secs(30)).await;
    for who in ["ada", "bob"] {
        let seen = world.sees(who);
        assert!(seen[0].contains("is done"), "{seen:?}");
    }
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_person_may_give_a_task_and_see_its_result_posted() {
    let mut world = World::begin(Setup::default()).await;
    world.says("ada", "/background think 30 inner");
    world.passes(SOON).await;
    world.says("ada", "/jobs");
    world.passes(SOON).await;
    let seen = world.sees("ada");
    assert!(seen[0].starts_with("I do this in the background, as job `"));
    assert!(
        seen[1].contains("delegation running, 1 seconds ago: think 30 inner"),
        "{seen:?}"
    );
    world.crash().await;
    world.says("ada", "/background");
    world.ends().await;
    let seen = told(&world.sees("ada"));
    assert!(seen[2].starts_with("Say what to do"), "{seen:?}");
    assert_eq!(
        seen[3],
        "The task \"think 30 inner\" is done ():\n\nre: think 30 inner"
    );
    assert_eq!(seen.len(), 4, "{seen:?}");
    let kinds = world.read(|tx| jobs::open(tx, None)).await;
    assert!(kinds.iter().all(|job| job.kind == JobKind::Process));
}
