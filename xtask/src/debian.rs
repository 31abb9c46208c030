//! The system's packages, installed by name.

use std::process::Command;

use anyhow::Context as _;

use crate::{command, output};

/// Installs packages, as root or by sudo.
pub(crate) fn install(packages: &[&str]) -> anyhow::Result<()> {
    let names = packages.join(", ");
    output::line(&format!(
        "{names}: not on this machine, installing with apt-get"
    ));
    let is_root = command::is_root()?;
    let apt_get = |arguments: &[&str], names: &[&str]| {
        let mut command = Command::new(if is_root { "env" } else { "sudo" });
        command.args(if is_root { &[][..] } else { &["env"] });
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        command::succeed(command.args(arguments).args(names)).context("apt-get failed")
    };
    apt_get(&["update"], &[])?;
    apt_get(&["install", "-y", "--no-install-recommends"], packages)
}

/// Node, for the browser's driver, OpenAI's client and the example of a runner.
pub(crate) fn ensure_node() -> anyhow::Result<()> {
    if command::find("node").is_some() && command::find("npm").is_some() {
        return Ok(());
    }
    install(&["nodejs", "npm"])
}
