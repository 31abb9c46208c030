//! Starting, watching, draining and stopping. The order is fixed: what an earlier process left behind is put back
//! first, then lanes and targets are served, then the accounts connect. Draining turns that round: no new turns, those
//! that run may finish, what they said goes out, then everything ends.

mod connection;
pub mod health;
mod housekeeping;
pub(crate) mod owner;
pub(crate) mod wakes;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt as _;
use talaria_domain::adapter::{
    Accepted, Disconnected, HookAnswer, HookCall, Identity, Intake, NotAccepted, Pending,
};
use talaria_domain::address::Address;
use talaria_domain::authority::Revocation;
use talaria_domain::clock::Clock;
use talaria_domain::event::Event;
use talaria_domain::ids::{Ids, ReplyId, RunId, SessionId};
use talaria_domain::live::{Happening, Live, Watch};
use talaria_domain::names::{AccountName, PlatformName};
use talaria_domain::principal::Principal;
use talaria_domain::profile::Account;
use talaria_store::leases::Ended;
use talaria_store::maintenance::rescue::{Rescued, rescue};
use talaria_store::{Ledger, Result, Wakes};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::doors::Doors;
use crate::access::grants;
use crate::access::lodge::Lodge;
use crate::asking::Waits;
use crate::binding::Chosen;
use crate::courtesy::Courtesy;
use crate::delivery::say::{self, Place};
use crate::dispatch::Dispatch;
use crate::intake::{Front, cursor};
use crate::jobs::adopt;
use crate::live::Watchers;
use crate::moments::{self, Moments};
use crate::registry::{self, Registry};
use crate::schedule::{Schedules, attend};
use crate::settings::Settings;
use crate::shared::{Errands, Shared};
use crate::turns::recent::Recents;
use health::PartHealth;

/// What a gateway is made of.
pub struct Parts {
    /// Where everything is recorded.
    pub ledger: Ledger,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// Where new ids come from.
    pub ids: Arc<dyn Ids>,
    /// What the operator decided.
    pub settings: Settings,
}

/// A gateway at work. Clones are the same gateway.
#[derive(Clone)]
pub struct Gateway(pub(crate) Arc<Shared>);

/// What became of something that was to be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// It is in the outbox.
    Recorded(ReplyId),
    /// No account of ours is there.
    NoAccount,
}

/// What is done for as long as the gateway runs.
fn start_duties(shared: &Arc<Shared>, wakes: Wakes) {
    shared.spawn(wakes::hear(Arc::clone(shared), wakes));
    shared.spawn(moments::keep(Arc::clone(shared)));
    shared.spawn(registry::close::idle_runs(Arc::clone(shared)));
    shared.spawn(attend::attend(Arc::clone(shared)));
    shared.spawn(housekeeping::keep_house(Arc::clone(shared)));
    shared.spawn(housekeeping::keep_index(Arc::clone(shared)));
    for index in 0..shared.settings.accounts.len() {
        shared.spawn(connection::keep(Arc::clone(shared), index));
    }
}

/// How much is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Lanes that have something to do.
    pub lanes: usize,
    /// Turns under way.
    pub turns: usize,
    /// Targets that are being written to.
    pub targets: usize,
}

impl Gateway {
    /// Puts back what an earlier process of this name left behind, and starts everything.
    pub async fn start(parts: Parts) -> Result<Self> {
        let Parts {
            ledger,
            clock,
            ids,
            settings,
        } = parts;
        let node = settings.node.clone();
        let rescued = ledger
            .write(move |tx| rescue(tx, &Ended::OwnedBy(node.clone())))
            .await?;
        if rescued != Rescued::default() {
            tracing::warn!(?rescued, "an earlier process stopped in the middle of this");
        }
        let wakes = ledger.subscribe();
        let own = settings.profiles.iter();
        let own = own.map(|(name, profile)| (name.clone(), Chosen::own(profile)));
        let shared = Arc::new(Shared {
            ledger,
            clock,
            ids,
            turns: Semaphore::new(settings.limits.turns),
            own: own.collect(),
            settings,
            watchers: Watchers::default(),
            moments: Moments::default(),
            courtesy: Courtesy::default(),
            lanes: Dispatch::default(),
            targets: Dispatch::default(),
            errands: Errands::default(),
            running: Registry::default(),
            pace: std::sync::Mutex::default(),
            pulse: health::Pulse::default(),
            tasks: TaskTracker::new(),
            lodge: Lodge::default(),
            waits: Waits::default(),
            jobs_changed: tokio::sync::Notify::new(),
            schedules_changed: tokio::sync::Notify::new(),
            changed: tokio::sync::Notify::new(),
            recents: Recents::default(),
            said: tokio::sync::Notify::new(),
            is_draining: AtomicBool::new(false),
            stop: CancellationToken::new(),
            killed: CancellationToken::new(),
        });
        for account in &shared.settings.accounts {
            let account = account.adapter.account();
            shared.pulse.set(account, health::Condition::Starting);
        }
        grants::load(&shared).await?;
        adopt::take_up(&shared).await?;
        wakes::catch_up(&shared).await?;
        start_duties(&shared, wakes);
        Ok(Self(shared))
    }

    /// The way in for surfaces.
    pub fn intake(&self) -> Arc<dyn Intake> {
        Arc::new(Front(Arc::clone(&self.0)))
    }

    /// Where conversations can be watched.
    pub fn live(&self) -> Arc<dyn Live> {
        Arc::new(self.clone())
    }

