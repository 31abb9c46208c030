//! The nearest place, then the closest pattern; and what cannot be chosen between is a mistake.

use super::*;
use crate::address::ChatKind;

fn patterns(texts: &[&str]) -> Vec<EventPattern> {
    let parse = |text: &&str| EventPattern::parse(text).unwrap();
    texts.iter().map(parse).collect()
}

fn binding(id: &str, scope: BindingScope, events: &[&str]) -> Binding {
    Binding {
        id: id.into(),
        scope,
        events: patterns(events),
        runner: "native".into(),
        config: Map::new(),
        policy: Policy::default(),
    }
}

fn account(account: &str) -> BindingScope {
    BindingScope::Account {
        platform: "example".into(),
        account: account.into(),
    }
}

fn chat(chat: &str, thread: Option<&str>) -> BindingScope {
    BindingScope::Chat {
        platform: "example".into(),
        account: "bot".into(),
        chat: chat.into(),
        thread: thread.map(Into::into),
    }
}

fn profile(name: &str) -> BindingScope {
    BindingScope::Profile(name.into())
}

fn at(account: &str, chat: &str, thread: Option<&str>) -> Address {
    Address {
        platform: "example".into(),
        account: account.into(),
        chat_kind: ChatKind::Group,
        chat: chat.into(),
        thread: thread.map(Into::into),
        reply_to: None,
    }
}

#[test]
fn the_nearest_binding_counts_and_of_the_nearest_the_closest() {
    let bindings = [
        binding("everything", BindingScope::Global, &["*"]),
        binding("ours", profile("assistant"), &["*"]),
        binding("theirs", profile("other"), &["*"]),
        binding("by bot", account("bot"), &["message"]),
        binding("room", chat("room", None), &["*"]),
        binding("room jobs", chat("room", None), &["internal.*"]),
        binding("room ends", chat("room", None), &["internal.job_ended"]),
        binding("topic", chat("room", Some("7")), &["message"]),
    ];
    let table = [
        (
            "assistant",
            at("bot", "room", Some("7")),
            "message",
            "topic",
        ),
        ("assistant", at("bot", "room", Some("8")), "message", "room"),
        ("assistant", at("bot", "room", None), "message", "room"),
        ("assistant", at("bot", "room", Some("7")), "edited", "room"),
        (
            "assistant",
            at("bot", "room", None),
            "internal.board",
            "room jobs",
        ),
        (
            "assistant",
            at("bot", "room", None),
            "internal.job_ended",
            "room ends",
        ),
        ("assistant", at("bot", "hall", None), "message", "by bot"),
        (
            "assistant",
            at("bot", "hall", None),
            "internal.board",
            "ours",
        ),
        (
            "assistant",
            at("other", "room", Some("7")),
            "message",
            "ours",
        ),
        ("other", at("other", "room", None), "message", "theirs"),
        ("third", at("other", "room", None), "message", "everything"),
    ];
    for (profile, address, event, expected) in table {
        // In whatever order they are written down.
        let mut turned = bindings.to_vec();
        for _ in 0..bindings.len() {
            turned.rotate_left(1);
            let found = resolve(&turned, (&profile.into(), &address), event).unwrap();
            assert_eq!(found.id.as_str(), expected, "{profile} {address:?} {event}");
        }
    }
}

#[test]
fn none_and_two_equal_ones_are_said_with_their_names() {
    let bindings = [
        binding("one", account("bot"), &["message"]),
        binding("two", account("bot"), &["message", "edited"]),
    ];
    let profile: ProfileName = "assistant".into();
    let here = at("bot", "room", None);
    let found = resolve(&bindings, (&profile, &here), "message").unwrap_err();
    let words = found.to_string();
    assert!(words.contains("one") && words.contains("two"), "{words}");
    let found = resolve(&bindings, (&profile, &here), "edited").unwrap();
    assert_eq!(found.id.as_str(), "two");
    let found = resolve(&bindings, (&profile, &here), "command").unwrap_err();
    assert_eq!(found.to_string(), "no binding is for command here");
}

