//! Who was paired and who waits to be, in the ledger. They are few: the gateway keeps all that were paired in memory,
//! and looks again whenever a commit says that something changed.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use talaria_domain::clock::Timestamp;
use talaria_domain::digest::Fields;
use talaria_domain::principal::PrincipalKey;
use talaria_domain::scope::ScopeKey;
use talaria_store::{Result, StoreError, Tx, Wake, state};

use super::pairing::{Grant, Register};
use crate::shared::Shared;

const REGISTER: &str = "register";
const GRANT: &str = "grant/";

/// One for the whole gateway: a wrong code belongs to no account.
fn scope() -> ScopeKey {
    ScopeKey(Fields::of("pairing").digest())
}

/// Who waits, and what was tried.
pub(crate) fn register(tx: &mut Tx<'_>) -> Result<Register> {
    let kept = state::get(tx, scope(), REGISTER)?;
    Ok(kept.and_then(|kept| read(kept.value)).unwrap_or_default())
}

pub(crate) fn keep(tx: &mut Tx<'_>, register: &Register, now: Timestamp) -> Result<()> {
    state::set(tx, scope(), REGISTER, &written(register)?, now).map(drop)
}

/// Everybody who was paired.
pub(crate) fn all(tx: &mut Tx<'_>) -> Result<Vec<Grant>> {
    let rows = state::list(tx, scope(), GRANT)?;
    Ok(rows
        .into_iter()
        .filter_map(|(_, kept)| read(kept.value))
        .collect())
}

pub(crate) fn record(tx: &mut Tx<'_>, grant: &Grant) -> Result<()> {
    let name = name(grant.principal.key());
    state::set(tx, scope(), &name, &written(grant)?, grant.approved_at)?;
    tx.wake(Wake::Access);
    Ok(())
}

/// Takes back what somebody was granted; gives whether they were.
pub(crate) fn revoke(tx: &mut Tx<'_>, who: PrincipalKey) -> Result<bool> {
    tx.wake(Wake::Access);
    state::delete(tx, scope(), &name(who))
}

fn name(who: PrincipalKey) -> String {
    format!("{GRANT}{}", who.0)
}

/// What cannot be read lets nobody in.
fn read<T: DeserializeOwned>(value: Json) -> Option<T> {
    serde_json::from_value(value)
        .inspect_err(|error| tracing::error!(%error, "what is stored about pairing cannot be read"))
        .ok()
}

fn written<T: Serialize>(value: &T) -> Result<Json> {
    serde_json::to_value(value).map_err(|error| StoreError::Broken {
        why: error.to_string(),
    })
}

/// Remembers who was paired, as the ledger has it.
pub(crate) async fn load(shared: &Arc<Shared>) -> Result<()> {
    // One after the other: what was read before a change must not be remembered after it.
    let _turn = shared.lodge.looking.lock().await;
    let granted = shared.ledger.read(all).await?;
    shared.lodge.know(granted);
    Ok(())
}

/// The same, where nobody could do anything about a ledger that is away: the next change is a reason to look, too.
pub(crate) async fn look_again(shared: &Arc<Shared>) {
    if let Err(error) = load(shared).await {
        tracing::warn!(%error, "could not look who was paired");
    }
}
