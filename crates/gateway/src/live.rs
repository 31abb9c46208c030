//! Watching conversations while they happen. A session that nobody watches costs nothing; a watcher costs what it has
//! not heard yet, up to a bound, and one that falls behind is told that it missed something.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use talaria_domain::adapter::Pending;
use talaria_domain::ids::SessionId;
use talaria_domain::live::{Happening, Live, Watch};
use tokio::sync::mpsc;

/// What a watcher may fall behind.
const BEHIND: usize = 1_024;

/// Who watches what.
#[derive(Debug, Default)]
pub(crate) struct Watchers(Arc<Sessions>);

type Sessions = Mutex<BTreeMap<SessionId, Vec<Line>>>;

/// The way to one watcher.
#[derive(Debug)]
struct Line {
    way: mpsc::Sender<Happening>,
    /// It fell behind, and has not been told yet.
    has_missed: Arc<AtomicBool>,
}

impl Line {
    /// Whether there is still somebody at its end.
    fn tell(&self, happening: Happening) -> bool {
        if self.has_missed.load(Ordering::Acquire) {
            // Whatever came now would come after a gap.
            return !self.way.is_closed();
        }
        match self.way.try_send(happening) {
            Ok(()) => true,
            Err(mpsc::error::TrySendError::Full(_)) => {
                self.has_missed.store(true, Ordering::Release);
                true
            }
            Err(mpsc::error::TrySendError::Closed(_)) => false,
        }
    }
}

impl Watchers {
    /// Tells those who watch a session. Called after the commit that it is about.
    pub(crate) fn tell(&self, session: SessionId, happening: Happening) {
        let mut sessions = locked(&self.0);
        let Some(lines) = sessions.get_mut(&session) else {
            return;
        };
        if let [only] = lines.as_slice() {
            if !only.tell(happening) {
                lines.clear();
            }
            return;
        }
        lines.retain(|line| line.tell(happening.clone()));
    }

    /// The same for several, each in its own session.
    pub(crate) fn tell_all(&self, told: Vec<(SessionId, Happening)>) {
        for (session, happening) in told {
            self.tell(session, happening);
        }
    }

    /// Nothing more will happen.
    pub(crate) fn close(&self) {
        locked(&self.0).clear();
    }
}

fn locked(sessions: &Sessions) -> MutexGuard<'_, BTreeMap<SessionId, Vec<Line>>> {
    // Nothing panics while it holds this lock.
    sessions.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Live for Watchers {
    fn watch(&self, session: SessionId) -> Box<dyn Watch> {
        let (way, heard) = mpsc::channel(BEHIND);
        let has_missed = Arc::new(AtomicBool::new(false));
        let line = Line {
            way,
            has_missed: Arc::clone(&has_missed),
        };
        locked(&self.0).entry(session).or_default().push(line);
        Box::new(Watcher {
            heard,
            has_missed,
            session,
            sessions: Arc::clone(&self.0),
        })
    }
}

struct Watcher {
    heard: mpsc::Receiver<Happening>,
    has_missed: Arc<AtomicBool>,
    session: SessionId,
    sessions: Arc<Sessions>,
}

impl Watcher {
    async fn hear(&mut self) -> Option<Happening> {
        if let Ok(happening) = self.heard.try_recv() {
            return Some(happening);
        }
        // All that came before the gap was heard.
        if self.has_missed.swap(false, Ordering::AcqRel) {
            return Some(Happening::Missed);
        }
        self.heard.recv().await
    }
}

impl Watch for Watcher {
    fn next(&mut self) -> Pending<'_, Option<Happening>> {
        Box::pin(self.hear())
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.heard.close();
        let mut sessions = locked(&self.sessions);
        let Some(lines) = sessions.get_mut(&self.session) else {
            return;
        };
        lines.retain(|line| !line.way.is_closed());
        if lines.is_empty() {
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
