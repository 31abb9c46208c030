//! A chat that another profile answers. Its conversation is that profile's, and everything still goes back through the
//! account that heard it.

use std::time::Duration;

use talaria_domain::address::Address;
use talaria_domain::ids::SessionId;
use talaria_gateway::lifecycle::Said;
use talaria_gateway::routing::Route;
use talaria_sim::people::{direct_chat, person};
use talaria_store::{keys, outbox};

use crate::asking::room;
use crate::world::{Setup, World};

const SOON: Duration = Duration::from_secs(1);

fn to(profile: &str, thread: Option<&str>, user: Option<&str>) -> Route {
    Route {
        platform: "example".into(),
        account: None,
        chat: Some("room".into()),
        thread: thread.map(Into::into),
        user: user.map(Into::into),
        profile: profile.into(),
    }
}

fn routed() -> Setup {
    Setup {
        others: vec!["researcher", "poet"],
        routes: vec![to("researcher", None, None), to("poet", Some("42"), None)],
        ..Setup::default()
    }
}

fn topic(thread: &str) -> Address {
    Address {
        thread: Some(thread.into()),
        ..room()
    }
}

async fn profile_of(world: &World, session: SessionId) -> String {
    let origin = world.read(move |tx| keys::origin_of(tx, session)).await;
    origin.profile.to_string()
}

#[tokio::test(start_paused = true)]
async fn a_route_moves_a_chat_with_its_conversation_and_its_answers() {
    let table = [
        (direct_chat("ada"), "assistant", "Be brief."),
        (room(), "researcher", "You are the researcher."),
        (topic("7"), "researcher", "You are the researcher."),
        (topic("42"), "poet", "You are the poet."),
    ];
    for (at, profile, instructions) in table {
        let world = World::begin(routed()).await;
        world.says_at("ada", at.clone(), "hello");
        world.passes(SOON).await;
        world.says_at("ada", at.clone(), "/whoami");
        world.ends().await;
        let seen = world.sees_in(&at);
        assert_eq!(seen.len(), 2, "{profile}: {seen:?}");
        assert!(
            seen[1].contains(&format!("profile {profile:?}")),
            "{seen:?}"
        );
        assert_eq!(world.script.seen()[0].instructions, instructions);
        for row in world.recorded().await {
            assert_eq!(profile_of(&world, row.session).await, profile);
            let id = talaria_domain::ids::ReplyId::from_bytes(*row.event.id.as_bytes());
            let reply = world.read(move |tx| outbox::get(tx, id)).await;
            assert_eq!(reply.return_to.profile.as_str(), profile);
            assert_eq!(reply.return_to.address.account.as_str(), "bot");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn two_profiles_in_one_place_know_nothing_of_each_other() {
    let mut setup = routed();
    setup.sharing.group_per_user = false;
    setup.routes.push(to("poet", None, Some("bob")));
    let world = World::begin(setup).await;
    world.says_at("ada", room(), "my number is 4711");
    world.passes(SOON).await;
    world.says_at("bob", room(), "hello");
    world.ends().await;
    let seen = world.script.seen();
    assert_eq!(seen[0].instructions, "You are the researcher.");
    assert_eq!(seen[1].instructions, "You are the poet.");
    assert_eq!(seen[1].history, [], "the poet was not there");
}

#[tokio::test(start_paused = true)]
async fn what_ends_later_is_told_by_the_profile_that_began_it() {
    let world = World::begin(routed()).await;
    world.says_at("ada", room(), "job 5 digging");
    world.ends().await;
    let seen = world.script.seen();
    assert_eq!(seen.len(), 2, "the turn, and the wake of what ended");
    for turn in seen {
        assert_eq!(turn.instructions, "You are the researcher.");
    }
    assert_eq!(world.sees_in(&room()).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_an_operator_says_in_a_chat_is_in_the_conversation_that_answers_there() {
    let world = World::begin(routed()).await;
    let (at, ada) = (room(), person("ada"));
    let said = world.gateway.say(&at, &ada, "the build is green");
    let Said::Recorded(reply) = said.await.unwrap() else {
        panic!("there is an account");
    };
    let reply = world.read(move |tx| outbox::get(tx, reply)).await;
    assert_eq!(reply.return_to.profile.as_str(), "researcher");
    world.says_at("ada", room(), "hello");
    world.ends().await;
    let recorded = world.recorded().await;
    assert_eq!(recorded[0].session, reply.return_to.session);
}

#[tokio::test(start_paused = true)]
async fn the_gateway_says_which_route_it_takes() {
    let world = World::begin(routed()).await;
    let (ada, at) = (person("ada"), topic("42"));
    let supposed = talaria_gateway::access::doors::Supposed {
        principal: &ada,
        address: &at,
        command: None,
    };
    let why = world.gateway.doors().why(supposed).unwrap();
    assert_eq!(why.profile.as_str(), "poet");
    assert_eq!(why.route, Some(to("poet", Some("42"), None)));
    world.ends().await;
}
