//! A stranger asks to be let in, and what becomes of it: once, whatever is delivered again, whoever crashes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use talaria_domain::event::{Author, Content, Mention};
use talaria_domain::machine::InboxState;
use talaria_domain::principal::{Principal, Role};
use talaria_gateway::access::decide::Source;
use talaria_gateway::access::doors::{Settled, Supposed, Whom};
use talaria_gateway::access::pairing::{GOOD_FOR, LOCKED_FOR, MOST_WRONG, SILENCE};
use talaria_gateway::access::{AccessPolicy, Decision, Strangers};
use talaria_sim::chat::{Mood, Moods};
use talaria_sim::people::{direct_chat, person};
use talaria_store::outbox;

use crate::asking::room;
use crate::world::{Setup, World, known};

const SOON: Duration = Duration::from_secs(1);

fn pairing() -> Setup {
    Setup {
        access: AccessPolicy {
            strangers: Strangers::Pair,
            ..known()
        },
        ..Setup::default()
    }
}

/// The code in what somebody was told last.
fn code(world: &World, who: &str) -> String {
    let seen = world.sees(who);
    let told = seen.last().unwrap();
    let code = told.rsplit('`').nth(1).unwrap_or_default();
    assert_eq!(code.len(), 8, "{told:?}");
    code.to_owned()
}

fn by_id(who: &str) -> Whom {
    Whom::User(Box::new(person(who)))
}

async fn approve(world: &World, whom: Whom) -> Settled<Principal> {
    let doors = world.gateway.doors();
    match doors.approve(whom, Role::Member, "boss").await.unwrap() {
        Settled::Done(grant) => {
            assert_eq!(
                (grant.role, grant.approved_by.as_str()),
                (Role::Member, "boss")
            );
            Settled::Done(grant.principal)
        }
        Settled::NoRequest => Settled::NoRequest,
        Settled::NoAccount => Settled::NoAccount,
        Settled::Locked { until } => Settled::Locked { until },
    }
}

/// Somebody asks, and has their code.
async fn asked(world: &World, who: &str) -> String {
    world.says(who, "let me in, my number is 4711");
    world.passes(SOON).await;
    code(world, who)
}

fn decision(world: &World, who: &str) -> Decision {
    let (who, at) = (person(who), direct_chat(who));
    let supposed = Supposed {
        principal: &who,
        address: &at,
        command: None,
    };
    world.gateway.doors().why(supposed).unwrap().decision
}

