//! An agent writes to a named place, or is told why not. Never anywhere else.

use std::time::Duration;

use talaria_domain::address::{Address, ChatKind};
use talaria_sim::people::direct_chat;

use crate::world::{Setup, World};

#[tokio::test(start_paused = true)]
async fn a_text_goes_to_the_place_that_was_named() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "send example:room:one good morning");
    world.ends().await;
    let there = Address {
        chat_kind: ChatKind::Group,
        chat: "room".into(),
        thread: Some("one".into()),
        ..direct_chat("room")
    };
    assert_eq!(world.sees_in(&there), ["good morning"]);
    let seen = world.sees("ada");
    assert!(seen[0].starts_with("recorded as reply "), "{seen:?}");
    assert_eq!(world.vendor.all().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_place_or_another_profiles_is_refused_in_words() {
    let table = [
        (
            "send nowhere:room hello",
            "the profile \"assistant\" has no account on \"nowhere\"",
        ),
        (
            "send elsewhere:room hello",
            "the profile \"assistant\" has no account on \"elsewhere\"",
        ),
        ("send example hello", "say which chat: example:CHAT"),
        ("send example: hello", "expected a target"),
        ("send example:room  ", "expected some text"),
    ];
    for (said, why) in table {
        let world = World::begin(Setup {
            has_neighbour: true,
            ..Setup::default()
        })
        .await;
        world.says("ada", said);
        world.passes(Duration::from_secs(1)).await;
        let seen = world.sees("ada");
        assert!(seen[0].starts_with("refused: "), "{said}: {seen:?}");
        assert!(seen[0].contains(why), "{said}: {seen:?}");
        world.ends().await;
        assert_eq!(world.vendor.all().len(), 1, "{said}: nothing went anywhere");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_task_sends_is_seen_and_nothing_else_of_it() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "give send example:room from below");
    world.ends().await;
    let there = Address {
        chat: "room".into(),
        ..direct_chat("room")
    };
    assert_eq!(world.sees_in(&there), ["from below"]);
    let seen = world.sees("ada");
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(seen[0].starts_with("I was told: The task"), "{seen:?}");
}
