//! A question in a thread: everything that follows carries that thread.

use std::fs;

use serde_json::Value;
use talaria_domain::adapter::{Adapter as _, Mark, Outgoing, Sign};
use talaria_domain::delivery::{Outcome, PartBody, Rejection, ReplyKind};
use talaria_domain::event::{Attachment, AttachmentKind, ReactionChange};
use talaria_domain::question::{Button, Choice, PressToken, Prompt};
use talaria_sim::slack::On;

use super::world::{
    BOT, CHANNEL, DIRECT, Desk, World, class, direct, in_channel, in_time, part_to, place, receipt,
};

/// A question in the channel, and the address that its event has.
async fn asked_in_channel() -> (World, talaria_domain::address::Address, String) {
    let world = World::start().await;
    let asked = world.vendor().write(&in_channel("what?"));
    let desk = Desk::open();
    world.while_connected(&desk, world.all_acknowledged()).await;
    let address = desk.events()[0].address.clone();
    (world, address, asked.id)
}

fn prompt() -> Prompt {
    Prompt {
        token: PressToken::from_random([1; 16]),
        buttons: vec![Button {
            label: "Approve".to_owned(),
            choice: Choice::Approve,
        }],
    }
}

#[tokio::test]
async fn every_kind_of_send_carries_its_thread() {
    let (world, address, thread) = asked_in_channel().await;
    let abilities = world.slack.abilities();
    let typing = abilities.typing.unwrap();
    in_time(typing.sign(&address, Sign::On)).await;
    for (number, kind) in [
        (1, ReplyKind::Progress),
        (2, ReplyKind::Notice),
        (3, ReplyKind::Final),
    ] {
        let outgoing = Outgoing {
            kind,
            ..part_to(number, "hello", address.clone())
        };
        let sent = receipt(world.send(&outgoing).await);
        let edit = abilities.edit.unwrap();
        receipt(in_time(edit.edit(&sent, &outgoing)).await);
    }
    let buttons = Outgoing {
        prompt: Some(prompt()),
        ..part_to(4, "May I?", address.clone())
    };
    receipt(world.send(&buttons).await);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    fs::write(&path, "notes").unwrap();
    let mut file = part_to(5, "", address.clone());
    file.part.body = PartBody::File {
        attachment: Attachment {
            kind: AttachmentKind::File,
            locator: String::new(),
            file_name: None,
            media_type: None,
            size_bytes: None,
            kept: None,
        },
        caption: "look".to_owned(),
    };
    file.file = Some(path);
    receipt(world.send(&file).await);

    let chat = world.vendor().chat(CHANNEL);
    let ours: Vec<_> = chat.messages.iter().filter(|shown| shown.ours).collect();
    assert_eq!(ours.len(), 5);
    for shown in ours {
        assert_eq!(shown.thread.as_ref(), Some(&thread), "{}", shown.text);
    }
    assert_eq!(chat.signs.len(), 1);
    assert_eq!(chat.signs[0].thread.as_ref(), Some(&thread));
    let changed = world.vendor().requests();
    let changed = changed.iter().filter(|asked| asked.on == On::Edit);
    for asked in changed {
        assert_eq!(asked.body["thread_ts"], Value::from(thread.as_str()));
    }
}

#[tokio::test]
async fn a_direct_chat_is_answered_in_no_thread() {
    let world = World::start().await;
    world.vendor().write(&direct("what?"));
    let desk = Desk::open();
    world.while_connected(&desk, world.all_acknowledged()).await;
    let address = desk.events()[0].address.clone();
    receipt(world.send(&part_to(1, "that", address.clone())).await);
    let chat = world.vendor().chat(DIRECT);
    assert_eq!(chat.messages[1].thread, None);
    let typing = world.slack.abilities().typing.unwrap();
    let outcome = in_time(typing.sign(&address, Sign::On)).await;
    assert_eq!(class(&outcome), Some(Rejection::Invalid));
    assert_eq!(world.asked(On::Typing), 0);
}

