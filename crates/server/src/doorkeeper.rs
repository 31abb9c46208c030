//! Who may come in, as an operator asks it. Who is known and who waits is the gateway's knowledge; this is what it is
//! asked with. A code is never told: only whoever got it has it.

use schemars::JsonSchema;
use serde::Serialize;
use talaria_domain::adapter::Pending;
use talaria_domain::clock::Timestamp;
use talaria_domain::names::{AccountName, ChatId, PlatformName, ProfileName, ThreadId, UserId};
use talaria_domain::principal::Role;

use crate::contract::words;

/// Who says who may come in.
pub trait Doorkeeper: Send + Sync {
    /// Who waits, and who was let in.
    fn list(&self) -> Pending<'_, Result<Listing, NotSettled>>;

    /// Lets somebody in.
    fn approve(&self, approval: Approval) -> Pending<'_, Result<Granted, NotSettled>>;

    /// Sends somebody away who waits.
    fn deny(&self, whom: Whom) -> Pending<'_, Result<Waiting, NotSettled>>;

    /// Takes back what somebody was granted.
    fn revoke(&self, who: Person) -> Pending<'_, Result<(), NotSettled>>;

    /// Why a decision would fall as it would now.
    fn why(&self, supposed: Supposed) -> Result<Told, NotSettled>;
}

/// Somebody on a platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The chat service.
    pub platform: PlatformName,
    /// Our account there.
    pub account: AccountName,
    /// Their stable id.
    pub user: UserId,
}

impl Person {
    /// `PLATFORM/ACCOUNT/USER`; ids may have slashes in them.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '/');
        let mut next = || parts.next().filter(|part| !part.is_empty());
        Some(Self {
            platform: next()?.into(),
            account: next()?.into(),
            user: next()?.into(),
        })
    }
}

/// Whom the operator means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whom {
    /// Whoever was given this code.
    Code(String),
    /// Them.
    Person(Person),
}

impl Whom {
    /// A person where it names one, else a code.
    pub fn parse(text: &str) -> Self {
        match Person::parse(text) {
            Some(person) => Self::Person(person),
            None => Self::Code(text.to_owned()),
        }
    }
}

/// Somebody is let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// Who.
    pub whom: Whom,
    /// As what.
    pub role: Role,
    /// By whom.
    pub by: String,
}

/// Who waits, and who was let in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Listing {
    /// Those who wait.
    pub pending: Vec<Waiting>,
    /// Those who were let in.
    pub granted: Vec<Granted>,
    /// Until when no code is looked at, because too many were wrong.
    #[schemars(with = "Option<words::Time>")]
    pub locked_until: Option<Timestamp>,
}

/// Somebody who waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Waiting {
    /// `PLATFORM/ACCOUNT/USER`, as they can be approved.
    pub principal: String,
    /// What they call themselves.
    pub name: Option<String>,
    /// When they asked.
    #[schemars(with = "words::Time")]
    pub asked_at: Timestamp,
    /// When their code is good no more.
    #[schemars(with = "words::Time")]
    pub expires_at: Timestamp,
}

/// Somebody who was let in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Granted {
    /// `PLATFORM/ACCOUNT/USER`, as it can be revoked.
    pub principal: String,
    /// What they call themselves.
    pub name: Option<String>,
    /// What they may do.
    #[schemars(with = "words::Name")]
    pub role: Role,
    /// Who let them in.
    pub approved_by: String,
    /// When.
    #[schemars(with = "words::Time")]
    pub approved_at: Timestamp,
}

/// Something that somebody might say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Supposed {
    /// Who.
    pub who: Person,
    /// Where; in their own chat, if nothing is said.
    pub chat: Option<ChatId>,
    /// In which thread.
    pub thread: Option<ThreadId>,
    /// The command that it is, if it is one.
    pub command: Option<String>,
}

/// Why a decision would fall as it would.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Told {
    /// The decision.
    pub access: Access,
    /// Who would answer.
    #[schemars(with = "words::Name")]
    pub profile: ProfileName,
    /// The route that says so, in words; none where the account does.
    pub route: Option<String>,
}

/// A decision about somebody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Access {
    /// Whether they may.
    pub allowed: bool,
    /// `allowed`, `ignored`, `refused` or `pair`.
    pub decision: String,
    /// What they are.
    #[schemars(with = "Option<words::Name>")]
    pub role: Option<Role>,
    /// All of it in words.
    pub reason: String,
    /// Each thing that was looked at, in order.
    pub steps: Vec<Step>,
    /// What they were granted when they were paired.
    pub grant: Option<Granted>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Step {
    /// What.
    pub source: String,
    /// What was found.
    pub found: String,
}

/// Why nothing was done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSettled {
    /// There is nobody like that.
    #[error("{reason}")]
    NotFound {
        /// Who is missing.
        reason: String,
    },
    /// Too many codes were wrong: nothing is looked at for now.
    #[error("{reason}")]
    Locked {
        /// Until when, in words.
        reason: String,
    },
    /// Not now: the same may work later.
    #[error("{reason}")]
    Retry {
        /// What was in the way.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    //! Who is named.

    use super::*;

    #[test]
    fn somebody_is_named_by_platform_account_and_id() {
        let person = Person::parse("example/bot/@ada:a/b").unwrap();
        assert_eq!(person.user.as_str(), "@ada:a/b");
        assert_eq!(
            (person.platform.as_str(), person.account.as_str()),
            ("example", "bot")
        );
        for text in [
            "",
            "example",
            "example/bot",
            "example//7",
            "/bot/7",
            "example/bot/",
        ] {
            assert_eq!(Person::parse(text), None, "{text}");
        }
    }
}
