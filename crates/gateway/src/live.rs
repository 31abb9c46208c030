//! Watching conversations while they happen. A session that nobody watches costs nothing; a watcher costs what it has
//! not heard yet, up to a bound, and one that falls behind is told that it missed something.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use talaria_domain::adapter::Pending;
use talaria_domain::ids::SessionId;
use talaria_domain::live::{Happening, Live, Watch};

/// What a watcher may fall behind.
const BEHIND: usize = 1_024;

/// Who watches what.
#[derive(Debug, Default)]
pub(crate) struct Watchers(Arc<Sessions>);

type Sessions = Mutex<BTreeMap<SessionId, Vec<Arc<Ear>>>>;

/// What a watcher has not heard yet. A channel would have room for many from the beginning, and most hear a few things.
#[derive(Debug, Default)]
struct Ear(Mutex<Unheard>);

#[derive(Debug, Default)]
struct Unheard {
    happenings: VecDeque<Happening>,
    /// It fell behind, and has not been told yet: whatever came now would come after a gap.
    has_missed: bool,
    /// Nothing more will happen.
    is_over: bool,
    waiting: Option<Waker>,
}

impl Ear {
    /// Gives who has to be woken.
    fn tell(&self, happening: Happening) -> Option<Waker> {
        let mut unheard = self.unheard();
        if unheard.has_missed {
            return None;
        }
        if unheard.happenings.len() < BEHIND {
            unheard.happenings.push_back(happening);
        } else {
            unheard.has_missed = true;
        }
        unheard.waiting.take()
    }

    /// Gives who has to be woken.
    fn close(&self) -> Option<Waker> {
        let mut unheard = self.unheard();
        unheard.is_over = true;
        unheard.waiting.take()
    }

    fn poll(&self, context: &Context<'_>) -> Poll<Option<Happening>> {
        let mut unheard = self.unheard();
        if let Some(happening) = unheard.happenings.pop_front() {
            return Poll::Ready(Some(happening));
        }
        // All that came before the gap was heard.
        if std::mem::take(&mut unheard.has_missed) {
            return Poll::Ready(Some(Happening::Missed));
        }
        if unheard.is_over {
            return Poll::Ready(None);
        }
        match &mut unheard.waiting {
            Some(waiting) => waiting.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    fn unheard(&self) -> MutexGuard<'_, Unheard> {
        // Nothing panics while it holds this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watchers {
    /// Tells those who watch a session. Called after the commit that it is about.
    pub(crate) fn tell(&self, session: SessionId, happening: Happening) {
        self.tell_all(vec![(session, happening)]);
    }

    /// The same for several, each in its own session. Whoever waits is woken when all is told, and finds the locks free.
    pub(crate) fn tell_all(&self, told: Vec<(SessionId, Happening)>) {
        let mut waiting = Vec::new();
        let sessions = locked(&self.0);
        for (session, happening) in told {
            let ears = sessions.get(&session).and_then(|ears| ears.split_last());
            let Some((last, others)) = ears else {
                continue;
            };
            waiting.extend(others.iter().filter_map(|ear| ear.tell(happening.clone())));
            waiting.extend(last.tell(happening));
        }
        drop(sessions);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Nothing more will happen.
    pub(crate) fn close(&self) {
        let ears = std::mem::take(&mut *locked(&self.0));
        let ears = ears.into_values().flatten();
        let waiting: Vec<Waker> = ears.filter_map(|ear| ear.close()).collect();
        waiting.into_iter().for_each(Waker::wake);
    }
}

fn locked(sessions: &Sessions) -> MutexGuard<'_, BTreeMap<SessionId, Vec<Arc<Ear>>>> {
    // Nothing panics while it holds this lock.
    sessions.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Live for Watchers {
    fn watch(&self, session: SessionId) -> Box<dyn Watch> {
        let ear = Arc::new(Ear::default());
        let ears = Arc::clone(&ear);
        locked(&self.0).entry(session).or_default().push(ears);
        Box::new(Watcher {
            ear,
            session,
            sessions: Arc::clone(&self.0),
        })
    }
}

struct Watcher {
    ear: Arc<Ear>,
    session: SessionId,
    sessions: Arc<Sessions>,
}

impl Watch for Watcher {
    fn next(&mut self) -> Pending<'_, Option<Happening>> {
        Box::pin(poll_fn(|context| self.ear.poll(context)))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let mut sessions = locked(&self.sessions);
        let Some(ears) = sessions.get_mut(&self.session) else {
            return;
        };
        ears.retain(|ear| !Arc::ptr_eq(ear, &self.ear));
        if ears.is_empty() {
            sessions.remove(&self.session);
        }
    }
}

#[cfg(test)]
mod tests {
    //! Nobody hears anything twice, out of order, or after a gap without being told of it.

    use talaria_domain::ids::{Ids as _, RandomIds, RunId};
    use talaria_domain::run::RunEvent;

    use super::*;

    fn number(seq: i64) -> Happening {
        Happening::Yielded {
            run: RunId::from_bytes([1; 16]),
            seq,
            what: RunEvent::Log {
                text: String::new(),
            },
        }
    }

    fn session() -> SessionId {
        let now = talaria_domain::clock::Timestamp::from_millis(1);
        SessionId::from_bytes(*RandomIds::default().next(now).as_bytes())
    }

    #[tokio::test]
    async fn everybody_who_watches_hears_everything_in_order() {
        let (watchers, session) = (Watchers::default(), session());
        let mut both = [watchers.watch(session), watchers.watch(session)];
        for seq in 0..3 {
            watchers.tell(session, number(seq));
        }
        for watcher in &mut both {
            for seq in 0..3 {
                assert_eq!(watcher.next().await, Some(number(seq)));
            }
        }
        watchers.close();
        assert_eq!(both[0].next().await, None, "nothing more will happen");
    }

    #[tokio::test]
    async fn whoever_falls_behind_is_told_once_and_hears_on() {
        let (watchers, session) = (Watchers::default(), session());
        let mut slow = watchers.watch(session);
        let most = i64::try_from(BEHIND).unwrap();
        for seq in 0..most + 5 {
            watchers.tell(session, number(seq));
        }
        for seq in 0..most {
            assert_eq!(slow.next().await, Some(number(seq)));
        }
        assert_eq!(slow.next().await, Some(Happening::Missed));
        watchers.tell(session, number(-1));
        assert_eq!(slow.next().await, Some(number(-1)));
    }

    #[tokio::test]
    async fn whoever_left_costs_nothing() {
        let (watchers, session) = (Watchers::default(), session());
        let (one, other) = (watchers.watch(session), watchers.watch(session));
        drop(one);
        assert_eq!(locked(&watchers.0).get(&session).map(Vec::len), Some(1));
        drop(other);
        assert!(locked(&watchers.0).is_empty());
    }
}
