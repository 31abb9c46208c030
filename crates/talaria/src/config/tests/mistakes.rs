//! What each mistake in the file is told as.

use super::{FILE, HIDDEN, mistakes, spot};

/// A file, the line, column and key of its mistake, and words of what is said about it.
type Mistake = (
    &'static str,
    (usize, usize, &'static str),
    &'static [&'static str],
);

const MISTAKES: &[Mistake] = &[
    (
        "[server]\nlisen = \"127.0.0.1:1\"",
        (2, 1, "server.lisen"),
        &[
            "unknown key",
            "`listen` or `public_url`",
            "did you mean `listen`?",
        ],
    ),
    (
        "[sever]\n",
        (1, 2, "sever"),
        &["unknown key", "did you mean `server`?"],
    ),
    (
        "\n\n[profile.assistant]\n  modle = \"demo\"",
        (4, 3, "profile.assistant.modle"),
        &["did you mean `model`?"],
    ),
    (
        "[profile.a.session]\nreset = { mod = \"none\" }",
        (2, 11, "profile.a.session.reset.mod"),
        &["did you mean `mode`?"],
    ),
    (
        "[[account]]\nplatform = \"telegram\"\n[[account]]\nplatform = \"slack\"\ntokn = \"x\"",
        (5, 1, "account[1].tokn"),
        &["did you mean `token`?"],
    ),
    (
        "[profile.a.state]\nenabled = true",
        (2, 1, "profile.a.state.enabled"),
        &["did you mean `enable`?"],
    ),
    (
        "[gateway]\nzzz = 1",
        (2, 1, "gateway.zzz"),
        &["unknown key", "`max_turns`"],
    ),
    (
        "[server]\nlisten = 4747",
        (2, 10, "server.listen"),
        &["string"],
    ),
    (
        "[server]\nlisten = \"everywhere\"",
        (2, 10, "server.listen"),
        &["127.0.0.1:4747", "everywhere"],
    ),
    (
        "[server]\nlisten = \"0.0.0.0:4747\"",
        (2, 10, "server.listen"),
        &["other machines", "public_url"],
    ),
    (
        "[server]\npublic_url = \"ftp://x\"",
        (2, 14, "server.public_url"),
        &["expected a url"],
    ),
    (
        "[store]\ndurability = \"forever\"",
        (2, 14, "store.durability"),
        &["`power`", "`process`"],
    ),
    (
        "[store]\nurl = \"mysql://root:hunter2@x/y\"",
        (2, 7, "store.url"),
        &["sqlite:PATH", "postgres://user@host/database"],
    ),
    (
        "[model.m]\nmodel = \"x\"",
        (1, 8, "model.m.provider"),
        &["missing", "`openai`", "`demo`"],
    ),
    (
        "[model.m]\nprovider = \"opnai\"\nmodel = \"x\"",
        (2, 12, "model.m.provider"),
        &["`openai`", "`anthropic`"],
    ),
    (
        "[model.m]\nprovider = \"openai\"",
        (1, 8, "model.m.model"),
        &["missing"],
    ),
    (
        "[model.m]\nprovider = \"demo\"\nwindow = -1",
        (3, 10, "model.m.window"),
        &["from 256"],
    ),
    (
        "[model.m]\nprovider = \"demo\"\nbase_url = \"http://a:hunter2@b\"",
        (3, 12, "model.m.base_url"),
        &["without user, password"],
    ),
    ("model = 3", (1, 9, "model"), &["[model.NAME]"]),
    (
        "[profile.a]\nmodel = \"mian\"\n[model.main]\nprovider = \"demo\"",
        (2, 9, "profile.a.model"),
        &["[model.mian]", "did you mean `main`?"],
    ),
    (
        "[profile.a]\nbusy = \"steal\"",
        (2, 8, "profile.a.busy"),
        &["`queue`", "`steer`", "`interrupt`"],
    ),
    (
        "[profile.a]\nrunner = \"magic\"",
        (2, 10, "profile.a.runner"),
        &["`native`", "`acp`"],
    ),
    (
        "[profile.a]\ntools = \"terminal\"",
        (2, 9, "profile.a.tools"),
        &["sequence"],
    ),
    (
        "[profile.a]\nstate = { scopes = [\"everybody\"] }",
        (2, 21, "profile.a.state.scopes"),
        &["`conversation`"],
    ),
    (
        "[profile.a.session]\nreset = { at_hour = 24 }",
        (2, 21, "profile.a.session.reset.at_hour"),
        &["from 0 to 23", "24"],
    ),
    (
        "[profile.a.session]\nreset = { mode = \"weekly\" }",
        (2, 18, "profile.a.session.reset.mode"),
        &["`daily`"],
    ),
    (
        "[gateway]\nmax_turns = 0",
        (2, 13, "gateway.max_turns"),
        &["from 1", "found 0"],
    ),
    (
        "[compat]\nhermes_env = \"yes\"",
        (2, 14, "compat.hermes_env"),
        &["boolean"],
    ),
    (
        "[[account]]\nplatform = \"irc\"",
        (2, 12, "account[0].platform"),
        &["no adapter", "`telegram` or `slack`"],
    ),
    (
        "[[account]]\nname = \"x\"",
        (1, 1, "account[0].platform"),
        &["missing"],
    ),
    (
        "[[account]]\nplatform = \"slack\"\nprofile = \"nobody\"",
        (3, 11, "account[0].profile"),
        &["[profile.nobody]"],
    ),
    (
        "[[account]]\nplatform = \"slack\"\n[[account]]\nplatform = \"slack\"\nname = \"default\"",
        (5, 8, "account[1].name"),
        &["a second account"],
    ),
    (
        "[[account]]\nplatform = \"slack\"\nstrangers = \"welcome\"",
        (3, 13, "account[0].strangers"),
        &["`pair`", "`ignore`"],
    ),
    (
        "[[account]]\nplatform = \"slack\"\nhome = { thread = \"1\" }",
        (3, 1, "account[0].home.chat"),
        &["missing"],
    ),
    ("account = \"x\"", (1, 11, "account"), &["[[account]]"]),
    (
        "[[route]]\nplatform = \"slack\"\nchat = \"1\"\nprofile = \"asistant\"",
        (4, 11, "route[0].profile"),
        &["did you mean `assistant`?"],
    ),
    (
        "[[route]]\nplatform = \"slack\"\nprofile = \"assistant\"",
        (1, 1, "route[0].chat"),
        &["missing"],
    ),
    ("[server\n", (1, 8, ""), &["expected"]),
    (
        "[server]\nlisten = \"a\"\nlisten = \"b\"",
        (3, 1, ""),
        &["duplicate"],
    ),
];

