//! Who speaks: a person, a bot or a key, known by platform, account and a stable id, with a role.

use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Fields};
use crate::names::{AccountName, PlatformName, UserId};

/// Who speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    /// Where they are known.
    pub platform: PlatformName,
    /// By which of our accounts.
    pub account: AccountName,
    /// The id that the platform puts on their messages.
    pub user: UserId,
    /// A second id that is more stable than the first, where the platform has one. It wins.
    pub alternate: Option<UserId>,
    /// What they call themselves: shown, never trusted, never part of an identity.
    pub display_name: Option<String>,
    /// What they may do.
    pub role: Role,
}

impl Principal {
    /// The id that stays the same: the alternate one where there is one. None when nothing is known.
    pub fn stable_user(&self) -> Option<&UserId> {
        let alternate = self.alternate.as_ref().filter(|id| !id.is_empty());
        alternate.or_else(|| Some(&self.user).filter(|id| !id.is_empty()))
    }

    /// The identity that owns sessions and is part of every look-up. Names and roles are not part of it.
    pub fn key(&self) -> PrincipalKey {
        let fields = Fields::of("principal")
            .text(self.platform.as_str())
            .text(self.account.as_str());
        PrincipalKey(
            fields
                .optional(self.stable_user().map(UserId::as_str))
                .digest(),
        )
    }
}

/// A principal's identity as the ledger keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PrincipalKey(pub Digest);

/// What a principal may do, from most to least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Runs the gateway.
    Owner,
    /// May approve and change settings.
    Admin,
    /// May talk and use everyday commands.
    Member,
    /// May talk.
    Guest,
}

impl Role {
    /// Every role, from most to least.
    pub const ALL: [Self; 4] = [Self::Owner, Self::Admin, Self::Member, Self::Guest];

    /// Its name in the configuration, the ledger and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Admin => "admin",
            Self::Member => "member",
            Self::Guest => "guest",
        }
    }

    /// The role that this name stands for.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }

    /// Whether it may at least what `other` may.
    pub fn is_at_least(self, other: Self) -> bool {
        self <= other
    }
}
