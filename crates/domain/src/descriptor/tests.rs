//! Ids are taken apart to the letter, and nobody permits what nobody knows.

use serde_json::json;

use super::*;

#[test]
fn a_runner_id_has_an_author_a_plugin_and_a_runner() {
    let table = [
        (
            "plugin:langbot/local-agent/default",
            "langbot/local-agent",
            "default",
        ),
        (
            "plugin:my-org_2/agent_7-b/v1_2",
            "my-org_2/agent_7-b",
            "v1_2",
        ),
        ("plugin:a:b/c/d", "a:b/c", "d"),
        ("native", "native", "native"),
    ];
    for (text, owner, runner) in table {
        let name = RunnerName::parse(text).unwrap();
        assert_eq!((name.owner().as_str(), name.runner()), (owner, runner));
        assert_eq!(name.to_string(), text, "there and back");
        assert_eq!(name.id(), RunnerId::from(text));
    }
}

#[test]
fn what_is_no_runner_id_says_why() {
    let part_count = |text: &str| NotARunner::PartCount(text.to_owned());
    let empty_part = |text: &str| NotARunner::EmptyPart(text.to_owned());
    let unknown = |text: &str| NotARunner::Unknown(text.to_owned());
    let table = [
        ("plugin:a/b", part_count("plugin:a/b")),
        ("plugin:a/b/c/d", part_count("plugin:a/b/c/d")),
        ("plugin:", part_count("plugin:")),
        ("plugin:/b/c", empty_part("plugin:/b/c")),
        ("plugin:a//c", empty_part("plugin:a//c")),
        ("plugin:a/b/", empty_part("plugin:a/b/")),
        ("plugin:a/ /c", empty_part("plugin:a/ /c")),
        ("local-agent", unknown("local-agent")),
        ("http://a/b/c", unknown("http://a/b/c")),
        ("builtin:a/b/c", unknown("builtin:a/b/c")),
        ("", unknown("")),
    ];
    for (text, expected) in table {
        let words = expected.to_string();
        assert_eq!(RunnerName::parse(text), Err(expected), "{text:?}");
        assert!(words.contains("AUTHOR/PLUGIN/RUNNER"), "{words}");
    }
    assert!(empty_part("x").to_string().contains("must be non-empty"));
}

#[test]
fn only_ids_from_outside_have_the_prefix() {
    assert!(RunnerName::is_plugin("plugin:a/b/c"));
    assert!(RunnerName::is_plugin("plugin:"));
    assert!(!RunnerName::is_plugin("native"));
    assert!(!RunnerName::is_plugin(""));
}

#[test]
fn capabilities_are_what_is_declared_and_grant_nothing() {
    let streaming = Descriptor {
        capabilities: [Capability::Streaming].into(),
        permissions: Permissions::default(),
        ..Descriptor::native()
    };
    assert!(streaming.can(Capability::Streaming));
    assert!(!streaming.can(Capability::ToolCalling));
    for kind in ResourceKind::ALL {
        let operations = streaming.permissions.operations(kind, "plugin");
        assert!(operations.is_empty(), "{kind:?}");
    }
    assert_eq!(streaming.permissions.rights().count(), 0);
}

#[test]
fn what_nobody_knows_cannot_be_permitted() {
    let known =
        json!({ "models": ["invoke", "stream"], "storage": ["plugin"], "history": ["page"] });
    let permissions: Permissions = serde_json::from_value(known).unwrap();
    let models = permissions.operations(ResourceKind::Model, "any");
    assert_eq!(models, ["invoke", "stream"].into());
    assert_eq!(
        permissions.rights().collect::<Vec<_>>(),
        [Right::HistoryPage]
    );
    for unknown in [
        json!({ "models": ["own"] }),
        json!({ "skills": ["activate"] }),
        json!({ "tools": "call" }),
        json!({ "tools": true }),
        json!({ "storage": ["elsewhere"] }),
    ] {
        let read = serde_json::from_value::<Permissions>(unknown.clone());
        assert!(read.is_err(), "{unknown}");
    }
}

#[test]
fn nothing_is_permitted_that_was_not_written_down() {
    let permissions: Permissions = serde_json::from_value(json!({})).unwrap();
    assert_eq!(permissions, Permissions::default());
    for kind in ResourceKind::ALL {
        assert!(permissions.operations(kind, "plugin").is_empty());
    }
}
