//! Every command says what it is for, with an example; what makes no sense is wrong usage.

use crate::program::Home;

const COMMANDS: &[&[&str]] = &[
    &[],
    &["up"],
    &["chat"],
    &["status"],
    &["doctor"],
    &["config"],
    &["config", "check"],
    &["config", "show"],
    &["config", "explain"],
    &["trace"],
    &["sessions"],
    &["sessions", "list"],
    &["sessions", "show"],
    &["sessions", "export"],
    &["dead"],
    &["dead", "list"],
    &["dead", "show"],
    &["dead", "replay"],
    &["dead", "drop"],
    &["jobs"],
    &["jobs", "list"],
    &["jobs", "show"],
    &["runs"],
    &["runs", "list"],
    &["runs", "revoke"],
    &["schedule"],
    &["schedule", "list"],
    &["schedule", "show"],
    &["schedule", "add"],
    &["schedule", "pause"],
    &["schedule", "resume"],
    &["schedule", "remove"],
    &["schedule", "run"],
    &["send"],
    &["key"],
    &["key", "create"],
    &["key", "list"],
    &["key", "revoke"],
    &["pair"],
    &["pair", "list"],
    &["pair", "approve"],
    &["pair", "deny"],
    &["pair", "revoke"],
    &["why"],
];

#[tokio::test]
async fn every_command_has_help_with_an_example() {
    let home = Home::empty();
    for command in COMMANDS {
        let help = home.run(&[*command, &["--help"]].concat()).await;
        help.shows(&["Usage:", "Example", "talaria"]);
        assert_eq!(help.err, "");
    }
}

#[tokio::test]
async fn commands_that_print_something_can_print_json() {
    let home = Home::empty();
    let silent: &[&[&str]] = &[
        &[],
        &["up"],
        &["chat"],
        &["config"],
        &["sessions"],
        &["dead"],
        &["jobs"],
        &["runs"],
        &["schedule"],
        &["key"],
        &["key", "revoke"],
        &["pair"],
    ];
    for command in COMMANDS.iter().filter(|command| !silent.contains(command)) {
        let help = home.run(&[*command, &["--help"]].concat()).await;
        help.shows(&["--json"]);
    }
}

#[tokio::test]
async fn help_is_whole_and_knows_its_version() {
    let home = Home::empty();
    let help = home.run(&["--help"]).await;
    help.shows(&[
        "up", "chat", "status", "doctor", "config", "trace", "sessions", "dead", "jobs", "runs",
        "send", "key", "pair", "why", "certify",
    ]);
    help.shows(&["69", "78"]);
    home.run(&["--version"]).await.shows(&["talaria "]);
}

#[tokio::test]
async fn what_makes_no_sense_is_wrong_usage() {
    let home = Home::empty();
    let wrong: &[&[&str]] = &[
        &["fly"],
        &["status", "--loud"],
        &["trace"],
        &["config"],
        &["config", "explain"],
        &["sessions", "burn"],
        &["sessions", "list", "--limit", "many"],
        &["key", "create", "x", "--scope", "everything"],
        &["send", "somewhere"],
        &["runs", "revoke", "0198c0de-0000-7000-8000-000000000001"],
        &[
            "runs",
            "revoke",
            "0198c0de-0000-7000-8000-000000000001",
            "everything",
        ],
        &["pair", "approve", "ABCD2345", "--role", "emperor"],
        &["why"],
    ];
    for arguments in wrong {
        let refused = home.run(arguments).await;
        refused.fails(2, &["--help"]);
        assert_eq!(refused.out, "");
    }
    home.run(&["status", "--loud"]).await.fails(2, &["--loud"]);
}
