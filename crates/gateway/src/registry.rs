//! The runs that are under way in this process: who each of them is, what it may use, when it last did something, and
//! how it is reached. A run that is not here has no access to anything. One that does nothing for too long is closed:
//! a task sleeps until the earliest time at which that can be, and looks.
//!
//! **Invariant:** what a run was registered with is its own copy. It can be revoked, and never changed or widened.

mod by_id;
pub(crate) mod close;
pub(crate) mod revoke;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use talaria_domain::authority::{
    Authority, Frozen, Grant, ResourceKind, Revocation, Revoked, Right,
};
use talaria_domain::clock::{Clock, Timestamp};
use talaria_domain::effects::{Refusal, RefusalCode};
use talaria_domain::ids::{RunId, SessionId};
use talaria_domain::names::{BindingId, RunnerId};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use self::by_id::ById;

/// How long a run may do nothing, where nobody says anything else.
pub const IDLE: Duration = Duration::from_hours(1);

/// What a run is registered with.
#[derive(Debug, Clone)]
pub struct Registration {
    /// The run.
    pub run: RunId,
    /// The conversation that it is a turn of.
    pub session: SessionId,
    /// What thinks. A run without a name is not registered.
    pub runner: RunnerId,
    /// Under which binding.
    pub binding: BindingId,
    /// What it may use.
    pub authority: Arc<Frozen>,
    /// How long it may do nothing.
    pub idle: Duration,
    /// Now.
    pub at: Timestamp,
    /// How it is stopped.
    pub stop: CancellationToken,
}

/// Why a run was not registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotRegistered {
    /// Nobody knows whose run it is.
    #[error("expected the name of its runner, found none")]
    Nameless,
    /// It is registered already, with what it has: a second time could widen that.
    #[error("expected a run that is not registered yet, found one that is")]
    Known,
}

/// A run under way.
#[derive(Debug)]
pub struct ActiveRun {
    with: Registration,
    active_at: AtomicI64,
    /// How much it waits for: while it does, it is not idle.
    waits: AtomicUsize,
    /// Whether something came to its lane since it began.
    is_knocked: AtomicBool,
    /// How long it had done nothing when it was closed for that.
    expired: OnceLock<Duration>,
    has_lost: AtomicBool,
    revoked: RwLock<Revoked>,
}

impl ActiveRun {
    fn of(with: Registration) -> Self {
        Self {
            active_at: AtomicI64::new(with.at.as_millis()),
            with,
            waits: AtomicUsize::new(0),
            is_knocked: AtomicBool::new(false),
            expired: OnceLock::new(),
            has_lost: AtomicBool::new(false),
            revoked: RwLock::default(),
        }
    }

    /// What it was registered with.
    pub const fn registration(&self) -> &Registration {
        &self.with
    }

    /// When it last did something.
    pub fn active_at(&self) -> Timestamp {
        Timestamp::from_millis(self.active_at.load(Ordering::Relaxed))
    }

    /// It did something.
    pub fn touch(&self, at: Timestamp) {
        // Most of what is done is done in the millisecond of what was done before: then there is nothing to write.
        if self.active_at.load(Ordering::Relaxed) < at.as_millis() {
            self.active_at.fetch_max(at.as_millis(), Ordering::Relaxed);
        }
    }

    /// It waits for others, for as long as this is kept.
    pub fn wait<'a>(&'a self, clock: &'a dyn Clock) -> Wait<'a> {
        self.waits.fetch_add(1, Ordering::Relaxed);
        Wait { run: self, clock }
    }

    /// Whether it waits for others.
    pub fn is_waiting(&self) -> bool {
        self.waits.load(Ordering::Relaxed) > 0
    }

    /// How long it had done nothing, if it was closed for that.
    pub fn expired(&self) -> Option<Duration> {
        self.expired.get().copied()
    }

    /// The grant for one operation on one resource, if the run has it now.
    pub fn check(
        &self,
        kind: ResourceKind,
        name: &str,
        operation: &str,
    ) -> Result<&Arc<Grant>, Refusal> {
        self.is_under_way()?;
        let grant = self.with.authority.grant(kind, name, operation);
        let is_left = || !self.has_lost(|revoked| revoked.has(kind, name, operation));
        grant.filter(|_| is_left()).ok_or_else(|| {
            let kind = kind.as_str();
            let reason = format!("{kind} {name:?} is not allowed for this run: {operation}");
            Refusal::new(RefusalCode::NotAllowed, reason)
        })
    }

