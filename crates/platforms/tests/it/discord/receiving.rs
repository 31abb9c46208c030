//! What somebody does on Discord becomes the event that it is, where it is.

use talaria_domain::address::ChatKind;
use talaria_domain::event::{Author, EventKind, Mention, ReactionChange};
use talaria_sim::discord::{On, Written, chat_id, thread_id, user_id};
use talaria_sim::vendor::Reaction;

use super::world::{Desk, World, part, receipt};

fn content(kind: &EventKind) -> &talaria_domain::event::Content {
    match kind {
        EventKind::Message(content) | EventKind::Edited(content) => content,
        other => panic!("unexpected {other:?}"),
    }
}

#[tokio::test]
async fn who_we_are_is_proved_first() {
    let world = World::start().await;
    let desk = Desk::open();
    world.connect_once(&desk).await;
    let met = desk.met.lock().unwrap().clone();
    let bot = user_id("bot 1");
    assert_eq!((met[0].id.as_str(), met[0].name.as_str()), (&*bot, "bot1"));
    let asked = world.vendor().requests();
    assert_eq!(asked[0].path, "/users/@me");
    let identify = asked.iter().find(|it| it.path == "identify").unwrap();
    assert_eq!(identify.body["intents"], 46_593);
    assert_eq!(identify.body["shard"], serde_json::json!([0, 1]));
}

#[tokio::test]
async fn every_place_has_its_address() {
    let world = World::start().await;
    let desk = Desk::open();
    let (general, news) = (chat_id("general"), chat_id("news"));
    let (ideas, direct) = (chat_id("ideas"), chat_id("chat of ada"));
    let cases = [
        ("general", "group", None, &general, ChatKind::Group),
        (
            "general",
            "group",
            Some("plans"),
            &general,
            ChatKind::Thread,
        ),
        ("news", "channel", None, &news, ChatKind::Channel),
        ("ideas", "forum", Some("an idea"), &ideas, ChatKind::Forum),
        ("chat of ada", "direct", None, &direct, ChatKind::Direct),
    ];
    let story = async {
        desk.was_kept(1).await;
        for (chat, kind, thread, ..) in cases {
            world.vendor().write(&Written {
                thread: thread.map(str::to_owned),
                ..Written::to_chat(chat, kind, ("ada", "hello"))
            });
        }
        desk.was_handed(cases.len()).await;
    };
    world.while_connected(&desk, story).await;
    for ((chat, _, thread, id, kind), event) in cases.into_iter().zip(desk.events()) {
        let address = event.address;
        assert_eq!(address.chat.as_str(), id, "{chat}");
        assert_eq!(address.chat_kind, kind, "{chat}");
        let thread = thread.map(thread_id);
        assert_eq!(address.thread.map(|it| it.to_string()), thread, "{chat}");
        let anchor = (kind != ChatKind::Direct)
            .then_some(event.message)
            .flatten();
        assert_eq!(address.reply_to, anchor, "{chat}");
        assert_eq!(event.principal.user.as_str(), user_id("ada"));
        assert_eq!(event.principal.display_name.as_deref(), Some("ada"));
    }
}

#[tokio::test]
async fn an_unknown_thread_is_asked_about_once() {
    let world = World::start().await;
    let desk = Desk::open();
    world.connect_once(&desk).await;
    let in_thread = |text: &str| Written {
        thread: Some("plans".to_owned()),
        ..Written::to_chat("general", "group", ("ada", text))
    };
    // A session that is taken up again does not begin with a guild.
    let after = World {
        discord: super::world::adapter(&world.server.url()),
        ..world
    };
    after.vendor().write(&in_thread("one"));
    after.vendor().write(&in_thread("two"));
    let again = Desk::after(&desk);
    after.while_connected(&again, again.was_handed(2)).await;
    let events = again.events();
    assert_eq!(
        events[1].address.thread.as_ref().unwrap().as_str(),
        thread_id("plans")
    );
    let lookups = after.asked(On::Other);
    let lookups = lookups.iter().filter(|it| it.contains("/channels/"));
    assert!(lookups.count() <= 2);
}

