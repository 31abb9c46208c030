//! Whatever is sent carries its thread; nothing goes somewhere else because its own place is gone.

use serde_json::json;
use talaria_domain::adapter::{Adapter as _, Outgoing, Sign};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::delivery::{PartBody, Rejection};
use talaria_domain::event::{Attachment, AttachmentKind};
use talaria_domain::names::{MessageId, ThreadId};
use talaria_domain::question::{Button, Choice, PressToken, Prompt};
use talaria_sim::vendor::{Press, Written};

use super::world::{ADA, Desk, FORUM, World, class, content, in_time, part_of, place, receipt};

fn text(text: &str, to: &Address) -> Outgoing {
    let body = PartBody::Text {
        markdown: text.to_owned(),
    };
    part_of(1, body, to.clone())
}

fn with_buttons(mut outgoing: Outgoing) -> Outgoing {
    outgoing.prompt = Some(Prompt {
        token: PressToken::from_random([7; 16]),
        buttons: vec![Button {
            label: "Approve".to_owned(),
            choice: Choice::Approve,
        }],
    });
    outgoing
}

/// Somebody writes there; gives the place as the adapter tells it.
async fn asked(world: &World, written: Written) -> Address {
    world.vendor().write(&written);
    let desk = Desk::open();
    world.while_connected(&desk, world.done()).await;
    desk.events().last().unwrap().address.clone()
}

