//! One gateway, one simulated platform, one scripted runner. A story ends with everything in a final state: a world
//! that is left with open rows fails its test.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use talaria_domain::adapter::Adapter;
use talaria_domain::address::Address;
use talaria_domain::authority::{Authority, Right};
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::clock::{Clock, SystemClock, Timestamp};
use talaria_domain::event::{Attachment, AttachmentKind, Content, Event, EventKind, Wishes};
use talaria_domain::ids::{Ids, SeededIds};
use talaria_domain::names::ProfileName;
use talaria_domain::profile::{Account, BusyPolicy, Profile};
use talaria_domain::schedule::Zone;
use talaria_domain::scope::StatePolicy;
use talaria_domain::session_key::Sharing;
use talaria_gateway::access::{AccessPolicy, Groups, Mentions};
use talaria_gateway::binding::Bindings;
use talaria_gateway::delivery::pace::Rate;
use talaria_gateway::files::Files;
use talaria_gateway::routing::Route;
use talaria_gateway::settings::{
    AccountSettings, DoubtPolicy, Limits, ProfileSettings, Reset, Settings,
};
use talaria_gateway::{Gateway, Parts};
use talaria_platforms::local::Local;
use talaria_platforms::split::pieces;
use talaria_sim::chat::{AlwaysFine, Moods, Offer, Vendor};
use talaria_sim::machine::Machine;
use talaria_sim::people::{People, direct_chat};
use talaria_sim::script::{Script, ScriptedRunner};
use talaria_sim::time::RuntimeClock;
use talaria_store::inbox::InboxRow;
use talaria_store::ledger::{Fate, Fates};
use talaria_store::maintenance::integrity;
use talaria_store::views::{self, Wanted};
use talaria_store::{Ledger, Result, Tx, inbox, jobs, outbox};
use tempfile::TempDir;

/// How a world is set up.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) offer: Offer,
    pub(crate) limit: usize,
    pub(crate) moods: Arc<dyn Moods>,
    pub(crate) busy: BusyPolicy,
    pub(crate) reset: Reset,
    pub(crate) merge_window: Duration,
    pub(crate) rate: Rate,
    pub(crate) account_rate: Rate,
    pub(crate) doubt: DoubtPolicy,
    pub(crate) marks: bool,
    pub(crate) limits: Limits,
    pub(crate) sharing: Sharing,
    pub(crate) window: usize,
    /// Who may talk. Here everything that is said in a room counts, unless a story says otherwise.
    pub(crate) access: AccessPolicy,
    pub(crate) routes: Vec<Route>,
    /// Where the operator is told what they have to know.
    pub(crate) told_at: Option<Address>,
    /// Profiles beside the assistant, by name.
    pub(crate) others: Vec<&'static str>,
    pub(crate) authority: Authority,
    /// What thinks where the profile's own script does not.
    pub(crate) bindings: Bindings,
    /// Whether there is another profile, with an account of its own elsewhere.
    pub(crate) has_neighbour: bool,
    /// How large files may be that the platform carries; without it, it carries none.
    pub(crate) most_bytes: Option<u64>,
    /// Has `data`, which is the gateway's own, and `work`, where files may be sent from.
    pub(crate) home: Arc<TempDir>,
    /// Whether there is a surface for programs, and a runner that does without what is remembered.
    pub(crate) has_line: bool,
    /// Where the clock of schedules hangs.
    pub(crate) zone: Zone,
    /// What the gateway is called among several.
    pub(crate) node: &'static str,
    /// What its ids begin from.
    pub(crate) seed: u16,
}

/// Counts the calls to a ledger, and says what becomes of the next ones if it is told to.
#[derive(Default)]
pub(crate) struct Calls(AtomicUsize, Mutex<VecDeque<Fate>>);

impl Calls {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// The next call is carried out, and whoever made it is told that nobody knows.
    pub(crate) fn lose_next_answer(&self) {
        self.next_is(Fate::Uncertain);
    }

    /// Nothing more is said about what becomes of calls.
    pub(crate) fn forget(&self) {
        self.1.lock().unwrap().clear();
    }