    /// Whether it has a right now.
    pub fn may(&self, right: Right) -> Result<(), Refusal> {
        self.is_under_way()?;
        let is_left = || !self.has_lost(|revoked| revoked.has_right(right));
        if self.with.authority.may(right) && is_left() {
            return Ok(());
        }
        let what = match right {
            Right::HistoryPage => "read what was said before",
            Right::HistorySearch => "search what was said before",
            Right::EventGet => "read events",
            Right::Ask => "ask anybody",
        };
        let reason = format!("this run may not {what}");
        Err(Refusal::new(RefusalCode::NotAllowed, reason))
    }

    /// Whether it may remember anything now, beside what its policy says.
    pub fn may_remember(&self) -> Result<(), Refusal> {
        self.is_under_way()?;
        if self.has_lost(Revoked::is_without_state) {
            let reason = "what this run remembers was taken away from it";
            return Err(Refusal::new(RefusalCode::NotAllowed, reason));
        }
        Ok(())
    }

    /// Takes something away. It counts at the next effect.
    pub fn revoke(&self, revocation: &Revocation) {
        let mut revoked = self.revoked.write().unwrap_or_else(PoisonError::into_inner);
        revoked.add(revocation);
        self.has_lost.store(true, Ordering::Release);
    }

    /// What it may use now: what it was admitted with, without what was taken away. Its children get at most this.
    pub fn left(&self) -> Authority {
        let authority = self.with.authority.authority();
        if !self.has_lost.load(Ordering::Acquire) {
            return authority.clone();
        }
        let revoked = self.revoked.read();
        let revoked = revoked.unwrap_or_else(PoisonError::into_inner);
        revoked.taken_from(authority)
    }

