//! A connection ends and nothing is lost: the session is taken up again, or what was written meanwhile is asked for.

use talaria_domain::event::DedupeKey;
use talaria_sim::discord::{On, Written, thread_id};

use super::world::{Desk, World, adapter};

fn keys(desk: &Desk) -> Vec<DedupeKey> {
    desk.events().iter().map(|it| it.dedupe).collect()
}

/// How sessions were begun and taken up.
fn sessions(world: &World) -> Vec<String> {
    let asked = world.asked(On::Connect).into_iter();
    asked.map(|it| it.replace("GATEWAY ", "")).collect()
}

/// The same Discord and another process.
fn restarted(world: World) -> World {
    World {
        discord: adapter(&world.server.url()),
        ..world
    }
}

#[tokio::test]
async fn discord_asks_for_another_connection_and_gets_it() {
    for (mishap, expected) in [
        ("400 reconnect", ["identify", "resume"].as_slice()),
        ("400 4000", &["identify", "resume"]),
        ("400 4008", &["identify", "resume"]),
        ("400 invalid_session_resumable", &["identify", "resume"]),
        ("400 invalid_session", &["identify", "identify"]),
        ("400 4009", &["identify", "identify"]),
    ] {
        let world = World::start().await;
        let desk = Desk::open();
        let story = async {
            desk.was_kept(1).await;
            world.say("one");
            desk.was_handed(1).await;
            world.order(On::Socket, mishap);
            world.say("two");
            world.say("three");
            world.was_asked(On::Connect, 2).await;
            world.say("four");
            desk.kept_one_that(|_| desk.texts().contains(&"four".to_owned()))
                .await;
        };
        world.while_connected(&desk, story).await;
        assert_eq!(sessions(&world), expected, "{mishap}");
        let mut texts = desk.texts();
        texts.dedup();
        // What is asked for again may come twice, as the same event.
        let mut seen = std::collections::BTreeSet::new();
        let events = desk.events().into_iter();
        let once: Vec<_> = events.filter(|it| seen.insert(it.dedupe)).collect();
        assert_eq!(once.len(), 4, "{mishap}: {texts:?}");
    }
}

#[tokio::test]
async fn a_session_that_is_not_there_any_more_is_begun_and_the_gap_is_filled_first() {
    let world = World::start().await;
    let desk = Desk::open();
    let before = async {
        desk.was_kept(1).await;
        let one = world.say("one");
        let psst = world.vendor().write(&Written::direct("ada", "psst")).id;
        let has_both = |place: &str| place.contains(&one) && place.contains(&psst);
        desk.kept_one_that(has_both).await;
    };
    world.while_connected(&desk, before).await;

    world
        .vendor()
        .with(talaria_sim::discord::World::forget_sessions);
    world.say("two");
    world
        .vendor()
        .write(&Written::direct("ada", "are you there?"));
    world.say("three");
    let world = restarted(world);
    let after = Desk::after(&desk);
    let story = async {
        world.was_asked(On::Connect, 2).await;
        world.say("four");
        after.was_handed(4).await;
    };
    world.while_connected(&after, story).await;
    assert_eq!(sessions(&world), ["identify", "resume", "identify"]);
    let general: Vec<_> = after.texts();
    let of_general: Vec<_> = general
        .iter()
        .filter(|it| *it != "are you there?")
        .collect();
    assert_eq!(of_general, ["two", "three", "four"]);
    assert!(general.contains(&"are you there?".to_owned()));
    // In the direct chat it is still a direct chat, though nobody said so.
    let events = after.events();
    let direct = events
        .iter()
        .find(|it| it.address.reply_to.is_none())
        .unwrap();
    assert_eq!(direct.address.chat_kind.as_str(), "direct");
}

#[tokio::test]
async fn live_replayed_and_asked_for_it_is_the_same_event() {
    let world = World::start().await;
    let live = Desk::open();
    let story = async {
        live.was_kept(1).await;
        world.say("zero");
        live.was_kept(2).await;
    };
    world.while_connected(&live, story).await;
    let kept = Desk::after(&live);
    let story = async {
        world.was_asked(On::Connect, 2).await;
        world.say("one");
        live.was_handed(2).await;
    };
    world.while_connected(&live, story).await;

    let world = restarted(world);
    let replayed = Desk::after(&kept);
    world
        .while_connected(&replayed, replayed.was_handed(1))
        .await;
    world
        .vendor()
        .with(talaria_sim::discord::World::forget_sessions);
    let world = restarted(world);
    let asked_for = Desk::after(&kept);
    world
        .while_connected(&asked_for, asked_for.was_handed(1))
        .await;
    assert_eq!(keys(&live)[1..], keys(&replayed)[..1]);
    assert_eq!(keys(&live)[1..], keys(&asked_for)[..1]);
}

