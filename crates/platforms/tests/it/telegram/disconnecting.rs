//! Why a connection ended: it may come back by itself, or somebody has to do something.

use std::time::Duration;

use talaria_domain::adapter::{Adapter as _, Disconnected};
use talaria_sim::telegram::{self, Terms};
use talaria_sim::vendor::On;

use super::world::{ADA, Desk, TOKEN, World, bot_at, in_time};

fn name(ended: &Disconnected) -> &'static str {
    match ended {
        Disconnected::Lost { .. } => "lost",
        Disconnected::Unauthorized { .. } => "unauthorized",
        Disconnected::Conflict { .. } => "conflict",
    }
}

#[tokio::test]
async fn every_fault_has_its_name() {
    for (on, mishap, expected) in [
        (On::About, "401", "unauthorized"),
        (On::About, "404", "unauthorized"),
        (On::About, "409", "lost"),
        (On::About, "429", "lost"),
        (On::About, "500", "lost"),
        (On::About, "close", "lost"),
        (On::About, "drop_after_accept", "lost"),
        (On::Updates, "401", "unauthorized"),
        (On::Updates, "400 something", "lost"),
        (On::Updates, "404", "lost"),
        (On::Updates, "302", "lost"),
        (On::Updates, "500", "lost"),
        (On::Updates, "close", "lost"),
    ] {
        let world = World::new().await;
        world.order(on, mishap, 1);
        let ended = world.disconnected(&Desk::open()).await;
        assert_eq!(name(&ended), expected, "{on:?} {mishap}: {ended:?}");
    }
}

#[tokio::test]
async fn a_token_that_was_taken_away_says_what_to_do() {
    let world = World::new().await;
    let desk = Desk::open();
    let revoked = async {
        world.was_asked("getupdates", 1).await;
        world.vendor().with(|world| world.revoke(TOKEN));
    };
    let (ended, ()) = tokio::join!(world.disconnected(&desk), revoked);
    let Disconnected::Unauthorized { detail } = ended else {
        panic!("{ended:?}");
    };
    assert!(
        detail.contains("Unauthorized") && detail.contains("@BotFather"),
        "{detail}"
    );
    let ended = world.disconnected(&desk).await;
    assert_eq!(name(&ended), "unauthorized");
}

#[tokio::test]
async fn a_token_that_is_not_accepted_is_not_told() {
    let world = World::new().await;
    let (_, secret) = TOKEN.split_once(':').unwrap();
    world.order(On::About, &format!("401 {TOKEN} and {secret}"), 1);
    let ended = world.disconnected(&Desk::open()).await;
    let Disconnected::Unauthorized { detail } = ended else {
        panic!("{ended:?}");
    };
    assert!(
        detail.contains("[token]") && !detail.contains(secret),
        "{detail}"
    );
}

#[tokio::test]
async fn who_is_served_already_does_not_go_on() {
    let world = World::new().await;
    world.write(ADA, "direct", "hello");
    let ended = Disconnected::Conflict {
        detail: "this bot is served already".to_owned(),
    };
    let desk = Desk::turning_away(ended.clone());
    assert_eq!(world.disconnected(&desk).await, ended);
    assert!(
        world.asked("getupdates").is_empty(),
        "nothing may be taken from the other"
    );
}

#[tokio::test]
async fn a_mute_platform_is_lost() {
    for (on, method) in [(On::About, "getme"), (On::Updates, "getupdates")] {
        let world = World::new().await;
        world.order(on, "hang", 1);
        let hangs = async {
            world.was_asked(method, 1).await;
            // Nothing moves any more: the clock may jump.
            tokio::time::pause();
        };
        let desk = Desk::open();
        let (ended, ()) = tokio::join!(world.disconnected(&desk), hangs);
        tokio::time::resume();
        assert_eq!(name(&ended), "lost", "{on:?}");
    }
}

