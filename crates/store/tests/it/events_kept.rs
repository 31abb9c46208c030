//! An event is read as it was recorded, though its row repeats nothing, and so is one from a store of before, whose row has
//! all of it twice.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::event::{Content, Event, EventKind, Hearing, InternalCause, Wishes};
use talaria_domain::ids::EventId;
use talaria_store::inbox::{self, Arrival};
use talaria_store::{bind, value};

use crate::world::World;

/// Events in which everything is known, nothing is, or something is null on purpose.
fn events(world: &World) -> Vec<Event> {
    let plain = world.said("ada", "a 'heron'\n");
    let mut bare = world.said("ada", "");
    bare.message = None;
    bare.sent_at = None;
    bare.principal.alternate = None;
    bare.principal.display_name = None;
    bare.address.thread = None;
    bare.address.reply_to = None;
    let mut full = world.said("ada", "all of it");
    full.message = Some("m1".into());
    full.sent_at = Some(world.now());
    full.principal.alternate = Some("another id".into());
    full.principal.display_name = Some("Ada".to_owned());
    full.address.thread = Some("t".into());
    full.address.reply_to = Some("m0".into());
    let mut odd = world.said("ada", "a \u{0} in it");
    odd.message = Some("m\u{0}1".into());
    odd.address.reply_to = Some("m\u{0}0".into());
    odd.principal.display_name = Some("A\u{0}a".to_owned());
    let wishes = Wishes {
        instructions: Some("be short".to_owned()),
        history: Some(Vec::new()),
        options: BTreeMap::from([("stop".to_owned(), Json::Null)]),
        window: Some(DeliveryWindow::InTurnOnly),
        may_be_asked: true,
        hearing: Hearing::AtItsEnd,
        callback: Some(full.address.clone()),
        profile: Some("assistant".into()),
    };
    let asks = |wishes| Event {
        kind: EventKind::Message(Content {
            text: "a program".to_owned(),
            wishes: Some(Box::new(wishes)),
            ..Content::default()
        }),
        ..world.said("ada", "")
    };
    let board = Event {
        kind: EventKind::Internal {
            cause: InternalCause::Board,
            text: "it moved".to_owned(),
        },
        ..world.said("ada", "")
    };
    vec![
        plain,
        bare,
        full,
        odd,
        asks(wishes),
        asks(Wishes::default()),
        board,
    ]
}

async fn records(world: &World, event: Event) -> EventId {
    let id = event.id;
    let arrival = Arrival::of(event, world.opening("ada")).unwrap();
    world.write(move |tx| inbox::record(tx, &arrival)).await;
    id
}

async fn kept(world: &World, id: EventId) -> Event {
    world.read(move |tx| inbox::get(tx, id)).await.event
}

both_engines! {
    async fn it_is_read_as_it_was(world) {
        for event in events(world) {
            let id = records(world, event.clone()).await;
            assert_eq!(kept(world, id).await, event);
        }
    }

    async fn a_row_from_before_is_read_the_same(world) {
        for event in events(world) {
            let id = records(world, event.clone()).await;
            let whole = value::to_json(&event).unwrap();
            let set = "UPDATE inbox SET event = ?2 WHERE event_id = ?1";
            world.write(move |tx| tx.execute(set, bind![id, whole])).await;
            assert_eq!(kept(world, id).await, event);
        }
    }

    async fn nothing_stands_in_it_twice(world) {
        let id = records(world, events(world).swap_remove(1)).await;
        let read = "SELECT event FROM inbox WHERE event_id = ?1";
        let found = world.read(move |tx| tx.row(read, bind![id], |row| row.json::<Json>(0))).await;
        assert_eq!(found.unwrap(), json!({
            "address": { "platform": "example", "account": "bot", "chat_kind": "direct", "chat": "chat of ada" },
            "principal": { "platform": "example", "account": "bot", "user": "ada", "role": "member" },
            "kind": { "kind": "message", "text": "", "attachments": [], "quote": null, "mention": "absent" },
        }));
    }
}
