//! The nearest route counts, in whatever order they are written.

use talaria_domain::address::ChatKind;
use talaria_domain::principal::Role;

use super::*;

fn route_to(
    profile: &str,
    account: Option<&str>,
    (chat, thread): (Option<&str>, Option<&str>),
    user: Option<&str>,
) -> Route {
    Route {
        platform: "example".into(),
        account: account.map(Into::into),
        chat: chat.map(Into::into),
        thread: thread.map(Into::into),
        user: user.map(Into::into),
        profile: profile.into(),
    }
}

fn at(platform: &str, account: &str, chat: &str, thread: Option<&str>) -> Address {
    Address {
        platform: platform.into(),
        account: account.into(),
        chat_kind: ChatKind::Group,
        chat: chat.into(),
        thread: thread.map(Into::into),
        reply_to: None,
    }
}

fn person(user: &str, alternate: Option<&str>) -> Principal {
    Principal {
        platform: "example".into(),
        account: "bot".into(),
        user: user.into(),
        alternate: alternate.map(Into::into),
        display_name: None,
        role: Role::Member,
    }
}

#[test]
fn the_nearest_route_counts() {
    let room = (Some("room"), None);
    let topic = (Some("room"), Some("42"));
    let mut routes = vec![
        route_to("platform's", Some("bot"), (None, None), None),
        route_to("ada's", None, (None, None), Some("ada")),
        route_to("room's", None, room, None),
        route_to("room's by bot", Some("bot"), room, None),
        route_to("ada's in the room", None, room, Some("ada")),
        route_to("topic's", None, topic, None),
        route_to("topic's by bot", Some("bot"), topic, None),
    ];
    let table = [
        ("bot", "room", Some("42"), "ada", Some("topic's by bot")),
        ("other", "room", Some("42"), "ada", Some("topic's")),
        ("bot", "room", Some("7"), "ada", Some("ada's in the room")),
        ("bot", "room", None, "bob", Some("room's by bot")),
        ("other", "room", None, "bob", Some("room's")),
        ("other", "hall", None, "ada", Some("ada's")),
        ("bot", "hall", Some("42"), "bob", Some("platform's")),
        ("other", "hall", Some("42"), "bob", None),
    ];
    for _ in 0..routes.len() {
        for (account, chat, thread, user, expected) in table {
            let address = at("example", account, chat, thread);
            let found = route(&routes, &address, &person(user, None));
            let found = found.map(ProfileName::as_str);
            assert_eq!(found, expected, "{account} {chat} {thread:?} {user}");
        }
        routes.rotate_left(1);
    }
    let elsewhere = at("another", "bot", "room", Some("42"));
    assert_eq!(route(&routes, &elsewhere, &person("ada", None)), None);
}

#[test]
fn people_are_known_by_their_stable_id() {
    let routes = [route_to("ada's", None, (None, None), Some("ada"))];
    let address = at("example", "bot", "room", None);
    assert!(route(&routes, &address, &person("x", Some("ada"))).is_some());
    assert!(route(&routes, &address, &person("ada", Some("x"))).is_none());
}

#[test]
fn routes_that_name_the_same_are_equal_whoever_answers() {
    let room = (Some("room"), None);
    let one = route_to("a", None, room, None);
    assert!(one.is_equal(&route_to("b", None, room, None)));
    assert!(!one.is_equal(&route_to("a", Some("bot"), room, None)));
    assert!(!one.is_equal(&route_to("a", None, room, Some("ada"))));
    assert!(!one.is_equal(&route_to("a", None, (Some("room"), Some("1")), None)));
}
