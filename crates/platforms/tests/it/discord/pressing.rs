//! Buttons and commands from the menu: what they carry comes back, and whoever used one is told that it arrived, after it
//! did.

use talaria_domain::adapter::Outgoing;
use talaria_domain::address::ChatKind;
use talaria_domain::event::{EventKind, Mention};
use talaria_domain::question::{Button, Choice, PressToken, Prompt, TokenHash};
use talaria_platforms::commands::COMMANDS;
use talaria_sim::discord::{Chosen, On, user_id};
use talaria_sim::vendor::Press;

use super::world::{Desk, Verdict, World, part, receipt};

fn asking(choices: &[Choice]) -> Outgoing {
    let label = |choice: &Choice| match choice {
        Choice::Approve => "Approve".to_owned(),
        Choice::Deny => "Deny".to_owned(),
        Choice::Answer { text } => text.chars().take(80).collect(),
    };
    let button = |choice: &Choice| Button {
        label: label(choice),
        choice: choice.clone(),
    };
    Outgoing {
        prompt: Some(Prompt {
            token: PressToken::from_random([7; 16]),
            buttons: choices.iter().map(button).collect(),
        }),
        ..part(1, "may I?")
    }
}

fn answer(text: &str) -> Choice {
    Choice::Answer {
        text: text.to_owned(),
    }
}

fn press(world: &World, message: &str, button: &str) {
    let is_there = world.vendor().press(&Press {
        message: message.to_owned(),
        button: button.to_owned(),
        sender: "ada".to_owned(),
    });
    assert!(is_there, "no button says {button:?}");
}

#[tokio::test]
async fn a_press_carries_what_the_button_means() {
    let world = World::start().await;
    let desk = Desk::open();
    // A number that is the name of another, and a name that is too long to be carried.
    let long = "x".repeat(80);
    let choices = [
        Choice::Approve,
        Choice::Deny,
        answer("2"),
        answer("blue"),
        answer(&long),
    ];
    let choices = [&choices[..], &[answer("6th, in another row")]].concat();
    let story = async {
        desk.was_kept(1).await;
        world.say("do it");
        desk.was_handed(1).await;
        let sent = receipt(world.send(&asking(&choices)).await).message;
        for button in ["Approve", "Deny", "2", "blue", &long] {
            press(&world, sent.as_str(), button);
        }
        desk.was_handed(6).await;
        in_order(&world, 5).await;
    };
    world.while_connected(&desk, story).await;
    let token = TokenHash::of(PressToken::from_random([7; 16]).expose());
    let expected = [
        Choice::Approve,
        Choice::Deny,
        answer("2"),
        answer("blue"),
        answer("5"),
    ];
    let events = desk.events();
    for (event, choice) in events[1..].iter().zip(expected) {
        assert_eq!(event.kind, EventKind::Pressed { token, choice });
        assert_eq!(event.principal.user.as_str(), user_id("ada"));
        assert_eq!(event.address.chat, events[0].address.chat);
        assert!(event.message.is_some());
    }
    let answers = world.vendor().see(talaria_sim::discord::World::answers);
    assert!(answers.iter().all(|it| it["type"] == 6), "{answers:?}");
}

async fn in_order(world: &World, answers: usize) {
    let count = |world: &talaria_sim::discord::World| world.answers().len();
    super::world::in_time(world.vendor().until(|it| count(it) >= answers)).await;
}

#[tokio::test]
async fn whoever_presses_is_told_after_intake_has_it() {
    let world = World::start().await;
    let desk = Desk::closed();
    let story = async {
        desk.was_kept(1).await;
        world.say("do it");
        desk.let_one();
        let sent = receipt(world.send(&asking(&[Choice::Approve])).await).message;
        press(&world, sent.as_str(), "Approve");
        desk.was_handed(2).await;
        assert!(world.vendor().see(|it| it.answers().is_empty()));
        desk.let_one();
        in_order(&world, 1).await;
    };
    world.while_connected(&desk, story).await;
}

#[tokio::test]
async fn the_menu_is_registered_once() {
    let world = World::start().await;
    for expected in [1, 1] {
        world.connect_once(&Desk::open()).await;
        let asked = world.asked(On::Other);
        let put = asked
            .iter()
            .filter(|it| it.starts_with("PUT /applications/"));
        assert_eq!(put.count(), expected);
    }
    let requests = world.vendor().requests();
    let menu = requests.iter().find(|it| it.method == "PUT").unwrap();
    assert_eq!(menu.body.as_array().unwrap().len(), COMMANDS.len());
}

#[tokio::test]
async fn a_command_from_the_menu_is_the_text_that_it_stands_for() {
    let world = World::start().await;
    let desk = Desk::judging([Verdict::Record, Verdict::Record, Verdict::Refuse]);
    let chosen = |chat: &str, kind: &str, text: Option<&str>| Chosen {
        chat: chat.to_owned(),
        kind: kind.to_owned(),
        sender: "ada".to_owned(),
        name: "title".to_owned(),
        text: text.map(str::to_owned),
        ..Chosen::default()
    };
    let story = async {
        desk.was_kept(1).await;
        for (chat, kind, text) in [
            ("general", "group", Some("a name")),
            ("chat of ada", "direct", None),
            ("general", "group", Some("from a stranger")),
        ] {
            world
                .vendor()
                .with(|it| it.choose(&chosen(chat, kind, text)));
        }
        desk.was_handed(3).await;
        world.say("and on");
        desk.was_handed(4).await;
    };
    world.while_connected(&desk, story).await;
    assert_eq!(desk.texts()[..2], ["/title a name", "/title"]);
    let events = desk.events();
    let kinds = [ChatKind::Group, ChatKind::Direct];
    for (event, kind) in events.iter().zip(kinds) {
        assert_eq!(event.address.chat_kind, kind);
        let EventKind::Message(content) = &event.kind else {
            panic!("{event:?}");
        };
        assert_eq!(content.mention, Mention::Direct);
    }
    let answers = world.vendor().see(talaria_sim::discord::World::answers);
    assert_eq!(answers.len(), 2, "a stranger is told nothing");
    for answer in answers {
        assert_eq!(
            (&answer["type"], &answer["data"]["flags"]),
            (&4.into(), &64.into())
        );
    }
}

#[tokio::test]
async fn a_session_that_is_taken_up_presses_nothing_twice() {
    let world = World::start().await;
    let desk = Desk::open();
    let story = async {
        desk.was_kept(1).await;
        world.say("do it");
        let sent = receipt(world.send(&asking(&[Choice::Approve])).await).message;
        press(&world, sent.as_str(), "Approve");
        desk.was_handed(2).await;
        world.order(On::Socket, "400 reconnect");
        world.was_asked(On::Connect, 2).await;
        world.say("and on");
        desk.kept_one_that(|_| desk.events().len() > 2).await;
    };
    world.while_connected(&desk, story).await;
    let presses = desk.events();
    let presses = presses
        .iter()
        .filter(|it| matches!(it.kind, EventKind::Pressed { .. }));
    let mut keys: Vec<_> = presses.map(|it| it.dedupe).collect();
    keys.dedup();
    assert_eq!(keys.len(), 1);
}
