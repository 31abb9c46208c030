//! What people write, as the agent gets it: where, who, to whom, what they answer.

use talaria_domain::address::ChatKind;
use talaria_domain::event::{AttachmentKind, Author, EventKind, Mention, ReactionChange};
use talaria_sim::vendor::{File, Reaction, Written};

use super::world::{
    ADA, BOT, Desk, FORUM, GROUP, USERNAME, World, content, part_of, place, receipt,
};

async fn heard(world: &World) -> Desk {
    let desk = Desk::open();
    world.while_connected(&desk, world.done()).await;
    desk
}

#[tokio::test]
async fn a_direct_message_says_where_and_who() {
    let world = World::new().await;
    world.vendor().write(&Written::direct("ada", "hello"));
    let desk = heard(&world).await;
    let event = &desk.events()[0];
    assert_eq!(event.address.chat_kind, ChatKind::Direct);
    assert_eq!(event.address.chat.as_str(), event.principal.user.as_str());
    assert_eq!(event.address.thread, None);
    assert_eq!(event.address.reply_to, None, "nobody else is there");
    assert_eq!(event.principal.display_name.as_deref(), Some("ada"));
    assert_eq!(event.message.as_ref().unwrap().as_str(), "1");
    assert!(event.sent_at.is_some());
    assert_eq!(content(event).mention, Mention::Absent);
}

#[tokio::test]
async fn a_group_is_answered_where_it_asked() {
    let world = World::new().await;
    let said = [
        ("to nobody", false, "to nobody", Mention::Absent),
        ("are you there?", true, "are you there?", Mention::Direct),
        (
            "/stop@sim_1000001_bot now",
            false,
            "/stop now",
            Mention::Direct,
        ),
        ("/stop", false, "/stop", Mention::Absent),
        ("/stop@another_bot", false, "", Mention::Absent),
        (
            "sim_1000001_bot is a name",
            false,
            "sim_1000001_bot is a name",
            Mention::Absent,
        ),
        (
            "ask @sim_1000001_bot, please",
            false,
            "ask @sim_1000001_bot, please",
            Mention::Direct,
        ),
        (
            "ask @another_bot, please",
            false,
            "ask @another_bot, please",
            Mention::Absent,
        ),
    ];
    for (text, mentioned, ..) in said {
        let written = Written {
            mentioned,
            ..Written::to_chat(GROUP, "group", (ADA, text))
        };
        world.vendor().write(&written);
    }
    let desk = heard(&world).await;
    let expected: Vec<_> = said
        .iter()
        .filter(|(_, _, text, _)| !text.is_empty())
        .collect();
    let events = desk.events();
    assert_eq!(events.len(), expected.len(), "{:?}", desk.texts());
    for (event, (.., text, mention)) in events.iter().zip(expected) {
        assert_eq!(
            (&*content(event).text, content(event).mention),
            (*text, *mention)
        );
        assert_eq!(event.address.chat_kind, ChatKind::Group);
        assert_eq!(
            event.address.reply_to, event.message,
            "the answer is anchored to it"
        );
    }
    assert!(USERNAME.contains(BOT));
}

#[tokio::test]
async fn an_answer_to_us_is_said_to_us() {
    let world = World::new().await;
    let first = world.write(GROUP, "group", "hello");
    let body = talaria_domain::delivery::PartBody::Text {
        markdown: "who is there?".to_owned(),
    };
    let ours = receipt(
        world
            .send(&part_of(1, body, place(GROUP, ChatKind::Group, None)))
            .await,
    );
    for answered in [ours.message.as_str(), first.as_str()] {
        let written = Written {
            reply_to: Some(answered.to_owned()),
            ..Written::to_chat(GROUP, "group", ("43", "me"))
        };
        world.vendor().write(&written);
    }
    let desk = heard(&world).await;
    let events = desk.events();
    let (to_us, to_ada) = (content(&events[1]), content(&events[2]));
    assert_eq!(
        (to_us.mention, to_ada.mention),
        (Mention::Reply, Mention::Absent)
    );
    let quote = to_us.quote.as_ref().unwrap();
    assert_eq!(
        (quote.message.as_str(), quote.text.as_deref()),
        (ours.message.as_str(), Some("who is there?"))
    );
    assert_eq!(quote.author.as_ref().unwrap().user.as_str(), BOT);
    let quote = to_ada.quote.as_ref().unwrap();
    assert_eq!(quote.author.as_ref().unwrap().user.as_str(), ADA);
    assert_eq!(events[1].address.thread, None, "an answer is no topic");
}