#[tokio::test]
async fn a_status_is_shown_and_taken_away() {
    let (world, address, _) = asked_in_channel().await;
    let typing = world.slack.abilities().typing.unwrap();
    for sign in [Sign::On, Sign::Off] {
        let outcome = in_time(typing.sign(&address, sign)).await;
        assert!(matches!(outcome, Outcome::Delivered { .. }), "{outcome:?}");
    }
    let signs = world.vendor().chat(CHANNEL).signs;
    let says: Vec<_> = signs.iter().map(|signed| signed.says.as_str()).collect();
    assert_eq!(says, ["is thinking…", ""]);
    assert_eq!(signs[0].sender, BOT);
}

#[tokio::test]
async fn a_place_without_a_status_is_not_asked_twice() {
    let (world, address, _) = asked_in_channel().await;
    let typing = world.slack.abilities().typing.unwrap();
    world.order(On::Typing, "400 invalid_thread_ts");
    for _ in 0..3 {
        let outcome = in_time(typing.sign(&address, Sign::On)).await;
        assert!(matches!(outcome, Outcome::Rejected { .. }), "{outcome:?}");
    }
    assert_eq!(world.asked(On::Typing), 1);
}

#[tokio::test]
async fn what_is_only_late_is_asked_again() {
    let (world, address, _) = asked_in_channel().await;
    let typing = world.slack.abilities().typing.unwrap();
    world.order(On::Typing, "429");
    let outcome = in_time(typing.sign(&address, Sign::On)).await;
    assert!(
        matches!(
            outcome,
            Outcome::NotSent {
                retry_after: Some(_),
                ..
            }
        ),
        "{outcome:?}"
    );
    let outcome = in_time(typing.sign(&address, Sign::On)).await;
    assert!(matches!(outcome, Outcome::Delivered { .. }), "{outcome:?}");
}

#[tokio::test]
async fn marks_are_put_and_taken_away_and_doing_it_twice_is_no_mistake() {
    let (world, address, asked) = asked_in_channel().await;
    let reactions = world.slack.abilities().reactions.unwrap();
    let message = asked.as_str().into();
    for (mark, change, left) in [
        (Mark::Seen, ReactionChange::Added, vec!["eyes"]),
        (Mark::Seen, ReactionChange::Added, vec!["eyes"]),
        (
            Mark::Done,
            ReactionChange::Added,
            vec!["eyes", "white_check_mark"],
        ),
        (
            Mark::Seen,
            ReactionChange::Removed,
            vec!["white_check_mark"],
        ),
        (
            Mark::Seen,
            ReactionChange::Removed,
            vec!["white_check_mark"],
        ),
        (
            Mark::Failed,
            ReactionChange::Added,
            vec!["white_check_mark", "x"],
        ),
    ] {
        let outcome = in_time(reactions.mark((&address, &message), mark, change)).await;
        assert!(matches!(outcome, Outcome::Delivered { .. }), "{outcome:?}");
        let marks = world.vendor().chat(CHANNEL).messages[0].marks.clone();
        let marks: Vec<_> = marks.iter().map(|(_, mark)| mark.as_str()).collect();
        assert_eq!(marks, left, "{mark:?} {change:?}");
    }
}

#[tokio::test]
async fn a_thread_is_opened_by_its_first_message() {
    let world = World::start().await;
    let threads = world.slack.abilities().threads.unwrap();
    let parent = place(CHANNEL, None);
    let opened = in_time(threads.open(&parent, "a new matter"))
        .await
        .unwrap();
    receipt(world.send(&part_to(1, "about it", opened.clone())).await);
    let messages = world.vendor().chat(CHANNEL).messages;
    assert_eq!(messages[0].text, "a new matter");
    assert_eq!(messages[0].thread, None);
    assert_eq!(
        opened.thread.as_ref().unwrap().as_str(),
        messages[0].message_id
    );
    assert_eq!(messages[1].thread.as_ref(), Some(&messages[0].message_id));
    world.order(On::Send, "403");
    let refused = in_time(threads.open(&parent, "another")).await.unwrap_err();
    assert_eq!(class(&refused), Some(Rejection::Forbidden));
}
