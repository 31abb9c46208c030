//! What was acknowledged never comes again, what was not does, over whichever socket is open.

use serde_json::{Value, json};
use talaria_domain::clock::Timestamp;

use super::{Bot, Terms, World};
use crate::vendor::{File, Press, World as _, Written};

const NOW: Timestamp = Timestamp::from_millis(5_000);

fn world() -> World {
    World::on(Terms::serving(vec![Bot::numbered(1), Bot::numbered(2)]))
}

fn write(world: &mut World, written: &Written) -> String {
    let deed = world.room_mut().write(written, NOW);
    let id = deed.message.clone();
    world.tell(deed);
    id
}

fn direct(text: &str) -> Written {
    Written {
        to: Some("U0BOT0001".to_owned()),
        ..Written::to_chat("D0ADA", "direct", ("U0ADA", text))
    }
}

/// Everything that is told on a way.
fn told(world: &mut World, way: u64) -> Vec<Value> {
    let letters = std::iter::from_fn(|| world.next_letter(way));
    letters.map(|letter| letter.envelope()).collect()
}

#[test]
fn what_was_not_acknowledged_comes_again() {
    let mut world = world();
    for text in ["one", "two"] {
        write(&mut world, &direct(text));
    }
    let way = world.open_way(0);
    let first = told(&mut world, way);
    assert_eq!(first.len(), 2);
    assert!(!world.has_letter(way), "each is told once");
    world.acknowledge(first[0]["envelope_id"].as_str().unwrap());
    world.close_way(way);
    let way = world.open_way(0);
    let again = told(&mut world, way);
    assert_eq!(again.len(), 1);
    assert_eq!(again[0]["payload"], first[1]["payload"]);
    assert_ne!(again[0]["envelope_id"], first[1]["envelope_id"]);
    assert_eq!(
        (&first[1]["retry_attempt"], &again[0]["retry_attempt"]),
        (&json!(0), &json!(1))
    );
    world.acknowledge(again[0]["envelope_id"].as_str().unwrap());
    assert_eq!(world.backlog(), 0);
}

#[test]
fn everybody_hears_unless_somebody_is_named() {
    let mut world = world();
    write(&mut world, &direct("psst"));
    let all = Written {
        to: None,
        ..direct("all")
    };
    write(&mut world, &all);
    let (first, second) = (world.open_way(0), world.open_way(1));
    assert_eq!(told(&mut world, first).len(), 2);
    assert_eq!(told(&mut world, second).len(), 1);
}

#[test]
fn a_message_is_written_as_slack_writes_it() {
    let mut world = world();
    let mentioned = Written {
        mentioned: true,
        files: vec![File {
            name: "a.txt".to_owned(),
            media_type: "text/plain".to_owned(),
            content: "abc".to_owned(),
        }],
        to: Some("U0BOT0001".to_owned()),
        ..Written::to_chat("C0ROOM", "channel", ("U0ADA", "a < b & <@U0BEN>"))
    };
    let ts = write(&mut world, &mentioned);
    assert_eq!(ts, "1700000001.000001");
    let way = world.open_way(0);
    let told = told(&mut world, way);
    let event = &told[0]["payload"]["event"];
    assert_eq!(event["text"], "<@U0BOT0001> a &lt; b &amp; <@U0BEN>");
    assert_eq!(event["subtype"], "file_share");
    assert_eq!(event["files"][0]["size"], 3);
    assert_eq!(event["channel_type"], "channel");
    let mention = &told[1]["payload"]["event"];
    assert_eq!(mention["type"], "app_mention");
    assert_eq!(mention["ts"], event["ts"]);
    assert_eq!(mention.get("channel_type"), None);
    assert_ne!(
        told[0]["payload"]["event_id"],
        told[1]["payload"]["event_id"]
    );
}

#[test]
fn a_press_tells_which_button_of_which_message() {
    let mut world = world();
    let asked = json!({
        "channel": "C0ROOM", "text": "?", "blocks": [
            { "type": "section", "text": { "type": "mrkdwn", "text": "May I?" } },
            { "type": "actions", "block_id": "b1", "elements": [{
                "type": "button", "text": { "type": "plain_text", "text": "Yes" }, "action_id": "x.0", "value": "v",
            }]},
        ],
    });
    let asked = asked.as_object().unwrap();
    let answer = super::super::methods::answer(&mut world, 0, "chat.postMessage", asked);
    let ts = answer.unwrap()["ts"].as_str().unwrap().to_owned();
    let press = Press {
        message: ts.clone(),
        button: "Yes".to_owned(),
        sender: "U0ADA".to_owned(),
    };
    let deed = world.room_mut().press(&press, NOW).unwrap();
    world.tell(deed);
    let way = world.open_way(0);
    let told = told(&mut world, way);
    let press = &told[1]["payload"];
    assert_eq!(told[1]["type"], "interactive");
    assert_eq!(press["actions"][0]["action_id"], "x.0");
    assert_eq!(press["actions"][0]["block_id"], "b1");
    assert_eq!(press["actions"][0]["value"], "v");
    assert_eq!(press["container"]["message_ts"], json!(ts));
    assert_eq!(press["message"]["text"], "May I?");
}

#[test]
fn a_ticket_counts_once() {
    let mut world = world();
    let ticket = world.ticket(1);
    assert!(world.admit("another").is_none());
    let way = world.admit(&ticket).unwrap();
    assert!(world.admit(&ticket).is_none());
    assert_eq!(world.hello(way)["num_connections"], 1);
    assert_eq!(world.hello(way)["connection_info"]["app_id"], "A0APP0002");
}

#[test]
fn a_token_stands_for_one_bot() {
    let bots = [
        Bot::numbered(1).let_in_by("xoxb-1").connected_by("xapp-1"),
        Bot::numbered(2).let_in_by("xoxb-2").connected_by("xapp-2"),
    ];
    let mut world = World::on(Terms::serving(bots.to_vec()));
    assert_eq!(world.bot_by("xoxb-2"), Some(1));
    assert_eq!(world.app_by("xapp-1"), Some(0));
    for token in ["", "xoxb-3", "xapp-1"] {
        assert_eq!(world.bot_by(token), None, "{token}");
    }
    world.revoke("xoxb-2");
    assert_eq!(world.bot_by("xoxb-2"), None);
    let open = World::on(Terms::default());
    assert_eq!(open.bot_by("xoxb-anything"), Some(0));
    assert_eq!(open.bot_by("anything"), None);
}
