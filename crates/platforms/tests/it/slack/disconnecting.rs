//! Why a connection ended: it may come back by itself, or somebody has to do something.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::routing::any;
use serde_json::json;
use talaria_domain::adapter::{Adapter as _, Disconnected};
use talaria_sim::slack::{self, Bot, On, Terms};
use talaria_sim::vendor::World as _;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::world::{APP_TOKEN, Desk, TOKEN, World, called_at, direct, in_time, slack_at, workshop};

fn name(ended: &Disconnected) -> &'static str {
    match ended {
        Disconnected::Lost { .. } => "lost",
        Disconnected::Unauthorized { .. } => "unauthorized",
        Disconnected::Conflict { .. } => "conflict",
    }
}

fn detail(ended: &Disconnected) -> &str {
    match ended {
        Disconnected::Lost { detail }
        | Disconnected::Unauthorized { detail }
        | Disconnected::Conflict { detail } => detail,
    }
}

#[tokio::test]
async fn every_fault_has_its_name() {
    for (on, mishap, expected) in [
        (On::About, "401", "unauthorized"),
        (On::About, "400 account_inactive", "unauthorized"),
        (On::About, "400 token_revoked", "unauthorized"),
        (On::About, "429", "lost"),
        (On::About, "500", "lost"),
        (On::About, "close", "lost"),
        (On::About, "drop_after_accept", "lost"),
        (On::Connect, "401", "unauthorized"),
        (On::Connect, "400 missing_scope", "unauthorized"),
        (On::Connect, "400 internal_error", "lost"),
        (On::Connect, "429", "lost"),
        (On::Connect, "500", "lost"),
        (On::Connect, "close", "lost"),
        (On::Socket, "close", "lost"),
        (On::Socket, "drop_after_accept", "lost"),
        (On::Socket, "400 link_disabled", "unauthorized"),
        (On::Socket, "409", "conflict"),
    ] {
        let world = World::start().await;
        world.order(on, mishap);
        world.vendor().write(&direct("hello"));
        let ended = world.disconnected(&Desk::open()).await;
        assert_eq!(name(&ended), expected, "{on:?} {mishap}: {ended:?}");
        let detail = detail(&ended);
        assert!(!detail.contains("ticket"), "{detail}");
    }
}

#[tokio::test]
async fn whoever_has_to_do_something_is_told_what() {
    let world = World::start().await;
    world.order(On::About, "400 token_revoked");
    let ended = world.disconnected(&Desk::open()).await;
    assert_eq!(
        detail(&ended),
        "Slack says token_revoked; install the app in the workspace again and take the new token"
    );
}

#[tokio::test]
async fn a_revoked_token_is_noticed_at_the_next_look() {
    let world = World::start().await;
    let desk = Desk::open();
    let story = async {
        world.has_sockets(1).await;
        world.vendor().with(|world| {
            world.revoke(TOKEN);
            world.uninstall(0);
        });
    };
    let (ended, ()) = tokio::join!(world.disconnected(&desk), story);
    assert_eq!(name(&ended), "unauthorized", "{ended:?}");
}

#[tokio::test]
async fn where_slack_calls_us_a_revoked_token_is_noticed_all_the_same() {
    let world = World::start().await;
    let slack = called_at(&world.server.url(), &workshop());
    let desk = Desk::open();
    let story = async {
        desk.has_met(|met| met.identities.len() == 1).await;
        tokio::time::pause();
        desk.has_met(|met| met.signs_of_life == 1).await;
        world.vendor().with(|world| world.revoke(TOKEN));
    };
    let (ended, ()) = tokio::join!(slack.receive(&desk), story);
    tokio::time::resume();
    assert_eq!(name(&ended), "unauthorized", "{ended:?}");
}

#[tokio::test]
async fn a_mute_socket_is_lost_and_what_was_on_it_comes_again() {
    let world = World::start().await;
    world.order(On::Socket, "hang");
    world.vendor().write(&direct("hello"));
    let desk = Desk::open();
    let hangs = async {
        desk.was_handed(1).await;
        // Nothing moves any more: the clock may jump.
        tokio::time::pause();
    };
    let (ended, ()) = tokio::join!(world.disconnected(&desk), hangs);
    tokio::time::resume();
    assert_eq!(detail(&ended), "nothing came for half a minute");
    world.while_connected(&desk, world.all_acknowledged()).await;
    let events = desk.events();
    assert_eq!(events.len(), 2);
    assert_eq!(events[0].dedupe, events[1].dedupe);
}

