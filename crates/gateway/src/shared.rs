//! What all stages of one gateway share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use talaria_domain::address::TargetKey;
use talaria_domain::clock::{Clock, Timestamp};
use talaria_domain::ids::{Ids, RunId, SessionId};
use talaria_store::Ledger;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::delivery::pace::Pace;
use crate::dispatch::Dispatch;
use crate::lifecycle::health::Pulse;
use crate::live::Watchers;
use crate::settings::Settings;

/// What all stages share.
pub(crate) struct Shared {
    pub(crate) ledger: Ledger,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) settings: Settings,
    pub(crate) watchers: Watchers,
    pub(crate) lanes: Dispatch<SessionId>,
    pub(crate) targets: Dispatch<TargetKey>,
    pub(crate) running: Running,
    pub(crate) turns: Semaphore,
    pub(crate) errands: Errands,
    pub(crate) pace: Mutex<Pace>,
    pub(crate) pulse: Pulse,
    pub(crate) tasks: TaskTracker,
    /// A job was recorded or has ended.
    pub(crate) jobs_changed: Notify,
    /// A turn or a target has ended its work.
    pub(crate) changed: Notify,
    /// No new turns are begun.
    pub(crate) is_draining: AtomicBool,
    /// Everything ends.
    pub(crate) stop: CancellationToken,
    /// Everything is dropped where it stands.
    pub(crate) killed: CancellationToken,
}

impl Shared {
    /// The one way to start a task: it is waited for when the gateway stops, and dropped when it is killed.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let killed = self.killed.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                biased;
                () = killed.cancelled() => {}
                () = task => {}
            }
        });
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn may_begin(&self) -> bool {
        !self.is_draining.load(Ordering::Relaxed) && !self.stop.is_cancelled()
    }

    /// Waits until a time, or until somebody knocks.
    pub(crate) async fn wait_until(&self, time: Timestamp, knock: &Notify) {
        let wait = time.since(self.now());
        tokio::select! {
            biased;
            () = self.stop.cancelled() => {}
            () = knock.notified() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Sessions that turns of this process have given tasks to. They take no place among the turns at once: whoever waits
/// for them has one.
#[derive(Debug, Default)]
pub(crate) struct Errands(Mutex<BTreeSet<SessionId>>);

impl Errands {
    /// Whether there was room for one more.
    pub(crate) fn add(&self, session: SessionId, most: usize) -> bool {
        let mut sessions = self.sessions();
        sessions.len() < most && sessions.insert(session)
    }

    pub(crate) fn has(&self, session: SessionId) -> bool {
        self.sessions().contains(&session)
    }

    pub(crate) fn remove(&self, session: SessionId) {
        self.sessions().remove(&session);
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeSet<SessionId>> {
        // Nothing panics while it holds this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to run one of the turns that may run at once. Given back when it is dropped.
pub(crate) struct Seat(Arc<Shared>);

impl Seat {
    /// One that is free right now, and that nobody waits for.
    pub(crate) fn take(shared: &Arc<Shared>) -> Option<Self> {
        let permit = shared.turns.try_acquire().ok()?;
        permit.forget();
        Some(Self(Arc::clone(shared)))
    }

    /// The next one that is free. Whoever asks first is served first; none when the gateway stops.
    pub(crate) async fn wait_for(shared: &Arc<Shared>) -> Option<Self> {
        let permit = shared.turns.acquire().await.ok()?;
        permit.forget();
        Some(Self(Arc::clone(shared)))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.turns.add_permits(1);
    }
}

/// The turns that this process runs, and how to reach them.
#[derive(Debug, Default)]
pub(crate) struct Running(Mutex<BTreeMap<SessionId, RunningTurn>>);

/// A turn under way.
#[derive(Debug, Clone)]
pub(crate) struct RunningTurn {
    pub(crate) run: RunId,
    pub(crate) stop: CancellationToken,
    /// Whether something came to its lane since it began.
    pub(crate) is_knocked: bool,
}

impl Running {
    pub(crate) fn begin(&self, session: SessionId, turn: RunningTurn) {
        self.turns().insert(session, turn);
    }

    /// It has ended; gives whether something came to its lane meanwhile.
    pub(crate) fn end(&self, session: SessionId, run: RunId) -> bool {
        let mut turns = self.turns();
        if turns.get(&session).is_some_and(|turn| turn.run == run) {
            return turns.remove(&session).is_some_and(|turn| turn.is_knocked);
        }
        true
    }

    /// Something came to the lane of a session; gives whether a turn runs in it, which looks when it ends.
    pub(crate) fn knock(&self, session: SessionId) -> bool {
        let mut turns = self.turns();
        let turn = turns.get_mut(&session);
        turn.map(|turn| turn.is_knocked = true).is_some()
    }

    /// Whether a turn runs in a session.
    pub(crate) fn has(&self, session: SessionId) -> bool {
        self.turns().contains_key(&session)
    }

    /// Whether something came to the lane of a session since its turn began.
    pub(crate) fn is_knocked(&self, session: SessionId) -> bool {
        let turns = self.turns();
        turns.get(&session).is_some_and(|turn| turn.is_knocked)
    }

    /// Tells the turn of a session to stop.
    pub(crate) fn stop(&self, session: SessionId) {
        if let Some(turn) = self.turns().get(&session) {
            turn.stop.cancel();
        }
    }

    /// Tells every turn to stop.
    pub(crate) fn stop_all(&self) {
        for turn in self.turns().values() {
            turn.stop.cancel();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.turns().len()
    }

    fn turns(&self) -> MutexGuard<'_, BTreeMap<SessionId, RunningTurn>> {
        // Nothing panics while it holds this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
