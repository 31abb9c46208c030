//! What all stages of one gateway share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use talaria_domain::address::TargetKey;
use talaria_domain::clock::{Clock, Timestamp};
use talaria_domain::ids::{Ids, SessionId};
use talaria_domain::names::ProfileName;
use talaria_store::Ledger;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::lodge::Lodge;
use crate::asking::Waits;
use crate::binding::Chosen;
use crate::courtesy::Courtesy;
use crate::delivery::pace::Pace;
use crate::dispatch::Dispatch;
use crate::lifecycle::health::Pulse;
use crate::live::Watchers;
use crate::moments::Moments;
use crate::registry::Registry;
use crate::settings::Settings;
use crate::turns::recent::Recents;

/// What all stages share.
pub(crate) struct Shared {
    pub(crate) ledger: Ledger,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) settings: Settings,
    /// What each profile says by itself, made ready once.
    pub(crate) own: BTreeMap<ProfileName, Chosen>,
    pub(crate) watchers: Watchers,
    pub(crate) moments: Moments,
    pub(crate) courtesy: Courtesy,
    pub(crate) lanes: Dispatch<SessionId>,
    pub(crate) targets: Dispatch<TargetKey>,
    pub(crate) running: Registry,
    pub(crate) turns: Semaphore,
    pub(crate) errands: Errands,
    pub(crate) pace: Mutex<Pace>,
    pub(crate) pulse: Pulse,
    pub(crate) tasks: TaskTracker,
    /// What is remembered about who may come in.
    pub(crate) lodge: Lodge,
    /// Runs that wait for a person.
    pub(crate) waits: Waits,
    /// A job was recorded or has ended.
    pub(crate) jobs_changed: Notify,
    /// A schedule was made or has another next time.
    pub(crate) schedules_changed: Notify,
    /// What was said where people talk at present.
    pub(crate) recents: Recents,
    /// A turn or a target has ended its work.
    pub(crate) changed: Notify,
    /// Something was said that is not in the index yet.
    pub(crate) said: Notify,
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
        // Some are large, and every wrapping would copy them once more.
        let task = Box::pin(task);
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

    pub(crate) fn pace(&self) -> MutexGuard<'_, Pace> {
        // Nothing panics while it holds this lock.
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// What it is a seat at.
    pub(crate) const fn shared(&self) -> &Arc<Shared> {
        &self.0
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.turns.add_permits(1);
    }
}
