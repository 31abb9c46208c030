//! Sessions: what was not taken note of comes again, and what nobody was connected for does not come by itself.

use serde_json::{Value, json};
use talaria_domain::clock::Timestamp;

use super::super::names::{chat_id, user_id};
use super::super::wants::{No, Wanted};
use super::{Bot, Terms, World};
use crate::vendor::{World as _, Written};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn world() -> (World, Bot) {
    let mut world = World::on(Terms::for_tokens(["one", "two"]));
    let bot = world.bot("one").unwrap();
    (world, bot)
}

fn write(world: &mut World, written: &Written) -> String {
    let deed = world.room_mut().write(written, NOW);
    let id = deed.message.clone();
    world.tell(deed);
    id
}

fn say(world: &mut World, text: &str) -> String {
    write(world, &Written::to_chat("general", "group", ("ada", text)))
}

/// The names of everything that is told next.
fn told(world: &mut World, (id, line): &(String, u64)) -> Vec<String> {
    let mut names = Vec::new();
    while let Some(frame) = world.next(id, *line) {
        names.push(frame["t"].as_str().unwrap().to_owned());
    }
    names
}

fn wanted(body: &Value) -> Wanted {
    Wanted::read("application/json", body.to_string().as_bytes()).unwrap()
}

fn code(refused: Result<Value, No>) -> i64 {
    refused.unwrap_err().body["code"].as_i64().unwrap()
}

#[test]
fn a_session_is_told_everything_once_and_in_order() {
    let (mut world, bot) = world();
    say(&mut world, "before anybody was there");
    let session = world.begin(&bot);
    say(&mut world, "hello");
    write(&mut world, &Written::direct("ada", "psst"));
    let expected = ["READY", "GUILD_CREATE", "MESSAGE_CREATE", "MESSAGE_CREATE"];
    assert_eq!(told(&mut world, &session), expected);
    assert!(told(&mut world, &session).is_empty());
    assert_eq!(world.backlog(), 2);
    world.heard(&session.0, 4);
    assert_eq!(world.backlog(), 0);
}

#[test]
fn what_was_not_taken_note_of_comes_again() {
    let (mut world, bot) = world();
    let session = world.begin(&bot);
    say(&mut world, "one");
    say(&mut world, "two");
    told(&mut world, &session);
    let line = world.resume(&bot, &session.0, 4).unwrap();
    let again = (session.0.clone(), line);
    // The old connection does not have it any more.
    assert_eq!(world.next(&session.0, session.1), None);
    assert_eq!(told(&mut world, &again), ["MESSAGE_CREATE", "RESUMED"]);

    let other = world.bot("two").unwrap();
    assert_eq!(world.resume(&other, &session.0, 4), None, "not theirs");
    assert_eq!(world.resume(&bot, &session.0, 99), None, "from the future");
    assert_eq!(world.resume(&bot, "another", 0), None);
    world.forget_sessions();
    assert_eq!(world.resume(&bot, &session.0, 4), None);
}

#[test]
fn each_bot_is_a_bot_of_its_own() {
    let (mut world, bot) = world();
    let other = world.bot("two").unwrap();
    assert_ne!(bot.id, other.id);
    assert_eq!(world.bot("three"), None);
    let sessions = [world.begin(&bot), world.begin(&other)];
    let to_one = Written {
        to: Some(bot.id.clone()),
        ..Written::to_chat("general", "group", ("ada", "hello"))
    };
    write(&mut world, &to_one);
    assert!(told(&mut world, &sessions[0]).contains(&"MESSAGE_CREATE".to_owned()));
    assert!(!told(&mut world, &sessions[1]).contains(&"MESSAGE_CREATE".to_owned()));
    let mut open = World::on(Terms::for_tokens([]));
    assert!(open.bot("anything").is_some());
    assert!(open.bot("").is_none() && open.bot("no token").is_none());
}

#[test]
fn what_is_wrong_with_a_message_is_said_as_discord_says_it() {
    let (mut world, bot) = world();
    let theirs = say(&mut world, "hello");
    let general = chat_id("general");
    for (body, expected) in [
        (json!({ "content": "x".repeat(2_001) }), 50_035),
        (json!({ "content": "" }), 50_006),
        (json!({ "content": "x", "nonce": "x".repeat(26) }), 50_035),
        (
            json!({ "content": "x", "message_reference": { "message_id": "1" } }),
            50_035,
        ),
    ] {
        assert_eq!(
            code(world.post(&bot, &general, wanted(&body), NOW)),
            expected,
            "{body}"
        );
    }
    let hi = json!({ "content": "hi" });
    assert_eq!(code(world.post(&bot, "42", wanted(&hi), NOW)), 10_003);
    assert_eq!(code(world.change(&bot, &theirs, wanted(&hi), NOW)), 50_005);
    assert_eq!(code(world.change(&bot, "42", wanted(&hi), NOW)), 10_008);
    assert!(Wanted::read("application/json", b"{").is_err());
}

#[test]
fn a_nonce_is_one_message_for_one_bot() {
    let (mut world, bot) = world();
    say(&mut world, "hello");
    let general = chat_id("general");
    let other = world.bot("two").unwrap();
    let once = json!({ "content": "hi", "nonce": "n", "enforce_nonce": true });
    let mut ids = Vec::new();
    for bot in [&bot, &bot, &other] {
        let sent = world.post(bot, &general, wanted(&once), NOW).unwrap();
        ids.push(sent["id"].clone());
    }
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[0], ids[2]);
}

#[test]
fn a_channel_takes_only_so_much() {
    let mut world = World::on(Terms {
        limit: Some(1),
        ..Terms::for_tokens(["one"])
    });
    let bot = world.bot("one").unwrap();
    say(&mut world, "hello");
    let general = chat_id("general");
    let hi = json!({ "content": "hi" });
    assert!(world.post(&bot, &general, wanted(&hi), NOW).is_ok());
    let refused = world.post(&bot, &general, wanted(&hi), NOW).unwrap_err();
    assert_eq!(
        (refused.status, &refused.body["retry_after"]),
        (429, &json!(5.0))
    );
    let later = Timestamp::from_millis(NOW.as_millis() + 5_000);
    assert!(world.post(&bot, &general, wanted(&hi), later).is_ok());
}

#[test]
fn objects_look_like_discords() {
    let (mut world, bot) = world();
    let mentioned = Written {
        mentioned: true,
        ..Written::to_chat("general", "group", ("ada", "hello"))
    };
    let id = write(&mut world, &mentioned);
    let session = world.begin(&bot);
    let answer = Written {
        reply_to: Some(id.clone()),
        ..Written::to_chat("general", "group", ("ben", "yes?"))
    };
    write(&mut world, &answer);
    let mut last = Value::Null;
    while let Some(frame) = world.next(&session.0, session.1) {
        last = frame;
    }
    let body = &last["d"];
    assert_eq!(
        (&body["type"], &body["content"]),
        (&json!(19), &json!("yes?"))
    );
    assert_eq!(body["author"]["id"], user_id("ben"));
    assert_eq!(body["timestamp"], "2023-11-14T22:13:20.000000+00:00");
    let answered = &body["referenced_message"];
    assert_eq!(answered["id"], id);
    assert_eq!(answered["content"], format!("<@{}> hello", bot.id));
    assert_eq!(answered["mentions"][0]["id"], bot.id);
}
