//! Processes that get ready, that never do, and that end with their guard.

use std::fs;
use std::process::{Command, Stdio};

use super::Running;

fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn says_ready(line: &str) -> Option<&str> {
    line.strip_prefix("ready").map(str::trim_start)
}

#[test]
fn what_it_says_when_it_is_ready_is_given() {
    let mut command = sh(
        "echo first; echo ready one; echo ready two; cat /dev/zero | head -c 1000000; exec sleep 60",
    );
    let (_running, words) = Running::start(&mut command, says_ready).unwrap();
    assert_eq!(words, "one");
}

#[test]
fn one_that_ends_before_it_is_ready_is_an_error() {
    let error = Running::start(&mut sh("echo not yet"), says_ready).err();
    assert_eq!(error.unwrap().to_string(), "sh ended before it was ready");
}

#[test]
fn it_is_asked_to_end_and_has_ended_when_the_guard_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    let script = "trap 'echo asked > mark; exit' TERM; echo ready; while :; do sleep 0.01; done";
    let mut command = sh(script);
    command.current_dir(directory.path()).stdin(Stdio::null());
    drop(Running::start(&mut command, says_ready).unwrap());
    let mark = fs::read_to_string(directory.path().join("mark"));
    assert_eq!(mark.unwrap(), "asked\n");
}

#[test]
fn one_with_a_keyboard_is_ended_by_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = sh("echo ready; head -c 1 > mark");
    command.current_dir(directory.path()).stdin(Stdio::piped());
    drop(Running::start(&mut command, says_ready).unwrap());
    let mark = fs::read(directory.path().join("mark"));
    assert_eq!(mark.unwrap(), super::CTRL_C);
}
