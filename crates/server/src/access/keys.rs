//! Keys. The operator's own come from outside; further ones are made here, named and scoped, shown once and kept as
//! digests in the ledger's state table, in a scope that no runner can have. A key is random, not a password: its digest
//! tells nothing, and needs no salt.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use talaria_domain::clock::Timestamp;
use talaria_domain::digest::{Digest, Fields};
use talaria_domain::principal::{Principal, PrincipalKey, Role};
use talaria_domain::scope::ScopeKey;
use talaria_domain::secret::{ExposeSecret, SecretString};
use talaria_store::{Ledger, StoreError, Tx, state};

use super::entropy::{NoEntropy, token};
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

/// What a key may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    scopes: BTreeSet<Scope>,
}

impl Caller {
    /// Whoever runs the gateway.
    pub(crate) fn operator() -> Self {
        Self {
            principal: surfaces::operator(),
            scopes: [Scope::Chat, Scope::Operator].into(),
        }
    }

    pub(crate) fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&Scope::Operator)
    }

    /// Whether this is whoever runs the gateway, and not somebody who was given a key.
    pub(crate) fn is_owner(&self) -> bool {
        self.principal.role == Role::Owner
    }

    /// The identity that owns conversations.
    pub(crate) fn owner(&self) -> PrincipalKey {
        self.principal.key()
    }
}

/// The digests of the keys from outside, and the key that the page's cookies are signed with.
pub(crate) struct KnownKeys {
    digests: Vec<Digest>,
    pub(crate) cookie: [u8; 32],
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
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct KeyRow {
    pub(crate) id: String,
    name: String,
    scopes: BTreeSet<Scope>,
    created_at: Timestamp,
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
            row: listed(id, kept.clone()),
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

fn listed(id: String, kept: Kept) -> KeyRow {
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
    }
}

/// Every key that was made and not revoked, by id.
pub(crate) async fn list(ledger: &Ledger) -> Result<Vec<KeyRow>, StoreError> {
    let kept = ledger.read(|tx| state::list(tx, scope(), "")).await?;
    let row = |(id, remembered): (String, state::Remembered)| Ok(listed(id, read(remembered)?));
    kept.into_iter().map(row).collect()
}

fn read(remembered: state::Remembered) -> Result<Kept, StoreError> {
    serde_json::from_value(remembered.value).map_err(|error| StoreError::Unreadable {
        thing: "key",
        why: error.to_string(),
    })
}

/// Forgets a key: from here on it is nobody's. Says whether there was one.
pub(crate) async fn revoke(ledger: &Ledger, id: String) -> Result<bool, StoreError> {
    ledger
        .write(move |tx| state::delete(tx, scope(), &id))
        .await
}

/// Whose key this is; none if nobody's.
pub(crate) async fn holder(
    known: &KnownKeys,
    ledger: &Ledger,
    presented: &str,
) -> Result<Option<Caller>, StoreError> {
    let shown = digest(presented);
    if known.is_known(shown) {
        return Ok(Some(Caller::operator()));
    }
    let Some(id) = id_of(presented) else {
        return Ok(None);
    };
    let name = id.clone();
    let kept = ledger
        .read(move |tx| state::get(tx, scope(), &name))
        .await?;
    let Some(kept) = kept.map(read).transpose()? else {
        return Ok(None);
    };
    Ok(is_equal(kept.digest, shown).then(|| Caller {
        principal: surfaces::holder(&id, &kept.name),
        scopes: kept.scopes,
    }))
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
