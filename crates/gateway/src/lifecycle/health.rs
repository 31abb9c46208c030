//! Alive means that a message can get in and out: each account's state, and when it last proved to receive and to send.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use talaria_domain::adapter::{Disconnected, Identity};
use talaria_domain::clock::Timestamp;
use talaria_domain::names::{AccountName, PlatformName};
use talaria_domain::profile::Account;

/// How a part of the gateway is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Not there yet.
    Starting,
    /// Works.
    Connected,
    /// Works badly, or not at the moment.
    Degraded {
        /// Why.
        why: String,
    },
    /// The platform does not accept our credential: somebody has to do something.
    AuthFailed {
        /// The platform's words.
        why: String,
    },
    /// Somebody else uses our credential.
    Conflict {
        /// The platform's words.
        why: String,
    },
    /// Was told to stop.
    Stopped,
}

impl Condition {
    /// Its name in reports.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Connected => "connected",
            Self::Degraded { .. } => "degraded",
            Self::AuthFailed { .. } => "auth_failed",
            Self::Conflict { .. } => "conflict",
            Self::Stopped => "stopped",
        }
    }

    /// Why it is so, where there is something to say.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Degraded { why } | Self::AuthFailed { why } | Self::Conflict { why } => Some(why),
            _ => None,
        }
    }
}

/// One account's health.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartHealth {
    /// The account.
    pub name: String,
    /// How it is.
    pub condition: Condition,
    /// Who it turned out to be when it was first connected. None if it never was.
    pub identity: Option<Identity>,
    /// When something last came in.
    pub last_receive: Option<Timestamp>,
    /// When something last went out.
    pub last_send: Option<Timestamp>,
}

/// The pulse of every account.
#[derive(Debug, Default)]
pub(crate) struct Pulse(Mutex<BTreeMap<(PlatformName, AccountName), PartHealth>>);

impl Pulse {
    pub(crate) fn set(&self, account: &Account, condition: Condition) {
        self.change(account, |part| part.condition = condition);
    }

    /// The account has proved who it is. One that another account is already, or that is not who it was before, would
    /// mix up conversations.
    pub(crate) fn prove(
        &self,
        account: &Account,
        identity: &Identity,
        now: Timestamp,
    ) -> Result<(), Disconnected> {
        let detail = self.twin(account, identity);
        if let Some(detail) = detail {
            return Err(Disconnected::Conflict { detail });
        }
        self.change(account, |part| {
            part.identity.get_or_insert_with(|| identity.clone());
            part.condition = Condition::Connected;
            part.last_receive = Some(now);
        });
        Ok(())
    }

    /// What is wrong with this identity, if something is.
    fn twin(&self, account: &Account, identity: &Identity) -> Option<String> {
        let parts = self.parts();
        let is = |part: &PartHealth| {
            part.identity
                .as_ref()
                .is_some_and(|it| it.id == identity.id)
        };
        for ((platform, name), part) in &*parts {
            let is_same = (platform, name) == (&account.platform, &account.name);
            if is_same && part.identity.is_some() && !is(part) {
                return Some(format!(
                    "it was another bot before, and is {:?} now: give each bot an account of its own",
                    identity.name
                ));
            }
            if !is_same && *platform == account.platform && is(part) {
                return Some(format!(
                    "it is the same bot as the account {:?}: each account needs a credential of its own",
                    name.as_str()
                ));
            }
        }
        None
    }

    /// Whether the account has ever been connected: only then it is known what it can do.
    pub(crate) fn is_known(&self, account: &Account) -> bool {
        let key = (account.platform.clone(), account.name.clone());
        self.parts()
            .get(&key)
            .is_some_and(|part| part.identity.is_some())
    }

    /// Whether the account works now.
    pub(crate) fn is_connected(&self, account: &Account) -> bool {
        let key = (account.platform.clone(), account.name.clone());
        let parts = self.parts();
        parts
            .get(&key)
            .is_some_and(|part| part.condition == Condition::Connected)
    }

    /// Whether all accounts have ever been connected.
    pub(crate) fn is_all_known(&self) -> bool {
        self.parts().values().all(|part| part.identity.is_some())
    }

    pub(crate) fn received(&self, account: &Account, at: Timestamp) {
        self.change(account, |part| part.last_receive = Some(at));
    }

    pub(crate) fn sent(&self, account: &Account, at: Timestamp) {
        self.change(account, |part| part.last_send = Some(at));
    }

    pub(crate) fn report(&self) -> Vec<PartHealth> {
        self.parts().values().cloned().collect()
    }

    fn change(&self, account: &Account, change: impl FnOnce(&mut PartHealth)) {
        let mut parts = self.parts();
        let key = (account.platform.clone(), account.name.clone());
        let part = parts.entry(key).or_insert_with(|| PartHealth {
            name: format!("{}/{}", account.platform, account.name),
            condition: Condition::Starting,
            identity: None,
            last_receive: None,
            last_send: None,
        });
        change(part);
    }

    fn parts(&self) -> MutexGuard<'_, BTreeMap<(PlatformName, AccountName), PartHealth>> {
        // Nothing panics while it holds this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
