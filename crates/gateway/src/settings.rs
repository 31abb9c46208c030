//! What the operator decided, as the gateway needs it: profiles with what thinks for them, accounts with their
//! adapters, and limits. Plain data; nothing here is read from a file.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use talaria_domain::adapter::Adapter;
use talaria_domain::address::Address;
use talaria_domain::authority::Authority;
use talaria_domain::capabilities::{DeliveryWindow, TextLimit};
use talaria_domain::job::Worker;
use talaria_domain::names::{AccountName, NodeName, PlatformName, ProfileName};
use talaria_domain::principal::Principal;
use talaria_domain::profile::Profile;
use talaria_domain::runner::Runner;
use talaria_domain::schedule::Zone;

use crate::access::AccessPolicy;
use crate::binding::Bindings;
use crate::delivery::pace::{Rate, Rates};
use crate::files::Files;
use crate::routing::{self, Route};

/// Cuts a Markdown text into pieces that each fit the limit and together are the text.
pub type Split = fn(&str, TextLimit) -> Vec<String>;

/// Everything that the operator decided.
#[derive(Clone)]
pub struct Settings {
    /// This process among those on the same store.
    pub node: NodeName,
    /// The agents.
    pub profiles: BTreeMap<ProfileName, ProfileSettings>,
    /// The accounts that they speak through.
    pub accounts: Vec<AccountSettings>,
    /// Chats that another profile answers than their account's.
    pub routes: Vec<Route>,
    /// How much, how long, how often.
    pub limits: Limits,
    /// How long texts are cut.
    pub split: Split,
    /// What does jobs that are processes.
    pub worker: Arc<dyn Worker>,
    /// What thinks where something else is said than by the profile.
    pub bindings: Bindings,
    /// Where the clock of schedules hangs, unless they say otherwise.
    pub zone: Zone,
    /// Where files are kept. Without it none are fetched and none are sent.
    pub files: Option<Files>,
}

/// An agent and what thinks for it.
#[derive(Clone)]
pub struct ProfileSettings {
    /// Its identity.
    pub profile: Profile,
    /// What thinks.
    pub runner: Arc<dyn Runner>,
    /// What its runs may use.
    pub authority: Authority,
    /// When its conversations start over by themselves.
    pub reset: Reset,
}

/// When conversations start over by themselves.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Reset {
    /// After this long without a word.
    pub idle: Option<Duration>,
    /// Every day at this hour (UTC).
    pub at_hour: Option<u8>,
}

/// An account and how it is used.
#[derive(Clone)]
pub struct AccountSettings {
    /// The connection.
    pub adapter: Arc<dyn Adapter>,
    /// Who may talk there.
    pub access: AccessPolicy,
    /// How long a message waits for more of the same sender.
    pub merge_window: Duration,
    /// How fast each chat may be written to.
    pub rate: Rate,
    /// How fast all of its chats together may be written to.
    pub account_rate: Rate,
    /// The shortest time between two changes of a message that grows.
    pub edit_pace: Duration,
    /// What becomes of a part of which nobody can know whether it arrived.
    pub doubt: DoubtPolicy,
    /// Whether messages are marked as seen, answered or failed, where that can be done.
    pub marks: bool,
    /// Where the owner hears of what nobody asked for.
    pub home: Option<Address>,
}

impl AccountSettings {
    /// How fast it may be written to.
    pub const fn rates(&self) -> Rates {
        Rates {
            chat: self.rate,
            account: self.account_rate,
        }
    }
}

/// What becomes of a part of which nobody can know whether it arrived.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum DoubtPolicy {
    /// It is listed as unknown and not sent again.
    #[default]
    PreferLoss,
    /// It is sent again, and may be there twice.
    PreferDuplicate,
}

/// How much, how long, how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Turns at once.
    pub turns: usize,
    /// A turn that takes longer is ended.
    pub turn_time: Duration,
    /// A turn that yields nothing for this long is ended.
    pub no_progress: Duration,
    /// A run that does nothing and waits for nobody for this long is closed.
    pub idle_run: Duration,
    /// Events that may wait in one lane.
    pub queue: usize,
    /// Attempts at one event before it is given up.
    pub attempts: u32,
    /// How long a stopped runner may clean up.
    pub grace: Duration,
    /// How long turns may go on when the gateway is asked to stop.
    pub drain: Duration,
    /// How long a lease lasts without being renewed.
    pub lease: Duration,
    /// How long a part is tried before it is given up.
    pub delivery: Duration,
    /// Jobs of one conversation at once.
    pub jobs: usize,
    /// Schedules of one person that have not ended.
    pub schedules: usize,
    /// How many times a task may be given on.
    pub depth: u32,
    /// What becomes of turns that were interrupted.
    pub resume: ResumePolicy,
}

/// What becomes of turns that were interrupted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum ResumePolicy {
    /// Those that only thought are done again.
    #[default]
    Auto,
    /// All of them are told, and wait for a word: the gateway has stopped too often lately.
    Tell,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns: 256,
            turn_time: Duration::from_mins(30),
            no_progress: Duration::from_mins(10),
            idle_run: crate::registry::IDLE,
            queue: 50,
            attempts: 3,
            grace: Duration::from_secs(2),
            drain: Duration::from_secs(20),
            lease: Duration::from_mins(1),
            delivery: Duration::from_hours(24),
            jobs: 64,
            schedules: 50,
            depth: 2,
            resume: ResumePolicy::Auto,
        }
    }
}

impl Settings {
    /// Whether no account ever has to wait with what it writes.
    pub fn is_unlimited(&self) -> bool {
        let mut accounts = self.accounts.iter();
        accounts.all(|account| account.rates().are_unlimited())
    }

    /// The account that an address belongs to.
    pub fn account(&self, address: &Address) -> Option<&AccountSettings> {
        self.account_named(&address.platform, &address.account)
    }

    /// Whose profile answers what somebody says at an address: the nearest route's, else the account's own.
    pub fn profile_at<'a>(
        &'a self,
        account: &'a AccountSettings,
        (at, who): (&Address, &Principal),
    ) -> &'a ProfileName {
        let own = &account.adapter.account().profile;
        routing::route(&self.routes, at, who).unwrap_or(own)
    }

    /// For how long a conversation at this address can be reached.
    pub fn window(&self, address: &Address) -> DeliveryWindow {
        let account = self.account(address);
        account.map_or(DeliveryWindow::Never, |it| it.adapter.capabilities().window)
    }

    /// An account by its name.
    pub fn account_named(
        &self,
        platform: &PlatformName,
        name: &AccountName,
    ) -> Option<&AccountSettings> {
        self.accounts.iter().find(|settings| {
            let account = settings.adapter.account();
            account.platform == *platform && account.name == *name
        })
    }
}
