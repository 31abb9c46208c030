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
";

fn why(who: &str, at: Option<&str>) -> Explanation {
    let effective = loaded_for_tests(FILE);
    let who = principal(who).unwrap();
    let at = place(&who, at).unwrap();
    explain(&effective, &who, &at, "message")
}

fn fact(explanation: &Explanation, name: &str) -> String {
    let facts = explanation.facts();
    let found = facts.into_iter().find(|(other, _)| *other == name);
    found.map_or_else(String::new, |(_, value)| value)
}

#[test]
fn the_nearest_binding_is_told_and_what_it_comes_before() {
    let room = why("telegram/main:7", Some("telegram:-100:42"));
    assert_eq!(fact(&room, "access"), "allowed");
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
        "refused: \"8\" is not in `allow` of the account \"main\" on \"telegram\""
    );
    assert_eq!(stranger.to_json()["access"]["allowed"], false);
    let nowhere = why("telegram/other:7", None);
    assert_eq!(
        fact(&nowhere, "access"),
        "refused: no account \"other\" on \"telegram\" is configured"
    );
    assert_eq!(fact(&nowhere, "binding"), "none");
    assert_eq!(fact(&why("web:anybody", None), "access"), "allowed");
}

#[test]
fn what_cannot_be_understood_is_told_with_what_was_expected() {
    for text in ["", "telegram", ":7", "telegram:", "/main:7", "telegram/:7"] {
        let words = principal(text).unwrap_err();
        assert!(words.contains("PLATFORM[/ACCOUNT]:USER"), "{words}");
    }
    let who = principal("telegram/main:7").unwrap();
    assert!(place(&who, Some("slack:1")).is_err());
}