#[tokio::test]
async fn more_than_a_page_is_asked_for_in_order() {
    let world = World::start().await;
    let desk = Desk::open();
    let before = async {
        desk.was_kept(1).await;
        world.say("begin");
        desk.was_kept(2).await;
    };
    world.while_connected(&desk, before).await;
    world
        .vendor()
        .with(talaria_sim::discord::World::forget_sessions);
    let texts: Vec<String> = (0..250).map(|number| number.to_string()).collect();
    for text in &texts {
        world.say(text);
    }
    let after = Desk::after(&desk);
    world.while_connected(&after, after.was_handed(250)).await;
    assert_eq!(after.texts(), texts);
}

#[tokio::test]
async fn a_channel_that_was_quiet_until_then_is_asked_as_well() {
    let world = World::start().await;
    let desk = Desk::open();
    let before = async {
        desk.was_kept(1).await;
        world.say("begin");
        desk.was_kept(2).await;
    };
    world.while_connected(&desk, before).await;
    world
        .vendor()
        .with(talaria_sim::discord::World::forget_sessions);
    world.vendor().write(&Written {
        thread: Some("plans".to_owned()),
        ..Written::to_chat("elsewhere", "group", ("ada", "first here"))
    });
    let after = Desk::after(&desk);
    world.while_connected(&after, after.was_handed(1)).await;
    assert_eq!(after.texts(), ["first here"]);
    let thread = after.events()[0].address.thread.clone().unwrap();
    assert_eq!(thread.as_str(), thread_id("plans"));
}

#[tokio::test]
async fn a_gap_that_cannot_be_read_at_once_stays_open() {
    let world = World::start().await;
    let desk = Desk::open();
    let before = async {
        desk.was_kept(1).await;
        world.say("begin");
        desk.was_kept(2).await;
    };
    world.while_connected(&desk, before).await;
    world
        .vendor()
        .with(talaria_sim::discord::World::forget_sessions);
    world.say("missed");
    for mishap in ["500", "close", "429"] {
        world.order(On::Updates, mishap);
    }
    let after = Desk::after(&desk);
    world.while_connected(&after, after.was_handed(1)).await;
    assert_eq!(after.texts(), ["missed"]);
}

#[tokio::test]
async fn a_connection_that_was_cut_is_taken_up_by_the_next() {
    let world = World::start().await;
    let desk = Desk::open();
    let story = async {
        desk.was_kept(1).await;
        world.say("one");
        desk.was_handed(1).await;
        world.order(On::Socket, "close");
        world.say("two");
    };
    let (ended, ()) = tokio::join!(world.disconnected(&desk), story);
    assert!(
        matches!(ended, talaria_domain::adapter::Disconnected::Lost { .. }),
        "{ended:?}"
    );
    world.say("three");
    let is_there = || desk.texts().contains(&"three".to_owned());
    let story = async {
        desk.was_handed(3).await;
        desk.kept_one_that(|_| is_there()).await;
    };
    world.while_connected(&desk, story).await;
    let mut texts = desk.texts();
    texts.dedup();
    assert_eq!(texts, ["one", "two", "three"]);
    assert_eq!(sessions(&world), ["identify", "resume"]);
}

#[tokio::test]
async fn the_first_time_there_is_no_gap() {
    let world = World::start().await;
    world.say("before we were here");
    let desk = Desk::open();
    let story = async {
        desk.was_kept(1).await;
        world.say("one");
        desk.was_handed(1).await;
    };
    world.while_connected(&desk, story).await;
    assert_eq!(desk.texts(), ["one"]);
}

#[tokio::test]
async fn a_crash_in_the_first_second_loses_nothing() {
    let world = World::start().await;
    let desk = Desk::open();
    let story = async {
        world.was_asked(On::Connect, 1).await;
        world.say("one");
        desk.was_handed(1).await;
    };
    world.while_connected(&desk, story).await;
    world.say("meanwhile");
    let world = restarted(world);
    let after = Desk::after(&desk);
    world.while_connected(&after, after.was_handed(2)).await;
    assert_eq!(after.texts(), ["one", "meanwhile"]);
    assert_eq!(sessions(&world), ["identify", "resume"]);
}
