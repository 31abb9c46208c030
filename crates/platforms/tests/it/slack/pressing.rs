//! Buttons: what they carry comes back as what was chosen, from whoever pressed.

use talaria_domain::adapter::{Adapter as _, Outgoing};
use talaria_domain::capabilities::Capability;
use talaria_domain::event::EventKind;
use talaria_domain::question::{Button, Choice, PressToken, Prompt};
use talaria_sim::slack::Press;

use super::world::{
    ADA, CHANNEL, DIRECT, Desk, Verdict, World, in_channel, in_time, part, part_to, place, receipt,
};

fn prompt() -> Prompt {
    let button = |label: &str, choice| Button {
        label: label.to_owned(),
        choice,
    };
    let text = "the blue one".to_owned();
    Prompt {
        token: PressToken::from_random([7; 16]),
        buttons: vec![
            button("Approve", Choice::Approve),
            button("Deny", Choice::Deny),
            button("Blue", Choice::Answer { text }),
        ],
    }
}

async fn press(world: &World, label: &str, desk: &Desk) {
    let shown = world.vendor().chat(DIRECT).messages[0].clone();
    assert!(world.vendor().press(&Press {
        message: shown.message_id,
        button: label.to_owned(),
        sender: ADA.to_owned(),
    }));
    world.while_connected(desk, world.all_acknowledged()).await;
}

#[tokio::test]
async fn what_is_pressed_is_what_was_chosen() {
    for (label, choice) in [
        ("Approve", Choice::Approve),
        ("Deny", Choice::Deny),
        (
            "Blue",
            Choice::Answer {
                text: "the blue one".to_owned(),
            },
        ),
    ] {
        let world = World::start().await;
        let capabilities = world.slack.capabilities().can;
        assert!(capabilities.contains(&Capability::Prompts));
        let outgoing = Outgoing {
            prompt: Some(prompt()),
            ..part(1, "May I?")
        };
        let sent = receipt(world.send(&outgoing).await);
        assert_eq!(world.seen(DIRECT), ["May I?"]);
        let desk = Desk::open();
        press(&world, label, &desk).await;
        let event = &desk.events()[0];
        let token = prompt().token.hash();
        assert_eq!(event.kind, EventKind::Pressed { token, choice });
        assert_eq!(event.principal.user.as_str(), ADA);
        assert_eq!(event.message.as_ref(), Some(&sent.message));
        assert_eq!(event.address, place(DIRECT, None));
    }
}

#[tokio::test]
async fn a_press_that_was_not_taken_comes_again_as_the_same_event() {
    let world = World::start().await;
    let outgoing = Outgoing {
        prompt: Some(prompt()),
        ..part(1, "May I?")
    };
    receipt(world.send(&outgoing).await);
    let desk = Desk::judging([Verdict::Fail]);
    press(&world, "Approve", &desk).await;
    let events = desk.events();
    assert_eq!(events.len(), 2);
    assert_eq!(events[0].dedupe, events[1].dedupe);
}

#[tokio::test]
async fn a_press_in_a_thread_is_heard_there() {
    let world = World::start().await;
    let asked = world.vendor().write(&in_channel("what?"));
    let outgoing = Outgoing {
        prompt: Some(prompt()),
        ..part_to(1, "May I?", place(CHANNEL, Some(&asked.id)))
    };
    let sent = receipt(world.send(&outgoing).await);
    assert!(world.vendor().press(&Press {
        message: sent.message.to_string(),
        button: "Deny".to_owned(),
        sender: ADA.to_owned(),
    }));
    let desk = Desk::open();
    world.while_connected(&desk, world.all_acknowledged()).await;
    let events = desk.events();
    assert_eq!(events[1].address, place(CHANNEL, Some(&asked.id)));
    assert_eq!(events[0].address, events[1].address);
}

#[tokio::test]
async fn a_message_is_given_buttons_and_loses_them() {
    let world = World::start().await;
    let sent = receipt(world.send(&part(1, "…")).await);
    let edit = world.slack.abilities().edit.unwrap();
    let asking = Outgoing {
        prompt: Some(prompt()),
        ..part(1, "May I?")
    };
    receipt(in_time(edit.edit(&sent, &asking)).await);
    let shown = world.vendor().chat(DIRECT).messages[0].clone();
    let labels: Vec<_> = shown
        .buttons
        .iter()
        .map(|(says, _)| says.as_str())
        .collect();
    assert_eq!(labels, ["Approve", "Deny", "Blue"]);
    receipt(in_time(edit.edit(&sent, &part(1, "Approved by Ada."))).await);
    let shown = world.vendor().chat(DIRECT).messages[0].clone();
    assert!(shown.buttons.is_empty());
    assert_eq!(shown.text, "Approved by Ada.");
}
