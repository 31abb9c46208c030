//! A real browser for the page, driven by the scripts in `xtask/page`. The browser and Node come from the system's
//! packages, the driver from npm; each is installed by name where it is missing.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;

use crate::{command, debian};

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const DRIVER: &str = "playwright-core";

/// A browser and what drives it.
pub(crate) struct Browser {
    executable: PathBuf,
    /// Where the driver is, and where pictures go.
    room: PathBuf,
}

impl Browser {
    /// Finds or installs everything.
    pub(crate) fn find_or_install() -> anyhow::Result<Self> {
        let room = command::root().join("target/page");
        fs::create_dir_all(&room).context("make target/page")?;
        let find = || BROWSERS.iter().find_map(|name| command::find(name));
        if find().is_none() {
            debian::install(&["chromium"])?;
        }
        let executable = find().context("there is no chromium; install one and put it on PATH")?;
        debian::ensure_node()?;
        if !room.join("node_modules").join(DRIVER).is_dir() {
            let mut npm = Command::new("npm");
            npm.args([
                "install",
                "--no-save",
                "--no-audit",
                "--no-fund",
                "--prefix",
            ]);
            command::succeed(npm.arg(&room).arg(DRIVER))?;
        }
        Ok(Self { executable, room })
    }

    /// Plays a script at the page behind a login link, and gives what it prints.
    pub(crate) fn play(
        &self,
        script: &str,
        link: &str,
        arguments: &[&str],
    ) -> anyhow::Result<String> {
        let script = command::root().join("xtask/page").join(script);
        let mut node = Command::new("node");
        node.arg(script).arg(&self.executable).arg(link);
        command::answer(node.args(arguments).current_dir(&self.room))
    }
}
