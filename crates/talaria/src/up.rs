//! The wiring: from the configuration to a running gateway, and back. The order is fixed: what can be wrong is looked
//! at first, then the store is opened, then the gateway, then the listener; stopping goes the other way round. Messages
//! that come while turns finish are still recorded.

mod banner;
mod desk;
pub(crate) mod doorkeeper;
mod early_exits;
mod log;
mod rooms;
mod runners;
mod signals;
mod timetable;

use std::sync::Arc;

use anyhow::Context as _;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use talaria_agents::processes::Processes;
use talaria_domain::clock::{Clock, SystemClock};
use talaria_domain::ids::{Ids, RandomIds};
use talaria_gateway::{Gateway, Parts};
use talaria_server::{About, OperatorKeys, Shared};
use talaria_store::{Ledger, Settings as StoreSettings};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::desk::Desk;
use self::early_exits::EarlyExits;
use self::signals::Signals;
use crate::config::{Effective, Environment, key, running};
use crate::output::Style;

/// Open files at once.
const MANY_FILES: u64 = 65_536;

/// Runs the gateway until it is told to stop.
pub(crate) async fn run(
    effective: Effective,
    environment: &Environment,
    style: Style,
) -> anyhow::Result<()> {
    log::start(effective.log.as_deref(), style)?;
    allow_many_files();
    let mut signals = Signals::listen()?;
    let home = effective.home.as_path();
    std::fs::create_dir_all(home)
        .with_context(|| format!("cannot make the data directory {}", home.display()))?;
    let listener = listen(&effective).await?;
    let address = listener.local_addr()?;
    let room = Room::open(&effective, environment).await?;
    let stop_serving = CancellationToken::new();
    let serving = talaria_server::serve_on(
        listener,
        room.shared(&effective)?,
        effective.server.terms.clone(),
        stop_serving.clone(),
    );
    let serving = tokio::task::JoinSet::from_iter([serving]);
    running::write(home, address)?;
    let link = talaria_server::login_link(&room.ledger, room.clock.now()).await?;
    banner::show(&effective, address, &link, room.exits.policy(), style);

    signals.asked_to_stop().await;
    banner::stopping(style);
    let is_drained = tokio::select! {
        biased;
        () = signals.asked_to_stop() => false,
        () = room.gateway.drain() => true,
    };
    if !is_drained {
        room.gateway.kill().await;
    }
    stop_serving.cancel();
    drop(serving.join_all().await);
    room.processes.close().await;
    running::remove(home);
    room.ledger.close().await;
    room.exits.note_end();
    Ok(())
}

/// Every connection and every background process takes files, and the usual limit is made for smaller programs.
fn allow_many_files() {
    let usual = getrlimit(Resource::Nofile);
    let wanted = usual
        .maximum
        .map_or(MANY_FILES, |most| most.min(MANY_FILES));
    if usual.current.is_none_or(|current| current >= wanted) {
        return;
    }
    let more = Rlimit {
        current: Some(wanted),
        ..usual
    };
    if let Err(error) = setrlimit(Resource::Nofile, more) {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}

async fn listen(effective: &Effective) -> anyhow::Result<TcpListener> {
    let address = effective.server.listen;
    TcpListener::bind(address).await.with_context(|| {
        format!(
            "cannot listen on {address}: is another gateway running? `TALARIA_LISTEN` or `[server] listen` chooses another address"
        )
    })
}

/// What is open while the gateway runs.
struct Room {
    ledger: Ledger,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    gateway: Gateway,
    processes: Arc<Processes>,
    exits: EarlyExits,
}

impl Room {
    async fn open(effective: &Effective, environment: &Environment) -> anyhow::Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let ids: Arc<dyn Ids> = Arc::new(RandomIds::default());
        let store = StoreSettings {
            durability: effective.store.durability,
            ..StoreSettings::for_url(effective.store.url.expose())
        };
        let ledger = Ledger::open_with(store).await?;
        let exits = EarlyExits::note_start(&effective.home, clock.now());
        let processes = Arc::new(Processes::new(
            effective.home.join("jobs"),
            TaskTracker::new(),
            CancellationToken::new(),
        ));
        let resume = exits.policy();
        let settings = rooms::settings(effective, environment, (&clock, &ids), resume, &processes)?;
        let parts = Parts {
            ledger: ledger.clone(),
            clock: Arc::clone(&clock),
            ids: Arc::clone(&ids),
            settings,
        };
        Ok(Self {
            gateway: Gateway::start(parts).await?,
            ledger,
            clock,
            ids,
            processes,
            exits,
        })
    }

    /// What the server works with.
    fn shared(&self, effective: &Effective) -> anyhow::Result<Shared> {
        Ok(Shared {
            ledger: self.ledger.clone(),
            intake: self.gateway.intake(),
            live: self.gateway.live(),
            health: Arc::new(Desk(self.gateway.clone())),
            courier: Arc::new(Desk(self.gateway.clone())),
            hooks: Arc::new(Desk(self.gateway.clone())),
            rights: Arc::new(Desk(self.gateway.clone())),
            doorkeeper: Arc::new(Desk(self.gateway.clone())),
            timetable: Arc::new(Desk(self.gateway.clone())),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            keys: OperatorKeys {
                operator: key::make(&effective.home)?,
                environment: effective.api_key.clone(),
            },
            profile: effective.default_profile.clone(),
            profiles: effective
                .profiles
                .iter()
                .map(|it| it.profile.name.clone())
                .collect(),
            about: About {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                model: rooms::model_name(effective),
                store: effective.store.url.shown.clone(),
                started_at: self.clock.now(),
            },
            public_url: effective
                .server
                .public_url
                .as_ref()
                .map(ToString::to_string),
            callback: rooms::callback(effective),
        })
    }
}
