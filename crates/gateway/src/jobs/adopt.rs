//! What was under way when the gateway ended. Processes are handed to their worker, which goes on with them or says that
//! they are lost; delegations go on by their lanes, unless nobody waits for them any more. Afterwards nothing is "running"
//! that does not run.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use serde_json::json;
use talaria_domain::ids::JobId;
use talaria_domain::job::{Job, JobEnd, JobKind, Jobs, Promise};
use talaria_domain::machine::{JobState, Machine as _};
use talaria_store::{Result, Tx, inbox, jobs, runs};

use super::delegation::{self, LET_GO};
use super::{Book, keep};
use crate::shared::Shared;

/// Takes up what an earlier process left. Before anything else starts.
pub(crate) async fn take_up(shared: &Arc<Shared>) -> Result<()> {
    let this = Arc::clone(shared);
    let processes = shared.ledger.write(move |tx| {
        for job in jobs::open(tx, None)? {
            if job.kind == JobKind::Delegation {
                look_after(tx, &this, &job)?;
            }
        }
        jobs::open_processes(tx, &this.settings.node)
    });
    for job in processes.await? {
        shared.spawn(adopt(Arc::clone(shared), job));
    }
    Ok(())
}

/// A delegation that somebody waited for ends with them; one whose session has nothing to do any more is lost.
fn look_after(tx: &mut Tx<'_>, shared: &Shared, job: &Job) -> Result<()> {
    let is_awaited = match job.run {
        Some(run) if job.promise == Promise::Nothing => !runs::get(tx, run)?.state.is_end(),
        _ => true,
    };
    if !is_awaited {
        return delegation::cancel(tx, shared, job, LET_GO).map(drop);
    }
    if inbox::lane(tx, delegation::session_of(job.id))?.is_empty() {
        let end = lost(job.id, "nothing of it was left");
        keep::end(tx, shared, job.id, &end)?;
    }
    Ok(())
}

async fn adopt(shared: Arc<Shared>, job: Job) {
    let (id, book) = (job.id, Arc::new(Book(Arc::clone(&shared))));
    let adopting = shared.settings.worker.adopt(job, Arc::<Book>::clone(&book));
    if AssertUnwindSafe(adopting).catch_unwind().await.is_err() {
        tracing::error!(job = %id, "taking up a job broke; it is given up");
        let end = lost(id, "it could not be found again");
        drop(book.end(id, end).await);
    }
}

fn lost(job: JobId, why: &str) -> JobEnd {
    JobEnd {
        state: JobState::Lost,
        text: format!("Job {job} was under way when the gateway stopped, and is lost: {why}."),
        result: json!({ "error": why }),
    }
}
