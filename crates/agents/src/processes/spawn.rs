//! Starts a background process so that it and its end outlive the gateway: in a group of its own, printing straight into
//! its file, under a shell that writes the exit code down. That shell first waits for a word, which is said only after
//! the ledger knows how to find the process again: what the ledger does not know has done nothing.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child as PlainChild, Command, Stdio};

use rustix::process::Signal;
use tokio::process::ChildStdin;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use super::process::{Input, output_in};
use super::pty;
use super::sight::Sight;

const SHELL: &str = "/bin/sh";
/// What is said when it may begin.
pub(super) const BEGIN: &str = "begin\n";
/// Waits for the word; without it the gateway is gone, and nothing is done.
const WAIT: &str = "read -r begin || exit 125\n";
/// Runs the command and writes down how it ended. Signals to the group are for the command: this shell stays until it
/// has written. Its own complaints are nobody's output.
const RUN: &str = "trap : HUP INT QUIT TERM
exec 3>&2 2>/dev/null
(exec /bin/sh -c \"$1\" 2>&3 3>&-)
code=$?
printf '%s\\n' \"$code\" >\"$2/exit.part\" && command -p mv -f \"$2/exit.part\" \"$2/exit\"
exit \"$code\"";

/// What is to be started.
pub(super) struct Start<'a> {
    pub(super) command: &'a str,
    pub(super) cwd: Option<&'a Path>,
    pub(super) variables: &'a [(String, String)],
    pub(super) is_pty: bool,
    /// Where its output and its exit code go.
    pub(super) directory: &'a Path,
}

/// What was started.
pub(super) struct Spawned {
    pub(super) child: Child,
    pub(super) sight: Sight,
    pub(super) input: Input,
    /// Ends when everything that it showed is in its file.
    pub(super) drained: Option<oneshot::Receiver<()>>,
}

/// Whose child it is.
pub(super) enum Child {
    Plain(PlainChild),
    InTerminal(Box<dyn portable_pty::Child + Send + Sync>),
    /// It was started by a gateway before this one.
    Foreign,
}

impl Child {
    /// Whether its number stays its own until it is reaped.
    pub(super) const fn is_ours(&self) -> bool {
        !matches!(self, Self::Foreign)
    }

    /// Lets go of a child that has ended, and answers its exit code.
    pub(super) fn reap(&mut self) -> Option<i32> {
        match self {
            Self::Plain(child) => {
                let status = child.wait().ok()?;
                status.code().or_else(|| Some(128 + status.signal()?))
            }
            Self::InTerminal(child) => {
                let status = child.wait().ok()?;
                // The signal's number is not told, and only one kind ends this shell.
                let code = i32::try_from(status.exit_code()).ok()?;
                Some(if status.signal().is_some() { 137 } else { code })
            }
            Self::Foreign => None,
        }
    }
}

/// The exit code that was written down.
pub(super) fn exit_code(directory: &Path) -> Option<i32> {
    let text = fs::read_to_string(directory.join("exit")).ok()?;
    text.trim().parse().ok()
}

/// Starts it. A plain one waits for its word.
pub(super) fn spawn(start: &Start<'_>, tasks: &TaskTracker) -> io::Result<Spawned> {
    fs::DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(start.directory)?;
    let output = OpenOptions::new()
        .append(true)
        .create_new(true)
        .mode(0o600)
        .open(output_in(start.directory))?;
    if start.is_pty {
        spawn_in_terminal(start, output, tasks)
    } else {
        spawn_plain(start, output)
    }
}

fn spawn_plain(start: &Start<'_>, output: fs::File) -> io::Result<Spawned> {
    let mut command = Command::new(SHELL);
    command
        .args(["-c", &format!("{WAIT}{RUN}"), "sh", start.command])
        .arg(start.directory)
        .env_clear()
        .envs(start.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0);
    if let Some(cwd) = start.cwd {
        command.current_dir(cwd);
    }
    let mut child = command.spawn()?;
    let input = child.stdin.take().map(ChildStdin::from_std);
    match (Sight::of(child.id()), input) {
        (Ok(sight), Some(Ok(input))) => Ok(Spawned {
            child: Child::Plain(child),
            sight,
            input: Input::Pipe(input),
            drained: None,
        }),
        (sight, input) => {
            // It has not begun: without its input it ends by itself, and this is sooner.
            let _ = child.kill();
            let _ = child.wait();
            let why = sight.err().or_else(|| input.and_then(Result::err));
            Err(why.unwrap_or_else(|| io::Error::other("it has no input")))
        }
    }
}

fn spawn_in_terminal(
    start: &Start<'_>,
    mut output: fs::File,
    tasks: &TaskTracker,
) -> io::Result<Spawned> {
    let directory = path_text(start.directory)?;
    let program = [SHELL, "-c", RUN, "sh", start.command, &directory];
    let mut opened = pty::open(&program, start.variables, start.cwd)?;
    let (is_read, drained) = oneshot::channel::<()>();
    let reading = pty::read_on(opened.screen, tasks, move |bytes| {
        // Dropped with the last of it, which is how the other side knows.
        let _held = &is_read;
        // What does not fit on the disk is read all the same: a program whose screen is full would stand still.
        let _ = output.write_all(bytes);
        true
    });
    match reading.and_then(|()| Sight::of(opened.pid)) {
        Ok(sight) => Ok(Spawned {
            child: Child::InTerminal(opened.child),
            sight,
            input: Input::Keyboard(opened.keyboard),
            drained: Some(drained),
        }),
        Err(error) => {
            let _ = opened.child.kill();
            let _ = opened.child.wait();
            Err(error)
        }
    }
}

/// Ends what has been started and must not go on.
pub(super) fn undo(spawned: &mut Spawned) {
    spawned.sight.signal_unreaped(Signal::KILL);
    spawned.child.reap();
}

fn path_text(path: &Path) -> io::Result<String> {
    let text = PathBuf::from(path).into_os_string().into_string();
    text.map_err(|_| io::Error::other("the directory for outputs is not readable text"))
}
