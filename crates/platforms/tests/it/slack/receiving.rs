//! What people do reaches intake as what it is, and from whom.

use serde_json::json;
use talaria_domain::address::ChatKind;
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Author, EventKind, Mention, ReactionChange};
use talaria_platforms::{Credential, connect};
use talaria_sim::slack::{self, Bot, On, Reaction, Terms, Written};

use super::world::{
    ADA, BOT, CHANNEL, DIRECT, Desk, NOW, World, account, direct, in_channel, in_time, part,
    receipt, workshop,
};

#[tokio::test]
async fn who_we_are_is_told_before_anything_else() {
    let world = World::start().await;
    world.vendor().write(&direct("hello"));
    let desk = Desk::open();
    let story = async {
        desk.was_handed(1).await;
        let met = desk.met();
        assert_eq!(met.identities.len(), 1);
        assert_eq!(met.identities[0].id.as_str(), "T0SIM0001/U0BOT0001");
        assert_eq!(met.identities[0].name, "bot1 in simulated");
    };
    world.while_connected(&desk, story).await;
}

#[tokio::test]
async fn several_workspaces_are_several_accounts() {
    let bots = [
        Bot::numbered(1).let_in_by("xoxb-1").connected_by("xapp-1"),
        Bot::numbered(1)
            .let_in_by("xoxb-2")
            .connected_by("xapp-2")
            .in_team("T0OTHER"),
    ];
    let server = slack::start("127.0.0.1:0", Terms::serving(bots.to_vec())).await;
    let server = server.unwrap();
    let mut identities = Vec::new();
    for number in ["1", "2"] {
        let credential = Credential {
            account: account(),
            api_base: Some(server.url().parse().unwrap()),
            token: Some(format!("xoxb-{number}").into()),
            app_token: Some(format!("xapp-{number}").into()),
            webhook: None,
        };
        let connection = connect(credential, &workshop()).unwrap();
        let desk = Desk::open();
        let connected = desk.has_met(|met| !met.identities.is_empty());
        in_time(async {
            tokio::select! {
                biased;
                ended = connection.adapter.receive(&desk) => panic!("disconnected: {ended:?}"),
                () = connected => {}
            }
        })
        .await;
        identities.push(desk.met().identities[0].id.to_string());
    }
    assert_eq!(identities, ["T0SIM0001/U0BOT0001", "T0OTHER/U0BOT0001"]);
}

#[tokio::test]
async fn an_event_says_what_was_said() {
    let world = World::start().await;
    let asked = world
        .vendor()
        .write(&in_channel("what is <https://example.org|this> & that?"));
    let desk = Desk::open();
    world.while_connected(&desk, world.all_acknowledged()).await;
    let event = &desk.events()[0];
    assert_eq!(event.address.chat.as_str(), CHANNEL);
    assert_eq!(event.address.chat_kind, ChatKind::Group);
    assert_eq!(event.address.thread.as_ref().unwrap().as_str(), asked.id);
    assert_eq!(event.principal.user.as_str(), ADA);
    assert_eq!(event.principal.display_name.as_deref(), Some("u0ada"));
    assert_eq!(event.received_at, NOW);
    assert!(event.sent_at > Some(Timestamp::ZERO));
    let content = &desk.contents()[0];
    assert_eq!(content.text, "what is this (https://example.org) & that?");
    assert_eq!(content.mention, Mention::Absent);
    assert_eq!(content.author, Author::Person);
}

#[tokio::test]
async fn one_post_with_a_mention_is_one_event_although_it_is_told_twice() {
    let world = World::start().await;
    let mentioned = Written {
        mentioned: true,
        ..in_channel("/help")
    };
    world.vendor().write(&mentioned);
    let desk = Desk::open();
    world.while_connected(&desk, world.all_acknowledged()).await;
    let events = desk.events();
    assert_eq!(events.len(), 2);
    assert_eq!(events[0].dedupe, events[1].dedupe);
    assert_eq!(events[0].kind, events[1].kind);
    assert_eq!(events[0].address, events[1].address);
    assert_eq!(desk.texts(), ["/help", "/help"]);
    assert_eq!(desk.contents()[0].mention, Mention::Direct);
}

