//! Hears of commits and knocks where something changed. After a start, and whenever signals were lost, it looks at
//! everything once.

use std::sync::Arc;
use std::time::Duration;

use talaria_store::{Result, Wake, Wakes, inbox, outbox};

use crate::access::grants;
use crate::registry::revoke;
use crate::shared::Shared;
use crate::{control, delivery, lanes};

/// How long to wait when the ledger cannot be reached.
const LEDGER_PAUSE: Duration = Duration::from_secs(1);

/// Hears until the gateway stops.
pub(super) async fn hear(shared: Arc<Shared>, mut wakes: Wakes) {
    loop {
        let wake = tokio::select! {
            biased;
            () = shared.stop.cancelled() => return,
            wake = wakes.next() => wake,
        };
        match wake {
            Some(Wake::Lane(session)) => lanes::knock(&shared, session),
            Some(Wake::Target(target)) => delivery::knock(&shared, target),
            Some(Wake::Jobs) => shared.jobs_changed.notify_waiters(),
            Some(Wake::Schedules) => shared.schedules_changed.notify_one(),
            Some(Wake::Question(question)) => shared.waits.knock(question),
            Some(Wake::Revoked(run)) => {
                if let Err(error) = revoke::hear(&shared, run).await {
                    tracing::warn!(%run, %error, "could not hear what was taken away from a run; looking at everything");
                    look_at_everything(Arc::clone(&shared)).await;
                }
            }
            Some(Wake::Access) => grants::look_again(&shared).await,
            Some(Wake::Everything) => {
                shared.waits.knock_all();
                grants::look_again(&shared).await;
                shared.jobs_changed.notify_waiters();
                shared.schedules_changed.notify_one();
                look_at_everything(Arc::clone(&shared)).await;
            }
            None => return,
        }
    }
}

/// Knocks wherever something waits, as soon as the ledger can be reached.
pub(crate) async fn look_at_everything(shared: Arc<Shared>) {
    while let Err(error) = catch_up(&shared).await {
        tracing::warn!(%error, "could not look at everything; trying again");
        tokio::select! {
            biased;
            () = shared.stop.cancelled() => return,
            // Not polling: the ledger is away, and says nothing when it is back.
            () = tokio::time::sleep(LEDGER_PAUSE) => {}
        }
    }
}

/// Knocks wherever something waits.
pub(super) async fn catch_up(shared: &Arc<Shared>) -> Result<()> {
    revoke::hear_all(shared).await?;
    let (commands, lanes, targets) = shared
        .ledger
        .read(|tx| {
            let commands = inbox::open_commands(tx)?;
            let lanes = inbox::open_lanes(tx)?;
            Ok((commands, lanes, outbox::open_targets(tx)?))
        })
        .await?;
    for command in commands {
        control::start(shared, command.event.id);
    }
    for session in lanes {
        lanes::knock(shared, session);
    }
    for target in targets {
        delivery::knock(shared, target);
    }
    Ok(())
}