    /// This becomes of the next call that nothing is said about yet.
    pub(crate) fn next_is(&self, fate: Fate) {
        self.1.lock().unwrap().push_back(fate);
    }
}

impl Fates for Calls {
    fn next(&self) -> Fate {
        self.0.fetch_add(1, Ordering::SeqCst);
        let said = self.1.lock().unwrap().pop_front();
        said.unwrap_or(Fate::Answered)
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            offer: Offer::Keys,
            limit: 4_096,
            moods: Arc::new(AlwaysFine),
            busy: BusyPolicy::Queue,
            reset: Reset::default(),
            merge_window: Duration::ZERO,
            rate: Rate::UNLIMITED,
            account_rate: Rate::UNLIMITED,
            doubt: DoubtPolicy::PreferLoss,
            marks: false,
            limits: Limits::default(),
            sharing: Sharing::default(),
            window: 1_000_000,
            access: known(),
            routes: Vec::new(),
            told_at: None,
            others: Vec::new(),
            authority: Authority {
                rights: Right::ALL.into(),
                ..Authority::default()
            },
            bindings: Bindings::default(),
            has_neighbour: false,
            most_bytes: None,
            home: Arc::new(tempfile::tempdir().unwrap()),
            has_line: false,
            zone: Zone::default(),
            node: "node",
            seed: 1,
        }
    }
}

/// A file that only the platform has.
pub(crate) fn a_file() -> Attachment {
    Attachment {
        kind: AttachmentKind::File,
        locator: "f1".to_owned(),
        file_name: None,
        media_type: None,
        size_bytes: None,
        kept: None,
    }
}

/// Three people are known, and everything that they say counts.
pub(crate) fn known() -> AccessPolicy {
    AccessPolicy {
        allow: ["ada", "bob", "cyd"].map(Into::into).into(),
        groups: Groups {
            mention: Mentions::Optional,
            ..Groups::default()
        },
        ..AccessPolicy::default()
    }
}

pub(crate) struct World {
    pub(crate) setup: Setup,
    pub(crate) vendor: Arc<Vendor>,
    pub(crate) script: Arc<Script>,
    pub(crate) machine: Arc<Machine>,
    pub(crate) ledger: Ledger,
    pub(crate) gateway: Gateway,
    pub(crate) calls: Arc<Calls>,
    clock: Arc<RuntimeClock>,
    ids: Arc<SeededIds>,
    people: People,
}

impl World {
    pub(crate) async fn begin(setup: Setup) -> Self {
        let clock = Arc::new(RuntimeClock::starting_at(Timestamp::from_millis(
            1_700_000_000_000,
        )));
        let vendor = Vendor::with_limit(setup.offer, Arc::clone(&setup.moods), setup.limit);
        if let Some(most) = setup.most_bytes {
            vendor.media.carry(most);
        }
        let calls = Arc::new(Calls::default());
        let fates = Arc::<Calls>::clone(&calls);
        let ledger = Ledger::inline_with(Arc::<RuntimeClock>::clone(&clock), fates).unwrap();
        Self::on(setup, (vendor, ledger), (clock, calls)).await
    }

    /// One of several on the same ledger, before the same platform.
    pub(crate) async fn beside(setup: Setup, vendor: &Arc<Vendor>, ledger: Ledger) -> Self {
        let clock = Arc::new(RuntimeClock::starting_at(SystemClock.now()));
        Self::on(setup, (Arc::clone(vendor), ledger), (clock, Arc::default())).await
    }

    async fn on(
        setup: Setup,
        (vendor, ledger): (Arc<Vendor>, Ledger),
        (clock, calls): (Arc<RuntimeClock>, Arc<Calls>),
    ) -> Self {
        let machine = Machine::by(Arc::<RuntimeClock>::clone(&clock));
        let mut script = Script::with_window(setup.window).using(&machine);
        if setup.has_line {
            script = script.forgetful();
        }
        let script = Arc::new(script);
        let ids = Arc::new(SeededIds::from_seed(setup.seed));
        let outside = (&vendor, &script, &machine);
        let gateway = start(&setup, outside, &ledger, (&clock, &ids)).await;
        Self {
            setup,
            vendor,
            script,
            machine,
            ledger,
            gateway,
            calls,
            clock,
            ids,
            people: People::default(),
        }
    }

