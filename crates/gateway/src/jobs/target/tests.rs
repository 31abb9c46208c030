//! A table of what agents name.

use super::*;

fn target(platform: &str, chat: &str, thread: Option<&str>) -> Target {
    Target {
        platform: platform.into(),
        chat: chat.into(),
        thread: thread.map(Into::into),
    }
}

#[test]
fn a_target_is_a_place_or_words_why_not() {
    let table = [
        ("example:room", Ok(target("example", "room", None))),
        (" example:room ", Ok(target("example", "room", None))),
        ("example:-100:42", Ok(target("example", "-100", Some("42")))),
        (
            "example:room:$event:home",
            Ok(target("example", "room", Some("$event:home"))),
        ),
        ("example", Err("say which chat: example:CHAT")),
        ("", Err("expected a target")),
        (":", Err("expected a target")),
        ("example:", Err("expected a target")),
        ("example:room:", Err("expected a target")),
        (":room", Err("expected a target")),
    ];
    for (text, expected) in table {
        match (parse(text), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text:?}"),
            (Err(words), Err(expected)) => assert!(words.contains(expected), "{text:?}: {words}"),
            (found, expected) => panic!("{text:?} is {found:?}, expected {expected:?}"),
        }
    }
}
