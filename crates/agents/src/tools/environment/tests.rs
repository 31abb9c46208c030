//! Only what is on the list reaches a child.

use super::Environment;

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
        "PATHS",
        "LD_PRELOAD",
        "path",
        "LCX",
    ];
    let variables = names.map(|name| (name.to_owned(), "x".to_owned()));
    let kept = Environment::allowed(variables)
        .0
        .into_iter()
        .map(|(name, _)| name);
    let expected = names.iter().take(10).map(|name| (*name).to_owned());
    assert!(kept.eq(expected));
}

#[test]
fn a_value_is_found_by_name() {
    let environment = Environment(vec![("HOME".to_owned(), "/home/ada".to_owned())]);
    assert_eq!(environment.get("HOME"), Some("/home/ada"));
    assert_eq!(environment.get("USER"), None);
}
