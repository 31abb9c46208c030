//! Slack is told "got it" after intake said so, and not before; what it was not told comes again.

use talaria_sim::slack::On;

use super::world::{Desk, Verdict, World, direct};

async fn with_messages<const N: usize>(texts: [&str; N]) -> World {
    let world = World::start().await;
    for text in texts {
        world.vendor().write(&direct(text));
    }
    world
}

#[tokio::test]
async fn an_envelope_is_acknowledged_only_after_intake_accepted_it() {
    let world = with_messages(["one", "two"]).await;
    let desk = Desk::closed();
    let story = async {
        desk.was_handed(1).await;
        assert_eq!(world.vendor().backlog(), 2);
        desk.let_one();
        // The second is with intake: the first is answered for, and no more.
        desk.was_handed(2).await;
        world
            .vendor()
            .until(|world| talaria_sim::vendor::World::backlog(world) == 1)
            .await;
        desk.let_one();
        world.all_acknowledged().await;
    };
    world.while_connected(&desk, story).await;
    assert_eq!(desk.texts(), ["one", "two"]);
}

#[tokio::test]
async fn what_a_crash_left_unacknowledged_comes_again_as_the_same_event() {
    let world = with_messages(["one", "two"]).await;
    let desk = Desk::closed();
    let crash = async {
        desk.was_handed(1).await;
    };
    world.while_connected(&desk, crash).await;
    world.has_sockets(0).await;
    assert_eq!(world.vendor().backlog(), 2);

    let after = Desk::open();
    world
        .while_connected(&after, world.all_acknowledged())
        .await;
    assert_eq!(after.texts(), ["one", "two"]);
    assert_eq!(desk.events()[0].dedupe, after.events()[0].dedupe);
    assert_ne!(desk.events()[0].id, after.events()[0].id);
}

#[tokio::test]
async fn what_was_not_accepted_is_tried_again_and_nothing_overtakes_it() {
    let world = with_messages(["one", "two", "three"]).await;
    let desk = Desk::judging([Verdict::Record, Verdict::Fail, Verdict::Fail]);
    world.while_connected(&desk, world.all_acknowledged()).await;
    assert_eq!(desk.texts(), ["one", "two", "two", "two", "three"]);
}

#[tokio::test]
async fn a_strangers_message_is_acknowledged() {
    let world = with_messages(["let me in"]).await;
    let desk = Desk::judging([Verdict::Refuse]);
    world.while_connected(&desk, world.all_acknowledged()).await;
    assert_eq!(desk.texts(), ["let me in"]);
}

#[tokio::test]
async fn a_lost_acknowledgement_makes_a_second_delivery_and_no_second_event() {
    let world = with_messages(["one"]).await;
    world.order(On::Socket, "close");
    let desk = Desk::open();
    world.disconnected(&desk).await;
    world.while_connected(&desk, world.all_acknowledged()).await;
    // It was lost before or after it was handed in; whichever it was, the key is the same.
    let events = desk.events();
    assert!(events.iter().all(|event| event.dedupe == events[0].dedupe));
    assert!(desk.texts().iter().all(|text| text == "one"));
}

#[tokio::test]
async fn many_messages_come_in_order() {
    let world = World::start().await;
    let texts: Vec<String> = (0..250).map(|number| number.to_string()).collect();
    for text in &texts {
        world.vendor().write(&direct(text));
    }
    let desk = Desk::open();
    world.while_connected(&desk, world.all_acknowledged()).await;
    assert_eq!(desk.texts(), texts);
}

#[tokio::test]
async fn a_socket_that_slack_takes_away_is_followed_by_the_next_and_loses_nothing() {
    let world = World::start().await;
    let desk = Desk::open();
    let story = async {
        world.has_sockets(1).await;
        for (text, reason) in [("one", "400 refresh_requested"), ("two", "400 warning")] {
            world.order(On::Socket, reason);
            world.vendor().write(&direct(text));
            world.all_acknowledged().await;
        }
        world.vendor().write(&direct("three"));
        world.all_acknowledged().await;
        world.was_asked(On::Connect, 3).await;
        world.has_sockets(1).await;
    };
    world.while_connected(&desk, story).await;
    assert_eq!(desk.texts(), ["one", "two", "three"]);
    assert_eq!(desk.met().identities.len(), 1);
}

#[tokio::test]
async fn what_waits_when_a_socket_is_taken_away_is_acknowledged_on_it() {
    let world = World::start().await;
    let desk = Desk::closed();
    let story = async {
        world.has_sockets(1).await;
        world.vendor().write(&direct("one"));
        world.order(On::Socket, "400 refresh_requested");
        desk.was_handed(1).await;
        world.vendor().write(&direct("two"));
        world.was_asked(On::Connect, 2).await;
        world.has_sockets(2).await;
        desk.let_one();
        desk.let_one();
        world.all_acknowledged().await;
        world.has_sockets(1).await;
    };
    world.while_connected(&desk, story).await;
    assert_eq!(desk.texts(), ["one", "two"]);
}
