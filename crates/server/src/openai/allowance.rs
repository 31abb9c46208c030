//! How much one key may ask for: so many turns at once, and so many in a row. Whoever asks for more is told when to come
//! back. The operator's own keys are not held to it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use talaria_domain::clock::Timestamp;
use talaria_domain::principal::PrincipalKey;

use super::refusal::Refusal;
use crate::access::keys::Caller;
use crate::terms::TurnLimits;

#[cfg(test)]
mod tests;

/// What every key may do, and does at present.
#[derive(Debug, Clone)]
pub(crate) struct Allowances {
    limits: TurnLimits,
    accounts: Arc<Mutex<BTreeMap<PrincipalKey, Account>>>,
}

/// What one key does at present.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Account {
    open: usize,
    /// When all that it asked for is paid off.
    paid_at: Option<Timestamp>,
}

/// A turn that counts until this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    all: Allowances,
    owner: PrincipalKey,
}

impl Allowances {
    pub(crate) fn of(limits: TurnLimits) -> Self {
        let accounts = Arc::default();
        Self { limits, accounts }
    }

    /// Takes a place for one turn, or says when to come back.
    pub(super) fn enter(&self, caller: &Caller, now: Timestamp) -> Result<Place, Refusal> {
        let owner = caller.owner();
        let mut accounts = self.accounts();
        let account = accounts.entry(owner).or_default();
        if !caller.is_owner() {
            account.paid_at = Some(ask(self.limits, *account, now).map_err(refused)?);
        }
        account.open += 1;
        let all = self.clone();
        Ok(Place { all, owner })
    }

    fn accounts(&self) -> MutexGuard<'_, BTreeMap<PrincipalKey, Account>> {
        // Nothing panics while it holds this lock.
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(account) = self.all.accounts().get_mut(&self.owner) {
            account.open = account.open.saturating_sub(1);
        }
    }
}

/// Why one more is too many, and how long it is until it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TooMany {
    why: &'static str,
    wait: Duration,
}

/// When everything is paid off with one turn more.
fn ask(limits: TurnLimits, account: Account, now: Timestamp) -> Result<Timestamp, TooMany> {
    let one_more = Duration::from_secs(1) / limits.per_second.max(1);
    if account.open >= limits.at_once {
        let why = "too many turns of this key are under way";
        let wait = one_more;
        return Err(TooMany { why, wait });
    }
    let behind = account.paid_at.filter(|time| *time > now);
    let paid_at = behind.unwrap_or(now).plus(one_more);
    let most = now.plus(one_more * limits.in_a_row);
    if paid_at > most {
        let why = "this key asks too often";
        let wait = paid_at.since(most);
        return Err(TooMany { why, wait });
    }
    Ok(paid_at)
}

fn refused(TooMany { why, wait }: TooMany) -> Refusal {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    Refusal::Later {
        status: StatusCode::TOO_MANY_REQUESTS,
        code: "rate_limit_exceeded",
        message: format!("{why}: try again in {seconds} s"),
        seconds,
    }
}
