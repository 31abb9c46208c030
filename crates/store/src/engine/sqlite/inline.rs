//! The same engine on the caller's task: no threads, no waiting, so that a simulated run is deterministic.

use std::sync::{Arc, Mutex, PoisonError};

use talaria_domain::clock::Clock;
use tokio::sync::broadcast;

use super::connection::SqliteConnection;
use super::desk::Desk;
use crate::engine::Access;
use crate::error::Result;
use crate::ledger::{Fate, Fates};
use crate::migrate;
use crate::tx::Tx;
use crate::wake::{Wake, announce};
use crate::work::run_guarded;

/// One connection in memory, used by whoever asks.
pub(crate) struct InlineEngine {
    connection: Mutex<SqliteConnection>,
    wakes: broadcast::Sender<Wake>,
    fates: Option<Arc<dyn Fates>>,
}

impl InlineEngine {
    /// An empty store in memory.
    pub(crate) fn open(clock: Arc<dyn Clock>, wakes: broadcast::Sender<Wake>) -> Result<Self> {
        let connection = SqliteConnection::in_memory(clock)?;
        migrate::migrate(&mut Tx::on(&mut Desk::at(&connection)))?;
        Ok(Self {
            connection: Mutex::new(connection),
            wakes,
            fates: None,
        })
    }

    /// The same, with somebody who decides what becomes of each call.
    pub(crate) fn with_fates(mut self, fates: Arc<dyn Fates>) -> Self {
        self.fates = Some(fates);
        self
    }

    /// What becomes of the next call.
    pub(crate) fn fate(&self) -> Fate {
        self.fates
            .as_ref()
            .map_or(Fate::Answered, |fates| fates.next())
    }

    /// Runs a closure in a transaction, at once.
    pub(crate) fn run<T>(
        &self,
        access: Access,
        closure: &impl Fn(&mut Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut connection = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        connection.edge("BEGIN IMMEDIATE")?;
        let mut desk = Desk::at(&connection);
        let mut tx = Tx::on(&mut desk);
        let ran = run_guarded(closure, &mut tx);
        let wakes = tx.into_wakes();
        drop(desk);
        if ran.is_err() || access == Access::Read {
            connection.edge("ROLLBACK")?;
            return ran;
        }
        connection.edge("COMMIT")?;
        announce(&self.wakes, wakes);
        ran
    }
}