#[tokio::test]
async fn an_answer_to_us_is_known_as_one() {
    let world = World::start().await;
    let ours = receipt(world.send(&part(1, "hello")).await);
    let answer = Written {
        reply_to: Some(ours.message.to_string()),
        ..direct("thanks")
    };
    world.vendor().write(&answer);
    let desk = Desk::open();
    world.while_connected(&desk, world.all_acknowledged()).await;
    assert_eq!(desk.texts(), ["thanks"], "not what we said ourselves");
    assert_eq!(desk.contents()[0].mention, Mention::Reply);
    let thread = desk.events()[0].address.thread.clone();
    assert_eq!(thread.unwrap().as_str(), ours.message.as_str());
}

#[tokio::test]
async fn a_changed_message_is_another_event_about_the_same_message() {
    let world = World::start().await;
    let first = world.vendor().write(&direct("one"));
    let changed = Written {
        edits: Some(first.id.clone()),
        ..direct("uno")
    };
    world.vendor().write(&changed);
    let desk = Desk::open();
    world.while_connected(&desk, world.all_acknowledged()).await;
    let events = desk.events();
    assert!(matches!(&events[1].kind, EventKind::Edited(content) if content.text == "uno"));
    assert_eq!(events[0].message, events[1].message);
    assert_ne!(events[0].dedupe, events[1].dedupe);
}

#[tokio::test]
async fn other_programs_are_known_as_such() {
    let world = World::start().await;
    let program = Written {
        bot: true,
        ..in_channel("build 7 failed")
    };
    world.vendor().write(&program);
    let desk = Desk::open();
    world.while_connected(&desk, world.all_acknowledged()).await;
    assert_eq!(desk.contents()[0].author, Author::Bot);
}

#[tokio::test]
async fn a_reaction_is_an_event_and_ours_is_not() {
    let world = World::start().await;
    let asked = world.vendor().write(&direct("hello"));
    for (sender, removed) in [(ADA, false), (BOT, false), (ADA, true)] {
        assert!(world.vendor().react(&Reaction {
            message: asked.id.clone(),
            reaction: "thumbsup".to_owned(),
            sender: sender.to_owned(),
            removed,
        }));
    }
    let desk = Desk::open();
    world.while_connected(&desk, world.all_acknowledged()).await;
    let changes: Vec<_> = desk
        .events()
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Reaction { reaction, change } if reaction == "thumbsup" => Some(*change),
            _ => None,
        })
        .collect();
    assert_eq!(changes, [ReactionChange::Added, ReactionChange::Removed]);
}

#[tokio::test]
async fn a_slash_command_is_the_text_after_it() {
    let world = World::start().await;
    for text in ["/talaria stop it", "/talaria"] {
        world.vendor().write(&direct(text));
    }
    let desk = Desk::open();
    world.while_connected(&desk, world.all_acknowledged()).await;
    assert_eq!(desk.texts(), ["/stop it", "/help"]);
}

#[tokio::test]
async fn whoever_is_mentioned_is_shown_by_name_and_asked_for_once() {
    let world = World::start().await;
    for text in ["ask <@U0BEN>", "or <@U0BEN> again"] {
        world.vendor().write(&direct(text));
    }
    let desk = Desk::open();
    world.while_connected(&desk, world.all_acknowledged()).await;
    assert_eq!(desk.texts(), ["ask @u0ben", "or @u0ben again"]);
    let requests = world.vendor().requests();
    let asked = |id: &str| {
        let of = |asked: &&talaria_sim::vendor::Asked| asked.body["user"] == json!(id);
        requests.iter().filter(of).count()
    };
    assert_eq!((asked("U0BEN"), asked(ADA)), (1, 1));
}

#[tokio::test]
async fn a_name_that_cannot_be_had_is_in_the_way_of_nothing() {
    for mishap in ["400 missing_scope", "500", "hang"] {
        let world = World::start().await;
        world.order(On::Other, mishap);
        world.vendor().write(&direct("hello"));
        let desk = Desk::open();
        world.while_connected(&desk, world.all_acknowledged()).await;
        assert_eq!(desk.texts(), ["hello"], "{mishap}");
        assert_eq!(desk.events()[0].principal.display_name, None, "{mishap}");
    }
}

#[tokio::test]
async fn a_ping_is_a_sign_of_life() {
    let world = World::start().await;
    let desk = Desk::open();
    let story = desk.has_met(|met| met.signs_of_life > 0);
    world.while_connected(&desk, story).await;
    assert!(world.seen(DIRECT).is_empty());
}
