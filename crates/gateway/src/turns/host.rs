//! What a runner works for. Everything it yields is journalled under the lane's lease before anybody sees it; once the
//! lease is lost, every call says so. Where the platform can change messages, the growing answer is shown at a pace.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use talaria_domain::adapter::Pending;
use talaria_domain::clock::Timestamp;
use talaria_domain::effects::Effects;
use talaria_domain::ids::SessionId;
use talaria_domain::live::Happening;
use talaria_domain::profile::BusyPolicy;
use talaria_domain::run::RunEvent;
use talaria_domain::runner::{Host, Reach, Stopped};
use talaria_store::inbox::{self, InboxRow};
use talaria_store::{Result, StoreError, Tx, runs};
use tokio_util::sync::CancellationToken;

use super::begin::Begun;
use super::envelope;
use super::reach::TurnReach;
use crate::delivery::say::{self, Statement};
use crate::registry::ActiveRun;
use crate::shared::Shared;

/// One run's host.
pub(crate) struct TurnHost {
    pub(super) shared: Arc<Shared>,
    pub(super) begun: Arc<Begun>,
    pub(super) stop: CancellationToken,
    /// What it may use, and when it last did something.
    pub(super) active: Arc<ActiveRun>,
    progress: Mutex<Progress>,
    reach: TurnReach,
}

/// What a run did so far.
#[derive(Debug)]
struct Progress {
    /// When it last yielded something.
    at: Timestamp,
    /// What it yielded, without the deltas.
    journal: Vec<RunEvent>,
    /// What of that is not in the ledger yet.
    unwritten: Vec<RunEvent>,
    /// The answer so far.
    text: String,
    /// When that was last shown.
    shown_at: Timestamp,
}

impl TurnHost {
    pub(crate) fn of(shared: &Arc<Shared>, begun: &Arc<Begun>, active: &Arc<ActiveRun>) -> Self {
        Self {
            shared: Arc::clone(shared),
            begun: Arc::clone(begun),
            reach: TurnReach::of(shared, begun, active),
            stop: active.registration().stop.clone(),
            active: Arc::clone(active),
            progress: Mutex::new(Progress {
                at: shared.now(),
                journal: Vec::new(),
                unwritten: Vec::new(),
                text: String::new(),
                shown_at: Timestamp::ZERO,
            }),
        }
    }

    /// When the run last yielded something, or now if it waits for others.
    pub(crate) fn active_at(&self) -> Timestamp {
        if self.reach.is_waiting() {
            return self.shared.now();
        }
        let waited = self.shared.waits.last(self.begun.run, self.shared.now());
        self.progress().at.max(waited)
    }

    /// The run is over.
    pub(crate) async fn let_go(&self) {
        self.reach.let_go().await;
    }

