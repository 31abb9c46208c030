//! OpenAI's own clients, Python and Node, unmodified, against the real gateway with the simulated model behind it. Both
//! come from their registries by name; the checks are in `xtask/sdk`. Then the same with nothing configured: what the demo
//! model's tools tell a caller who cannot be reached later.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::gateway::Gateway;
use crate::process::Running;
use crate::{command, debian};

const CLIENT: &str = "openai";

/// As a step of the tests.
pub(crate) fn check() -> anyhow::Result<()> {
    let build = ["build", "-p", "talaria", "-p", "talaria-sim"];
    command::succeed(&mut command::cargo(&build))?;
    let room = room()?;
    let mut model = Command::new(command::root().join("target/debug/talaria-sim"));
    model.args(["model", "--listen", "127.0.0.1:0", "--chunks", "10"]);
    model.args(["--delay-ms", "30"]);
    let (_model, url) =
        Running::start(&mut model, |line| line.starts_with("http").then_some(line))?;
    let mut ear = python(&room);
    let (_ear, url) = Running::start(ear.args(["listen", &url]), |line| {
        line.strip_prefix("ready ")
    })?;
    let gateway = Gateway::start(&configuration(&url))?;
    let (base, key) = (address(&gateway)?, make_key(&gateway)?);
    command::succeed(python(&room).args(["check", &base, &key, &url]))?;
    let mut node = Command::new("node");
    node.arg(script("suite.mjs")).args([&base, &key, &url]);
    command::succeed(node.current_dir(&room))?;
    let unconfigured = Gateway::start("")?;
    let (base, key) = (address(&unconfigured)?, make_key(&unconfigured)?);
    command::succeed(python(&room).args(["promises", &base, &key]))
}

/// Where the gateway is: the link to the page without what logs in.
fn address(gateway: &Gateway) -> anyhow::Result<String> {
    let (address, _) = gateway.link().split_once("/?").context("an odd link")?;
    Ok(address.to_owned())
}

/// A key that may do everything.
fn make_key(gateway: &Gateway) -> anyhow::Result<String> {
    let made = gateway.ask(&["key", "create", "suite", "--scope", "operator"])?;
    let key = made
        .split_whitespace()
        .find(|word| word.starts_with("tal_"));
    Ok(key.context("no key was made")?.to_owned())
}

/// Where the clients are, installed if they are not.
fn room() -> anyhow::Result<PathBuf> {
    let room = command::root().join("target/sdk");
    std::fs::create_dir_all(&room).context("make target/sdk")?;
    debian::ensure_node()?;
    if !room.join("v/bin/pip").is_file() {
        let mut venv = Command::new("python3");
        command::succeed(venv.args(["-m", "venv", "v"]).current_dir(&room))?;
    }
    let mut pip = Command::new("v/bin/pip");
    pip.args(["install", "--quiet", "--disable-pip-version-check", CLIENT]);
    command::succeed(pip.current_dir(&room))?;
    if !room.join("node_modules").join(CLIENT).is_dir() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-save", "--no-audit", "--no-fund"]);
        command::succeed(npm.arg("--prefix").arg(&room).arg(CLIENT))?;
    }
    Ok(room)
}

fn python(room: &Path) -> Command {
    let mut python = Command::new("v/bin/python");
    python.arg(script("suite.py")).current_dir(room);
    python
}

fn script(name: &str) -> PathBuf {
    command::root().join("xtask/sdk").join(name)
}

fn configuration(url: &str) -> String {
    format!(
        "[model.main]\nprovider = \"openai\"\nbase_url = \"{url}\"\nmodel = \"simulated\"\n\
         [profile.assistant]\nmodel = \"main\"\ntools = [\"terminal\"]\n"
    )
}
