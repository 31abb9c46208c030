//! One connection: a process, the runs that it serves, and what goes to and fro. Nothing here waits for a run: what it
//! says is left in the run's inbox, and the next line is read.
//!
//! **Invariant:** when the process is gone, for whatever reason, every run on it is told why, once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::Value;
use talaria_domain::effects::{Refusal, RefusalCode};
use talaria_domain::ids::RunId;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::ChildStdin;
use tokio::sync::oneshot;
use tokio::time::{self, Instant};
use tokio_util::sync::CancellationToken;

use super::admit::{Admitted, admit};
use super::child::Child;
use super::frame::{Excess, Frame, Lines};
use super::inbox::{Callback, Inbox, Step, Wanted};
use super::outgoing::{self, Closed, Outgoing, Unwritten};
use super::rate::Pace;
use super::wire::{self, Asked, Fault, Introduction, Order};
use super::{Limits, ProcessRunnerSettings};

/// So much is read at once.
const BUFFER: usize = 64 * 1024;
/// Lines in a row that say nothing, after which a process is not listened to any more.
const MOST_GARBAGE: usize = 1000;
/// Of a line of complaints.
const MOST_COMPLAINT: usize = 4096;
/// Lines of complaints in a second.
const COMPLAINTS: u32 = 50;

/// One connection.
pub(super) struct Connection {
    /// What the runner is called.
    pub(super) name: String,
    /// How much, how long, how often.
    pub(super) limits: Limits,
    /// When the process was started.
    pub(super) started: Instant,
    outgoing: Outgoing,
    runs: Mutex<HashMap<RunId, Arc<Inbox>>>,
    asked: Mutex<HashMap<u64, oneshot::Sender<Result<Value, String>>>>,
    numbers: AtomicU64,
    introduction: OnceLock<Introduction>,
    /// Nothing new is begun on it.
    is_retired: AtomicBool,
    /// A run on it came to an end of its own.
    was_useful: AtomicBool,
    /// It is to end.
    pub(super) ending: CancellationToken,
    /// When and how it ended.
    epitaph: OnceLock<(Instant, String)>,
}

impl Connection {
    /// A connection to a process that is being started, and what its process is sent.
    pub(super) fn of(
        settings: &ProcessRunnerSettings,
        stop: &CancellationToken,
    ) -> (Self, outgoing::Lines) {
        let limits = settings.limits;
        let (outgoing, lines) = outgoing::queue(limits.outgoing_bytes);
        let connection = Self {
            name: settings.id.to_string(),
            limits,
            started: Instant::now(),
            outgoing,
            runs: Mutex::default(),
            asked: Mutex::default(),
            numbers: AtomicU64::new(1),
            introduction: OnceLock::new(),
            is_retired: AtomicBool::new(false),
            was_useful: AtomicBool::new(false),
            ending: stop.child_token(),
            epitaph: OnceLock::new(),
        };
        (connection, lines)
    }

    /// What the runner said about itself.
    pub(super) fn introduction(&self) -> Introduction {
        self.introduction.get().cloned().unwrap_or_default()
    }

    /// It has introduced itself.
    pub(super) fn introduce(&self, introduction: Introduction) {
        // Asked once, answered once.
        let _ = self.introduction.set(introduction);
    }

    /// Whether runs can begin on it.
    pub(super) fn is_open(&self) -> bool {
        !self.is_retired.load(Ordering::Acquire)
            && self.epitaph.get().is_none()
            && !self.ending.is_cancelled()
    }

    /// When it ended, how, and whether it was of use.
    pub(super) fn epitaph(&self) -> Option<(Instant, &str, bool)> {
        let was_useful = self.was_useful.load(Ordering::Acquire);
        let (at, why) = self.epitaph.get()?;
        Some((*at, why, was_useful))
    }

    /// A run on it came to an end of its own.
    pub(super) fn note_use(&self) {
        self.was_useful.store(true, Ordering::Release);
    }

    /// Nothing new is begun on it; it ends with its last run.
    pub(super) fn retire(&self) {
        self.is_retired.store(true, Ordering::Release);
        if self.lock_runs().is_empty() {
            self.ending.cancel();
        }
    }

    /// Takes a run in. The inbox of a process that has gone meanwhile says so.
    pub(super) fn join(&self, run: RunId) -> Arc<Inbox> {
        let inbox = Arc::new(Inbox::of(self.limits));
        self.lock_runs().insert(run, Arc::clone(&inbox));
        if let Some((_, why)) = self.epitaph.get() {
            inbox.tell(Step::Gone(why.clone()), 0);
        }
        inbox
    }

    /// Lets a run go: from here on it is nobody's.
    pub(super) fn leave(&self, run: RunId) {
        let is_last = {
            let mut runs = self.lock_runs();
            runs.remove(&run);
            runs.is_empty()
        };
        if is_last && self.is_retired.load(Ordering::Acquire) {
            self.ending.cancel();
        }
    }

