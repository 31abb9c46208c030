//! The same engine on the caller's task: no threads, no waiting, so that a simulated run is deterministic.

use std::future::{pending, ready};
use std::sync::{Arc, Mutex, PoisonError};

use talaria_domain::clock::Clock;
use tokio::sync::broadcast;
use tokio::time::sleep;

use super::connection::SqliteConnection;
use super::desk::Desk;
use crate::engine::Access;
use crate::error::{Result, StoreError};
use crate::ledger::{Fate, Fates};
use crate::migrate;
use crate::tx::Tx;
use crate::wake::{Wake, announce};
use crate::work::{Ahead, Commit, Committed, run_guarded};

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
    fn fate(&self) -> Fate {
        self.fates
            .as_ref()
            .map_or(Fate::Answered, |fates| fates.next())
    }

    /// Runs a closure; what becomes of it is decided elsewhere.
    pub(crate) async fn run_as_fated<T>(
        &self,
        access: Access,
        closure: &impl Fn(&mut Tx<'_>) -> Result<T>,
    ) -> Result<T> {
        match self.fate() {
            Fate::Answered | Fate::Undone { .. } => self.run(access, closure),
            Fate::Slow { before, after } => {
                sleep(before).await;
                let answer = self.run(access, closure);
                sleep(after).await;
                answer
            }
            Fate::LostBefore => pending().await,
            Fate::LostAfter => {
                drop(self.run(access, closure));
                pending().await
            }
            Fate::Uncertain => self.run(access, closure).and(Err(uncertain())),
        }
    }

    /// The same for a caller who asked ahead.
    pub(crate) async fn run_ahead<T, F>(self: Arc<Self>, closure: F) -> Result<Ahead<T>>
    where
        F: Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let write = Access::Write;
        let (value, commit) = match self.fate() {
            Fate::Answered => (self.run(write, &closure)?, soon(Ok(Committed::AsTold))),
            Fate::Slow { before, after } => {
                sleep(before).await;
                let value = self.run(write, &closure)?;
                let commit = async move {
                    sleep(after).await;
                    Ok(Committed::AsTold)
                };
                (value, Commit(Box::pin(commit)))
            }
            Fate::LostBefore => pending().await,
            Fate::LostAfter => {
                let value = self.run(write, &closure)?;
                (value, Commit(Box::pin(pending())))
            }
            Fate::Uncertain => (self.run(write, &closure)?, soon(Err(uncertain()))),
            Fate::Undone {
                after,
                is_done_anew,
            } => {
                // What a reader changes does not stay.
                let value = self.run(Access::Read, &closure)?;
                let commit = async move {
                    sleep(after).await;
                    if is_done_anew {
                        return self.run(write, &closure).map(Committed::Anew);
                    }
                    let why = "the commit failed".to_owned();
                    Err(StoreError::Retry { why })
                };
                (value, Commit(Box::pin(commit)))
            }
        };
        Ok(Ahead { value, commit })
    }

    /// Runs a closure in a transaction, at once.
    fn run<T>(&self, access: Access, closure: &impl Fn(&mut Tx<'_>) -> Result<T>) -> Result<T> {
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

fn uncertain() -> StoreError {
    let why = "the answer was lost".to_owned();
    StoreError::Uncertain { why }
}

fn soon<T: Send + 'static>(committed: Result<Committed<T>>) -> Commit<T> {
    Commit(Box::pin(ready(committed)))
}