    /// What the run yielded, without the deltas, and what of that is not in the ledger yet.
    pub(crate) fn last_words(&self) -> (Vec<RunEvent>, Vec<RunEvent>) {
        let mut progress = self.progress();
        let unwritten = std::mem::take(&mut progress.unwritten);
        (progress.journal.clone(), unwritten)
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        // Nothing panics while it holds this lock.
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn session(&self) -> SessionId {
        self.begun.session()
    }

    /// What was yielded and is not in the ledger yet, for whoever writes next; they put it back if they cannot.
    pub(super) fn take_unwritten(&self) -> Vec<RunEvent> {
        std::mem::take(&mut self.progress().unwritten)
    }

    pub(super) fn put_back(&self, mut unwritten: Vec<RunEvent>) {
        let mut progress = self.progress();
        unwritten.append(&mut progress.unwritten);
        progress.unwritten = unwritten;
    }

    /// What was written is told to whoever watches.
    pub(super) fn tell(&self, first: i64, events: Vec<RunEvent>) {
        let run = self.begun.run;
        for (seq, what) in (first..).zip(events) {
            let happening = Happening::Yielded { run, seq, what };
            self.shared.watchers.tell(self.session(), happening);
        }
    }

    pub(super) async fn keep(&self, event: RunEvent) -> std::result::Result<(), Stopped> {
        if self.stop.is_cancelled() {
            return Err(Stopped);
        }
        let now = self.shared.now();
        self.active.touch(now);
        if matches!(event, RunEvent::MessageCompleted { .. }) {
            // Nothing of it is new to anybody: it is written with what comes next, which is the end most of the time.
            let mut progress = self.progress();
            progress.at = now;
            progress.journal.push(event.clone());
            progress.unwritten.push(event);
            return Ok(());
        }
        let growing = self.grown(&event, now);
        let mut events = self.take_unwritten();
        events.push(event.clone());
        let (shared, begun) = (Arc::clone(&self.shared), Arc::clone(&self.begun));
        let kept = events.clone();
        let written = self.shared.ledger.write(move |tx| {
            let first = runs::append_all(tx, &begun.lease, begun.run, &kept, now)?;
            if let Some(text) = &growing {
                let so_far = Statement::to(&begun.row, Some(begun.run), text);
                say::show(tx, &shared, &begun.place, &so_far)?;
            }
            Ok(first)
        });
        let first = written.await.map_err(|error| self.lost(&error))?;
        {
            let mut progress = self.progress();
            progress.at = now;
            if !matches!(event, RunEvent::MessageDelta { .. }) {
                progress.journal.push(event);
            }
        }
        self.tell(first, events);
        Ok(())
    }

    /// The answer so far, if it has to be shown now.
    fn grown(&self, event: &RunEvent, now: Timestamp) -> Option<String> {
        if self.begun.errand.is_some() || !self.begun.delivery.streaming {
            // Nothing of a task is shown before its end, nor of an answer that is to come at once.
            return None;
        }
        let settings = &self.shared.settings;
        let address = &self.begun.place.0.address;
        let account = settings.account(address)?;
        account.adapter.abilities().edit?;
        let mut progress = self.progress();
        match event {
            RunEvent::MessageDelta { text } => progress.text.push_str(text),
            RunEvent::ToolStarted { .. } => progress.text.clear(),
            _ => return None,
        }
        let is_due = now.since(progress.shown_at) >= account.edit_pace;
        if !is_due || progress.text.trim().is_empty() {
            return None;
        }
        progress.shown_at = now;
        Some(progress.text.clone())
    }

    /// A run that cannot be journalled must not go on.
    fn lost(&self, error: &StoreError) -> Stopped {
        tracing::warn!(run = %self.begun.run, %error, "the run cannot be journalled and is stopped");
        self.stop.cancel();
        Stopped
    }

    async fn take_steered(&self) -> std::result::Result<Vec<String>, Stopped> {
        if self.stop.is_cancelled() {
            return Err(Stopped);
        }
        if !self.shared.running.is_knocked(self.session()) {
            // Nothing came since the turn began.
            return Ok(Vec::new());
        }
        let (begun, now) = (Arc::clone(&self.begun), self.shared.now());
        let taken = self
            .shared
            .ledger
            .write(move |tx| steer(tx, &begun, now))
            .await
            .map_err(|error| self.lost(&error))?;
        for (seq, text) in &taken {
            let what = RunEvent::Steered { text: text.clone() };
            self.progress().journal.push(what.clone());
            let (run, seq) = (self.begun.run, *seq);
            let happening = Happening::Yielded { run, seq, what };
            self.shared.watchers.tell(self.session(), happening);
        }
        Ok(taken.into_iter().map(|(_, text)| text).collect())
    }
}

/// Makes waiting messages that are meant for the running turn part of it.
fn steer(tx: &mut Tx<'_>, begun: &Begun, now: Timestamp) -> Result<Vec<(i64, String)>> {
    let lane = inbox::lane(tx, begun.session())?;
    let is_meant = |row: &&InboxRow| {
        row.busy == Some(BusyPolicy::Steer)
            && row.event.address.target() == begun.row.event.address.target()
    };
    let meant: Vec<&InboxRow> = lane.iter().filter(is_meant).collect();
    meant
        .into_iter()
        .map(|row| {
            let text = envelope::prompt([&row.event], begun.company);
            let event = RunEvent::Steered { text: text.clone() };
            let seq = runs::append(tx, &begun.lease, begun.run, &event, now)?;
            inbox::merge(tx, row.event.id, begun.row.event.id, now)?;
            Ok((seq, text))
        })
        .collect()
}

impl Host for TurnHost {
    fn journal(&self, event: RunEvent) -> Pending<'_, std::result::Result<(), Stopped>> {
        match event {
            RunEvent::StateUpdated { scope, key, value } => {
                Box::pin(self.update_state(scope, key, value))
            }
            event => Box::pin(self.keep(event)),
        }
    }

    fn stopped(&self) -> Pending<'_, ()> {
        Box::pin(self.stop.cancelled())
    }

    fn steered(&self) -> Pending<'_, std::result::Result<Vec<String>, Stopped>> {
        Box::pin(self.take_steered())
    }

    fn reach(&self) -> &dyn Reach {
        &self.reach
    }

    fn effects(&self) -> &dyn Effects {
        self
    }
}
