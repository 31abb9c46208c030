//! Exactly one process writes a SQLite store. The second gets one sentence with the first one's pid.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crate::SIM;

#[test]
fn the_second_process_is_told_who_has_the_store() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let store = format!("sqlite:{}", path.display());
    let mut first = Command::new(SIM)
        .args(["writers", "--store", &store])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(first.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();

    let second = Command::new(SIM)
        .args(["check", "--store", &store])
        .output()
        .unwrap();
    assert!(!second.status.success());
    let expected = format!(
        "error: the store {} is in use by process {}: stop that gateway first, or talk to it\n",
        path.display(),
        first.id()
    );
    assert_eq!(String::from_utf8(second.stderr).unwrap(), expected);
    lines.next().unwrap().unwrap();

    first.kill().unwrap();
    first.wait().unwrap();
    let third = Command::new(SIM)
        .args(["check", "--store", &store])
        .output()
        .unwrap();
    assert!(
        third.status.success(),
        "a lock outlived its owner: {third:?}"
    );
}
