//! Keys. The operator's own come from outside; further ones are made here, named and scoped, shown once and kept as
//! digests in the ledger's state table, in a scope that no runner can have. A key is random, not a password: its digest
//! tells nothing, and needs no salt.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use subtle::ConstantTimeEq as _;
use talaria_domain::clock::Timestamp;
use talaria_domain::digest::{Digest, Fields};
use talaria_domain::principal::{Principal, PrincipalKey, Role};
use talaria_domain::scope::ScopeKey;
use talaria_domain::secret::{ExposeSecret, SecretString};
use talaria_store::{Ledger, StoreError, Tx, state};
use tokio_util::sync::CancellationToken;

use super::entropy::{NoEntropy, token};
use super::ring::Ring;
use crate::contract::words;
use crate::surfaces;

/// What begins every key, so that people and scanners recognise one.
const PREFIX: &str = "tal_";

/// The keys that come from outside the ledger. Both have every right.
pub struct OperatorKeys {
    /// From the data directory.
    pub operator: SecretString,
    /// One more from the environment.
    pub environment: Option<SecretString>,
}

/// What a key may be used for, each more than the one before.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    /// Conversations of its own.
    Chat,
    /// Everything.
    Operator,
}

/// Who asks, and what they may do.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) principal: Principal,
    owner: PrincipalKey,
    /// The widest scope of the key.
    scope: Option<Scope>,
    /// Cancelled when the key is taken back; none where it cannot be.
    pub(crate) gone: Option<CancellationToken>,
}

impl Caller {
    /// Whoever runs the gateway.
    pub(crate) fn operator() -> Self {
        Self::of(surfaces::operator(), Some(Scope::Operator), None)
    }

    fn of(principal: Principal, scope: Option<Scope>, gone: Option<CancellationToken>) -> Self {
        Self {
            owner: principal.key(),
            principal,
            scope,
            gone,
        }
    }

    pub(crate) fn may(&self, scope: Scope) -> bool {
        self.scope >= Some(scope)
    }

    /// Whether this is whoever runs the gateway, and not somebody who was given a key.
    pub(crate) fn is_owner(&self) -> bool {
        self.principal.role == Role::Owner
    }

    /// The identity that owns conversations.
    pub(crate) const fn owner(&self) -> PrincipalKey {
        self.owner
    }
}

/// The digests of the keys from outside, the key that the page's cookies are signed with, and whom both stand for.
pub(crate) struct KnownKeys {
    digests: Vec<Digest>,
    pub(crate) cookie: [u8; 32],
    pub(crate) operator: Caller,
}

impl KnownKeys {
    pub(crate) fn of(keys: &OperatorKeys) -> Self {
        let OperatorKeys {
            operator,
            environment,
        } = keys;
        let all = [Some(operator), environment.as_ref()].into_iter().flatten();
        // An empty key would be everybody's.
        let all = all
            .map(ExposeSecret::expose_secret)
            .filter(|key| !key.is_empty());
        let secret = operator.expose_secret().as_bytes();
        Self {
            digests: all.map(digest).collect(),
            cookie: blake3::derive_key("talaria web cookie v1", secret),
            operator: Caller::operator(),
        }
    }

    fn is_known(&self, presented: Digest) -> bool {
        let is_same = |known: &Digest| is_equal(*known, presented);
        self.digests
            .iter()
            .map(is_same)
            .fold(false, |found, same| found | same)
    }
}

fn digest(key: &str) -> Digest {
    Digest::from_bytes(*blake3::hash(key.as_bytes()).as_bytes())
}

fn is_equal(one: Digest, other: Digest) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// Where keys are kept. The one place that derives it.
fn scope() -> ScopeKey {
    ScopeKey(Fields::of("server keys").digest())
}

/// A key as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Kept {
    name: String,
    scopes: BTreeSet<Scope>,
    digest: Digest,
    created_at: Timestamp,
}

/// A key as it is listed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct KeyRow {
    pub(crate) id: String,
    name: String,
    scopes: BTreeSet<Scope>,
    #[schemars(with = "words::Time")]
    created_at: Timestamp,
    /// To the minute.
    #[schemars(with = "Option<words::Time>")]
    last_used_at: Option<Timestamp>,
}

/// A key that was just made. Its text is not kept anywhere.
pub(crate) struct FreshKey {
    pub(crate) row: KeyRow,
    pub(crate) text: SecretString,
    kept: Kept,
}

impl FreshKey {
    /// Makes a key called `id`.
    pub(crate) fn make(
        id: String,
        name: String,
        scopes: BTreeSet<Scope>,
        created_at: Timestamp,
    ) -> Result<Self, NoEntropy> {
        let text = format!("{PREFIX}{id}_{}", token::<32>()?);
        let kept = Kept {
            name,
            scopes,
            digest: digest(&text),
            created_at,
        };
        Ok(Self {
            row: listed(id, kept.clone(), None),
            text: text.into(),
            kept,
        })
    }

