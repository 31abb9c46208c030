//! The answer is the gateway's own.

use crate::config::loaded_for_tests;

use super::*;

const FILE: &str = "
[profile.assistant]
tools = [\"terminal\"]

[profile.researcher]

[[runner]]
id = \"plugin:acme/weather/main\"
command = \"weather\"

[[binding]]
id = \"room\"
platform = \"telegram\"
account = \"main\"
chat = \"-100\"
runner = \"process\"
tools = [\"terminal\"]
state = { enable = false }

[[account]]
platform = \"telegram\"
name = \"main\"
token = \"x\"
allow = [\"7\"]

[[route]]
platform = \"telegram\"
chat = \"-100123\"
thread = \"42\"
profile = \"researcher\"
";

fn why(who: &str, at: Option<&str>) -> Explanation {
    let effective = loaded_for_tests(FILE);
    let who = person(who).unwrap();
    let (chat, thread) = at.map_or((None, None), |at| written(&who, at));
    let supposed = Supposed {
        who,
        chat: chat.map(Into::into),
        thread: thread.map(Into::into),
        command: None,
    };
    explain(Some(&effective), &supposed, "message", None)
}

fn fact(explanation: &Explanation, name: &str) -> String {
    let facts = explanation.facts();
    let found = facts.into_iter().find(|(other, _)| other.trim() == name);
    found.map_or_else(String::new, |(_, value)| value)
}

#[test]
fn the_nearest_binding_is_told_and_what_it_comes_before() {
    let room = why("telegram/main:7", Some("telegram:-100:42"));
    assert_eq!(
        fact(&room, "access"),
        "allowed as member: `allow` names them"
    );
    assert_eq!(fact(&room, "profile"), "assistant");
    assert_eq!(fact(&room, "binding"), "room");
    assert_eq!(fact(&room, "runner"), "plugin:acme/weather/main");
    assert_eq!(fact(&room, "before"), "profile:assistant");
    assert_eq!(
        (fact(&room, "tools"), fact(&room, "state")),
        ("terminal".to_owned(), "disabled".to_owned())
    );
    assert_eq!(
        room.to_json()["binding"]["scope"],
        "chat:\"telegram\"/\"main\"/\"-100\""
    );
    let alone = why("telegram/main:7", None);
    assert_eq!(
        fact(&alone, "binding"),
        "profile:assistant (what the profile says by itself)"
    );
    assert_eq!(fact(&alone, "runner"), "native");
}

#[test]
fn a_refusal_says_what_is_missing_where() {
    let stranger = why("telegram/main:8", None);
    assert_eq!(
        fact(&stranger, "access"),
        "refused: \"8\" is not in `roles` or `allow` of the account \"main\" on \"telegram\", is not paired, and the \
         chat is not in `groups.allow_chats`"
    );
    assert_eq!(fact(&stranger, "strangers"), "ignore");
    assert_eq!(stranger.to_json()["access"]["allowed"], false);
    let nowhere = why("telegram/other:7", None);
    assert_eq!(
        fact(&nowhere, "access"),
        "refused: no account \"other\" on \"telegram\" is configured"
    );
    assert_eq!(fact(&nowhere, "binding"), "none");
    assert_eq!(
        fact(&why("web:anybody", None), "access"),
        "allowed as member: a key was checked"
    );
}

#[test]
fn every_source_is_told_in_order() {
    let facts = why("telegram/main/7", Some("-100")).facts();
    let names: Vec<&str> = facts.iter().map(|(name, _)| name.trim()).collect();
    assert_eq!(
        names[..8],
        [
            "access",
            "mention",
            "roles",
            "allow",
            "pairing",
            "groups.allow_chats",
            "anyone",
            "profile"
        ]
    );
    assert_eq!(facts[3].1, "member");
}

#[test]
fn a_route_says_who_answers() {
    let room = why("telegram/main/7", Some("-100123:42"));
    assert_eq!(fact(&room, "profile"), "researcher");
    assert_eq!(
        fact(&room, "route"),
        "telegram chat \"-100123\" thread \"42\""
    );
    assert_eq!(room.to_json()["route"], fact(&room, "route"));
    let elsewhere = why("telegram/main/7", Some("-100123:7"));
    assert_eq!(fact(&elsewhere, "profile"), "assistant");
    assert_eq!(fact(&elsewhere, "route"), "");
}

#[test]
fn people_and_places_may_be_written_in_two_ways() {
    for text in ["telegram/main/7", "telegram/main:7"] {
        let who = person(text).unwrap();
        assert_eq!(
            (who.account.as_str(), who.user.as_str()),
            ("main", "7"),
            "{text}"
        );
    }
    let who = person("matrix/main/@ada:example.org").unwrap();
    assert_eq!(who.user.as_str(), "@ada:example.org");
    assert_eq!(person("web:anybody").unwrap().account.as_str(), "default");
    let who = person("telegram/main/7").unwrap();
    let place = |chat: Option<&str>, thread: Option<&str>| {
        (chat.map(str::to_owned), thread.map(str::to_owned))
    };
    let table = [
        ("-100", place(Some("-100"), None)),
        ("-100:42", place(Some("-100"), Some("42"))),
        ("telegram:-100:42", place(Some("-100"), Some("42"))),
        ("telegram", place(None, None)),
    ];
    for (text, expected) in table {
        assert_eq!(written(&who, text), expected, "{text}");
    }
}

#[test]
fn what_cannot_be_understood_is_told_with_what_was_expected() {
    for text in [
        "",
        "telegram",
        ":7",
        "telegram:",
        "/main:7",
        "telegram/:7",
        "a/b/",
    ] {
        let words = person(text).unwrap_err();
        assert!(words.contains("PLATFORM/ACCOUNT/USER"), "{words}");
    }
}
