//! What is handed in, and what handlers see of it.

use std::net::SocketAddr;
use std::sync::Arc;

use talaria_domain::adapter::Intake;
use talaria_domain::address::Address;
use talaria_domain::clock::{Clock, Timestamp};
use talaria_domain::ids::Ids;
use talaria_domain::live::Live;
use talaria_domain::names::ProfileName;
use talaria_store::Ledger;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::host::{Hosts, Reach};
use crate::access::keys::{KnownKeys, OperatorKeys};
use crate::access::ring::Ring;
use crate::courier::Courier;
use crate::doorkeeper::Doorkeeper;
use crate::health::Health;
use crate::hooks::Hooks;
use crate::openai::allowance::Allowances;
use crate::places::Places;
use crate::rights::Rights;
use crate::terms::Terms;
use crate::timetable::Timetable;

/// The place that an address named by a program stands for, or the words why it may not be called back there.
pub type PlaceOf = Arc<dyn Fn(&str) -> Result<Address, String> + Send + Sync>;

/// What the server works with.
pub struct Shared {
    /// Every durable fact.
    pub ledger: Ledger,
    /// Where messages go.
    pub intake: Arc<dyn Intake>,
    /// Where conversations are watched.
    pub live: Arc<dyn Live>,
    /// What the gateway says about its parts.
    pub health: Arc<dyn Health>,
    /// The way out for texts without an agent.
    pub courier: Arc<dyn Courier>,
    /// Who takes calls of platforms.
    pub hooks: Arc<dyn Hooks>,
    /// What can be taken away from runs.
    pub rights: Arc<dyn Rights>,
    /// Who says who may come in.
    pub doorkeeper: Arc<dyn Doorkeeper>,
    /// Who lets things happen at a time.
    pub timetable: Arc<dyn Timetable>,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// Where new ids come from: the gateway's own source, so that they sort with its ids.
    pub ids: Arc<dyn Ids>,
    /// The keys that come from outside the ledger.
    pub keys: OperatorKeys,
    /// Whose conversations begin here.
    pub profile: ProfileName,
    /// Every profile that programs may choose, that one included.
    pub profiles: Vec<ProfileName>,
    /// What people are told about this gateway.
    pub about: About,
    /// Where a reverse proxy shows this listener, such as `https://talaria.example.org`.
    pub public_url: Option<String>,
    /// Where programs may be called back; none where the operator allows nothing.
    pub callback: Option<PlaceOf>,
}

/// What people are told about a gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Which release this is.
    pub version: String,
    /// Which model thinks.
    pub model: String,
    /// Where the store is; never with a password in it.
    pub store: String,
    /// When the gateway started.
    pub started_at: Timestamp,
}

/// What handlers see.
pub(crate) struct App {
    pub(crate) shared: Shared,
    pub(crate) known: KnownKeys,
    pub(crate) ring: Ring,
    pub(crate) hosts: Hosts,
    pub(crate) terms: Terms,
    pub(crate) listen: SocketAddr,
    pub(crate) stop: CancellationToken,
    /// What goes on after its request is gone.
    pub(crate) tasks: TaskTracker,
    /// How much each key does at present.
    pub(crate) allowances: Allowances,
    pub(crate) places: Places,
}

impl App {
    pub(crate) fn of(
        shared: Shared,
        terms: Terms,
        listen: SocketAddr,
        stop: CancellationToken,
    ) -> Self {
        let reach = if listen.ip().is_loopback() {
            Reach::Loopback
        } else {
            Reach::Network
        };
        Self {
            known: KnownKeys::of(&shared.keys),
            ring: Ring::default(),
            hosts: Hosts::of(reach, shared.public_url.as_deref()).inviting(&terms.cors_origins),
            shared,
            listen,
            stop,
            tasks: TaskTracker::new(),
            allowances: Allowances::of(terms.turns),
            places: Places::default(),
            terms,
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }
}