    fn has_lost(&self, it: impl Fn(&Revoked) -> bool) -> bool {
        // Most runs lose nothing, and they do not ask the lock.
        self.has_lost.load(Ordering::Acquire)
            && it(&self.revoked.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_under_way(&self) -> Result<(), Refusal> {
        if self.with.stop.is_cancelled() {
            return Err(Refusal::new(RefusalCode::RunEnded, "the run was stopped"));
        }
        Ok(())
    }

    /// When it will have been idle for too long, if it does nothing more.
    fn due_at(&self, now: Timestamp) -> Timestamp {
        let active_at = if self.is_waiting() {
            now
        } else {
            self.active_at()
        };
        // At exactly the limit it still has its time.
        active_at.plus(self.with.idle + Duration::from_millis(1))
    }
}

/// A run waits for others. When that ends, its own time begins again.
pub struct Wait<'a> {
    run: &'a ActiveRun,
    clock: &'a dyn Clock,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.run.touch(self.clock.now());
        self.run.waits.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The runs under way.
#[derive(Debug, Default)]
pub struct Registry {
    runs: Mutex<Runs>,
    /// A run was registered that is due before all others.
    sooner: Notify,
}

#[derive(Debug, Default)]
struct Runs {
    by_id: ById<RunId, Arc<ActiveRun>>,
    by_session: ById<SessionId, RunId>,
    /// When to look at which run, not later than it can be due.
    looks: Looks,
    /// What was taken away from runs that are not registered here: those that were admitted a moment ago, and those of
    /// other nodes. The last few.
    early: VecDeque<(RunId, Revocation)>,
}

/// So many are kept for runs that are about to be registered, which takes a moment.
const MOST_EARLY: usize = 1_024;

type Looks = BinaryHeap<Reverse<(Timestamp, RunId)>>;

impl Runs {
    fn of_session(&self, session: SessionId) -> Option<&Arc<ActiveRun>> {
        self.by_id.get(self.by_session.get(&session)?)
    }
}

impl Registry {
    /// Registers a run.
    pub fn register(&self, with: Registration) -> Result<Arc<ActiveRun>, NotRegistered> {
        if with.runner.as_str().trim().is_empty() {
            return Err(NotRegistered::Nameless);
        }
        let (id, session, at) = (with.run, with.session, with.at);
        let run = Arc::new(ActiveRun::of(with));
        let due = run.due_at(at);
        let mut runs = self.runs();
        if runs.by_id.contains_key(&id) {
            return Err(NotRegistered::Known);
        }
        let is_sooner = runs
            .looks
            .peek()
            .is_none_or(|Reverse((next, _))| due < *next);
        runs.early.retain(|(early, what)| {
            if *early == id {
                run.revoke(what);
            }
            *early != id
        });
        runs.looks.push(Reverse((due, id)));
        runs.by_session.insert(session, id);
        runs.by_id.insert(id, Arc::clone(&run));
        drop(runs);
        if is_sooner {
            self.sooner.notify_one();
        }
        Ok(run)
    }

    /// A run under way; none if it has ended, was closed, or never was.
    pub fn get(&self, run: RunId) -> Option<Arc<ActiveRun>> {
        let found = self.runs().by_id.get(&run).cloned();
        found.filter(|run| run.expired().is_none())
    }

    /// A run did something. One that nobody knows does nothing.
    pub fn touch(&self, run: RunId, at: Timestamp) {
        if let Some(run) = self.runs().by_id.get(&run) {
            run.touch(at);
        }
    }

    /// All of them, the oldest first.
    pub fn list(&self) -> Vec<Arc<ActiveRun>> {
        let mut all: Vec<_> = self.runs().by_id.values().cloned().collect();
        all.retain(|run| run.expired().is_none());
        all.sort_by_key(|run| (run.with.at, run.with.run));
        all
    }

    /// A run has ended; gives what it was, if it was known.
    pub fn unregister(&self, run: RunId) -> Option<Arc<ActiveRun>> {
        let mut runs = self.runs();
        let ended = runs.by_id.remove(&run)?;
        // Whoever still has it in their hands has no effects any more.
        ended.with.stop.cancel();
        let session = ended.with.session;
        if runs.by_session.get(&session) == Some(&run) {
            runs.by_session.remove(&session);
        }
        // What is left of those that have ended is not worth a search, but it must not grow for ever.
        if runs.looks.len() > 64 + 2 * runs.by_id.len() {
            let Runs { by_id, looks, .. } = &mut *runs;
            looks.retain(|Reverse((_, run))| by_id.contains_key(run));
        }
        Some(ended)
    }

    /// Takes something away from one run, also if it is about to be registered.
    pub fn revoke_from(&self, run: RunId, what: &Revocation) {
        let mut runs = self.runs();
        if let Some(found) = runs.by_id.get(&run) {
            found.revoke(what);
            return;
        }
        runs.early.truncate(MOST_EARLY - 1);
        runs.early.push_front((run, what.clone()));
    }

    /// Takes something away from every run that is under way; gives from how many.
    pub fn revoke(&self, revocation: &Revocation) -> usize {
        let all = self.list();
        for run in &all {
            run.revoke(revocation);
        }
        all.len()
    }

    /// Closes every run that has done nothing for longer than it may; gives them.
    pub fn expire(&self, now: Timestamp) -> Vec<Arc<ActiveRun>> {
        let mut expired = Vec::new();
        let mut runs = self.runs();
        while let Some(id) = pop_due(&mut runs.looks, now) {
            let Some(run) = runs.by_id.get(&id).cloned() else {
                continue;
            };
            let due = run.due_at(now);
            if due > now {
                runs.looks.push(Reverse((due, id)));
            } else if run.expired.set(run.with.idle).is_ok() {
                run.with.stop.cancel();
                expired.push(run);
            }
        }
        expired
    }

    /// When the next run can be due.
    pub fn next_look(&self) -> Option<Timestamp> {
        let runs = self.runs();
        runs.looks.peek().map(|Reverse((at, _))| *at)
    }

    /// What rings when a run is due before [`Self::next_look`] said.
    pub(crate) const fn sooner(&self) -> &Notify {
        &self.sooner
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        // Nothing panics while it holds this lock.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lanes' view: one turn in a session at a time.
impl Registry {
    /// Something came to the lane of a session; gives whether a turn runs in it, which looks when it ends.
    pub(crate) fn knock(&self, session: SessionId) -> bool {
        let runs = self.runs();
        let run = runs.of_session(session);
        run.map(|run| run.is_knocked.store(true, Ordering::Relaxed))
            .is_some()
    }

    /// Whether a turn runs in a session.
    pub(crate) fn has(&self, session: SessionId) -> bool {
        self.runs().of_session(session).is_some()
    }

    /// Whether something came to the lane of a session since its turn began.
    pub(crate) fn is_knocked(&self, session: SessionId) -> bool {
        let runs = self.runs();
        let run = runs.of_session(session);
        run.is_some_and(|run| run.is_knocked.load(Ordering::Relaxed))
    }

    /// A turn has ended; gives whether something came to its lane meanwhile.
    pub(crate) fn end(&self, run: RunId) -> bool {
        let ended = self.unregister(run);
        ended.is_none_or(|run| run.is_knocked.load(Ordering::Relaxed))
    }

    /// Tells the turn of a session to stop.
    pub(crate) fn stop(&self, session: SessionId) {
        if let Some(run) = self.runs().of_session(session) {
            run.with.stop.cancel();
        }
    }

    /// Tells every turn to stop.
    pub(crate) fn stop_all(&self) {
        for run in self.runs().by_id.values() {
            run.with.stop.cancel();
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.runs().by_id.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Takes out the next look, if it is time for it.
fn pop_due(looks: &mut Looks, now: Timestamp) -> Option<RunId> {
    let is_due = looks.peek().is_some_and(|Reverse((at, _))| *at <= now);
    let Reverse((_, run)) = is_due.then(|| looks.pop()).flatten()?;
    Some(run)
}

#[cfg(test)]
mod tests;
