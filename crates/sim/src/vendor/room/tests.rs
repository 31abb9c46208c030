//! What people see is what was written, changed, marked and pressed.

use talaria_domain::clock::Timestamp;

use super::{Did, Post, Press, Reaction, Room, Written};

const NOW: Timestamp = Timestamp::from_millis(5);

fn room() -> Room {
    Room::numbered(|number| format!("m{number}"))
}

#[test]
fn a_bot_changes_its_own_messages_and_no_others() {
    let mut room = room();
    let asked = room.write(&Written::direct("ada", "hello"), NOW);
    let chat = asked.chat.clone();
    let id = room.post(Post {
        chat: chat.clone(),
        sender: "bot".to_owned(),
        text: "…".to_owned(),
        ..Post::default()
    });
    let say = |text: &'static str| move |shown: &mut super::Shown| text.clone_into(&mut shown.text);
    assert!(room.change(&id, "bot", say("hi")));
    assert!(!room.change(&id, "another bot", say("no")));
    assert!(!room.change(&asked.message, "bot", say("no")));
    assert!(!room.change("m99", "bot", say("no")));
    let seen: Vec<_> = room.chat(&chat).unwrap().messages.iter().collect();
    assert_eq!(
        (seen[0].text.as_str(), seen[1].text.as_str()),
        ("hello", "hi")
    );
    assert_eq!((seen[0].edits, seen[1].edits), (0, 1));
    assert_eq!(room.said_ever(), 2, "it wrote and changed");
    let said = |after| room.said_after(after).map(|shown| shown.text.as_str());
    assert_eq!(said(0).collect::<Vec<_>>(), ["hi", "hi"], "as it is now");
    assert_eq!(said(1).count(), 1);
}

#[test]
fn a_button_is_pressed_by_what_it_says_and_tells_what_it_carries() {
    let mut room = room();
    let message = room.post(Post {
        chat: "room".to_owned(),
        thread: Some("42".to_owned()),
        sender: "bot".to_owned(),
        buttons: vec![("Approve".to_owned(), "token".to_owned())],
        ..Post::default()
    });
    let press = |button: &str| Press {
        message: message.clone(),
        button: button.to_owned(),
        sender: "ada".to_owned(),
    };
    assert_eq!(room.press(&press("Deny"), NOW), None);
    let deed = room.press(&press("Approve"), NOW).unwrap();
    let carried = "token".to_owned();
    assert_eq!(
        (deed.did, deed.thread.as_deref()),
        (Did::Pressed { carried }, Some("42"))
    );
    assert_eq!(deed.to.as_deref(), Some("bot"));
}

#[test]
fn marks_come_and_go() {
    let mut room = room();
    let asked = room.write(&Written::direct("ada", "hello"), NOW);
    assert!(room.mark(&asked.message, ("bot", "eyes"), false));
    assert!(room.mark(&asked.message, ("bot", "eyes"), false));
    let marks = |room: &Room| room.message("m1").unwrap().marks.len();
    assert_eq!(marks(&room), 1, "the same mark is there once");
    let reaction = Reaction {
        message: asked.message,
        reaction: "eyes".to_owned(),
        sender: "bot".to_owned(),
        removed: true,
    };
    assert_eq!(room.react(&reaction, NOW).unwrap().number, 2);
    assert_eq!(marks(&room), 0);
}
