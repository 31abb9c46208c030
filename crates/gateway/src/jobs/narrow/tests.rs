//! It only ever gets less.

use super::*;

fn authority(tools: &[(&str, &[&str])]) -> Authority {
    let grant = |operations: &[&str]| Grant {
        operations: operations.iter().map(ToString::to_string).collect(),
        pinned: None,
    };
    let tools = tools
        .iter()
        .map(|(name, operations)| ((*name).to_owned(), grant(operations)));
    let models = [("main".to_owned(), grant(&["call"]))].into();
    Authority {
        grants: [
            (ResourceKind::Tool, tools.collect()),
            (ResourceKind::Model, models),
        ]
        .into(),
    }
}

fn named(tools: &[&str]) -> Vec<String> {
    tools.iter().map(ToString::to_string).collect()
}

#[test]
fn a_delegation_has_the_tools_that_are_named_and_allowed() {
    let parent = authority(&[("terminal", &["call"]), ("files", &["call"])]);
    let table = [
        (None, vec!["files", "terminal"]),
        (Some(named(&["files"])), vec!["files"]),
        (Some(named(&["files", "launch"])), vec!["files"]),
        (Some(named(&["launch"])), vec![]),
        (Some(named(&[])), vec![]),
    ];
    for (tools, expected) in table {
        let child = to_tools(&parent, tools.as_deref());
        let names: Vec<&String> = child.grants[&ResourceKind::Tool].keys().collect();
        assert_eq!(names, expected, "{tools:?}");
        assert!(child.allows(ResourceKind::Model, "main", "call"));
    }
}

#[test]
fn what_two_allow_is_what_each_of_them_allows() {
    let then = authority(&[("terminal", &["call", "configure"]), ("files", &["call"])]);
    let since = authority(&[("terminal", &["call"]), ("launch", &["call"])]);
    for both in [to_both(&then, &since), to_both(&since, &then)] {
        assert_eq!(both, authority(&[("terminal", &["call"])]));
    }
    let mut swapped = since;
    let tools = swapped.grants.get_mut(&ResourceKind::Tool).unwrap();
    tools.get_mut("terminal").unwrap().pinned = Some("another program".to_owned());
    let both = to_both(&then, &swapped);
    assert!(!both.allows(ResourceKind::Tool, "terminal", "call"));
}
