//! Looks after schedules: wakes at the earliest time that something is due, or when a commit says that this has changed.
//! Every node does it; what is due is served by whichever is first.

use std::sync::Arc;
use std::time::Duration;

use talaria_domain::clock::Timestamp;
use talaria_domain::ids::ScheduleId;
use talaria_store::{Result, schedules};

use super::serve;
use crate::shared::Shared;

/// How long to wait when the ledger cannot be reached, or a schedule cannot be served.
const PAUSE: Duration = Duration::from_secs(1);
/// Nobody says when a machine has slept or its clock was set, so no wait trusts the clock for longer.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// How many are served before it is looked again which ones are due.
const AT_ONCE: u32 = 64;

/// What a look found.
enum Look {
    /// Nothing is planned.
    Nothing,
    /// The next time.
    Next(Timestamp),
    /// What was due was served; there may be more.
    Served,
    /// Something could not be served.
    Troubled,
}

/// Attends for as long as the gateway runs.
pub(crate) async fn attend(shared: Arc<Shared>) {
    while !shared.stop.is_cancelled() {
        let looked = look(&shared).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "could not look what is due; trying again");
            Look::Troubled
        });
        let knock = &shared.schedules_changed;
        match looked {
            Look::Served => {}
            Look::Next(time) => {
                let trusted = shared.now().plus(LONGEST_WAIT);
                shared.wait_until(time.min(trusted), knock).await;
            }
            Look::Nothing => {
                tokio::select! {
                    biased;
                    () = shared.stop.cancelled() => {}
                    () = knock.notified() => {}
                }
            }
            Look::Troubled => {
                tokio::select! {
                    biased;
                    () = shared.stop.cancelled() => {}
                    // Not polling: the ledger is away, and says nothing when it is back.
                    () = tokio::time::sleep(PAUSE) => {}
                }
            }
        }
    }
}

async fn look(shared: &Arc<Shared>) -> Result<Look> {
    let now = shared.now();
    let (due, next) = shared
        .ledger
        .read(move |tx| Ok((schedules::due(tx, now, AT_ONCE)?, schedules::next(tx)?)))
        .await?;
    if due.is_empty() {
        return Ok(next.map_or(Look::Nothing, |(_, time)| Look::Next(time)));
    }
    let mut looked = Look::Served;
    for schedule in due {
        if let Err(error) = serve_one(shared, schedule, now).await {
            tracing::error!(%schedule, %error, "a schedule is due and could not be served; trying again");
            looked = Look::Troubled;
        }
    }
    Ok(looked)
}

async fn serve_one(shared: &Arc<Shared>, schedule: ScheduleId, now: Timestamp) -> Result<()> {
    let this = Arc::clone(shared);
    let served = shared
        .ledger
        .write(move |tx| serve::fire(tx, &this, schedule, now));
    shared.watchers.tell_all(served.await?);
    Ok(())
}