    /// Says something, as soon as there is room.
    pub(super) async fn send(&self, line: Vec<u8>) -> Result<(), Closed> {
        self.outgoing.send(line).await
    }

    /// Says something if there is room.
    pub(super) fn try_send(&self, line: Vec<u8>) {
        self.outgoing.try_send(line);
    }

    /// Says something that wants an answer.
    pub(super) async fn ask(&self, order: &Order) -> Result<Value, String> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let (tell, hear) = oneshot::channel();
        self.lock_asked().insert(number, tell);
        let _forget = Forget(self, number);
        let gone = || "it is gone".to_owned();
        let sent = self.send(wire::order(Some(number), order)).await;
        sent.map_err(|Closed| gone())?;
        hear.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Looks after the process until it is gone.
    pub(super) async fn attend(&self, child: Child, mut lines: outgoing::Lines) {
        let Child {
            mut leader,
            input,
            output,
            complaints,
        } = child;
        let why = tokio::select! {
            biased;
            why = self.write(&mut lines, input) => why,
            why = self.read(output) => why,
            why = self.listen(complaints) => why,
            () = self.end_of_grace() => Why::Ours("was shut down".to_owned()),
        };
        let how = leader.end().await;
        let why = match why {
            Why::Ours(why) => why,
            // One that ended by itself says more than what was noticed of it first.
            Why::Noticed(what) => how.unwrap_or_else(|| what.to_owned()),
        };
        if self.ending.is_cancelled() {
            tracing::info!(runner = self.name, why, "the runner's process is gone");
        } else {
            tracing::warn!(runner = self.name, why, "the runner's process is gone");
        }
        // Before anybody is told: whoever comes now finds it closed.
        let _ = self.epitaph.set((Instant::now(), why.clone()));
        self.outgoing.close();
        self.lock_asked().clear();
        let inboxes: Vec<_> = self.lock_runs().drain().map(|(_, inbox)| inbox).collect();
        for inbox in inboxes {
            inbox.tell(Step::Gone(why.clone()), 0);
        }
    }

    async fn end_of_grace(&self) {
        self.ending.cancelled().await;
        time::sleep(self.limits.grace).await;
    }

    /// Writes until the process does not take it. One that is to end is told so, and its input is closed.
    async fn write(&self, lines: &mut outgoing::Lines, mut input: ChildStdin) -> Why {
        let patience = self.limits.unread;
        let unwritten = tokio::select! {
            biased;
            unwritten = lines.write(&mut input, patience) => unwritten,
            () = self.ending.cancelled() => {
                let farewell = wire::order(None, &Order::Shutdown {});
                // One that does not read is made to end all the same.
                let _ = outgoing::put(&mut input, &farewell, self.limits.grace).await;
                drop(input);
                return std::future::pending().await;
            }
        };
        match unwritten {
            Unwritten::Unread => Why::Ours(format!(
                "did not read what it was sent for {} s",
                patience.as_secs()
            )),
            Unwritten::Refused => Why::Noticed("closed its input"),
        }
    }

    /// Reads until the process stops talking, or is not worth listening to.
    async fn read(&self, mut output: impl AsyncRead + Unpin) -> Why {
        let mut lines = Lines::of(self.limits.frame_bytes);
        let mut buffer = vec![0; BUFFER];
        let mut garbage = 0;
        loop {
            let count = output.read(&mut buffer).await.unwrap_or(0);
            if count == 0 {
                return Why::Noticed("closed its output");
            }
            for frame in lines.push(buffer.get(..count).unwrap_or_default()) {
                garbage = match self.hear(frame).await {
                    Heard::Something => 0,
                    Heard::Garbage => garbage + 1,
                    Heard::Nothing => return Why::Noticed("closed its input"),
                };
            }
            if garbage > MOST_GARBAGE {
                return Why::Ours(format!("sent {garbage} lines that are not JSON-RPC"));
            }
        }
    }

    async fn hear(&self, frame: Frame) -> Heard {
        let line = match frame {
            Frame::Line(line) => line,
            Frame::TooLong(excess) => return self.pass_over(&excess).await,
        };
        let bytes = line.len();
        match admit(&line, |run| self.lock_runs().contains_key(&run)) {
            Admitted::Report { run, report, id } => {
                let step =
                    report.map_or_else(|why| Step::Broken(format!("it sent {why}")), Step::Report);
                self.tell(run, step, bytes);
                match id {
                    Some(id) => self.answer(Some(&id), Ok(&Value::Null)).await,
                    None => Heard::Something,
                }
            }
            Admitted::Asked { run, id, asked } => {
                let wanted = Wanted::Asked(asked);
                self.take(run, Callback { id, wanted, bytes }).await
            }
            Admitted::Unknown { run, what } => {
                self.tell(run, Step::Note(what), bytes);
                Heard::Something
            }
            Admitted::Answer { id, answer } => {
                let asked = self.lock_asked().remove(&id);
                if let Some(asked) = asked {
                    // Whoever asked may not wait any more.
                    let _ = asked.send(answer);
                }
                Heard::Something
            }
            Admitted::Refused { id: None, fault } => {
                tracing::debug!(runner = self.name, why = %fault.refusal, "the runner told what does not count");
                Heard::Something
            }
            Admitted::Refused { id, fault } => self.answer(id.as_ref(), Err(&fault)).await,
            Admitted::Garbage(fault) => {
                tracing::debug!(
                    runner = self.name,
                    bytes,
                    "the runner sent what is not JSON-RPC"
                );
                match self.answer(None, Err(&fault)).await {
                    Heard::Nothing => Heard::Nothing,
                    _ => Heard::Garbage,
                }
            }
        }
    }

