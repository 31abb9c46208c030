//! One-time logins: a link that turns a browser into the operator's, once. Kept in the ledger as digests, so that a link
//! works on whichever node it is opened and is used up on all of them at once.

use std::time::Duration;

use serde_json::json;
use talaria_domain::clock::Timestamp;
use talaria_domain::digest::{Digest, Fields};
use talaria_domain::scope::ScopeKey;
use talaria_store::{Ledger, StoreError, Tx, state};

use super::entropy::{NoEntropy, token};

/// How long a link can be opened.
const LIFE: Duration = Duration::from_hours(1);

/// Why there is no link.
#[derive(Debug, thiserror::Error)]
pub enum NoLink {
    /// Nothing secret can be made.
    #[error(transparent)]
    NoEntropy(#[from] NoEntropy),
    /// The store did not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Where links are kept.
fn scope() -> ScopeKey {
    ScopeKey(Fields::of("server logins").digest())
}

fn name(token: &str) -> String {
    Digest::from_bytes(*blake3::hash(token.as_bytes()).as_bytes()).to_string()
}

/// A fresh one-time login: the path and query to open in a browser, such as `/?login=...`.
pub async fn login_link(ledger: &Ledger, now: Timestamp) -> Result<String, NoLink> {
    let token = token::<32>()?;
    let name = name(&token);
    ledger
        .write(move |tx| {
            forget_expired(tx, now)?;
            let value = json!({ "until": now.plus(LIFE) });
            state::set(tx, scope(), &name, &value, now).map(drop)
        })
        .await?;
    Ok(format!("/?login={token}"))
}

/// Uses a login up. Says whether it was good.
pub(crate) async fn redeem(
    ledger: &Ledger,
    token: &str,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let name = name(token);
    ledger
        .write(move |tx| {
            let kept = state::get(tx, scope(), &name)?;
            let is_good = kept.is_some_and(|kept| !is_expired(&kept, now));
            Ok(state::delete(tx, scope(), &name)? && is_good)
        })
        .await
}

fn forget_expired(tx: &mut Tx<'_>, now: Timestamp) -> Result<(), StoreError> {
    for (name, kept) in state::list(tx, scope(), "")? {
        if is_expired(&kept, now) {
            state::delete(tx, scope(), &name)?;
        }
    }
    Ok(())
}

fn is_expired(kept: &state::Remembered, now: Timestamp) -> bool {
    let until = kept.value["until"].as_i64().unwrap_or(0);
    now >= Timestamp::from_millis(until)
}
