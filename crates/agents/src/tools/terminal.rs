//! Runs a shell command to its end. It runs in a process group of its own, and the group does not outlive the call: not
//! when the command ends and leaves something behind, not when it takes too long, not when the run is stopped, and not
//! when nobody waits for it any more.

mod capture;
mod group;

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use talaria_domain::adapter::Pending;
use talaria_domain::runner::Host;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::{self, Instant};

use self::capture::Capture;
use self::group::Group;
use super::arguments::read;
use super::{Environment, Tool, ToolContext, ToolOutput};

const DEFAULT_SECONDS: u64 = 180;
const MOST_SECONDS: u64 = 600;
/// What a process that is told to end gets before it is made to.
const GRACE: Duration = Duration::from_secs(1);
/// How long the output is read on after the shell has ended, while something that it left still holds it open.
const AFTERMATH: Duration = Duration::from_millis(250);
const SHELL: &str = "/bin/sh";

const DESCRIPTION: &str = "Runs a shell command (`sh -c`) to its end and answers with what it printed, standard \
    output and standard error together, and with its exit code. There is no standard input. Long output is shortened \
    in the middle. What the command leaves in the background is ended with it.";

/// The tool.
pub(super) struct Terminal {
    environment: Environment,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    cwd: Option<String>,
    timeout_seconds: Option<u64>,
}

impl Tool for Terminal {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn description(&self) -> &'static str {
        DESCRIPTION
    }

    fn parameters(&self) -> Value {
        let timeout = format!(
            "End it after so many seconds; {DEFAULT_SECONDS} if not given, at most {MOST_SECONDS}"
        );
        json!({
            "type": "object",
            "properties": {
                "command": { "type": "string", "description": "The command" },
                "cwd": { "type": "string", "description": "The directory it runs in" },
                "timeout_seconds": {
                    "type": "integer", "minimum": 1, "maximum": MOST_SECONDS, "description": timeout
                },
            },
            "required": ["command"],
            "additionalProperties": false,
        })
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Value,
        context: &'a ToolContext<'a>,
    ) -> Pending<'a, ToolOutput> {
        Box::pin(async move {
            match self.start(arguments).await {
                Ok((running, timeout)) => running.attend(timeout, context.host).await,
                Err(refusal) => ToolOutput::refused(refusal),
            }
        })
    }
}

impl Terminal {
    pub(super) const fn of(environment: Environment) -> Self {
        Self { environment }
    }

    /// Starts what the arguments ask for, or says why not.
    async fn start(&self, arguments: &Value) -> Result<(Running, Duration), String> {
        let arguments: Arguments = read(arguments, &self.parameters())?;
        if arguments.command.trim().is_empty() {
            return Err("wrong arguments: `command` is empty".to_owned());
        }
        let seconds = arguments.timeout_seconds.unwrap_or(DEFAULT_SECONDS);
        if !(1..=MOST_SECONDS).contains(&seconds) {
            return Err(format!(
                "wrong arguments: `timeout_seconds` is from 1 to {MOST_SECONDS}, not {seconds}"
            ));
        }
        let mut command = Command::new(SHELL);
        command.args(["-c", &arguments.command]);
        command
            .env_clear()
            .envs(self.environment.0.iter().map(|(name, value)| (name, value)));
        if let Some(cwd) = &arguments.cwd {
            command.current_dir(self.directory(cwd).await?);
        }
        let running = Running::start(command)
            .map_err(|error| format!("the shell could not be started: {error}"))?;
        Ok((running, Duration::from_secs(seconds)))
    }

    async fn directory(&self, cwd: &str) -> Result<PathBuf, String> {
        let home = self
            .environment
            .get("HOME")
            .filter(|_| cwd == "~" || cwd.starts_with("~/"));
        let path = match home {
            Some(home) => PathBuf::from(format!("{home}{}", &cwd[1..])),
            None => PathBuf::from(cwd),
        };
        match tokio::fs::metadata(&path).await {
            Ok(found) if found.is_dir() => Ok(path),
            Ok(_) => Err(format!("wrong arguments: `cwd` {cwd} is not a directory")),
            Err(error) => Err(format!(
                "wrong arguments: `cwd` {cwd} cannot be used: {error}"
            )),
        }
    }
}