#[tokio::test]
async fn a_platform_that_goes_away_is_lost_until_it_is_back() {
    let World {
        server,
        telegram,
        clock,
    } = World::new().await;
    let (desk, address) = (Desk::open(), server.address());
    let goes = async {
        let polls = |world: &telegram::World| {
            use talaria_sim::vendor::World as _;
            world.room().requests().any(|asked| asked.on == On::Updates)
        };
        server.vendor().until(polls).await;
        server.stop().await;
    };
    let (ended, ()) = in_time(async { tokio::join!(telegram.receive(&desk), goes) }).await;
    assert_eq!(name(&ended), "lost");
    let ended = in_time(telegram.receive(&desk)).await;
    let Disconnected::Lost { detail } = ended else {
        panic!("nobody listens on {address}: {ended:?}");
    };
    assert!(!detail.contains("AAa-token"), "{detail}");

    let server = telegram::start(address, Terms::of([TOKEN])).await.unwrap();
    let back = World {
        server,
        telegram,
        clock,
    };
    back.write(ADA, "direct", "hello");
    back.while_connected(&desk, desk.was_handed(1)).await;
    assert_eq!(desk.texts(), ["hello"]);
}

#[tokio::test]
async fn somebody_else_who_soon_stops_asking_is_waited_out() {
    let world = World::new().await;
    world.write(ADA, "direct", "hello");
    world.order(On::Updates, "409", 2);
    let desk = Desk::open();
    let story = async {
        world.was_asked("getupdates", 1).await;
        tokio::time::pause();
        desk.was_handed(1).await;
        tokio::time::resume();
    };
    world.while_connected(&desk, story).await;
    assert_eq!(desk.texts(), ["hello"]);
}

#[tokio::test]
async fn somebody_else_who_stays_is_told_and_in_the_end_a_conflict() {
    let world = World::new().await;
    let mut ends = Vec::new();
    for _ in 0..8 {
        world.order(On::Updates, "409", 1);
        world.clock.advance(Duration::from_secs(35));
        let desk = Desk::open();
        let pause = async {
            world.was_asked("getupdates", ends.len() + 1).await;
            tokio::time::pause();
            // The first is waited out: what follows is quiet.
            desk.heard_life(1).await;
        };
        let ended = tokio::select! {
            biased;
            ended = world.disconnected(&desk) => Some(ended),
            () = pause => None,
        };
        tokio::time::resume();
        ends.push(ended.as_ref().map_or("waits", name));
    }
    assert_eq!(ends[..3], ["waits", "lost", "lost"]);
    assert_eq!(ends[6..], ["conflict", "conflict"]);
}

#[tokio::test]
async fn two_that_ask_at_once_do_not_both_go_on() {
    let world = World::new().await;
    let second = bot_at(&world.server.url(), &world.clock, None);
    let desk = Desk::open();
    let takes_over = async {
        world.was_asked("getupdates", 1).await;
        world.clock.advance(Duration::from_mins(1));
        in_time(async {
            tokio::select! {
                biased;
                ended = second.receive(&desk) => panic!("disconnected: {ended:?}"),
                () = world.was_asked("getupdates", 2) => {}
            }
        })
        .await;
    };
    // The first hears of it and waits; it does not take the updates back at once.
    tokio::select! {
        biased;
        ended = world.disconnected(&desk) => panic!("not yet: {ended:?}"),
        () = takes_over => {}
    }
    assert_eq!(world.asked("getupdates").len(), 2);
}

#[tokio::test]
async fn a_webhook_that_somebody_left_is_taken_away_and_nothing_is_lost() {
    let world = World::new().await;
    let call = async {
        let client = reqwest::Client::builder().build().unwrap();
        let url = format!("{}/bot{TOKEN}/setWebhook", world.server.url());
        // Nobody listens there.
        let body = serde_json::json!({ "url": "http://127.0.0.1:1/" });
        client.post(url).json(&body).send().await.unwrap();
    };
    in_time(call).await;
    world.write(ADA, "direct", "hello");
    let desk = Desk::open();
    world.while_connected(&desk, world.done()).await;
    assert_eq!(desk.texts(), ["hello"]);
    let asked = &world.asked("deletewebhook")[0];
    assert_eq!(asked["drop_pending_updates"], serde_json::json!(false));
}

#[tokio::test]
async fn a_platform_that_wants_to_be_left_alone_is() {
    let world = World::new().await;
    world.write(ADA, "direct", "hello");
    world.order(On::Updates, "429", 1);
    let desk = Desk::open();
    let story = async {
        world.was_asked("getupdates", 1).await;
        tokio::time::pause();
        desk.was_handed(1).await;
        tokio::time::resume();
    };
    world.while_connected(&desk, story).await;
    assert_eq!(desk.texts(), ["hello"]);
}