    /// The process is gone, without a word, and another one starts on the same store.
    pub(crate) async fn crash(&mut self) {
        self.crash_for(Duration::ZERO).await;
    }

    /// The same, and nobody is there for a while.
    pub(crate) async fn crash_for(&mut self, time: Duration) {
        // Nothing of a killed process goes on; here its tasks are told to end without being asked for anything.
        self.gateway.kill().await;
        self.passes(time).await;
        self.gateway = self.starts().await;
    }

    async fn starts(&self) -> Gateway {
        let (clock, ids) = (&self.clock, &self.ids);
        let outside = (&self.vendor, &self.script, &self.machine);
        start(&self.setup, outside, &self.ledger, (clock, ids)).await
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// `who` writes in their direct chat.
    pub(crate) fn says(&self, who: &str, text: &str) -> Event {
        self.writes(self.people.said(who, text, self.now()))
    }

    /// `who` writes somewhere.
    pub(crate) fn says_at(&self, who: &str, address: Address, text: &str) -> Event {
        let event = self.people.said(who, text, self.now());
        self.writes(Event { address, ..event })
    }

    /// A program writes, and says how it wants to be answered.
    pub(crate) fn asks(&self, who: &str, text: &str, wishes: Wishes) -> Event {
        let mut event = self.people.said(who, text, self.now());
        if let EventKind::Message(content) = &mut event.kind {
            content.wishes = Some(Box::new(wishes));
        }
        self.writes(event)
    }

    /// What `who` would write in their direct chat, to be sent as it is or otherwise.
    pub(crate) fn draft(&self, who: &str, text: &str) -> Event {
        self.people.said(who, text, self.now())
    }

    /// `who` does something other than writing.
    pub(crate) fn does(&self, who: &str, address: Address, kind: EventKind) -> Event {
        let event = self.people.said(who, "", self.now());
        self.writes(Event {
            address,
            kind,
            ..event
        })
    }

    pub(crate) fn writes(&self, event: Event) -> Event {
        self.vendor.write(event.clone());
        event
    }

    /// Lets this much time pass.
    pub(crate) async fn passes(&self, time: Duration) {
        talaria_sim::time::pass(time).await;
    }

    /// Something is written somewhere, in these words and in this manner.
    pub(crate) fn writes_at(&self, who: &str, address: Address, content: Content) -> Event {
        self.does(who, address, EventKind::Message(content))
    }

    /// Everything that was ever recorded.
    pub(crate) async fn recorded(&self) -> Vec<InboxRow> {
        let wanted = Wanted {
            after: None,
            limit: 200,
        };
        let found = self
            .read(move |tx| views::events(tx, None, None, wanted))
            .await;
        found.rows.into_iter().map(|view| view.row).collect()
    }

    /// What people see in a thread of a chat.
    pub(crate) fn sees_in(&self, address: &Address) -> Vec<String> {
        let thread = address.thread.as_ref().map(ToString::to_string);
        let shown = self.vendor.chat(address.chat.as_str()).into_iter();
        shown
            .filter(|shown| shown.thread == thread)
            .map(|shown| shown.text)
            .collect()
    }

    /// What people see in the chat of `who`.
    pub(crate) fn sees(&self, who: &str) -> Vec<String> {
        let chat = direct_chat(who).chat.to_string();
        self.vendor
            .chat(&chat)
            .into_iter()
            .map(|shown| shown.text)
            .collect()
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        closure: impl Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> T {
        self.ledger.read(closure).await.unwrap()
    }

    /// Everything has come to its end.
    pub(crate) async fn ends(&self) {
        self.passes(Duration::from_mins(10)).await;
        assert_eq!(self.vendor.backlog(), 0, "everything was acknowledged");
        let (lanes, commands, targets, findings) = self
            .read(|tx| {
                let lanes = inbox::open_lanes(tx)?;
                let commands = inbox::open_commands(tx)?;
                let targets = outbox::open_targets(tx)?;
                Ok((lanes, commands, targets, integrity::check(tx)?))
            })
            .await;
        let jobs = self.read(|tx| jobs::open(tx, None)).await;
        assert_eq!(jobs, [], "jobs are left");
        assert_eq!(lanes, [], "events are left");
        assert_eq!(commands, [], "commands are left");
        assert_eq!(targets, [], "parts are left");
        assert_eq!(findings, Vec::<String>::new());
        self.gateway.drain().await;
    }
}

/// A profile, and others that are like it but for their name and what they are told about themselves.
fn profiles(others: &[&str], profile: ProfileSettings) -> BTreeMap<ProfileName, ProfileSettings> {
    let other = |name: &&str| {
        let mut other = profile.clone();
        other.profile.name = (*name).into();
        other.profile.instructions = format!("You are the {name}.");
        other
    };
    let mut all: Vec<ProfileSettings> = others.iter().map(other).collect();
    all.push(profile);
    all.into_iter()
        .map(|profile| (profile.profile.name.clone(), profile))
        .collect()
}

fn files(setup: &Setup) -> Files {
    let data = setup.home.path().join("data");
    let root = data.join("files");
    Files {
        shareable: vec![setup.home.path().join("work"), root.clone()],
        root,
        private: Some(data),
    }
}

fn assistant(setup: &Setup) -> Profile {
    Profile {
        name: "assistant".into(),
        runner: "scripted".into(),
        instructions: "Be brief.".to_owned(),
        busy: setup.busy,
        sharing: setup.sharing,
        state: StatePolicy::default(),
    }
}

fn adapters(
    setup: &Setup,
    vendor: &Arc<Vendor>,
    profile: &ProfileName,
    clock: &Arc<dyn Clock>,
) -> Vec<Arc<dyn Adapter>> {
    let mut accounts = vec![Account {
        platform: "example".into(),
        name: "bot".into(),
        profile: profile.clone(),
    }];
    if setup.has_neighbour {
        accounts.push(Account {
            platform: "elsewhere".into(),
            name: "bot".into(),
            profile: "neighbour".into(),
        });
    }
    let mut adapters: Vec<Arc<dyn Adapter>> = Vec::new();
    for account in accounts {
        adapters.push(Arc::new(vendor.adapter(account, Arc::clone(clock))));
    }
    if setup.has_line {
        let program = ("api", DeliveryWindow::InTurnOnly);
        adapters.push(Arc::new(Local::of(program, profile, clock)));
    }
    adapters
}

async fn start(
    setup: &Setup,
    (vendor, script, machine): (&Arc<Vendor>, &Arc<Script>, &Arc<Machine>),
    ledger: &Ledger,
    (clock, ids): (&Arc<RuntimeClock>, &Arc<SeededIds>),
) -> Gateway {
    let profile = assistant(setup);
    let clock: Arc<dyn Clock> = Arc::<RuntimeClock>::clone(clock);
    let ids: Arc<dyn Ids> = Arc::<SeededIds>::clone(ids);
    let profile = ProfileSettings {
        profile,
        runner: Arc::new(ScriptedRunner(Arc::clone(script))),
        authority: setup.authority.clone(),
        reset: setup.reset,
    };
    let adapters = adapters(setup, vendor, &profile.profile.name, &clock);
    let account = |adapter| AccountSettings {
        adapter,
        access: setup.access.clone(),
        merge_window: setup.merge_window,
        rate: setup.rate,
        account_rate: setup.account_rate,
        edit_pace: Duration::from_millis(1_200),
        doubt: setup.doubt,
        marks: setup.marks,
        home: setup.told_at.clone(),
    };
    let settings = Settings {
        node: setup.node.into(),
        profiles: profiles(&setup.others, profile),
        accounts: adapters.into_iter().map(account).collect(),
        routes: setup.routes.clone(),
        bindings: setup.bindings.clone(),
        limits: setup.limits,
        split: pieces,
        worker: Arc::<Machine>::clone(machine),
        files: Some(files(setup)),
        zone: setup.zone.clone(),
    };
    let parts = Parts {
        ledger: ledger.clone(),
        clock,
        ids,
        settings,
    };
    Gateway::start(parts).await.unwrap()
}
