//! Who is heard, where, and what they may do. Whoever may not is told nothing, and nothing of theirs is kept.

use std::time::Duration;

use talaria_domain::address::{Address, ChatKind};
use talaria_domain::event::{Content, Event, EventKind, Mention, ReactionChange};
use talaria_domain::machine::QuestionState;
use talaria_domain::principal::Role;
use talaria_domain::question::{Choice, TokenHash};
use talaria_gateway::access::doors::TurnedAway;
use talaria_gateway::access::{AccessPolicy, Groups, Mentions, Threads};
use talaria_sim::people::direct_chat;
use talaria_store::questions;

use crate::asking::room;
use crate::world::{Setup, World, known};

const SOON: Duration = Duration::from_secs(1);

/// The three that are known, where something has to be said to us.
fn strict() -> Setup {
    Setup {
        access: AccessPolicy {
            groups: Groups::default(),
            ..known()
        },
        ..Setup::default()
    }
}

fn topic(thread: &str) -> Address {
    Address {
        chat_kind: ChatKind::Forum,
        thread: Some(thread.into()),
        ..room()
    }
}

fn said(world: &World, who: &str, at: &Address, (text, mention): (&str, Mention)) -> Event {
    let content = Content {
        text: text.to_owned(),
        mention,
        ..Content::default()
    };
    world.writes_at(who, at.clone(), content)
}

async fn nothing_is_kept_or_told(world: &World, refused: u64) {
    world.ends().await;
    assert_eq!(world.recorded().await, []);
    assert_eq!(world.vendor.all(), []);
    let away = TurnedAway {
        ignored: 0,
        refused,
    };
    assert_eq!(world.gateway.doors().turned_away(), away);
}

#[tokio::test(start_paused = true)]
async fn where_nothing_is_configured_nobody_is_served() {
    let world = World::begin(Setup {
        access: AccessPolicy::default(),
        ..Setup::default()
    })
    .await;
    world.says("ada", "hello");
    world.says("ada", "/help");
    said(&world, "ada", &room(), ("hello", Mention::Direct));
    let pressed = EventKind::Pressed {
        token: TokenHash::of("x"),
        choice: Choice::Approve,
    };
    world.does("ada", room(), pressed);
    let marked = EventKind::Reaction {
        reaction: "+1".to_owned(),
        change: ReactionChange::Added,
    };
    world.does("ada", room(), marked);
    let command = EventKind::Command {
        name: "status".to_owned(),
        arguments: String::new(),
    };
    world.does("ada", room(), command);
    nothing_is_kept_or_told(&world, 6).await;
}

