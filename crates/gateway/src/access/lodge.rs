//! What one gateway remembers about who may come in: those who were paired, as the ledger has them; codes on their way
//! to whoever asked; programs that talk to each other; how many were turned away. Of a code nothing but this memory has
//! the letters, so that one whose process dies before it was sent is simply not told.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use talaria_domain::clock::Timestamp;
use talaria_domain::delivery::{Part, PartBody};
use talaria_domain::ids::ReplyId;
use talaria_domain::principal::{Principal, PrincipalKey, Role};

use super::loops::Watch;
use super::pairing::Grant;

/// What is remembered at the door.
#[derive(Debug, Default)]
pub(crate) struct Lodge {
    grants: RwLock<HashMap<PrincipalKey, Grant>>,
    codes: Mutex<HashMap<ReplyId, Letters>>,
    /// Whoever looks into the ledger for those who were paired has it.
    pub(crate) looking: tokio::sync::Mutex<()>,
    pub(crate) programs: Watch,
    pub(crate) counts: Counts,
}

/// A code on its way. It cannot be printed.
struct Letters {
    code: String,
    until: Timestamp,
}

impl std::fmt::Debug for Letters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Letters")
    }
}

/// How many were turned away since the gateway started.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    ignored: AtomicU64,
    refused: AtomicU64,
}

impl Counts {
    pub(crate) fn ignore(&self) {
        self.ignored.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn ignored(&self) -> u64 {
        self.ignored.load(Ordering::Relaxed)
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl Lodge {
    /// What somebody was granted.
    pub(crate) fn role(&self, who: &Principal) -> Option<Role> {
        self.grant(who, |grant| grant.role)
    }

    /// Something of what somebody was granted.
    pub(crate) fn grant<T>(&self, who: &Principal, look: impl FnOnce(&Grant) -> T) -> Option<T> {
        // Nothing panics while it holds this lock.
        let grants = self.grants.read().unwrap_or_else(PoisonError::into_inner);
        if grants.is_empty() {
            return None;
        }
        grants.get(&who.key()).map(look)
    }

    /// These were let in, and nobody else.
    pub(crate) fn know(&self, granted: Vec<Grant>) {
        let keyed = granted.into_iter();
        let keyed = keyed.map(|grant| (grant.principal.key(), grant)).collect();
        let mut grants = self.grants.write().unwrap_or_else(PoisonError::into_inner);
        *grants = keyed;
    }

    /// A code that this reply is to tell.
    pub(crate) fn hold(&self, reply: ReplyId, code: String, until: Timestamp, now: Timestamp) {
        let mut codes = self.codes();
        codes.retain(|_, letters| now < letters.until);
        codes.insert(reply, Letters { code, until });
    }

    /// Writes the code into the part that tells it, if this is one.
    pub(crate) fn tell(&self, part: &mut Part, now: Timestamp) {
        let codes = self.codes();
        let letters = codes.get(&part.reply).filter(|it| now < it.until);
        let (Some(letters), PartBody::Text { markdown }) = (letters, &mut part.body) else {
            return;
        };
        markdown.push_str("\n\nGive them this code within an hour: `");
        markdown.push_str(&letters.code);
        markdown.push('`');
    }

    fn codes(&self) -> MutexGuard<'_, HashMap<ReplyId, Letters>> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
