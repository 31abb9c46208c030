//! Whatever is sent to a thread is in that thread.

use talaria_domain::adapter::{Adapter as _, Mark, Outgoing, Sign};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::delivery::{Outcome, PartBody, Rejection};
use talaria_domain::event::{Attachment, AttachmentKind, ReactionChange};
use talaria_domain::question::{Button, Choice, PressToken, Prompt};
use talaria_sim::discord::{Written, chat_id, thread_id};

use super::world::{World, class, in_time, part, receipt};

/// A thread that somebody wrote in; gives it, and what they wrote.
fn thread(world: &World) -> (Address, String) {
    let written = Written {
        thread: Some("plans".to_owned()),
        ..Written::to_chat("general", "group", ("ada", "what now?"))
    };
    let id = world.vendor().write(&written).id;
    let address = Address {
        chat_kind: ChatKind::Thread,
        thread: Some(thread_id("plans").into()),
        reply_to: Some(id.as_str().into()),
        ..part(1, "").to
    };
    (address, id)
}

fn to(address: &Address, outgoing: Outgoing) -> Outgoing {
    Outgoing {
        to: address.clone(),
        ..outgoing
    }
}

#[tokio::test]
async fn every_kind_of_send_carries_its_thread() {
    let world = World::start().await;
    let (address, question) = thread(&world);
    let abilities = world.discord.abilities();

    let text = receipt(world.send(&to(&address, part(1, "…"))).await);
    let edit = abilities.edit.unwrap();
    receipt(in_time(edit.edit(&text, &to(&address, part(1, "this")))).await);

    let prompt = Some(Prompt {
        token: PressToken::from_random([7; 16]),
        buttons: vec![Button {
            label: "Approve".to_owned(),
            choice: Choice::Approve,
        }],
    });
    let asking = Outgoing {
        prompt,
        ..part(2, "may I?")
    };
    receipt(world.send(&to(&address, asking)).await);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.txt");
    std::fs::write(&path, "all is well").unwrap();
    let mut file = part(3, "");
    file.file = Some(path);
    file.part.body = PartBody::File {
        attachment: Attachment {
            kind: AttachmentKind::File,
            locator: String::new(),
            file_name: None,
            media_type: None,
            size_bytes: None,
            kept: None,
        },
        caption: "the report".to_owned(),
    };
    receipt(world.send(&to(&address, file)).await);

    let sign = abilities.typing.unwrap().sign(&address, Sign::On);
    assert!(matches!(in_time(sign).await, Outcome::Delivered { .. }));
    let marks = abilities.reactions.unwrap();
    let message = question.as_str().into();
    let mark = marks.mark((&address, &message), Mark::Seen, ReactionChange::Added);
    assert!(matches!(in_time(mark).await, Outcome::Delivered { .. }));

    let chat = world.vendor().chat("general");
    assert_eq!(chat.messages.len(), 4);
    for shown in &chat.messages {
        assert_eq!(shown.thread.as_deref(), Some("plans"), "{shown:?}");
    }
    for shown in &chat.messages[1..] {
        assert_eq!(shown.reply_to.as_deref(), Some(&*question), "{shown:?}");
    }
    assert_eq!(chat.messages[1].text, "this");
    assert_eq!(chat.messages[2].buttons.len(), 1);
    assert!(chat.messages[3].file.is_some());
    assert_eq!(chat.signs[0].thread.as_deref(), Some("plans"));
    assert_eq!(chat.messages[0].marks.len(), 1);
    // All of it was asked of the thread and not of the channel above it.
    let requests = world.vendor().requests();
    let above = format!("/channels/{}/", chat_id("general"));
    assert!(requests.iter().all(|it| !it.path.contains(&above)));
}

#[tokio::test]
async fn a_thread_is_opened() {
    let world = World::start().await;
    let asked = world.say("plan this");
    let threads = world.discord.abilities().threads.unwrap();
    let group = part(1, "").to;
    let anchored = Address {
        reply_to: Some(asked.as_str().into()),
        ..group.clone()
    };
    for (parent, name, number) in [(&group, "one", 1), (&anchored, "two", 2)] {
        let opened = in_time(threads.open(parent, name)).await.unwrap();
        assert_eq!(opened.chat, group.chat);
        assert_eq!(
            (opened.chat_kind, opened.reply_to.clone()),
            (ChatKind::Thread, None)
        );
        receipt(world.send(&to(&opened, part(number, "here"))).await);
        let shown = world.vendor().chat("general").messages.pop().unwrap();
        assert_eq!(shown.thread.map(Into::into), opened.thread);
    }
    let requests = world.vendor().requests();
    let paths: Vec<_> = requests
        .iter()
        .filter(|it| it.path.ends_with("/threads"))
        .collect();
    assert_eq!(paths[0].body["type"], 11);
    assert!(paths[1].path.contains(&asked));
    let long = "x".repeat(200);
    let opened = in_time(threads.open(&group, &long)).await;
    assert!(opened.is_ok(), "{opened:?}");
}

#[tokio::test]
async fn a_forum_post_is_opened_and_a_direct_chat_has_none() {
    let world = World::start().await;
    world.vendor().write(&Written {
        thread: Some("an idea".to_owned()),
        ..Written::to_chat("ideas", "forum", ("ada", "what if?"))
    });
    let threads = world.discord.abilities().threads.unwrap();
    let forum = Address {
        chat: chat_id("ideas").into(),
        chat_kind: ChatKind::Forum,
        ..part(1, "").to
    };
    let opened = in_time(threads.open(&forum, "another")).await.unwrap();
    assert_eq!(opened.chat_kind, ChatKind::Forum);
    receipt(world.send(&to(&opened, part(1, "here"))).await);
    let shown = world.vendor().chat("ideas").messages.pop().unwrap();
    assert_eq!(shown.thread.map(Into::into), opened.thread);
    let direct = Address {
        chat_kind: ChatKind::Direct,
        ..forum
    };
    let outcome = in_time(threads.open(&direct, "none")).await.unwrap_err();
    assert_eq!(class(&outcome), Some(Rejection::Invalid));
}