#[tokio::test]
async fn who_is_spoken_to_is_known_by_id() {
    let world = World::start().await;
    let desk = Desk::open();
    let story = async {
        desk.was_kept(1).await;
        world.say("hello");
        let ours = receipt(world.send(&part(1, "what is it?")).await).message;
        world.vendor().write(&Written {
            mentioned: true,
            ..Written::to_chat("general", "group", ("ada", "help"))
        });
        world.vendor().write(&Written {
            reply_to: Some(ours.to_string()),
            ..Written::to_chat("general", "group", ("ada", "this"))
        });
        world.say("@bot1 by name");
        world.vendor().write(&Written {
            bot: true,
            ..Written::to_chat("general", "group", ("another bot", "beep"))
        });
        desk.was_handed(5).await;
    };
    world.while_connected(&desk, story).await;
    assert_eq!(
        desk.texts(),
        ["hello", "help", "this", "@bot1 by name", "beep"]
    );
    let events = desk.events();
    let mentions: Vec<_> = events.iter().map(|it| content(&it.kind).mention).collect();
    let expected = [
        Mention::Absent,
        Mention::Direct,
        Mention::Reply,
        Mention::Absent,
        Mention::Absent,
    ];
    assert_eq!(mentions, expected);
    let quote = content(&events[2].kind).quote.clone().unwrap();
    assert_eq!(quote.text.as_deref(), Some("what is it?"));
    assert_eq!(quote.author.unwrap().user.as_str(), user_id("bot 1"));
    let authors: Vec<_> = events.iter().map(|it| content(&it.kind).author).collect();
    assert_eq!(authors[3..], [Author::Person, Author::Bot]);
}

#[tokio::test]
async fn changes_and_marks_are_events_of_their_own() {
    let world = World::start().await;
    let desk = Desk::open();
    let story = async {
        desk.was_kept(1).await;
        let id = world.say("one");
        world.vendor().write(&Written {
            edits: Some(id.clone()),
            ..Written::to_chat("general", "group", ("ada", "uno"))
        });
        for removed in [false, true] {
            world.vendor().react(&Reaction {
                message: id.clone(),
                reaction: "👍".to_owned(),
                sender: "ben".to_owned(),
                removed,
            });
        }
        desk.was_handed(4).await;
    };
    world.while_connected(&desk, story).await;
    let events = desk.events();
    assert_eq!(content(&events[1].kind).text, "uno");
    assert!(matches!(events[1].kind, EventKind::Edited(_)));
    assert_eq!(events[1].message, events[0].message);
    for (event, expected) in events[2..]
        .iter()
        .zip([ReactionChange::Added, ReactionChange::Removed])
    {
        let EventKind::Reaction { reaction, change } = &event.kind else {
            panic!("{event:?}");
        };
        assert_eq!((reaction.as_str(), *change), ("👍", expected));
        assert_eq!(event.principal.user.as_str(), user_id("ben"));
        assert_eq!(event.message, events[0].message);
    }
    let mut keys: Vec<_> = events.iter().map(|it| it.dedupe).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 4);
}

#[tokio::test]
async fn what_the_bot_itself_does_is_no_event() {
    let world = World::start().await;
    let desk = Desk::open();
    let story = async {
        desk.was_kept(1).await;
        world.say("one");
        receipt(world.send(&part(1, "re: one")).await);
        world.say("two");
        desk.was_handed(2).await;
    };
    world.while_connected(&desk, story).await;
    assert_eq!(desk.texts(), ["one", "two"]);
}

#[tokio::test]
async fn garbage_is_passed_over() {
    let world = World::start().await;
    let desk = Desk::open();
    let story = async {
        desk.was_kept(1).await;
        world.order(On::Socket, "400 garbage");
        world.say("one");
        world.say("two");
        desk.was_handed(2).await;
    };
    world.while_connected(&desk, story).await;
    assert_eq!(desk.texts(), ["one", "two"]);
}