/// Everything that can be sent is sent there; everything is seen in that thread and nowhere else.
async fn everything_arrives_at(world: &World, to: &Address, thread: &str) {
    let before = world.vendor().chat(to.chat.as_str()).messages.len();
    let typing = world.telegram.abilities().typing.unwrap();
    in_time(typing.sign(to, Sign::On)).await;
    let sent = receipt(world.send(&text("thinking", to)).await);
    receipt(world.edit(&sent, &text("answer", to)).await);
    receipt(world.send(&with_buttons(text("may I?", to))).await);
    let folder =
        std::env::temp_dir().join(format!("talaria-threads-{}-{thread}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("notes.txt");
    std::fs::write(&path, "notes").unwrap();
    for caption in ["short".to_owned(), "long ".repeat(300)] {
        let body = PartBody::File {
            attachment: Attachment {
                kind: AttachmentKind::File,
                locator: String::new(),
                file_name: Some("notes.txt".to_owned()),
                media_type: Some("text/plain".to_owned()),
                size_bytes: Some(5),
                kept: None,
            },
            caption,
        };
        let mut outgoing = part_of(2, body, to.clone());
        outgoing.file = Some(path.clone());
        in_time(world.telegram.send(&outgoing)).await;
    }
    std::fs::remove_dir_all(&folder).unwrap();
    let chat = world.vendor().chat(to.chat.as_str());
    let seen = &chat.messages[before..];
    assert_eq!(seen.len(), 5, "{seen:?}");
    for shown in seen {
        assert_eq!(shown.thread.as_deref(), Some(thread), "{shown:?}");
        assert_eq!(
            shown.reply_to.as_deref(),
            to.reply_to.as_ref().map(MessageId::as_str)
        );
    }
    assert_eq!(seen[0].text, "answer");
    if !thread.starts_with("below") {
        assert_eq!(chat.signs.last().unwrap().thread.as_deref(), Some(thread));
    }
}

#[tokio::test]
async fn everything_of_a_forum_topic_stays_in_it() {
    let world = World::new().await;
    let to = asked(
        &world,
        Written {
            thread: Some("42".to_owned()),
            ..Written::to_chat(FORUM, "forum", (ADA, "hello"))
        },
    )
    .await;
    assert_eq!(
        (to.chat_kind, to.thread.as_ref().unwrap().as_str()),
        (ChatKind::Forum, "42")
    );
    everything_arrives_at(&world, &to, "42").await;
}

#[tokio::test]
async fn general_is_written_to_without_a_topic_and_typed_in_with_one() {
    let world = World::new().await;
    let to = asked(
        &world,
        Written {
            thread: Some("1".to_owned()),
            ..Written::to_chat(FORUM, "forum", (ADA, "hello"))
        },
    )
    .await;
    assert_eq!(to.thread.as_ref().unwrap().as_str(), "1");
    everything_arrives_at(&world, &to, "1").await;
    assert!(
        world
            .asked("sendmessage")
            .iter()
            .all(|asked| asked.get("message_thread_id").is_none())
    );
    assert_eq!(
        world.asked("sendchataction")[0]["message_thread_id"],
        json!(1)
    );
}

#[tokio::test]
async fn everything_of_a_topic_in_a_direct_chat_stays_in_it() {
    let world = World::new().await;
    let to = asked(
        &world,
        Written {
            thread: Some("77".to_owned()),
            ..Written::to_chat(ADA, "direct", (ADA, "hello"))
        },
    )
    .await;
    assert_eq!(
        (to.chat_kind, to.thread.as_ref().unwrap().as_str()),
        (ChatKind::Direct, "77")
    );
    everything_arrives_at(&world, &to, "77").await;
}

#[tokio::test]
async fn whoever_writes_to_a_channel_is_answered_below_it() {
    let world = World::new().await;
    let chat = "-1002222222222";
    let to = asked(
        &world,
        Written {
            thread: Some("below 9".to_owned()),
            ..Written::to_chat(chat, "direct_messages", (ADA, "hello"))
        },
    )
    .await;
    assert!(to.thread.as_ref().unwrap().as_str().starts_with("direct:"));
    everything_arrives_at(&world, &to, "below 9").await;
    let asked = &world.asked("sendmessage")[0];
    assert!(asked["direct_messages_topic_id"].is_i64() && asked.get("message_thread_id").is_none());
}

#[tokio::test]
async fn a_topic_that_is_gone_is_gone() {
    let world = World::new().await;
    world.write(FORUM, "forum", "hello");
    let to = place(FORUM, ChatKind::Forum, Some("4711"));
    let outcome = world.send(&text("hello?", &to)).await;
    assert_eq!(class(&outcome), Some(Rejection::Gone), "{outcome:?}");
    assert_eq!(
        world.asked("sendmessage").len(),
        1,
        "and nobody else hears it"
    );
    assert!(world.seen(FORUM).is_empty());
}

#[tokio::test]
async fn a_topic_is_opened_and_written_to() {
    let world = World::new().await;
    world.write(FORUM, "forum", "hello");
    let threads = world.telegram.abilities().threads.unwrap();
    let parent = place(FORUM, ChatKind::Forum, None);
    let to = in_time(threads.open(&parent, "A report")).await.unwrap();
    receipt(world.send(&text("done", &to)).await);
    let shown = world.vendor().chat(FORUM).messages.pop().unwrap();
    assert_eq!(
        shown.thread.as_deref(),
        to.thread.as_ref().map(ThreadId::as_str)
    );
    assert_eq!(
        world.asked("createforumtopic")[0]["name"],
        json!("A report")
    );
    // Not everywhere are there topics.
    world.write("-555", "group", "hello");
    let refused = in_time(threads.open(&place("-555", ChatKind::Group, None), "x")).await;
    assert_eq!(class(&refused.unwrap_err()), Some(Rejection::Invalid));
}

#[tokio::test]
async fn a_press_comes_from_the_thread_of_its_button() {
    let world = World::new().await;
    let to = asked(
        &world,
        Written {
            thread: Some("42".to_owned()),
            ..Written::to_chat(FORUM, "forum", (ADA, "hello"))
        },
    )
    .await;
    let sent = receipt(world.send(&with_buttons(text("may I?", &to))).await);
    let press = Press {
        message: sent.message.to_string(),
        button: "Approve".to_owned(),
        sender: ADA.to_owned(),
    };
    assert!(world.vendor().press(&press));
    let desk = Desk::open();
    world.while_connected(&desk, world.done()).await;
    let event = &desk.events()[0];
    assert_eq!(event.address.thread, to.thread);
    assert_eq!(event.address.chat_kind, ChatKind::Forum);
}

#[tokio::test]
async fn two_topics_are_two_places() {
    let world = World::new().await;
    for thread in ["42", "43"] {
        world.vendor().write(&Written {
            thread: Some(thread.to_owned()),
            ..Written::to_chat(FORUM, "forum", (ADA, thread))
        });
    }
    let desk = Desk::open();
    world.while_connected(&desk, world.done()).await;
    let events = desk.events();
    assert_ne!(events[0].address.target(), events[1].address.target());
    for event in &events {
        assert_eq!(
            event.address.thread.as_ref().unwrap().as_str(),
            content(event).text
        );
    }
}
