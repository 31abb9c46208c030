//! The agent asks, and whoever talks to it answers, over a pipe and with nothing configured: the real binary.

use crate::program::Home;
use crate::starting::started;

#[tokio::test]
async fn the_next_line_answers_what_the_demo_asks() {
    let home = Home::empty();
    let gateway = started(&home).await;
    let lines = "ask: which colour? red | blue\n2\nhello\n";
    let done = home.run_with(&["chat"], &[], lines).await;
    done.shows(&["which colour?", "1. red", "2. blue", "`ask_user` answered"]);
    let (asked, told) = (
        done.out.find("which colour?").unwrap(),
        done.out.find("`ask_user` answered").unwrap(),
    );
    let answer = &done.out[told..];
    assert!(asked < told && answer.contains("\nblue\n"), "{}", done.out);
    assert!(answer.contains("You wrote: “hello”"), "{}", done.out);
    drop(gateway);
}

#[tokio::test]
async fn a_tool_that_needs_a_yes_is_asked_about_first() {
    let home = Home::empty();
    let profile = "[profile.assistant]\ntools = [\"terminal\"]\napprove = [\"terminal\"]\n";
    home.write("talaria.toml", profile, 0o600);
    let gateway = started(&home).await;
    let lines = "run: echo first\nno\nrun: echo second\nyes\n";
    let done = home.run_with(&["chat"], &[], lines).await;
    done.shows(&[
        "May I do this?",
        "command: echo first",
        "does not want this call",
    ]);
    let second = done.out.rfind("command: echo second").unwrap();
    assert!(done.out[second..].contains("\nsecond\n"), "{}", done.out);
    assert!(!done.out.contains("\nfirst\n"), "{}", done.out);
    drop(gateway);
}