#[tokio::test]
async fn whoever_writes_in_a_topic_answers_nobody() {
    let world = World::new().await;
    let written = Written {
        thread: Some("42".to_owned()),
        ..Written::to_chat(FORUM, "forum", (ADA, "hello"))
    };
    world.vendor().write(&written);
    world.write(FORUM, "forum", "in General");
    let desk = heard(&world).await;
    let events = desk.events();
    let threads: Vec<_> = events
        .iter()
        .map(|event| event.address.thread.clone().unwrap())
        .collect();
    assert_eq!(threads, ["42".into(), "1".into()]);
    assert_eq!(events[0].address.chat_kind, ChatKind::Forum);
    assert_eq!(
        content(&events[0]).quote,
        None,
        "what opened the topic is no question"
    );
    assert_eq!(content(&events[0]).mention, Mention::Absent);
}

#[tokio::test]
async fn other_bots_and_channels_are_known_as_such() {
    let world = World::new().await;
    let bot = Written {
        bot: true,
        ..Written::to_chat(GROUP, "group", ("99", "beep"))
    };
    world.vendor().write(&bot);
    let channel = "-1001111111111";
    world.write(channel, "channel", "news");
    let desk = heard(&world).await;
    let events = desk.events();
    assert_eq!(content(&events[0]).author, Author::Bot);
    assert_eq!(events[1].address.chat_kind, ChatKind::Channel);
    assert_eq!(
        events[1].principal.user.as_str(),
        channel,
        "a channel speaks for itself"
    );
    assert_eq!(content(&events[1]).author, Author::Person);
}

#[tokio::test]
async fn what_comes_with_a_message_is_told() {
    let world = World::new().await;
    for (name, media_type) in [
        ("a.jpg", "image/jpeg"),
        ("b.pdf", "application/pdf"),
        ("c.ogg", "audio/ogg"),
        ("d.mp3", "audio/mpeg"),
        ("e.mp4", "video/mp4"),
        ("f.gif", "image/gif"),
        ("g.webp", "image/webp"),
    ] {
        let file = File {
            name: name.to_owned(),
            media_type: media_type.to_owned(),
            content: "content".to_owned(),
        };
        let written = Written {
            files: vec![file],
            album: Some("13".to_owned()),
            ..Written::to_chat(ADA, "direct", (ADA, "look"))
        };
        world.vendor().write(&written);
    }
    let desk = heard(&world).await;
    use AttachmentKind::{Audio, File as Document, Image, Video, Voice};
    let expected = [Image, Document, Voice, Audio, Video, Video, Image];
    assert_eq!(
        desk.events().len(),
        expected.len(),
        "each picture of an album is an event"
    );
    for (event, kind) in desk.events().iter().zip(expected) {
        let content = content(event);
        assert_eq!(content.text, "look");
        let [attachment] = content.attachments.as_slice() else {
            panic!("not one: {:?}", content.attachments);
        };
        assert_eq!((attachment.kind, attachment.size_bytes), (kind, Some(7)));
        assert!(!attachment.locator.contains("AAa-token"));
    }
    let names: Vec<_> = desk
        .events()
        .iter()
        .map(|event| content(event).attachments[0].file_name.clone())
        .collect();
    assert_eq!(names[1].as_deref(), Some("b.pdf"));
}

#[tokio::test]
async fn a_mark_is_an_event() {
    let world = World::new().await;
    let message = world.write(ADA, "direct", "hello");
    let desk = Desk::open();
    let story = async {
        // What nobody asked for is not kept: the first question says what we want to hear of.
        world.was_asked("getupdates", 2).await;
        for removed in [false, true] {
            let reaction = Reaction {
                message: message.clone(),
                reaction: "👍".to_owned(),
                sender: ADA.to_owned(),
                removed,
            };
            assert!(world.vendor().react(&reaction));
        }
        world.done().await;
    };
    world.while_connected(&desk, story).await;
    let events = desk.events();
    for (event, change) in events[1..]
        .iter()
        .zip([ReactionChange::Added, ReactionChange::Removed])
    {
        let reaction = "👍".to_owned();
        assert_eq!(event.kind, EventKind::Reaction { reaction, change });
        assert_eq!(event.message.as_ref().unwrap().as_str(), message);
        assert_eq!(event.principal.user.as_str(), ADA);
    }
    assert_eq!(events.len(), 3);
}

#[tokio::test]
async fn a_group_that_became_another_chat_keeps_its_own_number_from_then_on() {
    let world = World::new().await;
    world.write("-555", "group", "before");
    let after = world.vendor().with(|world| world.migrate("-555"));
    world.write("-555", "group", "after");
    let desk = heard(&world).await;
    assert_eq!(desk.texts(), ["before", "after"]);
    let chats: Vec<_> = desk
        .events()
        .iter()
        .map(|event| event.address.chat.to_string())
        .collect();
    assert_eq!(chats, ["-555".to_owned(), after.to_string()]);
    // It was told, so nothing is sent to where nobody is.
    let body = talaria_domain::delivery::PartBody::Text {
        markdown: "found you".to_owned(),
    };
    receipt(
        world
            .send(&part_of(1, body, place("-555", ChatKind::Group, None)))
            .await,
    );
    assert_eq!(world.asked("sendmessage").len(), 1);
}
