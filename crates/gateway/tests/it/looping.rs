//! Programs that answer each other. Where they are heard at all, they come to an end by themselves, the room is told
//! nothing, and the operator is told once.

use std::time::Duration;

use talaria_domain::address::Address;
use talaria_domain::event::{Author, Content, Mention};
use talaria_gateway::access::loops::{MOST, PAUSE};
use talaria_gateway::access::{AccessPolicy, Bots};
use talaria_sim::people::direct_chat;

use crate::asking::room;
use crate::world::{Setup, World, known};

const SOON: Duration = Duration::from_secs(1);

fn hearing(bots: Bots) -> Setup {
    let mut access = AccessPolicy { bots, ..known() };
    access.allow.insert("robot".into());
    Setup {
        access,
        told_at: Some(direct_chat("boss")),
        ..Setup::default()
    }
}

fn robot_says(world: &World, at: Address, text: &str) {
    let content = Content {
        text: text.to_owned(),
        mention: Mention::Direct,
        author: Author::Bot,
        ..Content::default()
    };
    world.writes_at("robot", at, content);
}

/// Carries whatever is new in one world's room over to the other, as a program's.
async fn carry_over(from: &World, to: &World, seen: &mut usize) -> bool {
    let shown = from.sees_in(&room());
    let fresh: Vec<String> = shown.get(*seen..).unwrap_or_default().to_vec();
    *seen = shown.len();
    for text in &fresh {
        robot_says(to, room(), text);
    }
    to.passes(SOON).await;
    !fresh.is_empty()
}

#[tokio::test(start_paused = true)]
async fn two_gateways_that_answer_each_other_stop() {
    let one = World::begin(hearing(Bots::All)).await;
    let two = World::begin(hearing(Bots::All)).await;
    one.says_at("ada", room(), "hello");
    one.passes(SOON).await;
    let (mut of_one, mut of_two, mut rounds) = (0, 0, 0);
    while carry_over(&one, &two, &mut of_one).await | carry_over(&two, &one, &mut of_two).await {
        rounds += 1;
        assert!(rounds < 50, "they never stop");
    }
    let (by_one, by_two) = (one.script.seen().len(), two.script.seen().len());
    assert!(
        by_one <= MOST + 1 && by_two <= MOST,
        "{by_one} and {by_two} turns"
    );
    assert!(by_two >= MOST - 1, "they may talk for a while");
    one.ends().await;
    two.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_loop_is_told_to_the_operator_once_and_to_nobody_else() {
    let world = World::begin(hearing(Bots::Mentions)).await;
    for _ in 0..20 {
        robot_says(&world, room(), "ping");
        world.passes(SOON).await;
    }
    assert_eq!(world.sees_in(&room()).len(), MOST);
    let told = world.sees("boss");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("`room`"), "{told:?}");
    world.says_at("ada", room(), "I am a person");
    world.passes(SOON).await;
    assert_eq!(
        world.sees_in(&room()).len(),
        MOST + 1,
        "people are answered"
    );
    let other = Address {
        chat: "another".into(),
        ..room()
    };
    robot_says(&world, other.clone(), "ping");
    world.passes(SOON).await;
    assert_eq!(world.sees_in(&other).len(), 1, "other chats are apart");
    world.passes(PAUSE).await;
    robot_says(&world, room(), "ping");
    world.passes(SOON).await;
    assert_eq!(world.sees_in(&room()).len(), MOST + 2, "a pause ends");
    assert_eq!(world.sees("boss").len(), 1);
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_person_in_between_lets_programs_go_on() {
    let world = World::begin(hearing(Bots::All)).await;
    for round in 0..3 {
        for _ in 0..MOST - 1 {
            robot_says(&world, room(), "ping");
            world.passes(SOON).await;
        }
        world.says_at("ada", room(), "go on");
        world.passes(SOON).await;
        assert_eq!(world.sees_in(&room()).len(), (round + 1) * MOST);
    }
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_delivered_again_does_not_count() {
    let world = World::begin(hearing(Bots::All)).await;
    robot_says(&world, room(), "ping");
    world.passes(SOON).await;
    for _ in 0..3 * MOST {
        world.vendor.deliver_again(0);
        world.passes(SOON).await;
    }
    robot_says(&world, room(), "ping");
    world.passes(SOON).await;
    assert_eq!(world.sees_in(&room()).len(), 2);
    assert_eq!(world.sees("boss"), Vec::<String>::new());
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn programs_are_not_heard_unless_the_operator_said_so() {
    let world = World::begin(hearing(Bots::Ignore)).await;
    robot_says(&world, room(), "ping");
    robot_says(&world, direct_chat("robot"), "ping");
    world.ends().await;
    assert_eq!(world.recorded().await, []);
    assert_eq!(world.gateway.doors().turned_away().ignored, 2);
}
