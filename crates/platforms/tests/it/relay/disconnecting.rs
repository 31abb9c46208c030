//! Why a connection ended: it may come back by itself, or somebody has to do something.

use talaria_domain::adapter::{Adapter as _, Disconnected};
use talaria_sim::relay::{self, Offer, On, Terms, Written};
use talaria_sim::vendor::World as _;

use super::world::{Desk, TOKEN, World, in_time, relay_to};

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
        (On::About, "403", "unauthorized"),
        (On::About, "409", "lost"),
        (On::About, "429", "lost"),
        (On::About, "500", "lost"),
        (On::About, "close", "lost"),
        (On::About, "drop_after_accept", "lost"),
        (On::Updates, "401", "unauthorized"),
        (On::Updates, "409", "conflict"),
        (On::Updates, "400 markup", "lost"),
        (On::Updates, "429", "lost"),
        (On::Updates, "500", "lost"),
        (On::Updates, "close", "lost"),
    ] {
        let world = World::offering(Offer::Plain).await;
        world.order(on, mishap);
        let ended = world.disconnected(&Desk::open()).await;
        assert_eq!(name(&ended), expected, "{on:?} {mishap}: {ended:?}");
    }
}

#[tokio::test]
async fn a_fault_reaches_whoever_waits() {
    let world = World::offering(Offer::Plain).await;
    let waits = async {
        world.was_asked(On::Updates, 1).await;
        world.order(On::Updates, "401");
    };
    let desk = Desk::open();
    let (ended, ()) = tokio::join!(world.disconnected(&desk), waits);
    assert_eq!(name(&ended), "unauthorized");
}

#[tokio::test]
async fn a_bridge_that_hangs_is_lost() {
    for on in [On::About, On::Updates] {
        let world = World::offering(Offer::Plain).await;
        world.order(on, "hang");
        let hangs = async {
            world.was_asked(on, 1).await;
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
async fn a_bridge_that_goes_away_is_lost_until_it_is_back() {
    let World { server, relay } = World::offering(Offer::Plain).await;
    let (desk, address) = (Desk::open(), server.address());
    let goes = async {
        let polls = |world: &relay::World| world.room().requests().count() >= 2;
        server.vendor().until(polls).await;
        server.stop().await;
    };
    let (ended, ()) = in_time(async { tokio::join!(relay.receive(&desk), goes) }).await;
    assert_eq!(name(&ended), "lost");
    let ended = in_time(relay.receive(&desk)).await;
    assert_eq!(name(&ended), "lost", "nobody listens on {address}");

    let terms = Terms::offering(Offer::Plain);
    let server = relay::start(address, terms).await.unwrap();
    server.vendor().write(&Written::direct("ada", "hello"));
    let back = World { server, relay };
    back.while_connected(&desk, desk.was_handed(1)).await;
    assert_eq!(desk.texts(), ["hello"]);
}

#[tokio::test]
async fn a_lost_answer_loses_no_message() {
    let world = World::offering(Offer::Plain).await;
    world.vendor().write(&Written::direct("ada", "hello"));
    world.order(On::Updates, "drop_after_accept");
    let desk = Desk::open();
    assert_eq!(name(&world.disconnected(&desk).await), "lost");
    assert_eq!(world.vendor().backlog(), 1);
    world.while_connected(&desk, desk.was_handed(1)).await;
    assert_eq!(desk.texts(), ["hello"]);
}

#[tokio::test]
async fn whoever_asks_second_takes_over() {
    let world = World::offering(Offer::Plain).await;
    let second = relay_to(&world.server.url());
    let desk = Desk::open();
    let takes_over = async {
        world.was_asked(On::Updates, 1).await;
        in_time(async {
            tokio::select! {
                biased;
                ended = second.receive(&desk) => panic!("disconnected: {ended:?}"),
                () = world.was_asked(On::Updates, 2) => {}
            }
        })
        .await;
    };
    let (ended, ()) = tokio::join!(world.disconnected(&desk), takes_over);
    assert_eq!(name(&ended), "conflict");
}

#[tokio::test]
async fn a_token_that_is_not_accepted_is_not_told() {
    let world = World::offering(Offer::Plain).await;
    world.order(On::About, &format!("401 {TOKEN}"));
    let ended = world.disconnected(&Desk::open()).await;
    let Disconnected::Unauthorized { detail } = ended else {
        panic!("{ended:?}");
    };
    assert!(
        detail.contains("[token]") && !detail.contains(TOKEN),
        "{detail}"
    );
}
