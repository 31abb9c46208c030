//! Watching conversations while they happen. A session that nobody watches costs nothing; one that is watched has a
//! bounded channel, and a watcher that falls behind is told that it missed something.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use talaria_domain::adapter::Pending;
use talaria_domain::ids::SessionId;
use talaria_domain::live::{Happening, Live, Watch};
use tokio::sync::broadcast;

/// What a watcher may fall behind.
const BEHIND: usize = 1_024;

/// Who watches what.
#[derive(Debug, Default)]
pub(crate) struct Watchers(Mutex<BTreeMap<SessionId, broadcast::Sender<Happening>>>);

impl Watchers {
    /// Tells those who watch a session. Called after the commit that it is about.
    pub(crate) fn tell(&self, session: SessionId, happening: Happening) {
        let mut sessions = self.sessions();
        let Some(watched) = sessions.get(&session) else {
            return;
        };
        if watched.send(happening).is_err() {
            sessions.remove(&session);
        }
    }

    /// The same for several, each in its own session.
    pub(crate) fn tell_all(&self, told: Vec<(SessionId, Happening)>) {
        for (session, happening) in told {
            self.tell(session, happening);
        }
    }

    /// Nothing more will happen.
    pub(crate) fn close(&self) {
        self.sessions().clear();
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<SessionId, broadcast::Sender<Happening>>> {
        // Nothing panics while it holds this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live for Watchers {
    fn watch(&self, session: SessionId) -> Box<dyn Watch> {
        let mut sessions = self.sessions();
        sessions.retain(|_, watched| watched.receiver_count() > 0);
        let watched = sessions
            .entry(session)
            .or_insert_with(|| broadcast::channel(BEHIND).0);
        Box::new(Watcher(watched.subscribe()))
    }
}

struct Watcher(broadcast::Receiver<Happening>);

impl Watch for Watcher {
    fn next(&mut self) -> Pending<'_, Option<Happening>> {
        Box::pin(async {
            match self.0.recv().await {
                Ok(happening) => Some(happening),
                Err(broadcast::error::RecvError::Lagged(_)) => Some(Happening::Missed),
                Err(broadcast::error::RecvError::Closed) => None,
            }
        })
    }
}
