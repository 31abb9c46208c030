//! Starts a runner's process and ends it. It leads a group of its own, and nothing of the group outlives it; it gets the
//! environment that every child gets and what the operator gave it, and nothing of any session.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use tokio::process::{Child as Process, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time;

use super::ProcessRunnerSettings;
use crate::context::Environment;
use crate::processes::sight::Sight;

/// What a process gets to end by itself after it stopped talking.
const AFTERMATH: Duration = Duration::from_secs(1);

/// A runner's process, and the ways to it.
pub(super) struct Child {
    pub(super) leader: Leader,
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
    pub(super) complaints: ChildStderr,
}

/// A runner's process. It ends with this.
pub(super) struct Leader {
    process: Process,
    sight: Sight,
    is_reaped: bool,
}

/// Starts it.
pub(super) fn spawn(
    settings: &ProcessRunnerSettings,
    environment: &Environment,
) -> io::Result<Child> {
    let mut command = Command::new(&settings.command);
    command
        .args(&settings.arguments)
        .env_clear()
        .envs(environment.iter())
        .envs(settings.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(cwd) = &settings.cwd {
        command.current_dir(cwd);
    }
    let mut process = command.spawn()?;
    let missing = || io::Error::other("it has no process id");
    let sight = Sight::of(process.id().ok_or_else(missing)?)?;
    let input = process.stdin.take();
    let (output, complaints) = (process.stdout.take(), process.stderr.take());
    let leader = Leader {
        process,
        sight,
        is_reaped: false,
    };
    match (input, output, complaints) {
        (Some(input), Some(output), Some(complaints)) => Ok(Child {
            leader,
            input,
            output,
            complaints,
        }),
        _ => Err(io::Error::other("it has no pipes")),
    }
}

impl Leader {
    /// Waits a moment for its end, or brings it about; says how it was, if it came by itself.
    pub(super) async fn end(&mut self) -> Option<String> {
        let ended = time::timeout(AFTERMATH, self.sight.gone()).await;
        self.sight.signal_unreaped(Signal::KILL);
        let status = self.process.wait().await;
        self.is_reaped = true;
        ended.ok()?;
        status.ok().map(words)
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if !self.is_reaped {
            self.sight.signal_unreaped(Signal::KILL);
        }
    }
}

fn words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}
