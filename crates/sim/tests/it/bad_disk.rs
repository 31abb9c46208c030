//! A full disk and a directory that cannot be written, for real: a small file system of the test's own, which ends with
//! the process that mounted it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use crate::SIM;

/// Runs a script in a mount namespace of its own, with an empty file system of `size` at `$D`.
fn on_own_disk(directory: &Path, size: &str, script: &str) -> Output {
    let script = format!("set -e; mount -t tmpfs -o size={size} none \"$D\"; cd \"$D\"; {script}");
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let mut command = Command::new("unshare");
    command.arg("--mount");
    if !is_root {
        command.arg("--map-root-user");
    }
    command
        .args(["sh", "-c", &script])
        .env("D", directory)
        .env("SIM", SIM);
    let output = command
        .output()
        .expect("unshare, of util-linux, is on every Linux machine");
    let mounted = !String::from_utf8_lossy(&output.stderr).contains("mount:");
    assert!(
        mounted,
        "this machine lets nobody mount a file system: {output:?}"
    );
    output
}

fn lines(bytes: &[u8]) -> BTreeSet<String> {
    String::from_utf8(bytes.to_vec())
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_full_disk_is_one_sentence_and_loses_nothing() {
    let (disk, notes) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let acknowledged = notes.path().join("acknowledged");
    let script = format!(
        "$SIM writers --store sqlite:$D/store.db >{} || true
         mount -o remount,size=64m \"$D\"
         $SIM check --store sqlite:$D/store.db",
        acknowledged.display()
    );
    let output = on_own_disk(disk.path(), "2m", &script);
    let told = String::from_utf8(output.stderr.clone()).unwrap();
    let expected = format!(
        "error: the disk that holds {}/store.db is full: free some space and try again\n",
        disk.path().display()
    );
    assert_eq!(told, expected);
    assert!(
        output.status.success(),
        "with room again, the store did not open: {output:?}"
    );
    let acknowledged = lines(&std::fs::read(acknowledged).unwrap());
    let stored = lines(&output.stdout);
    assert!(
        acknowledged.len() > 50,
        "the disk was full too soon to show anything"
    );
    assert_eq!(
        acknowledged.difference(&stored).next(),
        None,
        "acknowledged and not there"
    );
}

#[test]
fn a_directory_that_cannot_be_written_is_one_sentence_and_changes_nothing() {
    let disk = tempfile::tempdir().unwrap();
    let script = "
        $SIM writers --store sqlite:$D/store.db --writers 2 --messages 3 >/dev/null
        sum=$(cat * | cksum)
        mount -o remount,ro \"$D\"
        $SIM check --store sqlite:$D/store.db || true
        $SIM check --store sqlite:$D/fresh.db || true
        test \"$sum\" = \"$(cat * | cksum)\" && echo unchanged";
    let output = on_own_disk(disk.path(), "8m", script);
    let told = String::from_utf8(output.stderr).unwrap();
    let expected: String = ["store.db", "fresh.db"]
        .map(|file| {
            format!(
                "error: the store {}/{file} cannot be written (Read-only file system (os error 30)): \
                 check the directory's owner and permissions\n",
                disk.path().display()
            )
        })
        .concat();
    assert_eq!(told, expected);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "unchanged\n");
}
