//! Wakes between nodes: NOTIFY with a commit, LISTEN on a connection of its own. Our own wakes are told directly
//! and skipped here. After a lost connection something may have been missed, so everybody is told to look.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use postgres::fallible_iterator::FallibleIterator as _;
use talaria_domain::clock::{Clock as _, SystemClock};
use talaria_domain::ids::{Ids as _, RandomIds};
use tokio::sync::broadcast;

use super::connection::{PostgresConnection, Server};
use crate::bind;
use crate::error::Result;
use crate::tx::Connection as _;
use crate::wake::{Wake, announce};

/// How long the listener may take to notice that the ledger was closed.
const NOTICE: Duration = Duration::from_millis(500);
/// Between attempts to reach a server that is away.
const PAUSE: Duration = Duration::from_secs(1);

/// Tells the listener to end.
#[derive(Default)]
pub(super) struct Stop {
    is_stopped: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    pub(super) fn stop(&self) {
        *self
            .is_stopped
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    fn is_stopped(&self) -> bool {
        *self
            .is_stopped
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, longest: Duration) {
        let guard = self
            .is_stopped
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Woken early or late, the caller asks again.
        drop(
            self.changed
                .wait_timeout_while(guard, longest, |is_stopped| !*is_stopped),
        );
    }
}

/// A name for this ledger among the nodes of its store.
pub(super) fn origin() -> String {
    RandomIds::default().next(SystemClock.now()).to_string()
}

/// Tells the other nodes, if the transaction commits.
pub(super) fn tell(
    connection: &mut PostgresConnection,
    origin: &str,
    wakes: &[Wake],
) -> Result<()> {
    for wake in wakes {
        let payload = format!("{origin} {}", wake.encode());
        connection.query(
            "SELECT 1::BIGINT FROM pg_notify('talaria', ?1)",
            bind![payload],
            &mut |_| Ok(()),
        )?;
    }
    Ok(())
}

/// Listens until it is stopped, however often the server goes away.
pub(super) fn listen(server: &Server, origin: &str, wakes: &broadcast::Sender<Wake>, stop: &Stop) {
    let mut has_missed = false;
    while !stop.is_stopped() {
        if let Ok(mut connection) = server.connect()
            && connection.batch("LISTEN talaria").is_ok()
        {
            if has_missed {
                announce(wakes, vec![Wake::Everything]);
            }
            hear(&mut connection, origin, wakes, stop);
        }
        has_missed = true;
        stop.wait(PAUSE);
    }
}

/// Hears until the connection breaks or it is stopped.
fn hear(
    connection: &mut PostgresConnection,
    origin: &str,
    wakes: &broadcast::Sender<Wake>,
    stop: &Stop,
) {
    while !stop.is_stopped() && !connection.client().is_closed() {
        let mut notifications = connection.client().notifications();
        let mut arriving = notifications.timeout_iter(NOTICE);
        // Ends when nothing came for a while, or when the connection broke.
        while let Ok(Some(notification)) = arriving.next() {
            pass_on(notification.payload(), origin, wakes);
        }
    }
}

fn pass_on(payload: &str, origin: &str, wakes: &broadcast::Sender<Wake>) {
    let Some((sender, wake)) = payload.split_once(' ') else {
        return;
    };
    if sender != origin {
        announce(wakes, vec![Wake::decode(wake)]);
    }
}
