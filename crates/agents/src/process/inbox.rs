//! What a connection brings for one run: reports and tool calls in order, callbacks as they come. What is read is never
//! kept waiting by a run that is slow: deltas that wait are put together, and a run that tells more than can be
//! journalled has broken off.
//!
//! **Invariant:** what is held is bounded, and everything that was told before a connection broke is still read.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use talaria_domain::runner::ToolCall;
use tokio::sync::Notify;

use super::Limits;
use super::rate::{Busy, Gate};
use super::wire::{Asked, Report};
use crate::native::approval::Consent;

/// What comes next in a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// The runner tells something.
    Report(Report),
    /// The runner wants a tool of the host to be called.
    Call(Callback),
    /// A person was asked whether it may be.
    Judged(Callback, Consent),
    /// The operator is told something about the runner.
    Note(String),
    /// Something that may have been this run's was too long to be taken.
    Lost(String),
    /// The runner did what it must not: the run is over.
    Broken(String),
    /// The connection is gone.
    Gone(String),
}

/// What a run asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Callback {
    /// Under which id it is answered.
    pub(super) id: Value,
    /// For what.
    pub(super) wanted: Wanted,
    /// How long its line was.
    pub(super) bytes: usize,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wanted {
    /// What was asked for.
    Asked(Asked),
    /// A tool call that a person has to agree to.
    Judge(ToolCall),
    /// A tool call whose start is journalled.
    Begun(ToolCall),
}

/// What a connection brings for one run.
#[derive(Debug)]
pub(super) struct Inbox {
    waiting: Mutex<Waiting>,
    told: Notify,
    asked: Notify,
    limits: Limits,
}

#[derive(Debug)]
struct Waiting {
    steps: VecDeque<(Step, usize)>,
    bytes: usize,
    /// The run is over for whoever reads: nothing more is taken.
    is_over: bool,
    callbacks: Vec<Callback>,
    gate: Gate,
    /// The ids that nobody has answered yet.
    unanswered: BTreeSet<String>,
    is_knocked: bool,
    is_closed: bool,
}

impl Inbox {
    pub(super) fn of(limits: Limits) -> Self {
        Self {
            waiting: Mutex::new(Waiting {
                steps: VecDeque::new(),
                bytes: 0,
                is_over: false,
                callbacks: Vec::new(),
                gate: Gate::of(limits.per_second, limits.in_flight, limits.in_flight_bytes),
                unanswered: BTreeSet::new(),
                is_knocked: false,
                is_closed: false,
            }),
            told: Notify::new(),
            asked: Notify::new(),
            limits,
        }
    }

    /// Something comes next. The last word is the last one.
    pub(super) fn tell(&self, step: Step, bytes: usize) {
        let mut waiting = self.lock();
        if waiting.is_over {
            return;
        }
        waiting.is_over = matches!(step, Step::Broken(_) | Step::Gone(_));
        waiting.add(step, bytes);
        let count = waiting.steps.len();
        if !waiting.is_over
            && (count > self.limits.reports || waiting.bytes > self.limits.report_bytes)
        {
            waiting.is_over = true;
            let why = format!("it told more than could be recorded: {count} reports are waiting");
            waiting.add(Step::Broken(why), 0);
        }
        drop(waiting);
        self.told.notify_one();
    }

    /// Something is asked for, or there is too much of it.
    pub(super) fn ask(&self, callback: Callback, now: Duration) -> Result<(), Busy> {
        let mut waiting = self.lock();
        waiting.gate.take(callback.bytes, now)?;
        waiting.unanswered.insert(callback.id.to_string());
        if matches!(callback.wanted, Wanted::Asked(Asked::ToolCall { .. })) {
            drop(waiting);
            // Its start is journalled in its place among the reports. Its bytes are counted by the gate.
            self.tell(Step::Call(callback), 0);
            return Ok(());
        }
        waiting.callbacks.push(callback);
        drop(waiting);
        self.asked.notify_one();
        Ok(())
    }

    /// What was in its place among the reports is done beside what comes next.
    pub(super) fn hand_on(&self, callback: Callback) {
        self.lock().callbacks.push(callback);
        self.asked.notify_one();
    }

    /// What comes next; it waits until there is something.
    pub(super) async fn next(&self) -> Step {
        loop {
            if let Some(step) = self.lock().next() {
                return step;
            }
            self.told.notified().await;
        }
    }

    /// What is asked for by now, which may be nothing where something was told instead. None once it is closed and
    /// everything was taken.
    pub(super) async fn wanted(&self) -> Option<Vec<Callback>> {
        loop {
            {
                let mut waiting = self.lock();
                let is_knocked = std::mem::take(&mut waiting.is_knocked);
                if is_knocked || !waiting.callbacks.is_empty() {
                    return Some(std::mem::take(&mut waiting.callbacks));
                }
                if waiting.is_closed {
                    return None;
                }
            }
            self.asked.notified().await;
        }
    }

    /// Something was told: whoever waits for callbacks may want to look around.
    pub(super) fn knock(&self) {
        self.lock().is_knocked = true;
        self.asked.notify_one();
    }

    /// One that was taken is answered.
    pub(super) fn answered(&self, id: &Value, bytes: usize) {
        let mut waiting = self.lock();
        waiting.gate.give_back(bytes);
        waiting.unanswered.remove(&id.to_string());
    }

    /// Nothing more is asked for.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.asked.notify_one();
    }

    /// The ids that nobody has answered, and nobody will.
    pub(super) fn unanswered(&self) -> Vec<Value> {
        let ids = std::mem::take(&mut self.lock().unanswered);
        let ids = ids.iter().map(|id| serde_json::from_str(id));
        ids.filter_map(Result::ok).collect()
    }

    /// Nothing panics while it holds this lock.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn add(&mut self, step: Step, bytes: usize) {
        self.bytes += bytes;
        let last = self.steps.back_mut();
        if let (Some((Step::Report(last), size)), Step::Report(next)) = (last, &step)
            && is_joined(last, next)
        {
            *size += bytes;
            return;
        }
        self.steps.push_back((step, bytes));
    }

    fn next(&mut self) -> Option<Step> {
        let (step, bytes) = self.steps.pop_front()?;
        self.bytes = self.bytes.saturating_sub(bytes);
        Some(step)
    }
}

/// Puts the next piece to the last one, if both are pieces of the same.
fn is_joined(last: &mut Report, next: &Report) -> bool {
    match (last, next) {
        (Report::MessageDelta { text }, Report::MessageDelta { text: more })
        | (Report::Reasoning { text }, Report::Reasoning { text: more }) => {
            text.push_str(more);
            true
        }
        _ => false,
    }
}
