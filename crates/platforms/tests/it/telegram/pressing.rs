//! Buttons: what they carry, what a press says, and that whoever pressed is told.

use serde_json::json;
use talaria_domain::event::EventKind;
use talaria_domain::question::{Button, Choice, PressToken, Prompt, TokenHash};
use talaria_sim::vendor::{On, Press};

use super::world::{ADA, Desk, Verdict, World, part, receipt};

fn prompt() -> Prompt {
    let button = |label: &str, choice: Choice| Button {
        label: label.to_owned(),
        choice,
    };
    let long = "a choice with a name that is far too long to be carried by a button of its own";
    let text = long.to_owned();
    Prompt {
        token: PressToken::from_random([0xab; 16]),
        buttons: vec![
            button("Approve", Choice::Approve),
            button("Deny", Choice::Deny),
            button(long, Choice::Answer { text }),
        ],
    }
}

/// A question with buttons that Ada sees; gives the message's number.
async fn asked(world: &World) -> String {
    let mut outgoing = part(1, "May I?");
    outgoing.prompt = Some(prompt());
    receipt(world.send(&outgoing).await).message.to_string()
}

fn press(world: &World, message: &str, button: &str) {
    let press = Press {
        message: message.to_owned(),
        button: button.to_owned(),
        sender: ADA.to_owned(),
    };
    assert!(world.vendor().press(&press), "no such button: {button}");
}

#[tokio::test]
async fn a_press_says_which_button_it_was_and_is_answered() {
    let world = World::with_ada().await;
    let message = asked(&world).await;
    let labels: Vec<String> = prompt()
        .buttons
        .into_iter()
        .map(|button| button.label)
        .collect();
    for label in &labels {
        press(&world, &message, label);
    }
    let desk = Desk::open();
    world.while_connected(&desk, world.done()).await;
    let events = desk.events();
    let expected = [
        Choice::Approve,
        Choice::Deny,
        Choice::Answer {
            text: "3".to_owned(),
        },
    ];
    for (event, choice) in events[1..].iter().zip(expected) {
        let token = prompt().token.hash();
        assert_eq!(event.kind, EventKind::Pressed { token, choice });
        assert_eq!(event.principal.user.as_str(), ADA);
        assert_eq!(event.message.as_ref().unwrap().as_str(), message);
    }
    assert_eq!(events.len(), 4);
    assert_eq!(world.asked("answercallbackquery").len(), 3);
    assert_eq!(
        TokenHash::of(prompt().token.expose()),
        prompt().token.hash()
    );
}

#[tokio::test]
async fn whoever_pressed_is_told_only_after_it_is_recorded_and_it_counts_once() {
    let world = World::with_ada().await;
    let message = asked(&world).await;
    press(&world, &message, "Approve");
    let desk = Desk::judging([Verdict::Record, Verdict::Fail]);
    let story = async {
        desk.was_handed(2).await;
        assert!(world.asked("answercallbackquery").is_empty());
        world.done().await;
    };
    world.while_connected(&desk, story).await;
    let events = desk.events();
    assert_eq!(events.len(), 3, "it came again");
    assert_eq!(events[1].dedupe, events[2].dedupe);
    assert_eq!(world.asked("answercallbackquery").len(), 1);
}

#[tokio::test]
async fn a_press_that_cannot_be_answered_is_no_reason_to_stop() {
    let world = World::with_ada().await;
    let message = asked(&world).await;
    press(&world, &message, "Deny");
    // The first is for the menu of commands.
    world.order(On::Other, "500", 2);
    let desk = Desk::open();
    world.while_connected(&desk, world.done()).await;
    assert_eq!(desk.events().len(), 2);
}

#[tokio::test]
async fn buttons_go_when_a_message_is_changed_without_them() {
    let world = World::with_ada().await;
    let mut outgoing = part(1, "May I?");
    outgoing.prompt = Some(prompt());
    let sent = receipt(world.send(&outgoing).await);
    assert_eq!(world.vendor().chat(ADA).messages[1].buttons.len(), 3);
    outgoing.prompt = None;
    receipt(world.edit(&sent, &outgoing).await);
    let shown = &world.vendor().chat(ADA).messages[1];
    assert_eq!((shown.buttons.len(), shown.text.as_str()), (0, "May I?"));
    let keyboard = &world.asked("sendmessage")[0]["reply_markup"]["inline_keyboard"];
    assert_eq!(
        keyboard.as_array().unwrap().len(),
        3,
        "a long label has a row of its own"
    );
    assert_eq!(keyboard[0][0]["text"], json!("Approve"));
}
