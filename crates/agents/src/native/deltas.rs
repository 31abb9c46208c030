//! Brings what the model says to the host. Journalling is a commit: while one is under way, whatever the model says
//! meanwhile gathers, and goes out as one event.
//!
//! **Invariant:** nothing is lost, doubled or turned round. Thoughts go out in one event each, when the model starts to
//! talk or is done; the answer goes out as it grows, and its end with the whole of it.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use talaria_domain::adapter::Pending;
use talaria_domain::run::RunEvent;
use talaria_domain::runner::{Host, Stopped};
use tokio::sync::Notify;

use crate::models::{Delta, Heard};

/// What was heard and is not journalled yet.
#[derive(Debug, Default)]
pub(super) struct Deltas {
    waiting: Mutex<Waiting>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    deltas: VecDeque<Delta>,
    is_closed: bool,
}

impl Deltas {
    /// Journals what is heard until the last of it, after [`Self::close`].
    pub(super) async fn journal(&self, host: &dyn Host) -> Result<(), Stopped> {
        loop {
            match self.next() {
                Next::Event(event) => host.journal(event).await?,
                Next::Wait => self.changed.notified().await,
                Next::End => return Ok(()),
            }
        }
    }

    /// The answer is complete, and is journalled as a whole next: what has not been journalled of it by now need not be.
    pub(super) fn leave_the_rest(&self) {
        let is_thought = |delta: &Delta| matches!(delta, Delta::Reasoning(_));
        self.lock().deltas.retain(is_thought);
    }

    /// Nothing more comes.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_one();
    }

    fn next(&self) -> Next {
        let mut waiting = self.lock();
        let is_settled = waiting.is_closed || waiting.deltas.len() > 1;
        match waiting.deltas.front() {
            Some(Delta::Reasoning(_)) if !is_settled => return Next::Wait,
            None if !waiting.is_closed => return Next::Wait,
            _ => {}
        }
        match waiting.deltas.pop_front() {
            Some(Delta::Text(text)) => Next::Event(RunEvent::MessageDelta { text }),
            Some(Delta::Reasoning(text)) => Next::Event(RunEvent::Reasoning { text }),
            None => Next::End,
        }
    }

    fn add(&self, delta: Delta) {
        let mut waiting = self.lock();
        match (waiting.deltas.back_mut(), delta) {
            (Some(Delta::Text(last)), Delta::Text(text))
            | (Some(Delta::Reasoning(last)), Delta::Reasoning(text)) => last.push_str(&text),
            (_, delta) => waiting.deltas.push_back(delta),
        }
        drop(waiting);
        self.changed.notify_one();
    }

    /// A poisoned lock means that somebody panicked between two deltas: what is there is still good.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is to be done next.
enum Next {
    Event(RunEvent),
    Wait,
    End,
}

impl Heard for Deltas {
    fn hear(&self, delta: Delta) -> Pending<'_, Result<(), Stopped>> {
        self.add(delta);
        Box::pin(std::future::ready(Ok(())))
    }
}
