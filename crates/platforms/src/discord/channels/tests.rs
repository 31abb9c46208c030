//! Each type of channel ("Channel Resource", channel types) has its kind of chat.

use talaria_domain::address::ChatKind;

use super::{Channels, MOST, Missing, Spot};
use crate::discord::wire::Channel;

fn channel(id: &str, kind: u8, parent: Option<&str>) -> Channel {
    Channel {
        id: id.to_owned(),
        kind,
        parent_id: parent.map(str::to_owned),
        last_message_id: None,
    }
}

#[test]
fn each_type_of_channel_has_its_place() {
    let mut channels = Channels::default();
    channels.learn(&channel("900", 4, None));
    for (id, kind) in [("100", 0), ("105", 5), ("115", 15), ("116", 16)] {
        // A channel's category is no parent of a conversation.
        channels.learn(&channel(id, kind, Some("900")));
    }
    for (kind, parent, chat, chat_kind) in [
        (0, None, "1", ChatKind::Group),
        (0, Some("900"), "1", ChatKind::Group),
        (1, None, "1", ChatKind::Direct),
        (2, None, "1", ChatKind::Group),
        (3, None, "1", ChatKind::Group),
        (5, None, "1", ChatKind::Channel),
        (13, None, "1", ChatKind::Group),
        (10, Some("105"), "105", ChatKind::Thread),
        (11, Some("100"), "100", ChatKind::Thread),
        (12, Some("100"), "100", ChatKind::Thread),
        (11, Some("115"), "115", ChatKind::Forum),
        (11, Some("116"), "116", ChatKind::Forum),
        // A thread below nothing is all that is known of it.
        (11, None, "1", ChatKind::Group),
    ] {
        channels.learn(&channel("1", kind, parent));
        let expected = Spot {
            chat: chat.to_owned(),
            thread: (chat != "1").then(|| "1".to_owned()),
            kind: chat_kind,
        };
        assert_eq!(channels.spot("1"), Ok(expected), "{kind} {parent:?}");
    }
}

#[test]
fn what_is_not_known_is_named() {
    let mut channels = Channels::default();
    assert_eq!(channels.spot("1"), Err(Missing("1".to_owned())));
    channels.learn(&channel("1", 11, Some("2")));
    assert_eq!(channels.spot("1"), Err(Missing("2".to_owned())));
    channels.assume("2", 0);
    assert_eq!(channels.spot("1").unwrap().chat, "2");
    channels.assume("1", 1);
    assert_eq!(channels.spot("1").unwrap().chat, "2", "known is known");
}

#[test]
fn no_more_is_remembered_than_fits() {
    let mut channels = Channels::default();
    for number in 0..=MOST {
        channels.learn(&channel(&number.to_string(), 0, None));
    }
    assert_eq!(channels.0.len(), MOST);
}
