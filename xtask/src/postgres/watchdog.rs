//! The process that stops a server and removes its directory.
//!
//! It acts when its standard input ends: at `release`, or when this process is gone by whatever
//! signal. It runs as the server's user in a process group of its own, out of the terminal's reach.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::Context;

use super::account::Account;

/// `$1` is the server, `$2` its directory. An immediate stop will do: nothing is kept. The wait
/// is bounded, for a dead server whose parent never asks for it looks alive.
const SCRIPT: &str = r#"
cat >/dev/null
kill -QUIT "$1" 2>/dev/null
looks=0
while kill -0 "$1" 2>/dev/null && [ "$looks" -lt 150 ]; do looks=$((looks + 1)); sleep 0.1; done
cd / && rm -rf "$2"
"#;

pub(super) struct Watchdog(Child);

impl Watchdog {
    pub(super) fn spawn(
        server: u32,
        directory: &Path,
        account: Option<&Account>,
    ) -> anyhow::Result<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "watchdog", &server.to_string()]);
        command.arg(directory).process_group(0);
        command.stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(account) = account {
            account.lend_to(&mut command);
        }
        let child = command.spawn().context("start the watchdog of postgres")?;
        Ok(Self(child))
    }

    /// Lets it act.
    pub(super) fn release(&mut self) {
        drop(self.0.stdin.take());
    }

    /// Returns once it has acted.
    pub(super) fn wait(&mut self) {
        self.0.wait().ok();
    }
}
