//! Where conversations take place, remembered: a conversation's place, its owner and its profile never change, and looking them up
//! for every message would cost it a way to another thread and back.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use talaria_domain::address::Address;
use talaria_domain::ids::SessionId;
use talaria_domain::names::ProfileName;
use talaria_domain::principal::PrincipalKey;

/// How many are remembered: some megabytes.
const MOST: usize = 10_000;

/// What is remembered of conversations.
#[derive(Debug, Default)]
pub(crate) struct Places(Mutex<HashMap<SessionId, (PrincipalKey, Place)>>);

/// Where a conversation takes place, and whose agent answers there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) address: Address,
    pub(crate) profile: ProfileName,
}

impl Places {
    /// Where this owner's conversation takes place, if that is remembered. Somebody else's is not.
    pub(crate) fn of(&self, session: SessionId, owner: PrincipalKey) -> Option<Place> {
        let places = self.places();
        let (whose, place) = places.get(&session)?;
        (*whose == owner).then(|| place.clone())
    }

    pub(crate) fn remember(&self, session: SessionId, owner: PrincipalKey, place: &Place) {
        let mut places = self.places();
        if places.len() >= MOST {
            places.clear();
        }
        places.insert(session, (owner, place.clone()));
    }

    /// It is not there any more.
    pub(crate) fn forget(&self, session: SessionId) {
        self.places().remove(&session);
    }

    fn places(&self) -> MutexGuard<'_, HashMap<SessionId, (PrincipalKey, Place)>> {
        // Nothing panics while it holds this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
