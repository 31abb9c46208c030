//! Keeps an account connected. A connection that is lost comes back after a pause that grows; one whose credential is
//! refused or used elsewhere stays away and says so. A panic in an adapter is a lost connection of that account and
//! nothing else.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use talaria_domain::adapter::Disconnected;

use super::health::Condition;
use crate::intake::Front;
use crate::shared::Shared;

const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(1);

/// Keeps the account with this index connected until the gateway stops.
pub(super) async fn keep(shared: Arc<Shared>, index: usize) {
    let account = &shared.settings.accounts[index];
    let (adapter, name) = (&account.adapter, account.adapter.account());
    let front = Front(Arc::clone(&shared));
    let mut pause = SHORTEST;
    loop {
        shared.pulse.set(name, Condition::Starting);
        let connected_at = shared.now();
        let receiving = AssertUnwindSafe(adapter.receive(&front)).catch_unwind();
        let ended = tokio::select! {
            biased;
            () = shared.stop.cancelled() => {
                shared.pulse.set(name, Condition::Stopped);
                return;
            }
            ended = receiving => ended,
        };
        let condition = condition(ended.unwrap_or_else(|_| Disconnected::Lost {
            detail: "the adapter broke".to_owned(),
        }));
        tracing::warn!(account = %name.name, state = condition.as_str(), why = condition.why(), "disconnected");
        let is_final = !matches!(condition, Condition::Degraded { .. });
        shared.pulse.set(name, condition);
        if is_final {
            return;
        }
        if shared.now().since(connected_at) > LONGEST {
            pause = SHORTEST;
        }
        tokio::select! {
            biased;
            () = shared.stop.cancelled() => return,
            // Not polling: the platform is away; each pause is longer than the last.
            () = tokio::time::sleep(pause) => {}
        }
        pause = (pause * 2).min(LONGEST);
    }
}

fn condition(ended: Disconnected) -> Condition {
    match ended {
        Disconnected::Lost { detail } => Condition::Degraded { why: detail },
        Disconnected::Unauthorized { detail } => Condition::AuthFailed { why: detail },
        Disconnected::Conflict { detail } => Condition::Conflict { why: detail },
    }
}
