//! Closes runs that do nothing for too long, at the time when that is so and not before. The turn itself hears of it
//! and tells the person; here it is only told to stop, and why.

use std::sync::Arc;

use crate::shared::Shared;

/// Watches for as long as the gateway runs. Not polling: it wakes at the earliest time at which a run can be late.
pub(crate) async fn idle_runs(shared: Arc<Shared>) {
    while !shared.stop.is_cancelled() {
        for run in shared.running.expire(shared.now()) {
            let with = run.registration();
            let (run, session, runner) = (with.run, with.session, &with.runner);
            tracing::warn!(%run, %session, %runner, idle = ?with.idle, "a run did nothing for too long and is closed");
        }
        match shared.running.next_look() {
            Some(look) => shared.wait_until(look, shared.running.sooner()).await,
            None => {
                tokio::select! {
                    biased;
                    () = shared.stop.cancelled() => {}
                    () = shared.running.sooner().notified() => {}
                }
            }
        }
    }
}
