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
            "`listen`, `public_url`, `cors_origins`",
            "did you mean `listen`?",
        ],
    ),
    (
        "[profile.a]\ntools = [\"terminal\"]\napprove = [\"terminl\"]",
        (3, 11, "profile.a.approve"),
        &["no tool \"terminl\"", "did you mean `terminal`?"],
    ),
    (
        "[server.callbacks]\nallow = [\"https://example.org/\"]\n",
        (1, 9, "server.callbacks.secret"),
        &["missing", "whsec_"],
    ),
    (
        "[server.callbacks]\nallow = [\"https://example.org/\"]\nsecret = { file = \"key\" }",
        (3, 10, "server.callbacks.secret"),
        &["at least 24 random bytes"],
    ),
    (
        "[server.callbacks]\nallow = [\"https://a.example/\", \"https://u@b.example/\"]\nsecret = \"0123456789abcdef0123456789abcdef\"",
        (2, 9, "server.callbacks.allow"),
        &["entry 2", "without user"],
    ),
    (
        "[server.callbacks]\nalow = []",
        (2, 1, "server.callbacks.alow"),
        &["did you mean `allow`?"],
    ),
    (
        "[server]\ncors_origins = [\"https://a.example\", \"*\"]",
        (2, 16, "server.cors_origins"),
        &["every page", "name each"],
    ),
    (
        "[server]\ncors_origins = [\"https://a.example/app\"]",
        (2, 16, "server.cors_origins"),
        &["https://app.example.org", "https://a.example/app"],
    ),
    (
        "[server]\ncors_origins = [\"null\"]",
        (2, 16, "server.cors_origins"),
        &["an origin such as"],
    ),
    (
        "[server]\nbody_limit_mb = 0",
        (2, 17, "server.body_limit_mb"),
        &["from 1 to 1024"],
    ),
    (
        "[server.limits]\nturns_per_second = -1",
        (2, 20, "server.limits.turns_per_second"),
        &["from 1 to"],
    ),
    (
        "[[account]]\nplatform = \"telegram\"\nrate = { chat = 0 }",
        (3, 17, "account[0].rate.chat"),
        &["from 1 to 1000"],
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
        "[[runner]]\nid = \"weather\"\ncommand = \"x\"",
        (2, 6, "runner[0].id"),
        &["plugin:AUTHOR/PLUGIN/RUNNER", "\"weather\""],
    ),
    (
        "[[runner]]\nid = \"native\"\ncommand = \"x\"",
        (2, 6, "runner[0].id"),
        &["built in"],
    ),
    (
        "[[runner]]\nid = \"plugin:a/b/c\"",
        (1, 1, "runner[0].command"),
        &["missing"],
    ),
    (
        "[[runner]]\nid = \"plugin:a/b/c\"\ncommand = \"x\"\nenv = [\"A=hunter2\"]",
        (4, 7, "runner[0].env"),
        &["names of environment variables"],
    ),
    (
        "[[runner]]\nid = \"plugin:a/b/c\"\ncommand = \"x\"\npermissions = { tools = [\"own\"] }",
        (4, 26, "runner[0].permissions.tools"),
        &["`detail`", "`call`"],
    ),
    (
        "[[runner]]\nid = \"plugin:a/b/c\"\ncommand = \"x\"\npermissions = { skills = [] }",
        (4, 17, "runner[0].permissions.skills"),
        &["unknown key", "`tools`"],
    ),
    (
        "[[binding]]\nrunner = \"plugin:a/b/c\"",
        (2, 10, "binding[0].runner"),
        &["id of a [[runner]]"],
    ),
    (
        "[[binding]]\nevents = [\"mess*\"]",
        (2, 10, "binding[0].events"),
        &["\"message\"", "mess*"],
    ),
    (
        "[[binding]]\nplatform = \"telegram\"\nprofile = \"a\"\n[profile.a]",
        (3, 11, "binding[0].profile"),
        &["not for both"],
    ),
    (
        "[[binding]]\nchat = \"5\"",
        (1, 1, "binding[0].platform"),
        &["missing"],
    ),
    (
        "[[binding]]\nplatform = \"web\"\nthread = \"5\"",
        (1, 1, "binding[0].chat"),
        &["missing"],
    ),
    (
        "[[binding]]\nplatform = \"telegram\"",
        (2, 12, "binding[0].platform"),
        &["no [[account]] \"default\""],
    ),
    (
        "[[binding]]\nprofile = \"asistant\"",
        (2, 11, "binding[0].profile"),
        &["did you mean `assistant`?"],
    ),
    (
        "[[binding]]\nid = \"one\"\n[[binding]]\nid = \"two\"\nevents = [\"message\", \"*\"]",
        (3, 1, "binding[1]"),
        &["binding[0] (one)", "binding[1] (two)", "the same events"],
    ),
    (
        "[[binding]]\nid = \"one\"\n[[binding]]\nid = \"one\"\nplatform = \"web\"",
        (3, 1, "binding[1]"),
        &["both called one"],
    ),
    (
        "[profile.a]\nrunner = \"native\"\n[[binding]]\nid = \"mine\"\nprofile = \"a\"",
        (2, 10, "profile.a.runner"),
        &["binding[0] (mine)", "profile.a.runner (profile:a)"],
    ),
    (
        "[profile.a]\nrunner = \"process\"",
        (2, 10, "profile.a.runner"),
        &["there is no [[runner]]"],
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
        "[gateway]\nzone = \"Mars/Olympus\"",
        (2, 8, "gateway.zone"),
        &["Mars/Olympus", "Europe/Berlin"],
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
        "[[route]]\nplatform = \"slack\"\nthread = \"1\"\nuser = \"2\"\nprofile = \"assistant\"",
        (1, 1, "route[0].chat"),
        &["missing"],
    ),
    (
        "[[route]]\nplatform = \"slack\"\naccount = \"nowhere\"\nchat = \"1\"\nprofile = \"assistant\"",
        (3, 11, "route[0].account"),
        &["no account \"nowhere\" of slack"],
    ),
    (
        "[[account]]\nplatform = \"slack\"\nroles = { owner = [\"*\"] }",
        (3, 19, "account[0].roles.owner"),
        &["belongs into `allow`"],
    ),
    (
        "[[account]]\nplatform = \"slack\"\nroles = { owner = [\"1\"], guest = [\"1\"] }",
        (3, 34, "account[0].roles.guest"),
        &["another role already"],
    ),
    (
        "[[account]]\nplatform = \"slack\"\ngroups = { mention = \"never\" }",
        (3, 22, "account[0].groups.mention"),
        &["required"],
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
