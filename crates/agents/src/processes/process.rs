//! One background process as its conversation sees it: what it is, whether it runs, how it ended, and what can be typed
//! into it. Who looks after it is elsewhere.
//!
//! **Invariant:** an end is either taken by somebody who waited for it, or told; never neither.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use talaria_domain::ids::{JobId, SessionId};
use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::sync::{Mutex, watch};
use tokio::time::{self, Instant};
use tokio_util::sync::CancellationToken;

use super::told::{Cause, Ending};

/// How long it may take until what is typed is read.
const PATIENCE: Duration = Duration::from_secs(10);

/// A background process.
pub(crate) struct Process {
    pub(crate) id: JobId,
    pub(crate) session: SessionId,
    pub(crate) command: String,
    /// Its number, if it was ever started.
    pub(crate) pid: Option<u32>,
    /// Where its output and its exit code are.
    pub(super) directory: PathBuf,
    /// Since when we look after it, and whether that is all of its life.
    since: (Instant, Life),
    standing: watch::Sender<Standing>,
    input: Mutex<Input>,
    to_end: CancellationToken,
    cause: OnceLock<Cause>,
}

/// Whether a process was seen from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    Whole,
    Adopted,
}

#[derive(Debug, Default)]
struct Standing {
    ending: Option<(Ending, Instant)>,
    waiting: usize,
    is_taken: bool,
}

/// Where what is typed goes.
pub(super) enum Input {
    Pipe(ChildStdin),
    Keyboard(Box<dyn Write + Send>),
    /// There is none, and why.
    Closed(&'static str),
}

/// What a process is made of.
pub(super) struct Origin {
    pub(super) id: JobId,
    pub(super) session: SessionId,
    pub(super) command: String,
    pub(super) pid: Option<u32>,
    pub(super) directory: PathBuf,
    pub(super) life: Life,
    pub(super) input: Input,
}

impl Process {
    pub(super) fn new(origin: Origin) -> Self {
        Self {
            id: origin.id,
            session: origin.session,
            command: origin.command,
            pid: origin.pid,
            directory: origin.directory,
            since: (Instant::now(), origin.life),
            standing: watch::Sender::default(),
            input: Mutex::new(origin.input),
            to_end: CancellationToken::new(),
            cause: OnceLock::new(),
        }
    }

    /// What it prints goes here.
    pub(crate) fn output(&self) -> PathBuf {
        output_in(&self.directory)
    }

    /// How it ended, if it has.
    pub(crate) fn ending(&self) -> Option<Ending> {
        let standing = self.standing.borrow();
        standing.ending.as_ref().map(|(ending, _)| ending.clone())
    }

    /// When it ended, if it has.
    pub(super) fn ended_at(&self) -> Option<Instant> {
        self.standing.borrow().ending.as_ref().map(|(_, at)| *at)
    }

    /// How long it has been running, if it was seen from its start.
    pub(crate) fn age(&self) -> Option<Duration> {
        let (since, life) = self.since;
        (life == Life::Whole).then(|| since.elapsed())
    }

    /// Waits for the end, and takes it: it is not told any more.
    pub(crate) async fn take_end(&self) -> Ending {
        let _waiting = Waiting::of(self);
        let mut standing = self.standing.subscribe();
        let found = standing
            .wait_for(|standing| standing.ending.is_some())
            .await;
        let ending = found.ok().and_then(|standing| standing.ending.clone());
        // In one step with seeing it: whoever stops waiting before has not taken it.
        self.note_taken();
        ending.map_or_else(|| Ending::of(Cause::Itself), |(ending, _)| ending)
    }

    /// Somebody has the end in their hands.
    pub(crate) fn note_taken(&self) {
        self.standing
            .send_modify(|standing| standing.is_taken = true);
    }

    /// Whether somebody has.
    pub(super) fn is_taken(&self) -> bool {
        self.standing.borrow().is_taken
    }

    /// Asks for its end. The first cause counts.
    pub(crate) fn end(&self, cause: Cause) {
        // Somebody else was first.
        let _ = self.cause.set(cause);
        self.to_end.cancel();
    }

    /// Ends when its end is asked for.
    pub(super) async fn asked_to_end(&self) {
        self.to_end.cancelled().await;
    }

    /// Why it ends.
    pub(super) fn cause(&self) -> Cause {
        self.cause.get().cloned().unwrap_or(Cause::Itself)
    }

    /// It has ended. Answers whether somebody who waited has taken that.
    pub(super) async fn settle(&self, ending: Ending) -> bool {
        let at = Instant::now();
        self.standing
            .send_modify(|standing| standing.ending = Some((ending, at)));
        let mut standing = self.standing.subscribe();
        let settled = standing.wait_for(|it| it.is_taken || it.waiting == 0).await;
        settled.is_ok_and(|standing| standing.is_taken)
    }

    /// Types something, or says why not.
    pub(crate) async fn type_in(&self, text: &str) -> Result<(), String> {
        match time::timeout(PATIENCE, self.type_all(text)).await {
            Ok(typed) => typed,
            Err(_) => Err(format!(
                "it did not read all of that within {} s",
                PATIENCE.as_secs()
            )),
        }
    }

    async fn type_all(&self, text: &str) -> Result<(), String> {
        let refused = |error: std::io::Error| format!("it does not take input: {error}");
        let mut input = self.input.lock().await;
        match &mut *input {
            Input::Closed(why) => Err((*why).to_owned()),
            Input::Pipe(pipe) => {
                pipe.write_all(text.as_bytes()).await.map_err(refused)?;
                pipe.flush().await.map_err(refused)
            }
            Input::Keyboard(_) => {
                let busy = Input::Closed("what was typed before has not been read");
                let Input::Keyboard(mut keyboard) = std::mem::replace(&mut *input, busy) else {
                    return Ok(());
                };
                let text = text.to_owned();
                let typing = tokio::task::spawn_blocking(move || {
                    let typed = keyboard
                        .write_all(text.as_bytes())
                        .and_then(|()| keyboard.flush());
                    (keyboard, typed)
                });
                let (keyboard, typed) = typing.await.map_err(|error| error.to_string())?;
                *input = Input::Keyboard(keyboard);
                typed.map_err(refused)
            }
        }
    }

    /// Says that nothing more is typed.
    pub(crate) async fn close_input(&self) -> Result<(), String> {
        let mut input = self.input.lock().await;
        match std::mem::replace(&mut *input, Input::Closed("its input is closed")) {
            Input::Closed(why) => Err(why.to_owned()),
            Input::Pipe(_) | Input::Keyboard(_) => Ok(()),
        }
    }
}

/// The output of a process in its directory.
pub(super) fn output_in(directory: &Path) -> PathBuf {
    directory.join("output")
}

/// Somebody who waits for the end.
struct Waiting<'a>(&'a Process);

impl<'a> Waiting<'a> {
    fn of(process: &'a Process) -> Self {
        process.standing.send_modify(|it| it.waiting += 1);
        Self(process)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.standing.send_modify(|it| it.waiting -= 1);
    }
}
