//! The bridge is told "got it" after intake said so, and not before.

use talaria_domain::clock::Timestamp;
use talaria_domain::event::{EventKind, Mention};
use talaria_sim::relay::{Offer, On, Written};
use talaria_sim::vendor::World as _;

use super::world::{Desk, NOW, Verdict, World, in_time};

async fn with_messages<const N: usize>(texts: [&str; N]) -> World {
    let world = World::offering(Offer::Plain).await;
    for text in texts {
        world.vendor().write(&Written::direct("ada", text));
    }
    world
}

/// Waits until everything is acknowledged.
async fn done(world: &World) {
    in_time(world.vendor().until(|world| world.backlog() == 0)).await;
}

#[tokio::test]
async fn an_update_is_acknowledged_only_after_intake_accepted_it() {
    let world = with_messages(["one", "two"]).await;
    let desk = Desk::closed();
    let story = async {
        desk.was_handed(1).await;
        assert_eq!((world.vendor().backlog(), world.asked(On::Updates)), (2, 1));
        desk.let_one();
        // The second is with intake: nothing was asked since, so nothing is acknowledged.
        desk.was_handed(2).await;
        assert_eq!((world.vendor().backlog(), world.asked(On::Updates)), (2, 1));
        desk.let_one();
        done(&world).await;
    };
    world.while_connected(&desk, story).await;
    assert_eq!(desk.texts(), ["one", "two"]);
    let requests = world.vendor().requests();
    let polls: Vec<_> = requests
        .iter()
        .filter(|asked| asked.on == On::Updates)
        .collect();
    assert_eq!(polls[0].path, "/v1/updates?wait=25");
    assert_eq!(polls[1].path, "/v1/updates?after=2&wait=25");
}

#[tokio::test]
async fn what_a_crash_left_unacknowledged_comes_again_as_the_same_event() {
    let world = with_messages(["one", "two"]).await;
    let desk = Desk::closed();
    let crash = async {
        desk.was_handed(1).await;
        desk.let_one();
        desk.was_handed(2).await;
    };
    world.while_connected(&desk, crash).await;
    assert_eq!(world.vendor().backlog(), 2);

    let after = Desk::open();
    world.while_connected(&after, done(&world)).await;
    assert_eq!(after.texts(), ["one", "two"]);
    let key = |desk: &Desk| desk.events()[0].dedupe;
    assert_eq!(key(&desk), key(&after));
    assert_ne!(desk.events()[0].id, after.events()[0].id);
}

#[tokio::test]
async fn what_was_not_accepted_comes_again_and_nothing_overtakes_it() {
    let world = with_messages(["one", "two", "three"]).await;
    let desk = Desk::judging([Verdict::Record, Verdict::Fail, Verdict::Fail]);
    world.while_connected(&desk, done(&world)).await;
    assert_eq!(desk.texts(), ["one", "two", "two", "two", "three"]);
}

#[tokio::test]
async fn the_first_that_was_not_accepted_comes_again_as_well() {
    let world = with_messages(["one"]).await;
    let desk = Desk::judging([Verdict::Fail]);
    world.while_connected(&desk, done(&world)).await;
    assert_eq!(desk.texts(), ["one", "one"]);
}

#[tokio::test]
async fn a_strangers_message_is_acknowledged() {
    let world = with_messages(["let me in"]).await;
    let desk = Desk::judging([Verdict::Refuse]);
    world.while_connected(&desk, done(&world)).await;
    assert_eq!(desk.texts(), ["let me in"]);
}

#[tokio::test]
async fn more_than_a_page_comes_in_order() {
    let world = World::offering(Offer::Plain).await;
    let texts: Vec<String> = (0..250).map(|number| number.to_string()).collect();
    for text in &texts {
        world.vendor().write(&Written::direct("ada", text));
    }
    let desk = Desk::open();
    world.while_connected(&desk, done(&world)).await;
    assert_eq!(desk.texts(), texts);
}

#[tokio::test]
async fn whoever_waits_is_woken_at_once() {
    let world = World::offering(Offer::Plain).await;
    let desk = Desk::open();
    let story = async {
        world.was_asked(On::Updates, 1).await;
        world.vendor().write(&Written::direct("ada", "hello"));
        desk.was_handed(1).await;
        done(&world).await;
    };
    world.while_connected(&desk, story).await;
    // The question that waited was answered, and the next one acknowledged it.
    assert_eq!(world.asked(On::Updates), 2);
}

#[tokio::test]
async fn an_event_says_what_the_bridge_said() {
    let world = with_messages(["one"]).await;
    let in_room = Written {
        chat: "room".to_owned(),
        kind: "group".to_owned(),
        thread: Some("topic".to_owned()),
        mentioned: true,
        reply_to: Some("m1".to_owned()),
        ..Written::direct("ben", "two")
    };
    world.vendor().write(&in_room);
    let changed = Written {
        edits: Some("m1".to_owned()),
        ..Written::direct("ada", "uno")
    };
    world.vendor().write(&changed);
    let desk = Desk::open();
    world.while_connected(&desk, done(&world)).await;

    let events = desk.events();
    let EventKind::Message(content) = &events[1].kind else {
        panic!("a message, not {:?}", events[1].kind);
    };
    assert_eq!(content.mention, Mention::Direct);
    let quote = content.quote.as_ref().unwrap();
    assert_eq!(
        (quote.message.as_str(), quote.text.as_deref()),
        ("m1", Some("one"))
    );
    assert_eq!(events[1].address.chat.as_str(), "room");
    assert_eq!(events[1].address.thread.as_ref().unwrap().as_str(), "topic");
    assert_eq!(events[1].principal.user.as_str(), "ben");
    assert_eq!(events[1].received_at, NOW);
    assert!(events[1].sent_at > Some(Timestamp::ZERO));
    assert!(matches!(&events[2].kind, EventKind::Edited(content) if content.text == "uno"));
    assert_eq!(events[2].message, events[0].message);
    assert_ne!(events[2].dedupe, events[0].dedupe);
}
