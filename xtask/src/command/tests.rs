//! What a nested cargo may see of the environment, and that failures are told apart.

use std::process::Command;

use super::{is_set_by_cargo_run, root, succeed};

#[test]
fn a_nested_cargo_keeps_settings_but_not_the_package_it_was_started_for() {
    for variable in ["CARGO_PKG_NAME", "CARGO_MANIFEST_DIR", "OUT_DIR"] {
        assert!(is_set_by_cargo_run(variable), "{variable}");
    }
    for variable in ["CARGO_TARGET_DIR", "CARGO_HOME", "PATH", "RUSTFLAGS"] {
        assert!(!is_set_by_cargo_run(variable), "{variable}");
    }
}

#[test]
fn the_root_holds_the_workspace() {
    assert!(root().join("xtask/Cargo.toml").is_file());
}

#[test]
fn a_failing_program_is_named_with_its_status() {
    let error = succeed(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
    assert_eq!(error.to_string(), "sh ended with exit status: 3");
    assert!(succeed(Command::new("sh").args(["-c", "exit 0"])).is_ok());
    let error = succeed(&mut Command::new("no-such-program-here")).unwrap_err();
    assert_eq!(error.to_string(), "cannot start no-such-program-here");
}
