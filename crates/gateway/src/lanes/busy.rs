//! What happens to a message that comes while a turn runs: what the sender wished, else what was chosen for this chat,
//! else what the profile says. The choice for a chat is kept in the ledger.

use serde_json::json;
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::SessionId;
use talaria_domain::profile::BusyPolicy;
use talaria_domain::scope::{ScopeHolder, ScopeIdentity, ScopeKey};
use talaria_store::{Result, Tx, sessions, state};

const NAME: &str = "busy";

/// What holds for a chat.
pub(crate) fn policy_of(
    tx: &mut Tx<'_>,
    session: SessionId,
    usual: BusyPolicy,
) -> Result<BusyPolicy> {
    let scope = scope_of(tx, session)?;
    let chosen = state::get(tx, scope, NAME)?;
    let chosen = chosen.and_then(|chosen| BusyPolicy::parse(chosen.value.as_str()?));
    Ok(chosen.unwrap_or(usual))
}

/// Chooses for a chat.
pub(crate) fn choose(
    tx: &mut Tx<'_>,
    session: SessionId,
    policy: BusyPolicy,
    at: Timestamp,
) -> Result<()> {
    let scope = scope_of(tx, session)?;
    state::set(tx, scope, NAME, &json!(policy.as_str()), at).map(drop)
}

/// The chat's own drawer: it outlives its conversations.
fn scope_of(tx: &mut Tx<'_>, session: SessionId) -> Result<ScopeKey> {
    let key = sessions::get(tx, session)?.key;
    let identity = ScopeIdentity {
        runner: "gateway".into(),
        binding: "chat".into(),
        holder: ScopeHolder::Conversation {
            conversation: key.0.to_string(),
            thread: None,
        },
    };
    Ok(identity.key())
}

/// What holds for the gateway's own events: they never stop a turn.
pub(crate) const fn gentle(policy: BusyPolicy) -> BusyPolicy {
    match policy {
        BusyPolicy::Steer => BusyPolicy::Steer,
        BusyPolicy::Queue | BusyPolicy::Interrupt => BusyPolicy::Queue,
    }
}

/// What the sender is told, once for each turn that is in the way.
pub(crate) const fn told(policy: BusyPolicy) -> &'static str {
    match policy {
        BusyPolicy::Queue => "Queued: I will read this after what I am doing. /stop ends that now.",
        BusyPolicy::Steer => "Noted: I will take this into account in what I am doing.",
        BusyPolicy::Interrupt => "I stopped what I was doing for your new message.",
    }
}
