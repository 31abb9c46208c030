//! What a child gets: its own session, and nothing that is not on the list.

use std::collections::BTreeMap;

use talaria_domain::capabilities::DeliveryWindow;

use super::{MOST_BYTES, build};
use crate::context::latch::Latch;
use crate::context::tests::{stale, turn};
use crate::context::{Context, Environment, Variable};

fn engaged() -> Latch {
    let latch = Latch::released();
    latch.engage();
    latch
}

/// By name, and each name once.
fn built(environment: &Environment, context: &Context, latch: &Latch) -> BTreeMap<String, String> {
    let built = build(environment, context, latch);
    let count = built.len();
    let by_name: BTreeMap<_, _> = built.into_iter().collect();
    assert_eq!(by_name.len(), count, "a name is there twice");
    by_name
}

fn of_turn() -> Context {
    Context::of_turn(&turn("example", "key", DeliveryWindow::Always))
}

fn cleared() -> Context {
    let mut context = of_turn();
    context.clear();
    context
}

#[test]
fn the_latch_says_what_an_unset_variable_means() {
    let unset = Context::default;
    let platform = "TALARIA_SESSION_PLATFORM";
    for (context, latch, expected) in [
        (unset(), Latch::released(), Some("stale")),
        (unset(), engaged(), None),
        (cleared(), Latch::released(), Some("")),
        (cleared(), engaged(), Some("")),
        (of_turn(), Latch::released(), Some("example")),
        (of_turn(), engaged(), Some("example")),
    ] {
        let found = built(&stale(), &context, &latch);
        let found = found.get(platform).map(String::as_str);
        assert_eq!(found, expected, "{context:?} {latch:?}");
    }
}

#[test]
fn every_variable_that_is_unset_is_removed_once_there_was_a_session() {
    let found = built(&stale(), &Context::default(), &engaged());
    assert_eq!(found.into_keys().collect::<Vec<_>>(), ["PATH"]);
    let found = built(&stale(), &Context::default(), &Latch::released());
    assert_eq!(found.len(), 1 + Variable::ALL.len());
}

/// The session's are set, a schedule's are not, and the process has values for all of them.
#[test]
fn nothing_of_the_process_is_mixed_into_a_session() {
    let found = built(&stale(), &of_turn(), &engaged());
    assert_eq!(found.len(), 1 + 11);
    assert!(!found.values().any(|value| value == "stale"), "{found:?}");
}

#[test]
fn credentials_are_never_there() {
    let secret = "hunter2";
    let names = [
        "OPENAI_API_KEY",
        "TALARIA_API_KEY",
        "TALARIA_STORE_URL",
        "AWS_SECRET_ACCESS_KEY",
        "GH_TOKEN",
        "LC_API_KEY",
        "LC_TOKEN",
        "HERMES_API_KEY",
        "SSH_AUTH_SOCK",
    ];
    let variables = names.map(|name| (name.to_owned(), secret.to_owned()));
    let environment = Environment::allowed(variables).with_hermes_names();
    for context in [Context::default(), cleared(), of_turn()] {
        for latch in [Latch::released(), engaged()] {
            let found = built(&environment, &context, &latch);
            assert!(!found.values().any(|value| value == secret), "{found:?}");
            assert!(!names.iter().any(|name| found.contains_key(*name)));
        }
    }
}

#[test]
fn the_names_of_hermes_are_there_only_when_they_are_switched_on() {
    let ours = built(&stale(), &of_turn(), &engaged());
    assert!(!ours.keys().any(|name| name.starts_with("HERMES_")));
    let both = built(&stale().with_hermes_names(), &of_turn(), &engaged());
    assert_eq!(both.len(), 1 + 2 * 11);
    for variable in &Variable::ALL[..11] {
        assert_eq!(
            both.get(variable.hermes_name()),
            ours.get(variable.name()),
            "{variable:?}"
        );
    }
}

#[test]
fn what_a_child_cannot_be_given_is_empty() {
    let mut turn = turn("example", "key", DeliveryWindow::Always);
    for (name, expected) in [
        ("Ada".to_owned(), "Ada"),
        ("A\0da".to_owned(), ""),
        ("a".repeat(MOST_BYTES + 1), ""),
    ] {
        turn.return_to.requester.display_name = Some(name);
        let found = built(&stale(), &Context::of_turn(&turn), &engaged());
        assert_eq!(found["TALARIA_SESSION_USER_NAME"], expected);
    }
}

#[test]
fn the_names_are_those_that_programs_rely_on() {
    let names = Variable::ALL.map(Variable::name);
    let expected = [
        "TALARIA_SESSION_PLATFORM",
        "TALARIA_SESSION_SOURCE",
        "TALARIA_SESSION_CHAT_ID",
        "TALARIA_SESSION_CHAT_NAME",
        "TALARIA_SESSION_THREAD_ID",
        "TALARIA_SESSION_USER_ID",
        "TALARIA_SESSION_USER_NAME",
        "TALARIA_SESSION_KEY",
        "TALARIA_SESSION_ID",
        "TALARIA_SESSION_MESSAGE_ID",
        "TALARIA_SESSION_PROFILE",
        "TALARIA_CRON_AUTO_DELIVER_PLATFORM",
        "TALARIA_CRON_AUTO_DELIVER_CHAT_ID",
        "TALARIA_CRON_AUTO_DELIVER_THREAD_ID",
    ];
    assert_eq!(names, expected);
    let theirs = expected.map(|name| name.replace("TALARIA_", "HERMES_"));
    assert_eq!(Variable::ALL.map(Variable::hermes_name).as_slice(), theirs);
}
