//! A process beside ours for the length of a check: it says when it is ready, and is asked to end when the guard goes.

#[cfg(test)]
mod tests;

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::output;

const READY_WITHIN: Duration = Duration::from_mins(1);
const ENDED_WITHIN: Duration = Duration::from_secs(15);
const CTRL_C: &[u8] = b"\x03";

/// A process that ends with its guard: by Ctrl-C if it has a keyboard, by a signal if not.
pub(crate) struct Running {
    child: Child,
    /// Closed when the process has closed its output.
    closed: Receiver<String>,
}

impl Running {
    /// Starts it, and gives what it says on standard output to show that it is ready.
    pub(crate) fn start(
        command: &mut Command,
        says_ready: fn(&str) -> Option<&str>,
    ) -> anyhow::Result<(Self, String)> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let output = child.stdout.take();
        let (sender, closed) = sync_channel(1);
        let running = Self { child, closed };
        let output = output.context("nothing to listen to")?;
        thread::spawn(move || listen(output, says_ready, &sender));
        match running.closed.recv_timeout(READY_WITHIN) {
            Ok(words) => Ok((running, words)),
            Err(RecvTimeoutError::Disconnected) => bail!("{program} ended before it was ready"),
            Err(RecvTimeoutError::Timeout) => {
                bail!("{program} is not ready after {} s", READY_WITHIN.as_secs())
            }
        }
    }
}

/// Reads to the end, or the process would stand still once nobody reads.
fn listen(output: impl Read, says_ready: fn(&str) -> Option<&str>, sender: &SyncSender<String>) {
    let mut is_ready = false;
    for line in BufReader::new(output).lines() {
        let Ok(line) = line else { return };
        if let Some(words) = says_ready(&line).filter(|_| !is_ready) {
            is_ready = true;
            // Nobody listens once the guard is gone.
            sender.send(words.to_owned()).ok();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself; whether it listens is seen below.
        if let Some(mut keyboard) = self.child.stdin.take() {
            keyboard.write_all(CTRL_C).ok();
        } else {
            let pid = self.child.id().to_string();
            Command::new("kill").arg(pid).status().ok();
        }
        let ended = self.closed.recv_timeout(ENDED_WITHIN);
        if ended == Err(RecvTimeoutError::Timeout) {
            output::problem(&format!("process {} does not end", self.child.id()));
            self.child.kill().ok();
        }
        self.child.wait().ok();
    }
}