#[tokio::test(start_paused = true)]
async fn something_has_to_be_said_to_us_where_several_are() {
    let direct = direct_chat("ada");
    let thread = Address {
        chat_kind: ChatKind::Thread,
        ..room()
    };
    let channel = Address {
        chat_kind: ChatKind::Channel,
        ..room()
    };
    let table = [
        (&direct, "hello", Mention::Absent, true),
        (&room(), "hello", Mention::Absent, false),
        (&room(), "hello", Mention::Direct, true),
        (&room(), "hello", Mention::Reply, true),
        (&room(), "@other hello", Mention::Absent, false),
        (&room(), "/status", Mention::Absent, false),
        (&room(), "/status@other", Mention::Absent, false),
        (&room(), "/status", Mention::Direct, true),
        (&channel, "hello", Mention::Absent, false),
        (&channel, "hello", Mention::Direct, true),
        (&thread, "hello", Mention::Absent, false),
        (&thread, "hello", Mention::Reply, true),
        (&topic("42"), "hello", Mention::Absent, false),
        (&topic("42"), "hello", Mention::Direct, true),
    ];
    for (at, text, mention, is_heard) in table {
        let world = World::begin(strict()).await;
        said(&world, "ada", at, (text, mention));
        world.ends().await;
        let heard = usize::from(is_heard);
        let what = format!("{:?} {text:?} {mention:?}", at.chat_kind);
        assert_eq!(world.sees_in(at).len(), heard, "{what}");
        assert_eq!(world.recorded().await.len(), heard, "{what}");
        let ignored = world.gateway.doors().turned_away().ignored;
        assert_eq!(ignored, u64::from(!is_heard), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_thread_that_we_have_answered_in_is_followed() {
    let world = World::begin(strict()).await;
    let (here, there) = (topic("42"), topic("7"));
    said(&world, "ada", &here, ("nobody", Mention::Absent));
    world.passes(SOON).await;
    said(&world, "ada", &here, ("one", Mention::Direct));
    world.passes(SOON).await;
    said(&world, "bob", &here, ("two", Mention::Absent));
    said(&world, "eve", &here, ("a stranger", Mention::Absent));
    said(&world, "bob", &there, ("elsewhere", Mention::Absent));
    said(&world, "bob", &room(), ("outside", Mention::Absent));
    world.passes(SOON).await;
    said(&world, "bob", &here, ("/new", Mention::Absent));
    world.passes(SOON).await;
    said(&world, "ada", &here, ("three", Mention::Absent));
    world.ends().await;
    let seen = world.sees_in(&here);
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert!(
        seen[0].ends_with("one") && seen[1].ends_with("two"),
        "{seen:?}"
    );
    assert!(seen[3].ends_with("three"), "{seen:?}");
    assert_eq!(world.vendor.all().len(), 4, "nobody is answered elsewhere");
    assert_eq!(world.recorded().await.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_thread_is_not_followed_where_the_operator_said_so() {
    let mut setup = strict();
    setup.access.groups.threads = Threads::Mention;
    let world = World::begin(setup).await;
    said(&world, "ada", &topic("42"), ("one", Mention::Direct));
    world.passes(SOON).await;
    said(&world, "ada", &topic("42"), ("two", Mention::Absent));
    world.ends().await;
    assert_eq!(world.sees_in(&topic("42")).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_ledger_is_asked_for_nothing_but_whether_a_thread_is_followed() {
    let world = World::begin(strict()).await;
    world.passes(SOON).await;
    let before = world.calls.count();
    said(&world, "ada", &room(), ("chatter", Mention::Absent));
    said(&world, "eve", &room(), ("hello", Mention::Direct));
    world.passes(SOON).await;
    assert_eq!(world.calls.count(), before);
    said(&world, "ada", &topic("42"), ("chatter", Mention::Absent));
    world.passes(SOON).await;
    assert_eq!(world.calls.count(), before + 1);
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_button_that_a_stranger_presses_is_nothing() {
    let world = World::begin(Setup::default()).await;
    world.vendor.show_buttons();
    world.says_at("ada", room(), "may 600");
    world.passes(SOON).await;
    let prompt = world.vendor.all()[0].prompt.clone().unwrap();
    let token = prompt.token.hash();
    let pressed = EventKind::Pressed {
        token,
        choice: Choice::Approve,
    };
    world.does("eve", room(), pressed.clone());
    world.passes(SOON).await;
    let target = room().target();
    let open = world.read(move |tx| questions::open_at(tx, target)).await;
    assert_eq!(open.len(), 1, "it is not answered");
    assert_eq!(open[0].state, QuestionState::Open);
    assert_eq!(world.recorded().await.len(), 1, "it is not kept");
    assert_eq!(world.vendor.all().len(), 1, "they are not told");
    assert_eq!(world.gateway.doors().turned_away().refused, 1);
    world.does("ada", room(), pressed);
    world.ends().await;
    assert_eq!(world.script.effects().len(), 1);
}

fn ranked() -> Setup {
    Setup {
        access: AccessPolicy {
            roles: [
                ("olga", Role::Owner),
                ("adam", Role::Admin),
                ("mia", Role::Member),
                ("gus", Role::Guest),
            ]
            .map(|(who, role)| (who.into(), role))
            .into(),
            groups: Groups {
                mention: Mentions::Optional,
                ..Groups::default()
            },
            ..AccessPolicy::default()
        },
        ..Setup::default()
    }
}

#[tokio::test(start_paused = true)]
async fn commands_are_for_those_whose_role_may_use_them() {
    let refused = "You may not use";
    let table = [
        ("olga", "/jobs", "There are no jobs"),
        ("adam", "/jobs", "There are no jobs"),
        ("mia", "/jobs", "There are no jobs"),
        ("gus", "/jobs", "You may not use /jobs. You may use /help"),
        ("gus", "/background dig", refused),
        ("gus", "/sessions", refused),
        ("gus", "/approve", refused),
        ("gus", "/queue hello", refused),
        ("gus", "/steer hello", refused),
        ("gus", "/status", "I am idle"),
        ("gus", "/whoami", "a guest"),
        ("gus", "/new", "This is a new conversation"),
        ("gus", "/stop", "There is nothing to stop"),
        ("gus", "/nonsense", "I do not know /nonsense"),
        ("gus", "hello", "re: hello"),
        ("olga", "/whoami", "the owner"),
        ("adam", "/whoami", "an admin"),
        ("mia", "/queue hello", "re: hello"),
    ];
    for (who, text, expected) in table {
        let world = World::begin(ranked()).await;
        world.says(who, text);
        world.ends().await;
        let seen = world.sees(who);
        assert_eq!(seen.len(), 1, "{who} {text}: {seen:?}");
        assert!(seen[0].contains(expected), "{who} {text}: {seen:?}");
        let is_turn = expected.starts_with("re: ");
        assert_eq!(
            world.script.seen().len(),
            usize::from(is_turn),
            "{who} {text}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn help_tells_what_one_may_use() {
    let world = World::begin(ranked()).await;
    world.says("gus", "/help");
    world.says("mia", "/help");
    world.ends().await;
    let (guest, member) = (&world.sees("gus")[0], &world.sees("mia")[0]);
    assert!(
        guest.contains("`/stop`") && !guest.contains("/jobs"),
        "{guest}"
    );
    assert!(member.contains("/jobs"), "{member}");
}

#[tokio::test(start_paused = true)]
async fn a_stranger_is_not_told_what_commands_there_are() {
    let world = World::begin(ranked()).await;
    world.says("eve", "/help");
    world.says("eve", "/jobs");
    nothing_is_kept_or_told(&world, 2).await;
}

#[tokio::test(start_paused = true)]
async fn a_guest_stops_what_is_theirs_and_nothing_else() {
    let mut setup = ranked();
    setup.sharing.group_per_user = false;
    let world = World::begin(setup).await;
    world.says_at("mia", room(), "think 60");
    world.passes(SOON).await;
    for command in ["/stop", "/new"] {
        world.says_at("gus", room(), command);
        world.passes(SOON).await;
        let seen = world.sees_in(&room());
        let told = seen.last().unwrap();
        assert!(
            told.contains("working for somebody else"),
            "{command}: {seen:?}"
        );
    }
    world.passes(Duration::from_secs(70)).await;
    let seen = world.sees_in(&room());
    assert!(seen.iter().any(|text| text.starts_with("re: ")), "{seen:?}");
    for who in ["gus", "adam"] {
        world.says_at("gus", room(), "think 60");
        world.passes(SOON).await;
        world.says_at(who, room(), "/stop");
        world.passes(SOON).await;
        let seen = world.sees_in(&room());
        assert_eq!(seen.last().unwrap(), "Stopped.", "{who}: {seen:?}");
    }
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_guest_does_not_allow_what_is_done_for_them_and_an_admin_does() {
    let world = World::begin(ranked()).await;
    world.vendor.show_buttons();
    world.says_at("gus", room(), "may 600");
    world.passes(SOON).await;
    let token = world.vendor.all()[0].prompt.clone().unwrap().token.hash();
    let pressed = EventKind::Pressed {
        token,
        choice: Choice::Approve,
    };
    world.does("gus", room(), pressed);
    world.passes(SOON).await;
    let seen = world.sees_in(&room());
    assert!(seen[1].contains("You are a guest here"), "{seen:?}");
    world.says_at("mia", room(), "/approve");
    world.passes(SOON).await;
    assert_eq!(
        world.script.effects().len(),
        0,
        "a member answers for themselves"
    );
    world.says_at("adam", room(), "/approve");
    world.ends().await;
    assert_eq!(world.script.effects().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn everybody_may_talk_in_an_open_chat_and_nowhere_else() {
    let mut setup = strict();
    setup.access.groups.allow_chats = ["room".into()].into();
    let world = World::begin(setup).await;
    said(&world, "eve", &room(), ("hello", Mention::Direct));
    said(&world, "eve", &room(), ("unasked", Mention::Absent));
    world.passes(SOON).await;
    said(&world, "eve", &room(), ("/whoami", Mention::Direct));
    world.says("eve", "hello");
    let other = Address {
        chat: "another".into(),
        ..room()
    };
    said(&world, "eve", &other, ("hello", Mention::Direct));
    world.ends().await;
    let seen = world.sees_in(&room());
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(seen[1].contains("a guest"), "{seen:?}");
    assert_eq!(world.vendor.all().len(), 2);
}
