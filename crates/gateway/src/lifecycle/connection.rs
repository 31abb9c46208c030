//! Keeps an account connected. A connection that is lost comes back after a pause that grows and is never quite the same,
//! so that many accounts do not knock at once; one whose credential is refused stays away; one whose credential is used
//! elsewhere looks again now and then. Both are told to the owner elsewhere, once. A panic in an adapter is a lost
//! connection of that account and nothing else.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use talaria_domain::adapter::Disconnected;

use super::health::Condition;
use super::owner;
use crate::intake::Front;
use crate::settings::AccountSettings;
use crate::shared::Shared;

const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(1);
/// Whoever else uses a credential may be gone by then.
const CONFLICT: Duration = Duration::from_mins(5);

/// Keeps the account with this index connected until the gateway stops.
pub(super) async fn keep(shared: Arc<Shared>, index: usize) {
    let account = &shared.settings.accounts[index];
    let name = account.adapter.account();
    let mut pause = SHORTEST;
    let mut told = None;
    // Once only: an account that is being connected again is still what it was, and why, until it has proved itself.
    shared.pulse.set(name, Condition::Starting);
    loop {
        let connected_at = shared.now();
        let Some(condition) = receive(&shared, account).await else {
            shared.pulse.set(name, Condition::Stopped);
            return;
        };
        tracing::warn!(account = %name.name, state = condition.as_str(), why = condition.why(), "disconnected");
        shared.pulse.set(name, condition.clone());
        if shared.now().since(connected_at) > LONGEST {
            pause = SHORTEST;
        }
        let wait = match &condition {
            Condition::Degraded { .. } => jittered(&shared, pause),
            Condition::Conflict { .. } => CONFLICT,
            _ => Duration::MAX,
        };
        if wait > LONGEST && told.as_ref() != Some(&condition) {
            owner::tell(&shared, name, &condition).await;
            told = Some(condition);
        }
        tokio::select! {
            biased;
            () = shared.stop.cancelled() => return,
            // Not polling: the platform is away; each pause is longer than the last.
            () = tokio::time::sleep(wait) => {}
        }
        pause = (pause * 2).min(LONGEST);
    }
}

/// Receives until the connection ends; gives how the account is then. None when the gateway stops.
async fn receive(shared: &Arc<Shared>, account: &AccountSettings) -> Option<Condition> {
    let front = Front(Arc::clone(shared));
    let receiving = AssertUnwindSafe(account.adapter.receive(&front)).catch_unwind();
    let ended = tokio::select! {
        biased;
        () = shared.stop.cancelled() => return None,
        ended = receiving => ended,
    };
    Some(condition(ended.unwrap_or_else(|_| Disconnected::Lost {
        detail: "the adapter broke".to_owned(),
    })))
}

/// Between three quarters of a pause and all of it.
fn jittered(shared: &Shared, pause: Duration) -> Duration {
    let random = shared.ids.next(shared.now());
    let random = u32::from(*random.as_bytes().last().unwrap_or(&0));
    pause.saturating_sub(pause / 4 * random / 255)
}

fn condition(ended: Disconnected) -> Condition {
    match ended {
        Disconnected::Lost { detail } => Condition::Degraded { why: detail },
        Disconnected::Unauthorized { detail } => Condition::AuthFailed { why: detail },
        Disconnected::Conflict { detail } => Condition::Conflict { why: detail },
    }
}
