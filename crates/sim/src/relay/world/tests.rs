//! What was acknowledged never comes again, what was not does; a message is there once.

use serde_json::{Value, json};
use talaria_domain::clock::Timestamp;

use super::{No, Offer, Terms, Wanted, World};
use crate::vendor::{World as _, Written};

const NOW: Timestamp = Timestamp::from_millis(5);

fn world(offer: Offer) -> World {
    World::on(Terms {
        limit: 10,
        ..Terms::offering(offer)
    })
}

fn write(world: &mut World, written: &Written) -> String {
    let deed = world.room_mut().write(written, NOW);
    let id = deed.message.clone();
    world.tell(deed);
    id
}

fn wanted(key: &str, text: &str) -> Wanted {
    let wanted = json!({ "key": key, "chat": "c", "text": text, "format": "markdown" });
    serde_json::from_value(wanted).unwrap()
}

fn offsets(page: &Value) -> Vec<u64> {
    let updates = page["updates"].as_array().unwrap();
    let offset = |update: &Value| update["offset"].as_u64().unwrap();
    updates.iter().map(offset).collect()
}

#[test]
fn what_was_not_acknowledged_comes_again() {
    let mut world = world(Offer::Plain);
    for text in ["one", "two", "three"] {
        write(&mut world, &Written::direct("ada", text));
    }
    let poll = world.open_poll(None);
    assert_eq!(offsets(&world.page(poll).unwrap()), [1, 2, 3]);
    let poll = world.open_poll(Some(2));
    assert_eq!(offsets(&world.page(poll).unwrap()), [3]);
    let poll = world.open_poll(None);
    assert_eq!(offsets(&world.page(poll).unwrap()), [3]);
    assert_eq!(world.backlog(), 1);
}

#[test]
fn an_update_is_written_as_the_protocol_has_it() {
    let mut world = world(Offer::Plain);
    let first = write(&mut world, &Written::direct("ada", "one"));
    let again = Written {
        edits: Some(first.clone()),
        text: "uno".to_owned(),
        reply_to: Some(first),
        ..Written::direct("ada", "")
    };
    write(&mut world, &again);
    let poll = world.open_poll(Some(1));
    assert_eq!(
        world.page(poll).unwrap()["updates"],
        json!([{
            "offset": 2, "id": "u2", "kind": "edited",
            "chat": { "id": "chat of ada", "kind": "direct" }, "thread": null, "message_id": "m1",
            "sender": { "id": "ada", "name": "ada", "bot": false }, "text": "uno", "mentioned": false,
            "reply_to": { "message_id": "m1", "text": "uno" }, "sent_at": 5,
        }])
    );
    let shown = &world.room().chat("chat of ada").unwrap().messages;
    assert_eq!((shown.len(), shown[0].edits), (1, 1));
}

#[test]
fn whoever_asks_last_is_listened_to() {
    let mut world = world(Offer::Plain);
    let first = world.open_poll(None);
    assert!(!world.is_ready(first));
    let second = world.open_poll(None);
    assert!(world.is_ready(first));
    assert_eq!(world.page(first).unwrap_err().status, 409);
    assert!(world.page(second).is_ok());
}

#[test]
fn a_key_makes_one_message_where_keys_are_offered() {
    for (offer, count) in [(Offer::Keys, 1), (Offer::Plain, 2), (Offer::Edits, 2)] {
        let mut world = world(offer);
        let first = world.post(wanted("k", "hello")).unwrap();
        let second = world.post(wanted("k", "hello")).unwrap();
        assert_eq!(first == second, count == 1, "{offer:?}");
        assert_eq!(
            world.room().chat("c").unwrap().messages.len(),
            count,
            "{offer:?}"
        );
    }
}

#[test]
fn a_message_is_changed_where_that_is_offered() {
    let mut world = world(Offer::Edits);
    let id = world.post(wanted("k", "one")).unwrap();
    world.change(&id, &wanted("k", "two")).unwrap();
    let shown = &world.room().chat("c").unwrap().messages[0];
    assert_eq!((shown.text.as_str(), shown.edits), ("two", 1));
    let theirs = write(&mut world, &Written::direct("ada", "mine"));
    for id in ["m99", &theirs] {
        let no = world.change(id, &wanted("k", "two")).unwrap_err();
        assert_eq!(no.status, 404, "{id}");
    }
    let mut plain = self::world(Offer::Plain);
    let id = plain.post(wanted("k", "one")).unwrap();
    let no = plain.change(&id, &wanted("k", "two")).unwrap_err();
    assert_eq!(no.code, "unsupported");
}

#[test]
fn a_text_has_to_fit() {
    let mut world = world(Offer::Plain);
    for (text, code) in [
        ("", "empty"),
        ("01234567890", "too_long"),
        ("01234567🦀x", "too_long"),
    ] {
        let no = No { status: 400, code };
        assert_eq!(world.post(wanted("k", text)), Err(no), "{text}");
    }
    assert!(world.post(wanted("k", "01234567🦀")).is_ok());
}
