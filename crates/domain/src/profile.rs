//! An agent's identity, and the accounts it speaks through. What the operator writes down; no name is special.

use serde::{Deserialize, Serialize};

use crate::names::{AccountName, PlatformName, ProfileName, RunnerId};
use crate::scope::StatePolicy;
use crate::session_key::Sharing;

/// An agent's identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Its name.
    pub name: ProfileName,
    /// What thinks for it.
    pub runner: RunnerId,
    /// What it is told about itself.
    pub instructions: String,
    /// What happens to a message that comes while a turn runs.
    pub busy: BusyPolicy,
    /// Who shares its conversations.
    pub sharing: Sharing,
    /// What its runner may remember.
    pub state: StatePolicy,
}

/// One credential on a platform, owned by one profile.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Account {
    /// The chat service.
    pub platform: PlatformName,
    /// Its name, unique there.
    pub name: AccountName,
    /// Whose it is: what this profile says leaves through this account and no other.
    pub profile: ProfileName,
}

/// What happens to a message that comes while a turn runs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BusyPolicy {
    /// It waits for its turn.
    #[default]
    Queue,
    /// The running turn is told.
    Steer,
    /// The running turn is stopped.
    Interrupt,
}

impl BusyPolicy {
    /// Its name in the ledger, the configuration and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Steer => "steer",
            Self::Interrupt => "interrupt",
        }
    }

    /// The policy that this name stands for.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Queue, Self::Steer, Self::Interrupt]
            .into_iter()
            .find(|policy| policy.as_str() == name)
    }
}
