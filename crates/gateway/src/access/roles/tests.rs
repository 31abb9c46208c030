//! The table is whole, and every role has all that a lower one has.

use super::*;
use crate::intake::command::COMMANDS as UNDERSTOOD;

#[test]
fn every_command_has_its_line_and_every_line_its_command() {
    for (name, _) in UNDERSTOOD {
        assert!(
            COMMANDS.iter().any(|(listed, _)| *listed == name),
            "/{name}"
        );
    }
    for (name, _) in COMMANDS {
        assert!(
            UNDERSTOOD.iter().any(|(known, _)| *known == name),
            "/{name}"
        );
    }
}

#[test]
fn who_may_use_what() {
    let table = [
        ("help", Role::Guest),
        ("whoami", Role::Guest),
        ("status", Role::Guest),
        ("stop", Role::Guest),
        ("new", Role::Guest),
        ("sessions", Role::Member),
        ("background", Role::Member),
        ("approve", Role::Member),
    ];
    for (name, least) in table {
        for role in Role::ALL {
            assert_eq!(may_use(role, name), role <= least, "{role:?} /{name}");
        }
    }
    assert!(may_use(Role::Guest, "nonsense"), "it does nothing");
}

#[test]
fn a_refusal_names_what_is_allowed() {
    let told = refusal(Role::Guest, "jobs");
    assert!(
        told.starts_with("You may not use /jobs. You may use /help"),
        "{told}"
    );
    assert!(told.contains("/stop") && !told.contains("/jobs,"), "{told}");
}

#[test]
fn guests_do_not_say_yes_and_do_not_stop_others() {
    for role in Role::ALL {
        let is_trusted = role != Role::Guest;
        assert_eq!(
            (may_approve(role), may_stop_others(role)),
            (is_trusted, is_trusted)
        );
    }
}