#[tokio::test]
async fn slack_that_hangs_before_the_socket_is_lost() {
    for on in [On::About, On::Connect] {
        let world = World::start().await;
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
        assert!(
            desk.met().identities.is_empty(),
            "{on:?}: nobody is told that we hear before we do"
        );
    }
}

#[tokio::test]
async fn slack_that_goes_away_is_lost_until_it_is_back() {
    let World { server, slack } = World::start().await;
    let (desk, address) = (Desk::open(), server.address());
    let goes = async {
        server.vendor().until(|world| world.sockets() == 1).await;
        server.stop().await;
    };
    let (ended, ()) = in_time(async { tokio::join!(slack.receive(&desk), goes) }).await;
    assert_eq!(name(&ended), "lost");
    let ended = in_time(slack.receive(&desk)).await;
    assert_eq!(name(&ended), "lost", "nobody listens on {address}");

    let bot = Bot::numbered(1).let_in_by(TOKEN).connected_by(APP_TOKEN);
    let server = slack::start(address, Terms::serving(vec![bot])).await;
    let back = World {
        server: server.unwrap(),
        slack,
    };
    back.vendor().write(&direct("hello"));
    back.while_connected(&desk, back.all_acknowledged()).await;
    assert_eq!(desk.texts(), ["hello"]);
}

#[tokio::test]
async fn an_account_that_is_served_already_does_not_go_on() {
    let world = World::start().await;
    world.vendor().write(&direct("hello"));
    let why = Disconnected::Conflict {
        detail: "served already".to_owned(),
    };
    let desk = Desk::refusing(why.clone());
    assert_eq!(world.disconnected(&desk).await, why);
    assert!(desk.events().is_empty());
    world.has_sockets(0).await;
    assert_eq!(world.vendor().backlog(), 1, "what came is for the other");
}

#[tokio::test]
async fn garbage_is_passed_over() {
    let world = World::start().await;
    let desk = Desk::open();
    let story = async {
        world.has_sockets(1).await;
        for garbage in [
            json!(5),
            json!({}),
            json!({ "event": { "type": "message" } }),
            json!({ "event": { "type": "message", "channel": 5 } }),
        ] {
            world.vendor().with(|world| world.tell_garbage(garbage));
        }
        world.order(On::Socket, "400 garbage");
        world.vendor().write(&direct("hello"));
        world.all_acknowledged().await;
    };
    world.while_connected(&desk, story).await;
    assert_eq!(desk.texts(), ["hello"]);
}

#[tokio::test]
async fn an_event_of_another_workspace_is_left_to_whom_it_is_for() {
    let world = World::start().await;
    let desk = Desk::open();
    let foreign = json!({
        "team_id": "T0OTHER", "type": "event_callback",
        "event": { "type": "message", "channel": "C1", "user": "U1", "text": "psst", "ts": "1.2" },
    });
    world.vendor().with(|world| world.tell_garbage(foreign));
    world.vendor().write(&direct("hello"));
    let story = async {
        let mine = |world: &slack::World| world.backlog() == 1;
        world.vendor().until(mine).await;
    };
    world.while_connected(&desk, story).await;
    assert_eq!(desk.texts(), ["hello"]);
}

#[tokio::test]
async fn an_answer_that_makes_no_sense_is_lost_and_said() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let odd = move || {
        let number = count.fetch_add(1, Ordering::SeqCst);
        let answers = [
            "<html>",
            "{}",
            r#"{"ok":true}"#,
            r#"{"ok":true,"team_id":5}"#,
        ];
        std::future::ready(answers[number % answers.len()])
    };
    let routes = Router::new().route("/api/auth.test", any(odd));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let slack = slack_at(&format!("http://{}", listener.local_addr().unwrap()));
    let mut serving = JoinSet::new();
    serving.spawn(async move { axum::serve(listener, routes).await.unwrap() });
    for _ in 0..4 {
        let ended = in_time(slack.receive(&Desk::open())).await;
        assert_eq!(name(&ended), "lost", "{ended:?}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 4);
}
