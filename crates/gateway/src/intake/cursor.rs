//! Where an account stands in what arrives, for platforms that do not remember it themselves. What is kept lags behind
//! what was accepted and never runs ahead of it: what comes again is recognised by its dedupe key.

use std::sync::Arc;

use serde_json::Value as Json;
use talaria_domain::adapter::NotAccepted;
use talaria_domain::digest::Fields;
use talaria_domain::profile::Account;
use talaria_domain::scope::ScopeKey;
use talaria_store::state;

use super::not_accepted;
use crate::shared::Shared;

const NAME: &str = "cursor";

/// Where the account stood when it was last kept.
pub(crate) async fn kept(
    shared: &Arc<Shared>,
    account: &Account,
) -> Result<Option<String>, NotAccepted> {
    let scope = scope(account);
    let read = shared.ledger.read(move |tx| state::get(tx, scope, NAME));
    let kept = read.await.map_err(|error| not_accepted(&error))?;
    Ok(kept.and_then(|kept| kept.value.as_str().map(ToOwned::to_owned)))
}

/// Keeps where the account stands.
pub(crate) async fn keep(
    shared: &Arc<Shared>,
    account: &Account,
    place: String,
) -> Result<(), NotAccepted> {
    let (scope, place, now) = (scope(account), Json::String(place), shared.now());
    let write = shared
        .ledger
        .write(move |tx| state::set(tx, scope, NAME, &place, now));
    write.await.map(drop).map_err(|error| not_accepted(&error))
}

fn scope(account: &Account) -> ScopeKey {
    let fields = Fields::of("adapter")
        .text(account.platform.as_str())
        .text(account.name.as_str());
    ScopeKey(fields.digest())
}
