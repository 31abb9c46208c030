//! What a runner works for. Everything it yields is journalled under the lane's lease before anybody sees it; once the
//! lease is lost, every call says so. Where the platform can change messages, the growing answer is shown at a pace.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use talaria_domain::adapter::Pending;
use talaria_domain::clock::Timestamp;
use talaria_domain::effects::Effects;
use talaria_domain::event::Event;
use talaria_domain::ids::SessionId;
use talaria_domain::live::Happening;
use talaria_domain::profile::BusyPolicy;
use talaria_domain::run::RunEvent;
use talaria_domain::runner::{Host, Reach, Stopped};
use talaria_store::inbox::{self, InboxRow};
use talaria_store::{Result, StoreError, Tx, leases, runs};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::begin::Begun;
use super::end::Unwritten;
use super::envelope;
use super::growing::{Growing, Show};
use super::reach::TurnReach;
use super::written::Beginning;
use crate::delivery::say::{self, Statement};
use crate::files::fetch;
use crate::registry::ActiveRun;
use crate::settings::AccountSettings;
use crate::shared::Shared;

/// One run's host.
pub(crate) struct TurnHost {
    pub(super) shared: Arc<Shared>,
    pub(super) begun: Arc<Begun>,
    pub(super) stop: CancellationToken,
    /// What it may use, and when it last did something.
    pub(super) active: Arc<ActiveRun>,
    progress: Mutex<Progress>,
    /// Something is not shown yet that will have to be.
    behind: Notify,
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
    /// The number that the next event has in the ledger, as far as we know.
    next: i64,
    /// What people are shown of it.
    growing: Growing,
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
                next: 1,
                growing: Growing::default(),
            }),
            behind: Notify::new(),
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
    pub(crate) fn last_words(&self) -> (Vec<RunEvent>, Unwritten) {
        let mut progress = self.progress();
        let unwritten = Unwritten {
            next: progress.next,
            events: std::mem::take(&mut progress.unwritten),
        };
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
            self.progress().next = seq + 1;
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
        let first = if growing.is_none() && self.begun.written.begins_with(&events) {
            1
        } else {
            let written = self.write_down(events.clone(), growing, now).await;
            written.map_err(|error| self.lost(&error))?
        };
        if self.begun.written.known().await == Beginning::IsUndone {
            return Err(Stopped);
        }
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

    /// Journals what was yielded, and shows it; gives the number of the first.
    async fn write_down(
        &self,
        events: Vec<RunEvent>,
        growing: Option<Show>,
        now: Timestamp,
    ) -> Result<i64> {
        self.begun.written.precedes().await;
        let (shared, begun) = (Arc::clone(&self.shared), Arc::clone(&self.begun));
        let written = self.shared.ledger.write(move |tx| {
            let first = runs::append_all(tx, &begun.lease, begun.run, &events, now)?;
            if let Some(growing) = &growing {
                show(tx, &shared, &begun, growing)?;
            }
            Ok(first)
        });
        written.await
    }

    /// What people are to see now of what was yielded, if anything.
    fn grown(&self, event: &RunEvent, now: Timestamp) -> Option<Show> {
        let pace = self.seen_through()?.edit_pace;
        let growing = &mut self.progress().growing;
        growing.hear(event, self.begun.delivery.progress);
        let due = growing.take(now, pace);
        if due.is_none() && growing.due_at(pace).is_some() {
            self.behind.notify_one();
        }
        due
    }

    /// Where people can see the answer grow. Nothing of a task is shown before its end, nor of an answer that is to come
    /// at once.
    fn seen_through(&self) -> Option<&AccountSettings> {
        if self.begun.errand.is_some() || !self.begun.delivery.streaming {
            return None;
        }
        let account = self.shared.settings.account(&self.begun.place.0.address)?;
        account.adapter.abilities().edit?;
        Some(account)
    }

    /// Shows what could not be shown when it happened, as soon as it may be: a tool that takes minutes is seen even if
    /// nothing follows it. Never ends by itself.
    pub(super) async fn catch_up(&self) {
        loop {
            self.behind.notified().await;
            let Some(pace) = self.seen_through().map(|account| account.edit_pace) else {
                continue;
            };
            let due = self.progress().growing.due_at(pace);
            let Some(due) = due else { continue };
            // Not polling: a platform allows so many changes in a time.
            tokio::time::sleep(due.since(self.shared.now())).await;
            let late = self.progress().growing.take(self.shared.now(), pace);
            let Some(late) = late else { continue };
            let (shared, begun) = (Arc::clone(&self.shared), Arc::clone(&self.begun));
            let shown = self.shared.ledger.write(move |tx| {
                leases::fence(tx, &begun.lease)?;
                show(tx, &shared, &begun, &late)
            });
            if let Err(error) = shown.await {
                // The run hears of it when it yields something.
                tracing::debug!(run = %self.begun.run, %error, "what is going on could not be shown");
            }
        }
    }

    /// A run that cannot be journalled must not go on.
    fn lost(&self, error: &StoreError) -> Stopped {
        tracing::warn!(run = %self.begun.run, %error, "the run cannot be journalled and is stopped");
        self.stop.cancel();
        Stopped
    }

    /// What came for the turn meanwhile, with its files.
    async fn fetch_steered(&self) -> Result<Vec<Event>> {
        let begun = Arc::clone(&self.begun);
        let waiting = self.shared.ledger.read(move |tx| meant(tx, &begun)).await?;
        let events: Vec<Event> = waiting.into_iter().map(|row| row.event).collect();
        // What came later is not in what the run was granted; it is told to the same run.
        let may_read = |_: &_| !self.begun.is_bound;
        let fetched = fetch::fetch(&self.shared, &events, may_read).await;
        Ok(fetched.unwrap_or(events))
    }

    async fn take_steered(&self) -> std::result::Result<Vec<String>, Stopped> {
        if self.stop.is_cancelled() {
            return Err(Stopped);
        }
        if !self.shared.running.is_knocked(self.session()) {
            // Nothing came since the turn began.
            return Ok(Vec::new());
        }
        let fetched = self.fetch_steered().await;
        let fetched = fetched.map_err(|error| self.lost(&error))?;
        let (begun, now) = (Arc::clone(&self.begun), self.shared.now());
        let taken = self
            .shared
            .ledger
            .write(move |tx| steer(tx, &begun, &fetched, now))
            .await
            .map_err(|error| self.lost(&error))?;
        for (seq, text) in &taken {
            let what = RunEvent::Steered { text: text.clone() };
            {
                let mut progress = self.progress();
                progress.journal.push(what.clone());
                progress.next = seq + 1;
            }
            let (run, seq) = (self.begun.run, *seq);
            let happening = Happening::Yielded { run, seq, what };
            self.shared.watchers.tell(self.session(), happening);
        }
        Ok(taken.into_iter().map(|(_, text)| text).collect())
    }
}

/// Makes a message that grows show this.
fn show(tx: &mut Tx<'_>, shared: &Shared, begun: &Begun, show: &Show) -> Result<()> {
    let so_far = Statement::to(&begun.row, Some(begun.run), &show.answer);
    say::show(tx, shared, &begun.place, &so_far, &show.visible)
}

/// Waiting messages that are meant for the running turn.
fn meant(tx: &mut Tx<'_>, begun: &Begun) -> Result<Vec<InboxRow>> {
    let lane = inbox::lane(tx, begun.session())?;
    let is_meant = |row: &InboxRow| {
        row.busy == Some(BusyPolicy::Steer)
            && row.event.address.target() == begun.row.event.address.target()
    };
    Ok(lane.into_iter().filter(is_meant).collect())
}

/// Makes them part of it, with the files that were fetched for them.
fn steer(
    tx: &mut Tx<'_>,
    begun: &Begun,
    fetched: &[Event],
    now: Timestamp,
) -> Result<Vec<(i64, String)>> {
    meant(tx, begun)?
        .into_iter()
        .map(|row| {
            let fetched = fetched.iter().find(|event| event.id == row.event.id);
            let text = envelope::prompt([fetched.unwrap_or(&row.event)], begun.company);
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
