//! Connections that nobody uses at the moment, for whoever asks the same server next. The one that was used last goes
//! first, so that those which are not needed grow old, and are closed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use hyper::Uri;
use hyper::http::uri::{Authority, Scheme};
use hyper::rt::Executor as _;
use hyper_util::rt::TokioExecutor;
use tokio::time::{Instant, sleep_until};

use super::wire::Wire;

/// How long a connection that nobody uses is kept.
pub(super) const IDLE: Duration = Duration::from_secs(90);

/// Whom a connection leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server(Option<Scheme>, Option<Authority>);

impl Server {
    pub(super) fn of(uri: &Uri) -> Self {
        Self(uri.scheme().cloned(), uri.authority().cloned())
    }
}

/// What is kept for one server, the longest unused first.
struct Shelf {
    server: Server,
    wires: Vec<(Instant, Box<Wire>)>,
}

/// Connections that nobody uses.
#[derive(Default)]
pub(super) struct Pool(Mutex<Store>);

#[derive(Default)]
struct Store {
    /// One for each server; there are few.
    shelves: Vec<Shelf>,
    /// Whether somebody closes what is too old.
    is_tended: bool,
}

impl Store {
    fn shelf(&mut self, server: &Server) -> Option<&mut Shelf> {
        let mut shelves = self.shelves.iter_mut();
        shelves.find(|shelf| shelf.server == *server)
    }
}

impl Pool {
    /// A connection to this server that can be used.
    pub(super) fn take(&self, server: &Server) -> Option<Box<Wire>> {
        loop {
            let (_, mut wire) = self.store().shelf(server)?.wires.pop()?;
            if wire.is_free() {
                return Some(wire);
            }
        }
    }

    /// Keeps a connection, if it can still be used.
    pub(super) fn keep(self: &Arc<Self>, server: &Server, mut wire: Box<Wire>) {
        if !wire.is_free() {
            return;
        }
        let kept = (Instant::now(), wire);
        let mut store = self.store();
        match store.shelf(server) {
            Some(known) => known.wires.push(kept),
            None => store.shelves.push(Shelf {
                server: server.clone(),
                wires: vec![kept],
            }),
        }
        let is_tended = std::mem::replace(&mut store.is_tended, true);
        drop(store);
        if !is_tended {
            TokioExecutor::new().execute(tend(Arc::downgrade(self)));
        }
    }

    /// Closes what nobody has used for too long; says when the next one will be, if there is any.
    fn close_old(&self, now: Instant) -> Option<Instant> {
        let mut store = self.store();
        for shelf in &mut store.shelves {
            let old = shelf.wires.partition_point(|(at, _)| *at + IDLE <= now);
            drop(shelf.wires.drain(..old));
        }
        let oldest = store.shelves.iter().filter_map(|shelf| shelf.wires.first());
        let next = oldest.map(|(at, _)| *at + IDLE).min();
        store.is_tended = next.is_some();
        next
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        // Nothing panics while it holds this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes connections when they are old, for as long as there are any.
async fn tend(pool: Weak<Pool>) {
    let mut next = Some(Instant::now() + IDLE);
    while let Some(at) = next {
        // Not polling: a connection may be too old then.
        sleep_until(at).await;
        next = pool.upgrade().and_then(|pool| pool.close_old(at));
    }
}
