//! Discord is told nothing; where we stand is. It moves past an event only after intake has accepted it.

use std::time::Duration;

use serde_json::Value;
use talaria_sim::discord::On;

use super::world::{Desk, Verdict, World, adapter};

/// The number of the last event in a place that was kept.
fn seq(place: &str) -> u64 {
    let place: Value = serde_json::from_str(place).unwrap();
    place["sessions"]["0"]["seq"].as_u64().unwrap()
}

/// Whether a place knows of a message.
fn knows(place: &str, message: &str) -> bool {
    let place: Value = serde_json::from_str(place).unwrap();
    let last = place["last"].as_object().unwrap();
    let message: u64 = message.parse().unwrap();
    last.values().any(|id| *id == message)
}

#[tokio::test]
async fn the_place_moves_only_after_intake_accepted() {
    let world = World::start().await;
    let desk = Desk::closed();
    let story = async {
        desk.was_kept(1).await;
        let before = seq(&desk.place().unwrap());
        let one = world.say("one");
        desk.was_handed(1).await;
        assert!(!knows(&desk.place().unwrap(), &one));
        desk.let_one();
        desk.kept_one_that(|place| knows(place, &one)).await;
        // The second is with intake: the place is after the first and before the second.
        let two = world.say("two");
        desk.was_handed(2).await;
        assert!(!knows(&desk.place().unwrap(), &two));
        desk.let_one();
        desk.kept_one_that(|place| knows(place, &two)).await;
        assert!(seq(&desk.place().unwrap()) >= before + 2);
    };
    world.while_connected(&desk, story).await;
    assert_eq!(desk.texts(), ["one", "two"]);
}

#[tokio::test]
async fn what_a_crash_left_unaccepted_comes_again_as_the_same_event() {
    let world = World::start().await;
    let desk = Desk::closed();
    let crash = async {
        desk.was_kept(1).await;
        world.say("one");
        world.say("two");
        desk.was_handed(1).await;
        desk.let_one();
        desk.was_handed(2).await;
    };
    world.while_connected(&desk, crash).await;

    // Another process: nothing is left but what was kept, which is older than what was accepted.
    let world = World {
        discord: adapter(&world.server.url()),
        ..world
    };
    let after = Desk::after(&desk);
    world.while_connected(&after, after.was_handed(2)).await;
    assert_eq!(after.texts(), ["one", "two"]);
    let keys = |desk: &Desk| -> Vec<_> { desk.events().iter().map(|it| it.dedupe).collect() };
    assert_eq!(keys(&desk), keys(&after));
    assert_eq!(
        world.asked(On::Connect),
        ["GATEWAY identify", "GATEWAY resume"]
    );
}

#[tokio::test]
async fn what_was_not_accepted_comes_again_and_nothing_overtakes_it() {
    let world = World::start().await;
    let desk = Desk::judging([Verdict::Record, Verdict::Fail, Verdict::Fail]);
    let story = async {
        desk.was_kept(1).await;
        for text in ["one", "two", "three"] {
            world.say(text);
        }
        desk.was_handed(5).await;
    };
    world.while_connected(&desk, story).await;
    assert_eq!(desk.texts(), ["one", "two", "two", "two", "three"]);
}

#[tokio::test]
async fn a_strangers_message_is_passed() {
    let world = World::start().await;
    let desk = Desk::judging([Verdict::Refuse]);
    let story = async {
        desk.was_kept(1).await;
        let id = world.say("let me in");
        desk.kept_one_that(|place| knows(place, &id)).await;
    };
    world.while_connected(&desk, story).await;
    assert_eq!(desk.texts(), ["let me in"]);
}

#[tokio::test]
async fn the_heart_beats_while_intake_takes_its_time() {
    let world = World::beating(Duration::from_millis(60)).await;
    let desk = Desk::closed();
    let story = async {
        desk.was_kept(1).await;
        let before = seq(&desk.place().unwrap());
        // More than is read ahead: Discord has to wait as well.
        for number in 0..600 {
            world.say(&number.to_string());
        }
        desk.was_handed(1).await;
        let beats = world.asked(On::Updates).len();
        world.was_asked(On::Updates, beats + 5).await;
        // A heartbeat says what was accepted, and not what was heard.
        let requests = world.vendor().requests();
        let mut said = requests.iter().rev();
        let last = said.find(|it| it.path == "heartbeat").unwrap();
        let last = last.body.as_u64();
        // The guild and the channel come before the first message.
        assert!(last.is_some_and(|seq| seq < before + 5), "{last:?}");
        for _ in 0..600 {
            desk.let_one();
        }
        desk.was_handed(600).await;
    };
    world.while_connected(&desk, story).await;
    let texts: Vec<String> = (0..600).map(|number| number.to_string()).collect();
    assert_eq!(desk.texts(), texts);
    assert_eq!(world.asked(On::Connect), ["GATEWAY identify"]);
}

#[tokio::test]
async fn whoever_is_asked_for_a_heartbeat_gives_one() {
    let world = World::start().await;
    let desk = Desk::open();
    let story = async {
        desk.was_kept(1).await;
        world.order(On::Socket, "400 beat_now");
        world.was_asked(On::Updates, 1).await;
        desk.was_alive(1).await;
    };
    world.while_connected(&desk, story).await;
}