/// Whether two bindings, each with one place and its patterns, can never be chosen between.
fn clash(one: (BindingScope, &[&str]), other: (BindingScope, &[&str])) -> bool {
    let bindings = [
        binding("one", one.0, one.1),
        binding("other", other.0, other.1),
    ];
    let found = clashes(&bindings);
    assert!(found.is_empty() || found == [Clash { one: 0, other: 1 }]);
    !found.is_empty()
}

#[test]
fn what_can_never_be_chosen_between_is_found_before_anything_runs() {
    let bot = || account("bot");
    assert!(clash((bot(), &["message"]), (bot(), &["message"])));
    assert!(clash((bot(), &["message", "*"]), (bot(), &["*"])));
    let everywhere = || BindingScope::Global;
    assert!(clash((everywhere(), &["*"]), (everywhere(), &["*"])));
    let same_name = [
        binding("one", account("bot"), &["message"]),
        binding("one", account("other"), &["message"]),
    ];
    assert_eq!(clashes(&same_name).len(), 1, "they would share a memory");
}

#[test]
fn what_one_of_two_is_nearer_or_closer_for_is_no_clash() {
    let bot = || account("bot");
    assert!(!clash((bot(), &["message"]), (bot(), &["*"])));
    assert!(!clash(
        (bot(), &["message"]),
        (account("other"), &["message"])
    ));
    assert!(!clash(
        (bot(), &["message"]),
        (chat("room", None), &["message"])
    ));
    let topic = chat("room", Some("7"));
    assert!(!clash((chat("room", None), &["*"]), (topic, &["*"])));
    assert!(!clash(
        (BindingScope::Global, &["*"]),
        (profile("assistant"), &["*"])
    ));
}

#[test]
fn a_profile_that_nothing_is_for_has_gaps() {
    let ours: ProfileName = "assistant".into();
    let near = [
        binding("room", chat("room", None), &["*"]),
        binding("bot", account("bot"), &["*"]),
    ];
    assert_eq!(
        gaps(&near, &ours),
        BEGINNINGS,
        "it can be reached elsewhere"
    );
    let messages = [binding("ours", profile("assistant"), &["message"])];
    assert_eq!(gaps(&messages, &ours), BEGINNINGS[1..]);
    let both = [
        binding("ours", profile("assistant"), &["message"]),
        binding("rest", BindingScope::Global, &["internal.*"]),
    ];
    assert_eq!(gaps(&both, &ours), [""; 0]);
    assert_eq!(
        gaps(&[binding("theirs", profile("other"), &["*"])], &ours),
        BEGINNINGS
    );
}

#[test]
fn a_binding_is_known_by_its_scope_where_it_has_no_name() {
    let table = [
        (BindingScope::Global, "global"),
        (profile("assistant"), "profile:assistant"),
        (account("bot"), "account:\"example\"/\"bot\""),
        (chat("room", None), "chat:\"example\"/\"bot\"/\"room\""),
        (
            chat("room", Some("7")),
            "chat:\"example\"/\"bot\"/\"room\"/\"7\"",
        ),
    ];
    for (scope, expected) in table {
        assert_eq!(scope.identity().as_str(), expected);
    }
    assert_ne!(
        chat("a\"/\"b", None).identity(),
        chat("a", Some("b")).identity(),
        "no name can look like two"
    );
}

#[test]
fn patterns_are_names_families_or_everything() {
    for text in ["message", "internal.job_ended", "internal.*", "*"] {
        let pattern = EventPattern::parse(text).unwrap();
        assert_eq!(pattern.as_str(), text);
    }
    for text in [
        "",
        ".",
        "message.",
        ".*",
        "mess*",
        "Message",
        "a b",
        "internal.*.x",
        "**",
    ] {
        let error = EventPattern::parse(text).unwrap_err();
        assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
    }
    let family = EventPattern::parse("internal.*").unwrap();
    assert_eq!(family.closeness("internalise"), None);
    assert!(family.closeness("internal.board") > EventPattern::any().closeness("internal.board"));
}

#[test]
fn nothing_is_named_by_a_policy_that_says_nothing() {
    let policy = ResourcePolicy::default();
    for kind in ResourceKind::ALL {
        for name in ["main", "terminal", "plugin", "*", ""] {
            assert!(!policy.names(kind, name), "{kind:?} {name}");
        }
    }
}