    async fn take(&self, run: RunId, callback: Callback) -> Heard {
        let id = callback.id.clone();
        let inbox = self.lock_runs().get(&run).cloned();
        let taken = inbox.map(|inbox| inbox.ask(callback, self.started.elapsed()));
        let fault = match taken {
            Some(Ok(())) => return Heard::Something,
            Some(Err(busy)) => Refusal::new(RefusalCode::Unavailable, busy.to_string()).into(),
            None => Fault::no_such_run(),
        };
        self.answer(Some(&id), Err(&fault)).await
    }

    /// A line was too long to be taken. Its run is told; if nobody knows whose it was, every run is.
    async fn pass_over(&self, excess: &Excess) -> Heard {
        let (bytes, most) = (excess.bytes, self.limits.frame_bytes);
        let what =
            format!("a line of {bytes} bytes was not taken: {most} is the most there may be");
        tracing::warn!(runner = self.name, what);
        let run = excess.text("run").and_then(|run| run.parse().ok());
        let inbox = run.and_then(|run: RunId| self.lock_runs().get(&run).cloned());
        let method = excess.text("method").unwrap_or_default();
        let is_asked = Asked::METHODS.contains(&method.as_str());
        match inbox {
            Some(inbox) if is_asked => inbox.tell(Step::Note(what.clone()), 0),
            Some(inbox) => inbox.tell(Step::Broken(format!("it sent too much: {what}")), 0),
            None => {
                let all: Vec<_> = self.lock_runs().values().cloned().collect();
                for inbox in all {
                    inbox.tell(Step::Lost(what.clone()), 0);
                }
            }
        }
        let fault = Refusal::new(RefusalCode::TooLarge, what).into();
        self.answer(excess.id().as_ref(), Err(&fault)).await
    }

    fn tell(&self, run: RunId, step: Step, bytes: usize) {
        let inbox = self.lock_runs().get(&run).cloned();
        if let Some(inbox) = inbox {
            inbox.tell(step, bytes);
        }
    }

    async fn answer(&self, id: Option<&Value>, answer: Result<&Value, &Fault>) -> Heard {
        match self.send(wire::answer(id, answer)).await {
            Ok(()) => Heard::Something,
            Err(Closed) => Heard::Nothing,
        }
    }

    /// Its standard error is for the log, as much as anybody would read.
    async fn listen(&self, mut complaints: impl AsyncRead + Unpin) -> Why {
        let mut lines = Lines::of(MOST_COMPLAINT);
        let mut buffer = vec![0; BUFFER];
        let mut pace = Pace::per_second(COMPLAINTS);
        let mut left_out = 0_u64;
        loop {
            let count = complaints.read(&mut buffer).await.unwrap_or(0);
            if count == 0 {
                return std::future::pending().await;
            }
            for frame in lines.push(buffer.get(..count).unwrap_or_default()) {
                if !pace.takes(self.started.elapsed()) {
                    left_out += 1;
                    continue;
                }
                let left_out = std::mem::take(&mut left_out);
                match frame {
                    Frame::Line(line) => {
                        let text = String::from_utf8_lossy(&line);
                        tracing::info!(runner = self.name, left_out, "{text}");
                    }
                    Frame::TooLong(excess) => {
                        let bytes = excess.bytes;
                        tracing::info!(
                            runner = self.name,
                            left_out,
                            bytes,
                            "a long line is left out"
                        );
                    }
                }
            }
        }
    }

    // Nothing panics while it holds one of these locks.

    fn lock_runs(&self) -> MutexGuard<'_, HashMap<RunId, Arc<Inbox>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_asked(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<Result<Value, String>>>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long it is there.
    pub(super) fn age_at(&self, since: Instant) -> Duration {
        self.started.saturating_duration_since(since)
    }
}

/// Why a connection is over.
enum Why {
    /// It was ended here.
    Ours(String),
    /// What was noticed of its end.
    Noticed(&'static str),
}

/// What a line came to.
enum Heard {
    Something,
    Garbage,
    /// The process does not hear what it is answered: it is gone.
    Nothing,
}

/// Nobody waits for the answer with this number any more.
struct Forget<'a>(&'a Connection, u64);

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.0.lock_asked().remove(&self.1);
    }
}
