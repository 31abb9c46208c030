//! Why a connection ended: it may come back by itself, or somebody has to do something.

use std::time::Duration;

use talaria_domain::adapter::{
    Accepted, Adapter as _, Disconnected, Identity, Intake, NotAccepted, Pending,
};
use talaria_domain::event::Event;
use talaria_domain::profile::Account;
use talaria_sim::discord::{self, On, Terms};

use super::world::{Desk, TOKEN, World, adapter_with, in_time};

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
        (On::About, "403", "lost"),
        (On::About, "429", "lost"),
        (On::About, "500", "lost"),
        (On::About, "close", "lost"),
        (On::About, "drop_after_accept", "lost"),
        (On::Connect, "401", "unauthorized"),
        (On::Connect, "400 4010", "unauthorized"),
        (On::Connect, "400 4011", "unauthorized"),
        (On::Connect, "400 4012", "unauthorized"),
        (On::Connect, "400 4013", "unauthorized"),
        (On::Connect, "400 4014", "unauthorized"),
        (On::Connect, "close", "lost"),
        (On::Socket, "401", "unauthorized"),
        (On::Socket, "close", "lost"),
    ] {
        let world = World::start().await;
        world.order(on, mishap);
        let ended = world.disconnected(&Desk::open()).await;
        assert_eq!(name(&ended), expected, "{on:?} {mishap}: {ended:?}");
    }
}

#[tokio::test]
async fn what_has_to_be_done_is_said() {
    for (on, mishap, words) in [
        (On::About, "401", "Reset Token"),
        (On::Connect, "401", "Reset Token"),
        (On::Connect, "400 4014", "switch on Message Content Intent"),
    ] {
        let world = World::start().await;
        world.order(on, mishap);
        let ended = world.disconnected(&Desk::open()).await;
        let Disconnected::Unauthorized { detail } = ended else {
            panic!("{ended:?}");
        };
        assert!(detail.contains(words), "{detail}");
    }
}

#[tokio::test]
async fn a_mute_connection_is_lost() {
    for on in [On::Connect, On::Socket] {
        let world = World::beating(Duration::from_millis(100)).await;
        let desk = Desk::open();
        world.order(on, "hang");
        let ended = world.disconnected(&desk).await;
        assert!(
            matches!(&ended, Disconnected::Lost { detail } if detail.contains("mute")),
            "{on:?}: {ended:?}"
        );
    }
}

#[tokio::test]
async fn a_heart_that_is_answered_is_alive() {
    let world = World::beating(Duration::from_millis(50)).await;
    let desk = Desk::open();
    world.while_connected(&desk, desk.was_alive(3)).await;
}

#[tokio::test]
async fn a_discord_that_never_lets_us_begin_is_lost() {
    let world = World::start().await;
    for _ in 0..4 {
        world.order(On::Connect, "400 4000");
    }
    let ended = world.disconnected(&Desk::open()).await;
    assert_eq!(name(&ended), "lost", "{ended:?}");
    assert_eq!(world.asked(On::Connect).len(), 4);
}

#[tokio::test]
async fn a_token_that_was_revoked_is_said_at_once() {
    let world = World::start().await;
    let desk = Desk::open();
    let revoked = async {
        desk.was_kept(1).await;
        world.vendor().with(|it| it.revoke(TOKEN));
        world.order(On::Socket, "400 reconnect");
    };
    let (ended, ()) = tokio::join!(world.disconnected(&desk), revoked);
    assert_eq!(name(&ended), "unauthorized", "{ended:?}");
    let outcome = world.send(&super::world::part(1, "hello")).await;
    let class = super::world::class(&outcome);
    assert_eq!(
        class,
        Some(talaria_domain::delivery::Rejection::Unauthorized)
    );
}

#[tokio::test]
async fn a_discord_that_goes_away_is_lost_until_it_is_back() {
    let World { server, discord } = World::start().await;
    let (desk, address) = (Desk::open(), server.address());
    let goes = async {
        desk.was_kept(1).await;
        server.stop().await;
    };
    let (ended, ()) = in_time(async { tokio::join!(discord.receive(&desk), goes) }).await;
    assert_eq!(name(&ended), "lost");
    let ended = in_time(discord.receive(&desk)).await;
    assert_eq!(name(&ended), "lost", "nobody listens on {address}");

    let server = discord::start(address, Terms::for_tokens([TOKEN]))
        .await
        .unwrap();
    let back = World { server, discord };
    let story = async {
        // The old session is not there any more, and the new one is begun.
        back.was_asked(On::Connect, 2).await;
        desk.kept_one_that(|place| place.contains("session-")).await;
        back.say("hello");
        desk.was_handed(1).await;
    };
    back.while_connected(&desk, story).await;
    assert_eq!(desk.texts(), ["hello"]);
}

#[tokio::test]
async fn a_token_that_is_not_accepted_is_not_told() {
    let world = World::start().await;
    world.order(On::About, &format!("401 {TOKEN}"));
    let ended = world.disconnected(&Desk::open()).await;
    let Disconnected::Unauthorized { detail } = ended else {
        panic!("{ended:?}");
    };
    assert!(
        detail.contains("[token]") && !detail.contains(TOKEN),
        "{detail}"
    );
    let ended = in_time(adapter_with(&world.server.url(), "another").receive(&Desk::open())).await;
    assert_eq!(name(&ended), "unauthorized");
}

/// An intake that does not want this bot.
struct Shut;

impl Intake for Shut {
    fn connected(&self, _: &Account, identity: &Identity) -> Result<(), Disconnected> {
        let detail = format!("{} is served already", identity.name);
        Err(Disconnected::Conflict { detail })
    }

    fn alive(&self, _: &Account) {}

    fn accept(&self, _: Event) -> Pending<'_, Result<Accepted, NotAccepted>> {
        unreachable!("nothing is handed in")
    }

    fn kept<'a>(&'a self, _: &'a Account) -> Pending<'a, Result<Option<String>, NotAccepted>> {
        unreachable!("nothing is asked")
    }

    fn keep<'a>(&'a self, _: &'a Account, _: String) -> Pending<'a, Result<(), NotAccepted>> {
        unreachable!("nothing is kept")
    }
}

#[tokio::test]
async fn a_bot_that_is_not_wanted_does_not_go_on() {
    let world = World::start().await;
    let ended = in_time(world.discord.receive(&Shut)).await;
    let expected = Disconnected::Conflict {
        detail: "bot1 is served already".to_owned(),
    };
    assert_eq!(ended, expected);
    assert!(world.asked(On::Connect).is_empty());
}
