//! Other programs: where they are, how they are started, with which environment.
//!
//! What `cargo run` sets for its child is taken from the cargo commands started here: build
//! scripts watch those variables, and would rebuild each time one comes from here or from a shell.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

#[cfg(test)]
mod tests;

const SET_BY_CARGO_RUN: [&str; 6] = [
    "CARGO_BIN_NAME",
    "CARGO_CRATE_NAME",
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "CARGO_PRIMARY_PACKAGE",
    "OUT_DIR",
];

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// A cargo command at the root of the workspace.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(root());
    for (name, _) in env::vars_os() {
        if is_set_by_cargo_run(&name.to_string_lossy()) {
            command.env_remove(name);
        }
    }
    command
}

fn is_set_by_cargo_run(variable: &str) -> bool {
    variable.starts_with("CARGO_PKG_") || SET_BY_CARGO_RUN.contains(&variable)
}

/// Runs the command to its end with our terminal; anything but success is an error.
pub(crate) fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .with_context(|| format!("cannot start {program}"))?;
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    Ok(())
}

/// Runs the command to its end and gives what it prints; what it says on standard error goes to our terminal.
pub(crate) fn answer(command: &mut Command) -> anyhow::Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let ended = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {program}"))?;
    if !ended.status.success() {
        bail!("{program} ended with {}", ended.status);
    }
    String::from_utf8(ended.stdout).with_context(|| format!("{program} prints no text"))
}

/// Where a program is.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let there = search_path().into_iter().map(|d| d.join(program));
    there.into_iter().find(|path| path.is_file())
}

/// The directories of `PATH`.
#[expect(
    clippy::disallowed_methods,
    reason = "programs are looked for where the shell looks for them"
)]
pub(crate) fn search_path() -> Vec<PathBuf> {
    env::var_os("PATH").map_or_else(Vec::new, |path| env::split_paths(&path).collect())
}

/// Whether this process runs as root.
pub(crate) fn is_root() -> anyhow::Result<bool> {
    let answer = Command::new("id").arg("-u").output().context("run id -u")?;
    Ok(answer.stdout.trim_ascii() == b"0")
}
