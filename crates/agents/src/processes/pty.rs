//! A pseudo-terminal with a program in it. What it shows is read by a thread of its own, as that can only be waited for
//! by blocking; the thread ends when nobody holds the terminal any more.

use std::io::{self, Read, Write};
use std::path::Path;
use std::thread;

use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};
use tokio_util::task::TaskTracker;

const SIZE: PtySize = PtySize {
    rows: 24,
    cols: 80,
    pixel_width: 0,
    pixel_height: 0,
};
/// What a program may expect of the terminal.
const KIND: (&str, &str) = ("TERM", "xterm");

/// A program in a terminal. It leads a session and a group of its own.
pub(crate) struct Pty {
    /// The program.
    pub(crate) child: Box<dyn Child + Send + Sync>,
    /// Its number.
    pub(crate) pid: u32,
    /// What it shows.
    pub(crate) screen: Box<dyn Read + Send>,
    /// What is typed. Dropping it types an end of file.
    pub(crate) keyboard: Box<dyn Write + Send>,
}

/// Starts `program` with its arguments in a terminal of its own.
pub(crate) fn open(
    program: &[&str],
    variables: &[(String, String)],
    cwd: Option<&Path>,
) -> io::Result<Pty> {
    let mut command = CommandBuilder::from_argv(program.iter().map(Into::into).collect());
    command.env_clear();
    command.env(KIND.0, KIND.1);
    for (name, value) in variables {
        command.env(name, value);
    }
    match cwd {
        Some(cwd) => command.cwd(cwd),
        None => command.cwd(std::env::current_dir()?),
    }
    let pair = native_pty_system().openpty(SIZE).map_err(other)?;
    let screen = pair.master.try_clone_reader().map_err(other)?;
    let keyboard = pair.master.take_writer().map_err(other)?;
    let child = pair.slave.spawn_command(command).map_err(other)?;
    let pid = child.process_id();
    Ok(Pty {
        child,
        pid: pid.ok_or_else(|| io::Error::other("it has no process id"))?,
        screen,
        keyboard,
    })
}

/// Hands what is shown to `take` until there is no more, or `take` does not want it.
pub(crate) fn read_on(
    mut screen: Box<dyn Read + Send>,
    tasks: &TaskTracker,
    mut take: impl FnMut(&[u8]) -> bool + Send + 'static,
) -> io::Result<()> {
    let token = tasks.token();
    let reading = move || {
        let _token = token;
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(count @ 1..) = screen.read(&mut buffer) {
            if !buffer.get(..count).is_some_and(&mut take) {
                break;
            }
        }
    };
    thread::Builder::new()
        .name("terminal".to_owned())
        .spawn(reading)
        .map(drop)
}

fn other(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}
