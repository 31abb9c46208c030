//! Where conversations take place, remembered: a conversation's place, its owner and its profile never change, and looking them up
//! for every message would cost it a way to another thread and back.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use talaria_domain::address::Address;
use talaria_domain::ids::SessionId;
use talaria_domain::names::ProfileName;
use talaria_domain::principal::PrincipalKey;
use talaria_store::{Tx, keys, sessions};

use crate::access::keys::Caller;
use crate::error::ApiError;
use crate::shared::App;
use crate::surfaces;

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

impl Place {
    /// Where this caller's conversation takes place. Somebody else's is not found.
    pub(crate) async fn find(
        app: &App,
        caller: &Caller,
        session: SessionId,
    ) -> Result<Self, ApiError> {
        let owner = caller.owner();
        if let Some(place) = app.places.of(session, owner) {
            return Ok(place);
        }
        let work = move |tx: &mut Tx<'_>| {
            let session = sessions::get_owned(tx, owner, session)?;
            keys::origin(tx, session.key)
        };
        let key = app.shared.ledger.read(work).await?;
        let elsewhere = || ApiError::Conflict {
            message: format!(
                "this conversation takes place on {}: write there",
                key.platform
            ),
        };
        let place = Self {
            address: surfaces::place(&key).ok_or_else(elsewhere)?,
            profile: key.profile,
        };
        app.places.remember(session, owner, &place);
        Ok(place)
    }
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
