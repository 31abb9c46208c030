//! Programs that want to be called back: what ends after their turn goes to the place that they named, once and each by
//! itself; without such a place nothing is promised to them.

use std::time::Duration;

use talaria_domain::address::{Address, ChatKind};
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::event::Wishes;
use talaria_domain::ids::JobId;
use talaria_domain::job::Job;
use talaria_domain::profile::BusyPolicy;
use talaria_store::{Row, bind, inbox, jobs};

use crate::world::{Setup, World};

const SOON: Duration = Duration::from_secs(1);
const HOOK: &str = "https://example.org/hooks/1";

/// A place that programs are called back at.
fn hook(platform: &str) -> Address {
    Address {
        platform: platform.into(),
        account: "bot".into(),
        chat_kind: ChatKind::Webhook,
        chat: HOOK.into(),
        thread: None,
        reply_to: None,
    }
}

/// What every program says of itself: once it has its answer it is gone.
fn gone(callback: Option<Address>) -> Wishes {
    Wishes {
        window: Some(DeliveryWindow::InTurnOnly),
        callback,
        ..Wishes::default()
    }
}

async fn world(busy: BusyPolicy) -> World {
    World::begin(Setup {
        busy,
        has_neighbour: true,
        ..Setup::default()
    })
    .await
}

/// What was posted, each with the conversation that it is about.
fn posted(world: &World) -> Vec<(String, String)> {
    let shown = world.vendor.chat(HOOK).into_iter();
    shown
        .map(|shown| (shown.text, shown.thread.unwrap_or_default()))
        .collect()
}

fn texts(world: &World) -> Vec<String> {
    posted(world).into_iter().map(|(text, _)| text).collect()
}

async fn all_jobs(world: &World) -> Vec<Job> {
    let id = |row: &Row<'_>| row.get::<JobId>(0);
    let ids = world
        .read(move |tx| tx.rows("SELECT job_id FROM jobs ORDER BY job_id", bind![], id))
        .await;
    let mut all = Vec::new();
    for job in ids {
        all.push(world.read(move |tx| jobs::get(tx, job)).await);
    }
    all
}

#[tokio::test(start_paused = true)]
async fn a_promise_is_made_to_a_program_that_can_be_called_back_and_kept_there() {
    let world = world(BusyPolicy::Queue).await;
    world.asks("ada", "job 10 build", gone(Some(hook("elsewhere"))));
    world.passes(SOON).await;
    let seen = world.script.seen();
    assert_eq!(seen[0].window, DeliveryWindow::Always);
    world.ends().await;
    assert_eq!(world.sees("ada"), ["re: job 10 build"], "its own answer");
    let all = all_jobs(&world).await;
    let session = all[0].return_to.session.to_string();
    assert_eq!(posted(&world), [("re: build is done".to_owned(), session)]);
    let anchor = all[0].return_to.address.reply_to.as_ref();
    assert_eq!(anchor.unwrap().as_str(), all[0].id.to_string());
    assert_eq!(world.vendor.all().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn without_a_callback_nothing_is_promised_and_nothing_is_begun() {
    let table = [
        gone(None),
        // One that no account of ours leads to.
        gone(Some(hook("nowhere"))),
    ];
    for wishes in table {
        for said in ["job 10 build", "notice 10 build", "errand inner"] {
            let world = world(BusyPolicy::Queue).await;
            world.asks("ada", said, wishes.clone());
            world.ends().await;
            let seen = world.sees("ada");
            assert!(
                seen[0].contains("refused: this conversation cannot be reached later"),
                "{said}: {seen:?}"
            );
            assert_eq!(all_jobs(&world).await, [], "{said}");
            assert_eq!(world.vendor.all().len(), 1, "{said}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_nobody_is_told_of_needs_no_callback() {
    let world = world(BusyPolicy::Queue).await;
    world.asks("ada", "quiet 10 build", gone(None));
    world.ends().await;
    assert_eq!(world.sees("ada"), ["re: quiet 10 build"]);
    assert_eq!(all_jobs(&world).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_ends_while_the_gateway_is_down_is_posted_once() {
    let mut world = world(BusyPolicy::Queue).await;
    world.asks("ada", "job 10 build", gone(Some(hook("elsewhere"))));
    world.passes(SOON).await;
    world.crash_for(Duration::from_mins(1)).await;
    world.crash().await;
    world.ends().await;
    assert_eq!(texts(&world), ["re: build is done"]);
    assert_eq!(world.vendor.all().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn each_of_several_jobs_is_told_by_itself() {
    for busy in [BusyPolicy::Queue, BusyPolicy::Steer, BusyPolicy::Interrupt] {
        let world = world(busy).await;
        let callback = Some(hook("elsewhere"));
        world.asks("ada", "many 3 5 build think 20", gone(callback));
        world.passes(Duration::from_secs(10)).await;
        let session = all_jobs(&world).await[0].return_to.session;
        let lane = world.read(move |tx| inbox::lane(tx, session)).await;
        let waiting: Vec<_> = lane.iter().filter_map(|row| row.busy).collect();
        assert_eq!(
            waiting,
            [BusyPolicy::Queue; 3],
            "never a part of another answer"
        );
        world.ends().await;
        let mut told = texts(&world);
        told.sort();
        let expected = ["build.1", "build.2", "build.3"].map(|name| format!("re: {name} is done"));
        assert_eq!(told, expected, "{busy:?}");
        assert_eq!(world.sees("ada").len(), 1, "{busy:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_and_a_notice_go_there_too() {
    let world = world(BusyPolicy::Queue).await;
    let callback = || gone(Some(hook("elsewhere")));
    world.asks("ada", "errand think 5 inner", callback());
    world.passes(SOON).await;
    assert_eq!(world.sees("ada"), ["given away"]);
    world.passes(Duration::from_secs(10)).await;
    let told = texts(&world);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("re: think 5 inner"), "{told:?}");
    world.asks("ada", "notice 5 build", callback());
    world.ends().await;
    assert_eq!(texts(&world)[1..], ["build is done"], "word for word");
    assert_eq!(world.sees("ada").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_begins_while_it_is_told_goes_there_too() {
    let world = world(BusyPolicy::Queue).await;
    // Its news is "job is done", which starts another one.
    world.asks("ada", "job 5 job", gone(Some(hook("elsewhere"))));
    world.ends().await;
    assert_eq!(texts(&world), ["re: job is done", "re: done is done"]);
    let all = all_jobs(&world).await;
    for job in &all {
        let anchor = job.return_to.address.reply_to.as_ref();
        assert_eq!(anchor.unwrap().as_str(), job.id.to_string());
    }
    assert_eq!(all.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_program_is_told_even_if_its_agent_has_nothing_to_say() {
    let world = world(BusyPolicy::Queue).await;
    // Its news is "silent is done".
    world.asks("ada", "job 5 silent", gone(Some(hook("elsewhere"))));
    world.ends().await;
    assert_eq!(texts(&world), ["silent is done"]);
}

#[tokio::test(start_paused = true)]
async fn a_callback_counts_for_its_own_turn() {
    let world = world(BusyPolicy::Queue).await;
    world.asks("ada", "hello", gone(Some(hook("elsewhere"))));
    world.passes(SOON).await;
    world.says("ada", "job 5 build");
    world.ends().await;
    assert_eq!(texts(&world), [""; 0]);
    assert_eq!(world.sees("ada").len(), 3, "told where it was asked for");
}