    /// Records its digest.
    pub(crate) async fn record(&self, ledger: &Ledger) -> Result<(), StoreError> {
        let (id, kept) = (self.row.id.clone(), self.kept.clone());
        let work = move |tx: &mut Tx<'_>| {
            let value = serde_json::to_value(&kept).map_err(|error| StoreError::Broken {
                why: error.to_string(),
            })?;
            state::set(tx, scope(), &id, &value, kept.created_at).map(drop)
        };
        ledger.write(work).await
    }
}

fn listed(id: String, kept: Kept, last_used_at: Option<Timestamp>) -> KeyRow {
    let Kept {
        name,
        scopes,
        created_at,
        ..
    } = kept;
    KeyRow {
        id,
        name,
        scopes,
        created_at,
        last_used_at,
    }
}

/// Every key that was made and not revoked, by id.
pub(crate) async fn list(ledger: &Ledger, ring: &Ring) -> Result<Vec<KeyRow>, StoreError> {
    let work = |tx: &mut Tx<'_>| {
        let uses: BTreeMap<_, _> = state::list(tx, uses(), "")?.into_iter().collect();
        Ok((state::list(tx, scope(), "")?, uses))
    };
    let (kept, uses) = ledger.read(work).await?;
    let row = |(id, remembered): (String, state::Remembered)| {
        let written = uses.get(&id).and_then(used_at);
        let last = written.max(ring.last(&id));
        Ok(listed(id, read(remembered)?, last))
    };
    kept.into_iter().map(row).collect()
}

/// Where it is kept when keys were used: apart from the keys, so that a use never touches one.
fn uses() -> ScopeKey {
    ScopeKey(Fields::of("server key uses").digest())
}

fn used_at(remembered: &state::Remembered) -> Option<Timestamp> {
    remembered.value.as_i64().map(Timestamp::from_millis)
}

/// Writes down when keys were used, if anything is new. A key that was taken back stays forgotten.
pub(crate) async fn record_uses(ledger: &Ledger, ring: &Ring) -> Result<(), StoreError> {
    let fresh = ring.unwritten();
    if fresh.is_empty() {
        return Ok(());
    }
    let told = fresh.clone();
    let work = move |tx: &mut Tx<'_>| {
        for (id, at) in &told {
            let before = state::get(tx, uses(), id)?.as_ref().and_then(used_at);
            let is_kept = state::get(tx, scope(), id)?.is_some();
            if is_kept && before.is_none_or(|before| before < *at) {
                state::set(tx, uses(), id, &json!(at), *at)?;
            }
        }
        Ok(())
    };
    ledger.write(work).await?;
    ring.written(&fresh);
    Ok(())
}

fn read(remembered: state::Remembered) -> Result<Kept, StoreError> {
    serde_json::from_value(remembered.value).map_err(|error| StoreError::Unreadable {
        thing: "key",
        why: error.to_string(),
    })
}

/// Forgets a key: from here on it is nobody's, also where it is in use. Says whether there was one.
pub(crate) async fn revoke(ledger: &Ledger, ring: &Ring, id: String) -> Result<bool, StoreError> {
    let name = id.clone();
    let work = move |tx: &mut Tx<'_>| {
        state::delete(tx, uses(), &name)?;
        state::delete(tx, scope(), &name)
    };
    let was_there = ledger.write(work).await?;
    ring.take_back(&id);
    Ok(was_there)
}

/// Whose key this is; none if nobody's.
pub(crate) async fn holder(
    known: &KnownKeys,
    (ledger, ring): (&Ledger, &Ring),
    presented: &str,
    now: Timestamp,
) -> Result<Option<Caller>, StoreError> {
    let shown = digest(presented);
    if known.is_known(shown) {
        return Ok(Some(known.operator.clone()));
    }
    let Some(id) = id_of(presented) else {
        return Ok(None);
    };
    loop {
        let seen = ring.taken_back();
        let name = id.clone();
        let look = move |tx: &mut Tx<'_>| state::get(tx, scope(), &name);
        let kept = ledger.read(look).await?;
        let kept = kept.map(read).transpose()?;
        let Some(kept) = kept.filter(|kept| is_equal(kept.digest, shown)) else {
            return Ok(None);
        };
        if let Some(gone) = ring.note(&id, now, seen) {
            let principal = surfaces::holder(&id, &kept.name);
            let scope = kept.scopes.last().copied();
            return Ok(Some(Caller::of(principal, scope, Some(gone))));
        }
    }
}

/// The id in a key's text: it says where to look, and proves nothing.
fn id_of(presented: &str) -> Option<String> {
    let (id, secret) = presented.strip_prefix(PREFIX)?.split_once('_')?;
    let is_id = id.len() == 36
        && id
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    (is_id && secret.len() == 64).then(|| id.to_owned())
}

#[cfg(test)]
mod tests;