#[tokio::test(start_paused = true)]
async fn somebody_asks_is_let_in_and_is_shut_out_again() {
    let mut world = World::begin(pairing()).await;
    assert_eq!(decision(&world, "dora"), Decision::Pair);
    let code = asked(&world, "dora").await;
    let listing = world.gateway.doors().list().await.unwrap();
    assert_eq!(listing.granted, []);
    assert_eq!(listing.waiting[0].principal.user.as_str(), "dora");
    assert!(!format!("{listing:?}").contains(&code));
    let written = format!(" {} ", code.to_lowercase());
    let Settled::Done(dora) = approve(&world, Whom::Code(written)).await else {
        panic!("the code is right");
    };
    assert_eq!(dora.user.as_str(), "dora");
    world.says("dora", "hello");
    world.passes(SOON).await;
    world.crash().await;
    world.says("dora", "still here");
    world.passes(SOON).await;
    let seen = world.sees("dora");
    assert_eq!(
        seen[1..],
        ["You may talk to me now.", "re: hello", "re: still here"]
    );
    let (role, because) = (Role::Member, Source::Grant);
    assert_eq!(
        decision(&world, "dora"),
        Decision::Allowed { role, because }
    );
    assert!(world.gateway.doors().revoke(&person("dora")).await.unwrap());
    assert!(!world.gateway.doors().revoke(&person("dora")).await.unwrap());
    world.says("dora", "and now?");
    world.passes(SOON).await;
    assert_eq!(
        world.sees("dora").len(),
        4,
        "nothing is said within ten minutes"
    );
    world.crash().await;
    assert_eq!(decision(&world, "dora"), Decision::Pair);
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_runs_is_not_stopped_by_a_revocation() {
    let world = World::begin(pairing()).await;
    let code = asked(&world, "dora").await;
    approve(&world, Whom::Code(code)).await;
    world.says("dora", "think 60");
    world.passes(SOON).await;
    assert!(world.gateway.doors().revoke(&person("dora")).await.unwrap());
    world.ends().await;
    assert_eq!(world.sees("dora").last().unwrap(), "re: think 60");
}

#[tokio::test(start_paused = true)]
async fn neither_the_code_nor_what_a_stranger_wrote_is_kept() {
    let world = World::begin(pairing()).await;
    let code = asked(&world, "dora").await;
    let recorded = world.recorded().await;
    assert_eq!(recorded.len(), 1);
    assert_eq!(recorded[0].state, InboxState::Discarded);
    assert!(!format!("{recorded:?}").contains("4711"));
    let session = recorded[0].session;
    let part = world.vendor.all()[0].part;
    let kept = world
        .read(move |tx| {
            let reply = outbox::get_part(tx, part)?.part.reply;
            let (reply, parts) = (outbox::get(tx, reply)?, outbox::parts(tx, reply)?);
            Ok(format!("{reply:?} {parts:?}"))
        })
        .await;
    assert!(kept.contains("I do not know you"), "{kept}");
    assert!(!kept.contains(&code), "{session}: {kept}");
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_delivered_again_asks_for_nothing_again() {
    let mut world = World::begin(pairing()).await;
    let code = asked(&world, "dora").await;
    world.vendor.deliver_again(0);
    world.passes(SOON).await;
    world.crash().await;
    world.vendor.deliver_again(0);
    world.passes(SILENCE).await;
    world.vendor.deliver_again(0);
    world.passes(SOON).await;
    assert_eq!(world.sees("dora").len(), 1);
    assert_eq!(world.recorded().await.len(), 1);
    assert!(matches!(
        approve(&world, Whom::Code(code)).await,
        Settled::Done(_)
    ));
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn nobody_is_answered_twice_within_ten_minutes() {
    let world = World::begin(pairing()).await;
    let first = asked(&world, "dora").await;
    for _ in 0..5 {
        world.says("dora", "hello? hello?");
        world.passes(SOON).await;
    }
    assert_eq!(world.sees("dora").len(), 1);
    world.passes(SILENCE).await;
    let second = asked(&world, "dora").await;
    assert_ne!(first, second);
    assert_eq!(approve(&world, Whom::Code(first)).await, Settled::NoRequest);
    assert!(matches!(
        approve(&world, Whom::Code(second)).await,
        Settled::Done(_)
    ));
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_code_is_good_for_an_hour_also_after_a_restart() {
    let mut world = World::begin(pairing()).await;
    let dora = asked(&world, "dora").await;
    let emil = asked(&world, "emil").await;
    world
        .crash_for(GOOD_FOR.saturating_sub(Duration::from_mins(5)))
        .await;
    assert!(matches!(
        approve(&world, Whom::Code(dora)).await,
        Settled::Done(_)
    ));
    world.passes(Duration::from_mins(5)).await;
    assert_eq!(world.gateway.doors().list().await.unwrap().waiting, []);
    assert_eq!(approve(&world, Whom::Code(emil)).await, Settled::NoRequest);
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn three_wait_at_once_and_the_fourth_is_told_to_come_back() {
    let world = World::begin(pairing()).await;
    for who in ["dora", "emil", "fred"] {
        asked(&world, who).await;
    }
    for _ in 0..2 {
        world.says("gina", "hello");
        world.passes(SOON).await;
    }
    let seen = world.sees("gina");
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(
        seen[0].contains("Try again later") && !seen[0].contains('`'),
        "{seen:?}"
    );
    let denied = world.gateway.doors().deny(by_id("emil")).await.unwrap();
    assert!(matches!(denied, Settled::Done(_)));
    world.passes(SILENCE).await;
    asked(&world, "gina").await;
    assert_eq!(world.sees("emil").len(), 1, "who is sent away is not told");
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn whoever_guesses_is_locked_out_also_after_a_restart() {
    let mut world = World::begin(pairing()).await;
    let dora = asked(&world, "dora").await;
    for _ in 0..MOST_WRONG {
        let wrong = Whom::Code("WRONG234".to_owned());
        assert_eq!(approve(&world, wrong).await, Settled::NoRequest);
    }
    world.crash().await;
    let until = world.gateway.doors().list().await.unwrap().locked_until;
    let right = approve(&world, Whom::Code(dora)).await;
    assert_eq!(
        right,
        Settled::Locked {
            until: until.unwrap()
        }
    );
    world.says("emil", "hello");
    world.passes(SOON).await;
    assert!(world.sees("emil")[0].contains("Try again later"));
    assert!(matches!(
        approve(&world, by_id("dora")).await,
        Settled::Done(_)
    ));
    world.passes(LOCKED_FOR).await;
    let emil = asked(&world, "emil").await;
    assert!(matches!(
        approve(&world, Whom::Code(emil)).await,
        Settled::Done(_)
    ));
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn somebody_is_let_in_by_id_without_having_asked() {
    let world = World::begin(pairing()).await;
    assert!(matches!(
        approve(&world, by_id("dora")).await,
        Settled::Done(_)
    ));
    world.says("dora", "hello");
    let elsewhere = Principal {
        account: "nowhere".into(),
        ..person("dora")
    };
    let nowhere = approve(&world, Whom::User(Box::new(elsewhere))).await;
    assert_eq!(nowhere, Settled::NoAccount);
    world.ends().await;
    assert_eq!(world.sees("dora"), ["re: hello"]);
}

#[tokio::test(start_paused = true)]
async fn nobody_asks_in_a_room_and_no_program_asks_at_all() {
    let world = World::begin(pairing()).await;
    let said = |author| Content {
        text: "let me in".to_owned(),
        mention: Mention::Direct,
        author,
        ..Content::default()
    };
    world.writes_at("dora", room(), said(Author::Person));
    world.writes_at("robot", direct_chat("robot"), said(Author::Bot));
    world.ends().await;
    assert_eq!(world.vendor.all(), []);
    assert_eq!(world.recorded().await, []);
}

#[tokio::test(start_paused = true)]
async fn strangers_are_ignored_where_the_operator_said_so() {
    let world = World::begin(Setup::default()).await;
    world.says("dora", "hello");
    world.ends().await;
    assert_eq!(world.vendor.all(), []);
    assert_eq!(world.recorded().await, []);
}

/// A platform that takes nothing until it is told to.
#[derive(Default)]
struct Shut(AtomicBool);

impl Moods for Shut {
    fn next(&self) -> Mood {
        if self.0.load(Ordering::SeqCst) {
            Mood::Fine
        } else {
            Mood::Flooded(Duration::from_secs(5))
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_code_that_was_lost_before_it_was_told_does_not_come_back() {
    let shut = Arc::new(Shut::default());
    let mut world = World::begin(Setup {
        moods: Arc::<Shut>::clone(&shut),
        ..pairing()
    })
    .await;
    world.says("dora", "hello");
    world.passes(SOON).await;
    world.crash().await;
    shut.0.store(true, Ordering::SeqCst);
    world.passes(Duration::from_mins(1)).await;
    let seen = world.sees("dora");
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(
        seen[0].contains("I do not know you") && !seen[0].contains('`'),
        "{seen:?}"
    );
    assert!(matches!(
        approve(&world, by_id("dora")).await,
        Settled::Done(_)
    ));
    world.ends().await;
    assert_eq!(
        world.sees("dora").last().unwrap(),
        "You may talk to me now."
    );
}