/// Why a command is not waited for any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Ended,
    TimedOut,
    Stopped,
}

/// What a command left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Nothing,
    /// Processes in its group, which are gone.
    Ended,
    /// A process that made a group of its own and holds the output.
    Beyond,
}

/// A command that runs.
struct Running {
    // Dropped first, so that the group's number is still its own when the signal is sent.
    group: Group,
    child: Child,
    output: pipe::Receiver,
    capture: Capture,
    status: Option<ExitStatus>,
    is_closed: bool,
}

impl Running {
    fn start(mut command: Command) -> io::Result<Self> {
        // One pipe for both, so that the order in which things were printed is kept.
        let (output, input) = io::pipe()?;
        let output = pipe::Receiver::from_owned_fd(output.into())?;
        command
            .stdin(Stdio::null())
            .stdout(input.try_clone()?)
            .stderr(input);
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        let group =
            Group::of(child.id()).ok_or_else(|| io::Error::other("it has no process id"))?;
        Ok(Self {
            group,
            child,
            output,
            capture: Capture::default(),
            status: None,
            is_closed: false,
        })
    }

    /// Waits for the end, brings it about if it does not come, and tells what happened.
    async fn attend(mut self, timeout: Duration, host: &dyn Host) -> ToolOutput {
        let end = tokio::select! {
            biased;
            () = host.stopped() => End::Stopped,
            () = time::sleep(timeout) => End::TimedOut,
            () = self.watch(AFTERMATH) => End::Ended,
        };
        if end != End::Ended {
            self.group.ask_to_end();
            // Whether it listened or not: what is left of the group goes below.
            let _ = time::timeout(GRACE, self.watch(GRACE)).await;
        }
        let left = self.clean_up().await;
        self.report(end, left, timeout)
    }

    /// Reads until the shell has ended and its output is closed, or was held open by others for `aftermath`.
    async fn watch(&mut self, aftermath: Duration) {
        let mut until = self.status.map(|_| Instant::now() + aftermath);
        let mut buffer = vec![0; 16 * 1024];
        while self.status.is_none() || !self.is_closed {
            tokio::select! {
                biased;
                () = time::sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => return,
                status = self.child.wait(), if self.status.is_none() => {
                    // An error means that there is nothing to wait for.
                    self.status = Some(status.unwrap_or_default());
                    until = Some(Instant::now() + aftermath);
                }
                read = self.output.read(&mut buffer), if !self.is_closed => match read {
                    Ok(0) | Err(_) => self.is_closed = true,
                    Ok(count) => self.capture.push(&buffer[..count]),
                },
            }
        }
    }

    /// Ends what is left of the group, and reads what it still said.
    async fn clean_up(&mut self) -> Left {
        let is_alone = self.status.is_some() && !self.group.has_members();
        self.group.end();
        let _ = time::timeout(GRACE, self.watch(AFTERMATH)).await;
        match (is_alone, self.is_closed) {
            (_, false) => Left::Beyond,
            (true, true) => Left::Nothing,
            (false, true) => Left::Ended,
        }
    }

    fn report(self, end: End, left: Left, timeout: Duration) -> ToolOutput {
        let mut text = self.capture.complete();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        match left {
            Left::Beyond => text
                .push_str("[something that it started left its process group and may still run]\n"),
            Left::Ended if end == End::Ended => {
                text.push_str("[what it left in the background was ended]\n");
            }
            Left::Ended | Left::Nothing => {}
        }
        match end {
            End::Stopped => ToolOutput::cancelled(text + "[stopped: the run was stopped]"),
            End::TimedOut => {
                let seconds = timeout.as_secs();
                ToolOutput::refused(format!(
                    "{text}[ended after {seconds} s: it took longer than `timeout_seconds`]"
                ))
            }
            End::Ended => ToolOutput::done(text + &told(self.status.unwrap_or_default())),
        }
    }
}

fn told(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("[exit code {code}]"),
        (None, Some(signal)) => format!("[ended by signal {signal}]"),
        (None, None) => "[ended]".to_owned(),
    }
}
