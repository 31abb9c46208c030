//! Who hears what, and what is kept until it was acknowledged.

use talaria_domain::clock::Timestamp;

use super::{Terms, Token, World};
use crate::vendor::{World as _, Written};

fn write(world: &mut World, written: &Written) {
    let deed = world.room.write(written, Timestamp::from_millis(5_000));
    world.tell(deed);
}

#[test]
fn a_token_is_a_bot_or_it_is_not() {
    let mut world = World::on(&Terms::of(["1:a", "2:b"]));
    assert_eq!(world.bot("2:b"), Token::Bot(1));
    assert_eq!(world.bot("3:c"), Token::Unknown);
    for malformed in ["", "1", "a:b", "-1:a", "1:"] {
        assert_eq!(world.bot(malformed), Token::Malformed, "{malformed}");
    }
    world.revoke("1:a");
    assert_eq!(
        (world.bot("1:a"), world.bot("2:b")),
        (Token::Unknown, Token::Bot(1))
    );
}

#[test]
fn where_any_token_will_do_the_first_hears_what_was_said_before() {
    let mut world = World::on(&Terms::default());
    write(&mut world, &Written::direct("ada", "early"));
    assert_eq!(world.backlog(), 0);
    assert_eq!(world.bot("9:x"), Token::Bot(0));
    assert_eq!(world.backlog(), 1);
}

#[test]
fn only_whom_it_is_for_hears_it() {
    let mut world = World::on(&Terms::of(["1:a", "2:b"]));
    let to_second = Written {
        to: Some("2".to_owned()),
        ..Written::direct("ada", "psst")
    };
    write(&mut world, &to_second);
    write(&mut world, &Written::direct("ada", "all"));
    let counts: Vec<usize> = world.bots.iter().map(|bot| bot.queue.len()).collect();
    assert_eq!(counts, [1, 2]);
}

#[test]
fn what_is_acknowledged_does_not_come_again() {
    let mut world = World::on(&Terms::of(["1:a"]));
    for text in ["one", "two", "three"] {
        write(&mut world, &Written::direct("ada", text));
    }
    let queue = &mut world.bots[0].queue;
    let texts = |page: &serde_json::Value| -> Vec<String> {
        let page = page.as_array().unwrap().iter();
        page.map(|update| update["message"]["text"].as_str().unwrap().to_owned())
            .collect()
    };
    for (offset, expected) in [
        (0, vec!["one", "two", "three"]),
        (0, vec!["one", "two", "three"]),
        (2, vec!["two", "three"]),
        (-1, vec!["three"]),
        (4, vec![]),
    ] {
        let poll = queue.open_poll(offset);
        assert_eq!(
            texts(&queue.page(poll, None).unwrap()),
            expected,
            "{offset}"
        );
    }
    let (first, second) = (queue.open_poll(0), queue.open_poll(0));
    assert_eq!(queue.page(first, None).unwrap_err().code, 409);
    assert!(queue.page(second, None).is_ok());
}

#[test]
fn a_chat_with_one_person_has_their_number() {
    let mut world = World::on(&Terms::of(["1:a"]));
    write(&mut world, &Written::direct("ada", "hello"));
    write(
        &mut world,
        &Written::to_chat("77", "direct", ("ben", "hello")),
    );
    write(
        &mut world,
        &Written::to_chat("room", "group", ("ada", "hello")),
    );
    let poll = world.bots[0].queue.open_poll(0);
    let page = world.bots[0].queue.page(poll, None).unwrap();
    let ids = |at: usize| {
        (
            page[at]["message"]["chat"]["id"].clone(),
            page[at]["message"]["from"]["id"].clone(),
        )
    };
    assert_eq!(ids(0).0, ids(0).1);
    assert_eq!(ids(1).0, 77);
    assert_eq!(ids(1).1, 77);
    assert_eq!(ids(2).1, ids(0).1, "ada is ada everywhere");
    assert_eq!(page[2]["message"]["chat"]["type"], "supergroup");
}
