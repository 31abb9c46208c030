//! A command in the foreground. It runs in a process group of its own, and the group does not outlive the call: not when
//! the command ends and leaves something behind, not when it takes too long, not when the run is stopped, and not when
//! nobody waits for it any more.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use talaria_domain::runner::Host;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::time::{self, Instant};
use tokio_util::task::TaskTracker;

use super::SHELL;
use super::capture::Capture;
use super::group::Group;
use crate::processes::pty;
use crate::processes::sight::Sight;
use crate::tools::ToolOutput;

/// What a process that is told to end gets before it is made to.
const GRACE: Duration = Duration::from_secs(1);
/// How long the output is read on after the shell has ended, while something that it left still holds it open.
const AFTERMATH: Duration = Duration::from_millis(250);
/// The same for a terminal, whose last words go through the kernel's own queue and a thread of ours.
const SCREEN_AFTERMATH: Duration = Duration::from_secs(2);
/// Pieces of what a terminal shows that wait to be read.
const SCREENS: usize = 16;

/// What is run.
pub(super) struct Foreground<'a> {
    pub(super) command: &'a str,
    pub(super) cwd: Option<&'a Path>,
    pub(super) variables: &'a [(String, String)],
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
pub(super) struct Running {
    // Dropped first, so that the group's number is still its own when the signal is sent.
    group: Group,
    child: Leader,
    output: Output,
    capture: Capture,
    status: Option<Exit>,
    is_closed: bool,
}

/// The shell.
enum Leader {
    Plain(Child),
    InTerminal(InTerminal),
}

/// A shell in a terminal.
struct InTerminal {
    sight: Sight,
    child: Option<Box<dyn portable_pty::Child + Send + Sync>>,
    tasks: TaskTracker,
    // Nothing is typed, and nothing says so: the terminal is there as long as the shell is.
    _keyboard: Box<dyn io::Write + Send>,
}

/// What the command prints.
enum Output {
    Pipe(pipe::Receiver),
    Screen(mpsc::Receiver<Vec<u8>>),
}

/// How a shell ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Exit {
    Code(i64),
    Signal(String),
    Unknown,
}

impl Running {
    /// Starts a command whose input is empty.
    pub(super) fn start(order: &Foreground<'_>) -> io::Result<Self> {
        let mut command = Command::new(SHELL);
        command
            .args(["-c", order.command])
            .env_clear()
            .envs(order.variables.iter().map(|(name, value)| (name, value)));
        if let Some(cwd) = order.cwd {
            command.current_dir(cwd);
        }
        // One pipe for both, so that the order in which things were printed is kept.
        let (output, input) = io::pipe()?;
        let output = pipe::Receiver::from_owned_fd(output.into())?;
        command
            .stdin(Stdio::null())
            .stdout(input.try_clone()?)
            .stderr(input);
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        let group = Group::of(child.id());
        Self::of(group, Leader::Plain(child), Output::Pipe(output))
    }

    /// Starts a command in a terminal of its own.
    pub(super) fn start_in_terminal(
        order: &Foreground<'_>,
        tasks: &TaskTracker,
    ) -> io::Result<Self> {
        let program = [SHELL, "-c", order.command];
        let opened = pty::open(&program, order.variables, order.cwd)?;
        let group = Group::of(Some(opened.pid));
        let child = Leader::InTerminal(InTerminal {
            sight: Sight::of(opened.pid)?,
            child: Some(opened.child),
            tasks: tasks.clone(),
            _keyboard: opened.keyboard,
        });
        let (show, screen) = mpsc::channel(SCREENS);
        let take = move |bytes: &[u8]| show.blocking_send(bytes.to_owned()).is_ok();
        pty::read_on(opened.screen, tasks, take)?;
        Self::of(group, child, Output::Screen(screen))
    }

    fn of(group: Option<Group>, child: Leader, output: Output) -> io::Result<Self> {
        Ok(Self {
            group: group.ok_or_else(|| io::Error::other("it has no process id"))?,
            child,
            output,
            capture: Capture::default(),
            status: None,
            is_closed: false,
        })
    }

    /// Waits for the end, brings it about if it does not come, and tells what happened.
    pub(super) async fn attend(mut self, timeout: Duration, host: &dyn Host) -> ToolOutput {
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
        let mut until = self.status.as_ref().map(|_| Instant::now() + aftermath);
        while self.status.is_none() || !self.is_closed {
            tokio::select! {
                biased;
                () = time::sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => return,
                status = self.child.wait(), if self.status.is_none() => {
                    self.status = Some(status);
                    until = Some(Instant::now() + aftermath);
                }
                read = self.output.read(), if !self.is_closed => match read {
                    None => self.is_closed = true,
                    Some(bytes) => self.capture.push(&bytes),
                },
            }
        }
    }

    /// Ends what is left of the group, and reads what it still said.
    async fn clean_up(&mut self) -> Left {
        let is_alone = self.status.is_some() && !self.group.has_members();
        self.group.end();
        let aftermath = self.output.aftermath();
        let _ = time::timeout(GRACE + aftermath, self.watch(aftermath)).await;
        match (is_alone, self.is_closed) {
            (_, false) => Left::Beyond,
            (true, true) => Left::Nothing,
            (false, true) => Left::Ended,
        }
    }

    fn report(self, end: End, left: Left, timeout: Duration) -> ToolOutput {
        let mut text = self.capture.complete();
        if matches!(self.output, Output::Screen(_)) {
            text = text.replace("\r\n", "\n");
        }
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
            End::Ended => {
                let exit = self.status.unwrap_or(Exit::Unknown);
                ToolOutput::done(text + &exit.words())
            }
        }
    }
}

impl Leader {
    async fn wait(&mut self) -> Exit {
        match self {
            Self::Plain(child) => child.wait().await.map_or(Exit::Unknown, Exit::of),
            Self::InTerminal(shell) => shell.wait().await,
        }
    }
}

impl InTerminal {
    async fn wait(&mut self) -> Exit {
        self.sight.gone().await;
        let ended = self.child.take().and_then(|mut child| child.wait().ok());
        ended.map_or(Exit::Unknown, |status| match status.signal() {
            Some(signal) => Exit::Signal(format!("({signal})")),
            None => Exit::Code(i64::from(status.exit_code())),
        })
    }
}

impl Drop for InTerminal {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        // Its group is made to end before this: what is left is to let go of its number.
        let token = self.tasks.token();
        let reaping = move || {
            let _token = token;
            let _ = child.wait();
        };
        let _ = std::thread::Builder::new().spawn(reaping);
    }
}

impl Output {
    /// How long the last of it may take to arrive after the group is gone.
    const fn aftermath(&self) -> Duration {
        match self {
            Self::Pipe(_) => AFTERMATH,
            Self::Screen(_) => SCREEN_AFTERMATH,
        }
    }

    /// What comes next; nothing if it is closed.
    async fn read(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::Pipe(pipe) => {
                let mut buffer = Vec::with_capacity(16 * 1024);
                let count = pipe.read_buf(&mut buffer).await.unwrap_or(0);
                (count > 0).then_some(buffer)
            }
            Self::Screen(screen) => screen.recv().await,
        }
    }
}

impl Exit {
    fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(i64::from(code)),
            (None, Some(signal)) => Self::Signal(signal.to_string()),
            (None, None) => Self::Unknown,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Code(code) => format!("[exit code {code}]"),
            Self::Signal(signal) => format!("[ended by signal {signal}]"),
            Self::Unknown => "[ended]".to_owned(),
        }
    }
}