    /// Says something that no agent said, at any place that an account of ours can reach. What becomes of it is in the
    /// ledger under the reply's id.
    pub async fn say(&self, to: &Address, requester: &Principal, text: &str) -> Result<Said> {
        let shared = Arc::clone(&self.0);
        let (to, requester, text) = (to.clone(), requester.clone(), text.to_owned());
        let ledger = shared.ledger.clone();
        ledger
            .write(move |tx| {
                let Some(place) = Place::unasked(tx, &shared, &to, &requester)? else {
                    return Ok(Said::NoAccount);
                };
                match say::notice(tx, &shared, &place, &text)? {
                    Happening::Said { reply, .. } => Ok(Said::Recorded(reply)),
                    _ => Ok(Said::NoAccount),
                }
            })
            .await
    }

    /// Who may come in, and who waits to.
    pub fn doors(&self) -> Doors {
        Doors(Arc::clone(&self.0))
    }

    /// What happens at a time, whoever planned it.
    pub fn schedules(&self) -> Schedules {
        Schedules(Arc::clone(&self.0))
    }

    /// The account on a platform, where there is exactly one.
    pub fn only_account(&self, platform: &PlatformName) -> Option<AccountName> {
        let accounts = self.0.settings.accounts.iter();
        let mut names = accounts
            .map(|account| account.adapter.account())
            .filter(|account| account.platform == *platform)
            .map(|account| account.name.clone());
        names.next().filter(|_| names.next().is_none())
    }

    /// Where an account speaks when nobody asked.
    pub fn home(&self, platform: &PlatformName, account: &AccountName) -> Option<Address> {
        let account = self.0.settings.account_named(platform, account)?;
        account.home.clone()
    }

    /// Hands a platform's call to its account's adapter. None if there is no such account, or nobody calls it. An
    /// adapter that breaks has not taken it.
    pub async fn hook(
        &self,
        platform: &PlatformName,
        account: &AccountName,
        call: &HookCall,
    ) -> Option<HookAnswer> {
        let account = self.0.settings.account_named(platform, account)?;
        let hook = account.adapter.abilities().hook?;
        let front = Front(Arc::clone(&self.0));
        let taking = AssertUnwindSafe(hook.take(call, &front)).catch_unwind();
        let answer = taking.await.unwrap_or_else(|_| HookAnswer {
            status: 500,
            media_type: "text/plain",
            body: String::new(),
        });
        Some(answer)
    }

    /// How each account is.
    pub fn health(&self) -> Vec<PartHealth> {
        self.0.pulse.report()
    }

    /// The runs that are under way in this process.
    pub fn active_runs(&self) -> &Registry {
        &self.0.running
    }

    /// Takes something away from a run that is under way, and from whatever runs for it, for good. It counts from the
    /// next effect on, and for every further attempt at the same event. Gives which runs these are.
    pub async fn revoke(&self, run: RunId, what: Revocation) -> Result<Vec<RunId>> {
        registry::revoke::revoke(&self.0, run, what).await
    }

    /// How much is going on.
    pub fn load(&self) -> Load {
        Load {
            lanes: self.0.lanes.len(),
            turns: self.0.running.len(),
            targets: self.0.targets.len(),
        }
    }

    /// Lets turns finish for as long as the limits say, then stops them; everything that was said goes out. Events that
    /// come meanwhile are recorded and wait for the next start.
    pub async fn drain(&self) {
        let shared = &self.0;
        shared.is_draining.store(true, Ordering::Relaxed);
        shared.turns.close();
        let limit = shared.settings.limits.drain;
        let idle = wait_for(shared, |shared| {
            shared.running.is_empty() && shared.targets.len() == 0
        });
        if tokio::time::timeout(limit, idle).await.is_err() {
            shared.running.stop_all();
            let grace = shared.settings.limits.grace + std::time::Duration::from_secs(1);
            let idle = wait_for(shared, |shared| shared.running.is_empty());
            drop(tokio::time::timeout(grace, idle).await);
        }
        self.stop().await;
    }

    /// Drops everything where it stands, as if the process were killed.
    pub async fn kill(&self) {
        self.0.killed.cancel();
        self.stop().await;
    }

    /// Ends everything now. What was under way is put back at the next start.
    pub async fn stop(&self) {
        let shared = &self.0;
        shared.is_draining.store(true, Ordering::Relaxed);
        shared.stop.cancel();
        shared.watchers.close();
        shared.tasks.close();
        shared.tasks.wait().await;
    }
}

/// Waits until something holds of the work under way.
async fn wait_for(shared: &Shared, holds: impl Fn(&Shared) -> bool) {
    loop {
        let changed = shared.changed.notified();
        if holds(shared) {
            return;
        }
        changed.await;
    }
}

impl Live for Gateway {
    fn watch(&self, session: SessionId) -> Box<dyn Watch> {
        self.0.watchers.watch(session)
    }
}

impl Intake for Gateway {
    fn connected(
        &self,
        account: &Account,
        identity: &Identity,
    ) -> std::result::Result<(), Disconnected> {
        Front(Arc::clone(&self.0)).connected(account, identity)
    }

    fn alive(&self, account: &Account) {
        Front(Arc::clone(&self.0)).alive(account);
    }

    fn kept<'a>(
        &'a self,
        account: &'a Account,
    ) -> Pending<'a, std::result::Result<Option<String>, NotAccepted>> {
        Box::pin(cursor::kept(&self.0, account))
    }

    fn keep<'a>(
        &'a self,
        account: &'a Account,
        place: String,
    ) -> Pending<'a, std::result::Result<(), NotAccepted>> {
        Box::pin(cursor::keep(&self.0, account, place))
    }

    fn accept(&self, event: Event) -> Pending<'_, std::result::Result<Accepted, NotAccepted>> {
        let front = Front(Arc::clone(&self.0));
        Box::pin(async move { front.accept(event).await })
    }
}
