//! What a run can do beyond its own conversation: begin work that ends later, give a task away, send a letter.
//! Everything is recorded in the ledger first; a run that was stopped reaches nothing any more, and no run reaches
//! another conversation's jobs or another profile's accounts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use talaria_domain::adapter::Pending;
use talaria_domain::ids::{JobId, SessionId};
use talaria_domain::job::{Job, JobEnd, JobKind, Jobs, Promise};
use talaria_domain::runner::{Letter, Reach, Task};
use talaria_store::{Result, StoreError, Tx, jobs};
use tokio_util::sync::CancellationToken;

use super::LEDGER_PAUSE;
use super::begin::Begun;
use crate::jobs::delegation::{self, Commission, Stopped};
use crate::jobs::{Answer, Book, keep};
use crate::registry::ActiveRun;
use crate::shared::Shared;

pub(super) const STOPPED: &str = "the run was stopped";

/// One run's reach.
pub(crate) struct TurnReach {
    pub(super) shared: Arc<Shared>,
    pub(super) begun: Arc<Begun>,
    stop: CancellationToken,
    active: Arc<ActiveRun>,
    /// Whether it may have begun anything that ends later.
    has_jobs: AtomicBool,
}

/// Room for an errand, which is given back unless the errand was recorded.
struct Room<'a>(&'a Shared, Option<SessionId>);

impl Room<'_> {
    fn keep(mut self) {
        self.1 = None;
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.1 {
            self.0.errands.remove(session);
        }
    }
}

impl TurnReach {
    pub(crate) fn of(shared: &Arc<Shared>, begun: &Arc<Begun>, active: &Arc<ActiveRun>) -> Self {
        Self {
            shared: Arc::clone(shared),
            begun: Arc::clone(begun),
            stop: active.registration().stop.clone(),
            active: Arc::clone(active),
            has_jobs: AtomicBool::new(false),
        }
    }

    /// Whether the run waits for others: then it is not idle.
    pub(crate) fn is_waiting(&self) -> bool {
        self.active.is_waiting()
    }

    /// The run is over: what it recorded and nobody will start, or delegated and nobody waits for any more, ends, too.
    pub(crate) async fn let_go(&self) {
        if !self.has_jobs.load(Ordering::Relaxed) {
            return;
        }
        let (this, session, run) = (Arc::clone(&self.shared), self.session(), self.begun.run);
        let stopped = self
            .shared
            .ledger
            .write(move |tx| {
                keep::call_off_unstarted(tx, &this, session, run)?;
                delegation::let_go(tx, &this, session, Some(run))
            })
            .await;
        match stopped {
            Ok(stopped) => stopped.tell(&self.shared),
            // They are looked after at the next start.
            Err(error) => tracing::warn!(%run, %error, "delegations could not be ended"),
        }
    }

    pub(super) fn session(&self) -> SessionId {
        self.begun.session()
    }

    async fn give(&self, task: Task) -> Answer<JobId> {
        self.begun.written.precedes().await;
        let (shared, begun) = (&self.shared, &self.begun);
        let promise = if task.is_background {
            Promise::Wake
        } else {
            Promise::Nothing
        };
        if task.goal.trim().is_empty() {
            return Err("expected a goal, found none".to_owned());
        }
        let id = JobId::next(&*shared.ids, shared.now());
        let commission = Commission {
            id,
            run: Some(begun.run),
            return_to: (*begun.place.0).clone(),
            authority: self.active.left(),
            depth: begun.depth(),
            task,
            promise,
        };
        // Before the commit, which starts it.
        let session = delegation::session_of(id);
        if !shared.errands.add(session, shared.settings.limits.turns) {
            return Err("too many delegations are under way: do it yourself, or later".to_owned());
        }
        let room = Room(shared, Some(session));
        self.has_jobs.store(true, Ordering::Relaxed);
        let this = Arc::clone(shared);
        let started = shared
            .ledger
            .write(move |tx| delegation::start(tx, &this, &commission))
            .await;
        started.unwrap_or_else(|error| Err(error.to_string()))?;
        room.keep();
        Ok(id)
    }

    async fn wait_for(&self, job: JobId) -> Answer<JobEnd> {
        let _wait = self.active.wait(&*self.shared.clock);
        let session = self.session();
        loop {
            let changed = self.shared.jobs_changed.notified();
            let look = move |tx: &mut Tx<'_>| {
                let own = own_job(tx, job, session)?;
                match own {
                    Ok(_) => jobs::end_of(tx, job).map(Ok),
                    Err(words) => Ok(Err(words)),
                }
            };
            match self.shared.ledger.read(look).await {
                Ok(Ok(Some(end))) => return Ok(end),
                Ok(Ok(None)) => {}
                Ok(Err(words)) => return Err(words),
                Err(error) => self.wait_for_ledger(&error).await,
            }
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return Err(STOPPED.to_owned()),
                () = changed => {}
            }
        }
    }

    /// The ledger says nothing when it is back, so everybody who waits is told to look again after a while.
    async fn wait_for_ledger(&self, error: &StoreError) {
        tracing::warn!(run = %self.begun.run, %error, "the ledger was asked for a job and did not answer");
        tokio::time::sleep(LEDGER_PAUSE).await;
        self.shared.jobs_changed.notify_waiters();
    }

    async fn call_off(&self, job: JobId) -> Answer<()> {
        let (this, session, now) = (Arc::clone(&self.shared), self.session(), self.shared.now());
        let called_off = self
            .shared
            .ledger
            .write(move |tx| {
                let job = match own_job(tx, job, session)? {
                    Ok(job) => job,
                    Err(words) => return Ok(Err(words)),
                };
                if job.kind == JobKind::Process {
                    return Ok(Ok(None));
                }
                // Whoever stops it need not be told that it was stopped.
                jobs::consume(tx, job.id, now)?;
                let reason = "it was called off";
                delegation::cancel(tx, &this, &job, reason).map(|stopped| Ok(Some(stopped)))
            })
            .await;
        let called_off: Answer<Option<Stopped>> =
            called_off.unwrap_or_else(|error| Err(error.to_string()));
        match called_off? {
            Some(stopped) => stopped.tell(&self.shared),
            None => self.shared.settings.worker.cancel(job).await,
        }
        Ok(())
    }
}

/// A job, if it is this session's.
fn own_job(tx: &mut Tx<'_>, job: JobId, session: SessionId) -> Result<Answer<Job>> {
    let found = jobs::find(tx, job)?.filter(|found| found.return_to.session == session);
    Ok(found.ok_or_else(|| format!("there is no job {job} in this conversation")))
}

impl Reach for TurnReach {
    fn jobs(&self) -> Arc<dyn Jobs> {
        self.has_jobs.store(true, Ordering::Relaxed);
        Arc::new(Book(Arc::clone(&self.shared)))
    }

    fn delegate(&self, task: Task) -> Pending<'_, Answer<JobId>> {
        Box::pin(self.give(task))
    }

    fn outcome(&self, job: JobId) -> Pending<'_, Answer<JobEnd>> {
        Box::pin(self.wait_for(job))
    }

    fn cancel(&self, job: JobId) -> Pending<'_, Answer<()>> {
        Box::pin(self.call_off(job))
    }

    fn send(&self, letter: Letter) -> Pending<'_, Answer<String>> {
        Box::pin(self.post(letter))
    }
}
