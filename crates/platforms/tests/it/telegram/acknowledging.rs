//! The platform is told "got it" after intake said so, and not before; what it was not told comes again.

use serde_json::json;
use talaria_domain::event::EventKind;
use talaria_sim::vendor::{On, Written};

use super::world::{ADA, BOT, Desk, USERNAME, Verdict, World};

async fn with_messages<const N: usize>(texts: [&str; N]) -> World {
    let world = World::new().await;
    for text in texts {
        world.write(ADA, "direct", text);
    }
    world
}

#[tokio::test]
async fn an_update_is_acknowledged_only_after_intake_accepted_it() {
    let world = with_messages(["one", "two"]).await;
    let desk = Desk::closed();
    let story = async {
        desk.was_handed(1).await;
        assert_eq!(
            (world.vendor().backlog(), world.asked("getupdates").len()),
            (2, 1)
        );
        desk.let_one();
        // The second is with intake: nothing was asked since, so nothing is acknowledged.
        desk.was_handed(2).await;
        assert_eq!(
            (world.vendor().backlog(), world.asked("getupdates").len()),
            (2, 1)
        );
        desk.let_one();
        world.done().await;
    };
    world.while_connected(&desk, story).await;
    assert_eq!(desk.texts(), ["one", "two"]);
    let polls = world.asked("getupdates");
    assert_eq!(
        polls[0].get("offset"),
        None,
        "nothing is acknowledged by the first question"
    );
    assert_eq!(
        (&polls[0]["timeout"], &polls[1]["offset"]),
        (&json!(25), &json!(3))
    );
    let wanted = polls[0]["allowed_updates"].as_array().unwrap();
    assert!(wanted.contains(&json!("message_reaction")), "{wanted:?}");
}

#[tokio::test]
async fn what_was_written_while_nobody_listened_is_served() {
    let world = with_messages(["one", "two", "three"]).await;
    let desk = Desk::open();
    world.while_connected(&desk, world.done()).await;
    assert_eq!(desk.texts(), ["one", "two", "three"]);
    assert!(world.asked("deletewebhook").is_empty());
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
    world.while_connected(&after, world.done()).await;
    assert_eq!(after.texts(), ["one", "two"]);
    let keys = |desk: &Desk| -> Vec<_> { desk.events().iter().map(|event| event.dedupe).collect() };
    assert_eq!(keys(&desk), keys(&after));
    assert_ne!(keys(&after)[0], keys(&after)[1]);
    assert_ne!(desk.events()[0].id, after.events()[0].id);
}

#[tokio::test]
async fn what_was_not_accepted_comes_again_and_nothing_overtakes_it() {
    let world = with_messages(["one", "two", "three"]).await;
    let desk = Desk::judging([Verdict::Record, Verdict::Fail, Verdict::Fail]);
    world.while_connected(&desk, world.done()).await;
    assert_eq!(desk.texts(), ["one", "two", "two", "two", "three"]);
}

#[tokio::test]
async fn a_strangers_message_is_acknowledged() {
    let world = with_messages(["let me in"]).await;
    let desk = Desk::judging([Verdict::Refuse]);
    world.while_connected(&desk, world.done()).await;
    assert_eq!(desk.texts(), ["let me in"]);
}

#[tokio::test]
async fn more_than_a_page_comes_in_order() {
    let world = World::new().await;
    let texts: Vec<String> = (0..250).map(|number| number.to_string()).collect();
    for text in &texts {
        world.write(ADA, "direct", text);
    }
    let desk = Desk::open();
    world.while_connected(&desk, world.done()).await;
    assert_eq!(desk.texts(), texts);
}

#[tokio::test]
async fn whoever_waits_is_woken_at_once() {
    let world = World::new().await;
    let desk = Desk::open();
    let story = async {
        world.was_asked("getupdates", 1).await;
        world.write(ADA, "direct", "hello");
        desk.was_handed(1).await;
        world.done().await;
    };
    world.while_connected(&desk, story).await;
    assert_eq!(world.asked("getupdates").len(), 2);
}

#[tokio::test]
async fn a_changed_message_is_an_event_of_its_own_and_the_same_when_it_comes_again() {
    let world = with_messages(["one"]).await;
    for text in ["uno", "eins"] {
        let changed = Written {
            edits: Some("1".to_owned()),
            ..Written::to_chat(ADA, "direct", (ADA, text))
        };
        world.vendor().write(&changed);
    }
    let desk = Desk::judging([Verdict::Record, Verdict::Fail]);
    world.while_connected(&desk, world.done()).await;
    let events = desk.events();
    assert_eq!(desk.texts(), ["one", "uno", "uno", "eins"]);
    assert!(matches!(events[1].kind, EventKind::Edited(_)));
    assert_eq!(events[1].dedupe, events[2].dedupe);
    assert_ne!(
        events[2].dedupe, events[3].dedupe,
        "two changes of one second"
    );
    assert_eq!(events[1].message, events[0].message);
}

#[tokio::test]
async fn a_lost_answer_loses_no_message() {
    let world = with_messages(["hello"]).await;
    world.order(On::Updates, "drop_after_accept", 1);
    let desk = Desk::open();
    world.disconnected(&desk).await;
    assert_eq!(world.vendor().backlog(), 1);
    world.while_connected(&desk, world.done()).await;
    assert_eq!(desk.texts(), ["hello"]);
}

#[tokio::test]
async fn the_account_proves_who_it_is_before_anything_else() {
    let world = with_messages(["hello"]).await;
    let desk = Desk::open();
    world.while_connected(&desk, world.done()).await;
    let identity = &desk.identities()[0];
    assert_eq!(identity.id.as_str(), BOT);
    assert_eq!(identity.name, format!("@{USERNAME}"));
    let first = &world.vendor().requests()[0];
    assert_eq!((first.on, first.path.as_str()), (On::About, "/getme"));
    let commands = &world.asked("setmycommands")[0]["commands"];
    let stop = json!({ "command": "stop", "description": "stop what I am doing" });
    assert!(commands.as_array().unwrap().contains(&stop), "{commands}");
}

#[tokio::test]
async fn an_empty_answer_is_a_sign_of_life() {
    let world = World::new().await;
    let desk = Desk::open();
    let story = async {
        world.was_asked("getupdates", 1).await;
        // Nothing moves any more: the clock may jump over the platform's patience.
        tokio::time::pause();
        desk.heard_life(1).await;
        tokio::time::resume();
    };
    world.while_connected(&desk, story).await;
}
