//! Work that outlives its turn: a job is recorded with its way back before anything of it starts, and its end is one
//! commit together with what was promised about it. It depends on no turn, no poller and no model.
//!
//! **Invariant:** the news of a job goes to the session that asked and to the address that it asked from, once, whatever
//! became of the turn, the chat or the process since.

pub mod target;
pub mod way_back;
pub mod words;

pub(crate) mod adopt;
pub(crate) mod delegation;
pub(crate) mod keep;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;
use talaria_domain::adapter::Pending;
use talaria_domain::ids::JobId;
use talaria_domain::job::{JobEnd, JobError, JobOrder, Jobs, Promise};
use talaria_domain::machine::{JobState, Machine as _};
use talaria_store::jobs::{self, Order};
use talaria_store::{Result, StoreError, Tx};

use crate::shared::Shared;

/// How long to wait when the ledger cannot be reached.
const LEDGER_PAUSE: Duration = Duration::from_millis(500);
/// How often something is tried that somebody waits for.
const TRIES: u32 = 5;

/// A refusal in words, or what was asked for.
pub(crate) type Answer<T> = std::result::Result<T, String>;

/// The book of jobs.
#[derive(Clone)]
pub(crate) struct Book(pub(crate) Arc<Shared>);

/// How long the book goes on trying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// Somebody waits and can do without.
    Some,
    /// What is lost here would be lost for good.
    Endless,
}

impl Book {
    /// Changes the ledger. What is changed carries its own key, so that it may be repeated.
    async fn write<T: Send + 'static>(
        &self,
        job: JobId,
        patience: Patience,
        work: impl Fn(&mut Tx<'_>) -> Result<T> + Clone + Send + 'static,
    ) -> std::result::Result<T, JobError> {
        let shared = &self.0;
        let mut tries = 0;
        loop {
            if shared.killed.is_cancelled() {
                return Err(JobError::Unavailable("the gateway is gone".to_owned()));
            }
            tries += 1;
            let error = match shared.ledger.write(work.clone()).await {
                Ok(done) => return Ok(done),
                Err(StoreError::NotFound { thing: "job", .. }) => {
                    return Err(JobError::NotFound(job));
                }
                Err(error) => error,
            };
            let may_pass = matches!(
                error,
                StoreError::Retry { .. } | StoreError::Uncertain { .. }
            );
            if !may_pass || (patience == Patience::Some && tries >= TRIES) {
                return Err(JobError::Unavailable(error.to_string()));
            }
            // Not polling: the ledger is away, and says nothing when it is back.
            tokio::time::sleep(LEDGER_PAUSE).await;
        }
    }

    async fn enter(&self, order: JobOrder) -> std::result::Result<JobId, JobError> {
        let shared = &self.0;
        let now = shared.now();
        let order = Order {
            id: JobId::next(&*shared.ids, now),
            run: Some(order.run),
            kind: order.kind,
            return_to: order.return_to,
            work: order.work,
            promise: order.promise,
            node: shared.settings.node.clone(),
            at: now,
        };
        let (id, this) = (order.id, Arc::clone(shared));
        let recorded = self
            .write(id, Patience::Some, move |tx| {
                keep::record(tx, &this, &order)
            })
            .await?;
        recorded.map(|()| id).map_err(JobError::Refused)
    }

    async fn begin(&self, job: JobId, handle: Json) -> std::result::Result<(), JobError> {
        let begun = self.write(job, Patience::Some, move |tx| {
            let state = jobs::get(tx, job)?.state;
            if state == JobState::Queued {
                jobs::start(tx, job, &handle)?;
            }
            Ok(state)
        });
        let state = begun.await?;
        if state.is_end() {
            return Err(JobError::Refused(format!(
                "the job has ended: it is {}",
                state.as_str()
            )));
        }
        Ok(())
    }

    async fn close(&self, job: JobId, end: JobEnd) -> std::result::Result<(), JobError> {
        if !end.state.is_end() {
            let state = end.state.as_str();
            return Err(JobError::Refused(format!(
                "expected an end, found {state:?}"
            )));
        }
        let this = Arc::clone(&self.0);
        let told = self
            .write(job, Patience::Endless, move |tx| {
                keep::end(tx, &this, job, &end)
            })
            .await?;
        self.0.watchers.tell_all(told);
        Ok(())
    }

    async fn say(&self, job: JobId, token: u64, text: String) -> std::result::Result<(), JobError> {
        let this = Arc::clone(&self.0);
        let told = self
            .write(job, Patience::Some, move |tx| {
                keep::report(tx, &this, job, (token, &text))
            })
            .await?;
        self.0.watchers.tell_all(told);
        Ok(())
    }

    async fn take(&self, job: JobId) -> std::result::Result<(), JobError> {
        let now = self.0.now();
        self.write(job, Patience::Some, move |tx| keep::consume(tx, job, now))
            .await
    }
}

impl Jobs for Book {
    fn record(&self, order: JobOrder) -> Pending<'_, std::result::Result<JobId, JobError>> {
        Box::pin(self.enter(order))
    }

    fn start(&self, job: JobId, handle: Json) -> Pending<'_, std::result::Result<(), JobError>> {
        Box::pin(self.begin(job, handle))
    }

    fn report(
        &self,
        job: JobId,
        token: u64,
        text: String,
    ) -> Pending<'_, std::result::Result<(), JobError>> {
        Box::pin(self.say(job, token, text))
    }

    fn end(&self, job: JobId, end: JobEnd) -> Pending<'_, std::result::Result<(), JobError>> {
        Box::pin(self.close(job, end))
    }

    fn consume(&self, job: JobId) -> Pending<'_, std::result::Result<(), JobError>> {
        Box::pin(self.take(job))
    }
}

/// Why nothing can be promised to a conversation that ends with its turn.
pub(crate) fn unreachable_later(promise: Promise) -> String {
    let what = match promise {
        Promise::Wake => "wake you",
        Promise::Notice | Promise::Nothing => "tell anybody",
    };
    format!(
        "this conversation cannot be reached later, so nothing could {what}: ask for the result yourself"
    )
}