#[test]
fn each_mistake_names_its_place_its_key_and_what_was_expected() {
    for (text, place, words) in MISTAKES {
        let problems = mistakes(text);
        let all: Vec<_> = problems.iter().map(ToString::to_string).collect();
        let found = problems.iter().find(|problem| spot(problem) == *place);
        let found = found.unwrap_or_else(|| panic!("{text}\nis told as {all:#?}"));
        for word in *words {
            assert!(
                found.what.contains(word),
                "{text}\nsays {found}, not {word}"
            );
        }
        let (line, column, _) = place;
        assert!(
            found
                .to_string()
                .starts_with(&format!("{FILE}:{line}:{column}: "))
        );
        assert!(!all.concat().contains(HIDDEN), "{all:?} tells a secret");
    }
}

#[test]
fn one_mistake_does_not_hide_the_next() {
    let text = "[server]\nlisen = 1\nlisten = \"x\"\n[model.a]\nprovider = 1\n[model.b]\nprovider = 2\n[profile.p]\nmodel = \"a\"\nbusy = 3\n";
    let problems = mistakes(text);
    let lines: Vec<_> = problems.iter().map(|problem| spot(problem).0).collect();
    assert_eq!(lines, [2, 3, 5, 7, 10], "{problems:#?}");
}

#[test]
fn a_model_that_cannot_be_read_is_not_unknown_as_well() {
    let problems = mistakes("[model.m]\nprovider = 7\n[profile.p]\nmodel = \"m\"\n");
    assert_eq!(problems.len(), 1, "{problems:#?}");
}
