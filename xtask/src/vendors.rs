//! The simulated vendors are believed for a reason: independent, widely used clients of each platform, unmodified, work
//! against them. Clients come from their registries by name; what they do is in `crates/sim/checks`, one folder for each
//! platform: `check.py` with its `requirements.txt`, `check.mjs` with its `packages.txt`. Where `emulator.txt` says which
//! of those packages is a platform that nobody here wrote, the real gateway also talks to that, by `emulator.py`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::process::Running;
use crate::{command, debian};

/// A bot's token, where the folder has none of its own in `token.txt`.
const TOKEN: &str = "1000001:simulated";

/// As a step of the tests.
pub(crate) fn check() -> anyhow::Result<()> {
    let build = ["build", "-p", "talaria", "-p", "talaria-sim"];
    command::succeed(&mut command::cargo(&build))?;
    let room = room()?;
    for folder in folders()? {
        meet(&room, &folder)?;
    }
    Ok(())
}

/// The platforms that there are checks for.
fn folders() -> anyhow::Result<Vec<PathBuf>> {
    let all = command::root().join("crates/sim/checks");
    let entries = std::fs::read_dir(&all).context("no crates/sim/checks")?;
    let mut folders: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    anyhow::ensure!(!folders.is_empty(), "crates/sim/checks is empty");
    Ok(folders)
}

/// Lets the clients of one platform meet its simulated vendor.
fn meet(room: &Path, folder: &Path) -> anyhow::Result<()> {
    let platform = folder.file_name().context("a folder without a name")?;
    install(room, folder)?;
    let mut vendor = Command::new(command::root().join("target/debug/talaria-sim"));
    vendor.arg(platform).args(["--listen", "127.0.0.1:0"]);
    // What else the vendor is started with, where it has to know its bots.
    let arguments = std::fs::read_to_string(folder.join("vendor.txt")).unwrap_or_default();
    vendor.args(arguments.split_whitespace());
    let (_vendor, url) =
        Running::start(&mut vendor, |line| line.starts_with("http").then_some(line))?;
    let token = std::fs::read_to_string(folder.join("token.txt"));
    let token = token.as_deref().map_or(TOKEN, str::trim);
    for (script, with) in [("check.py", "v/bin/python"), ("check.mjs", "node")] {
        let script = folder.join(script);
        if script.is_file() {
            let mut client = Command::new(with);
            client.arg(script).args([&url, token]);
            command::succeed(client.current_dir(room))?;
        }
    }
    let emulator = folder.join("emulator.txt");
    if emulator.is_file() {
        let program = room.join(std::fs::read_to_string(emulator)?.trim());
        let mut client = Command::new("v/bin/python");
        client
            .arg(folder.join("emulator.py"))
            .arg(command::root().join("target/debug/talaria"));
        command::succeed(client.arg(program).current_dir(room))?;
    }
    Ok(())
}

/// Where the clients are.
fn room() -> anyhow::Result<PathBuf> {
    let room = command::root().join("target/vendors");
    std::fs::create_dir_all(&room).context("make target/vendors")?;
    debian::ensure_node()?;
    if !room.join("v/bin/pip").is_file() {
        let mut venv = Command::new("python3");
        command::succeed(venv.args(["-m", "venv", "v"]).current_dir(&room))?;
    }
    Ok(room)
}

/// Installs the clients of one platform, if they are not there.
fn install(room: &Path, folder: &Path) -> anyhow::Result<()> {
    let wanted = folder.join("requirements.txt");
    if wanted.is_file() {
        let mut pip = Command::new("v/bin/pip");
        pip.args(["install", "--quiet", "--disable-pip-version-check", "-r"]);
        command::succeed(pip.arg(wanted).current_dir(room))?;
    }
    let packages = folder.join("packages.txt");
    if packages.is_file() {
        let packages = std::fs::read_to_string(packages)?;
        let missing = packages.split_whitespace().any(|package| {
            let (name, _) = package.rsplit_once('@').unwrap_or((package, ""));
            !room.join("node_modules").join(name).is_dir()
        });
        if missing {
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-save", "--no-audit", "--no-fund"]);
            npm.arg("--prefix").arg(room);
            command::succeed(npm.args(packages.split_whitespace()))?;
        }
    }
    Ok(())
}
