//! Keeps the ledger and the kept files from growing for ever: what has ended and is old enough is pruned. And what was
//! said is put where it is found quickly. Both a little at a time, so that no message waits for it.

use std::sync::Arc;
use std::time::Duration;

use talaria_store::maintenance::prune::{Retention, prune};
use talaria_store::search;

use crate::files::sweep;
use crate::shared::Shared;

/// How often it is looked whether something is old enough.
const PERIOD: Duration = Duration::from_hours(1);
/// How soon after the start that is for the first time: a gateway that is restarted every day is kept small, too.
const FIRST: Duration = Duration::from_mins(10);
/// How much goes in one commit.
const BATCH: u32 = 200;
/// How long after something was said it goes into the index: the more at once the cheaper.
const INDEX_AFTER: Duration = Duration::from_secs(30);

/// Puts what was said into the index for as long as the gateway runs.
pub(crate) async fn keep_index(shared: Arc<Shared>) {
    loop {
        tokio::select! {
            biased;
            () = shared.stop.cancelled() => return,
            () = shared.said.notified() => {}
        }
        tokio::select! {
            biased;
            () = shared.stop.cancelled() => return,
            // Not polling: something was said, and more may follow.
            () = tokio::time::sleep(INDEX_AFTER) => {}
        }
        while !shared.stop.is_cancelled() {
            match shared.ledger.write(search::catch_up).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!(%error, "what was said could not be put into the index; searches are slower");
                    break;
                }
            }
        }
    }
}

/// Prunes for as long as the gateway runs.
pub(crate) async fn keep_house(shared: Arc<Shared>) {
    let mut pause = FIRST;
    loop {
        tokio::select! {
            biased;
            () = shared.stop.cancelled() => return,
            // Not polling: nothing happens when something becomes old.
            () = tokio::time::sleep(pause) => {}
        }
        prune_all(&shared).await;
        sweep::sweep(&shared).await;
        pause = PERIOD;
    }
}

async fn prune_all(shared: &Arc<Shared>) {
    let mut all = 0;
    while !shared.stop.is_cancelled() {
        let now = shared.now();
        let pruned = shared
            .ledger
            .write(move |tx| prune(tx, Retention::default(), now, BATCH));
        match pruned.await {
            Ok(0) => break,
            Ok(pruned) => all += pruned,
            Err(error) => {
                tracing::warn!(%error, "what is old could not be pruned; it is tried again later");
                break;
            }
        }
    }
    if all > 0 {
        tracing::info!(rows = all, "what is old was pruned");
    }
}
