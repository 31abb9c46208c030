//! Only what is on the list reaches a child.

use super::Environment;
use crate::context::Variable;

fn of(names: &[&str]) -> Environment {
    Environment::allowed(
        names
            .iter()
            .map(|name| ((*name).to_owned(), format!("value of {name}"))),
    )
}

#[test]
fn only_what_is_on_the_list_is_kept() {
    let names = [
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "LC_TIME",
        "TERM",
        "TMPDIR",
        "USER",
        "SHELL",
        "TZ",
        "OPENAI_API_KEY",
        "TALARIA_API_KEY",
        "TALARIA_STORE_URL",
        "PATHS",
        "LD_PRELOAD",
        "path",
        "LCX",
    ];
    let environment = of(&names);
    let kept = environment.iter().map(|(name, _)| name);
    assert!(kept.eq(names.into_iter().take(10)));
}

#[test]
fn a_credential_is_not_kept_because_its_name_looks_like_one_on_the_list() {
    let environment = of(&[
        "LC_API_KEY",
        "LC_TOKEN",
        "LC_SECRET",
        "LC_",
        "PATH_PASSWORD",
        "HOME_KEY",
        "TALARIA_SESSION_TOKEN",
        "HERMES_SESSION_SECRET",
    ]);
    assert_eq!(environment, Environment::default());
}

#[test]
fn a_value_is_found_by_name() {
    let environment = of(&["HOME"]);
    assert_eq!(environment.get("HOME"), Some("value of HOME"));
    assert_eq!(environment.get("USER"), None);
}

#[test]
fn session_variables_of_the_process_are_known_and_are_not_every_childs() {
    let environment = of(&Variable::ALL.map(Variable::name));
    assert_eq!(environment.iter().len(), 0);
    for variable in Variable::ALL {
        let expected = format!("value of {}", variable.name());
        assert_eq!(environment.inherited(variable), Some(expected.as_str()));
    }
}

#[test]
fn the_names_of_hermes_count_only_when_they_are_switched_on() {
    let platform = Variable::Platform;
    let theirs = of(&[platform.hermes_name()]);
    assert_eq!(theirs.inherited(platform), None);
    let theirs = theirs.with_hermes_names();
    assert_eq!(
        theirs.inherited(platform),
        Some("value of HERMES_SESSION_PLATFORM")
    );
    let both = of(&[platform.hermes_name(), platform.name()]).with_hermes_names();
    assert_eq!(
        both.inherited(platform),
        Some("value of TALARIA_SESSION_PLATFORM")
    );
}
