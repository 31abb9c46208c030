//! An adapter, simulated Discord, and an intake that does what a story wants.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::Url;
use talaria_domain::adapter::{
    Accepted, Adapter, Disconnected, Identity, Intake, NotAccepted, Outgoing, Pending, TextForm,
};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::{ManualClock, Timestamp};
use talaria_domain::delivery::{Outcome, Part, PartBody, Receipt, Rejection, ReplyKind};
use talaria_domain::event::{Event, EventKind};
use talaria_domain::ids::{Ids as _, PartId, ReplyId, SeededIds, SessionId};
use talaria_domain::profile::Account;
use talaria_domain::secret::SecretString;
use talaria_platforms::Workshop;
use talaria_platforms::discord::Discord;
use talaria_sim::discord::{self, Fault, Mishap, On, Server, Terms, Vendor, Written};
use talaria_sim::vendor::World as _;
use tokio::sync::{Semaphore, watch};

/// What every adapter here proves itself with.
pub(crate) const TOKEN: &str = "a-token-that-nobody-may-see";
/// The time, which stands still.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
/// A story that takes longer hangs.
const PATIENCE: Duration = Duration::from_mins(1);

/// Discord and an adapter for it.
pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) discord: Discord,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::on(Terms::for_tokens([TOKEN])).await
    }

    /// One whose heart beats this fast.
    pub(crate) async fn beating(heartbeat: Duration) -> Self {
        let terms = Terms::for_tokens([TOKEN]);
        Self::on(Terms { heartbeat, ..terms }).await
    }

    pub(crate) async fn on(terms: Terms) -> Self {
        let server = discord::start("127.0.0.1:0", terms).await.unwrap();
        let discord = adapter(&server.url());
        Self { server, discord }
    }

    pub(crate) fn vendor(&self) -> &Vendor {
        self.server.vendor()
    }

    /// Somebody writes in the channel `general`; gives the message's id.
    pub(crate) fn say(&self, text: &str) -> String {
        let written = Written::to_chat("general", "group", ("ada", text));
        self.vendor().write(&written).id
    }

    /// Something goes wrong once.
    pub(crate) fn order(&self, on: On, mishap: &str) {
        self.vendor().order(Fault {
            on,
            mishap: mishap.parse::<Mishap>().unwrap(),
            retry_after: Some(3),
            times: 1,
        });
    }

    /// What the adapter asked, as a method and a path.
    pub(crate) fn asked(&self, on: On) -> Vec<String> {
        let requests = self.vendor().requests();
        let asked = requests.iter().filter(|asked| asked.on == on);
        asked
            .map(|it| format!("{} {}", it.method, it.path))
            .collect()
    }

    /// Waits until the adapter has asked this so often.
    pub(crate) async fn was_asked(&self, on: On, times: usize) {
        let count = |world: &discord::World| {
            let asked = world.room().requests();
            asked.filter(|asked| asked.on == on).count()
        };
        in_time(self.vendor().until(|world| count(world) >= times)).await;
    }

    /// Connects for as long as the story goes.
    pub(crate) async fn while_connected(&self, desk: &Desk, story: impl Future<Output = ()>) {
        in_time(async {
            tokio::select! {
                biased;
                ended = self.discord.receive(desk) => panic!("disconnected: {ended:?}"),
                () = story => {}
            }
        })
        .await;
    }

    /// Connects until a session is there and everything so far was told; then leaves.
    pub(crate) async fn connect_once(&self, desk: &Desk) {
        self.while_connected(desk, desk.was_kept(1)).await;
    }

    /// Connects until the connection ends.
    pub(crate) async fn disconnected(&self, desk: &Desk) -> Disconnected {
        in_time(self.discord.receive(desk)).await
    }

    pub(crate) async fn send(&self, outgoing: &Outgoing) -> Outcome {
        in_time(self.discord.send(outgoing)).await
    }

    /// What people see of the bot in `general`.
    pub(crate) fn seen(&self) -> Vec<String> {
        let messages = self.vendor().chat("general").messages;
        let ours = messages.into_iter().filter(|shown| shown.ours);
        ours.map(|shown| shown.text).collect()
    }
}

/// Fails if it takes too long.
pub(crate) async fn in_time<T>(story: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(PATIENCE, story).await;
    done.expect("it took too long")
}

/// An adapter for Discord at this address.
pub(crate) fn adapter(url: &str) -> Discord {
    adapter_with(url, TOKEN)
}

/// An adapter with this token.
pub(crate) fn adapter_with(url: &str, token: &str) -> Discord {
    let account = Account {
        platform: "discord".into(),
        name: "office".into(),
        profile: "assistant".into(),
    };
    let workshop = Workshop {
        client: client(),
        clock: Arc::new(ManualClock::at(NOW)),
        ids: Arc::new(SeededIds::from_seed(1)),
    };
    let base = Url::parse(url).unwrap();
    Discord::of(account, (base, SecretString::from(token)), &workshop)
}

fn client() -> reqwest::Client {
    // Another test of this process may have been first.
    let provider = rustls::crypto::ring::default_provider();
    provider.install_default().unwrap_or_default();
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    client.build().unwrap()
}

/// A part for the channel `general`. The same number is the same part.
pub(crate) fn part(number: u8, text: &str) -> Outgoing {
    Outgoing {
        part: Part {
            id: PartId::from_bytes([number; 16]),
            reply: ReplyId::from_bytes([number; 16]),
            ordinal: 0,
            body: PartBody::Text {
                markdown: text.to_owned(),
            },
        },
        to: Address {
            platform: "discord".into(),
            account: "office".into(),
            chat_kind: ChatKind::Group,
            chat: discord::chat_id("general").into(),
            thread: None,
            reply_to: None,
        },
        kind: ReplyKind::Final,
        form: TextForm::Markdown,
        prompt: None,
        file: None,
    }
}

pub(crate) fn receipt(outcome: Outcome) -> Receipt {
    match outcome {
        Outcome::Delivered { receipts } if receipts.len() == 1 => receipts[0].clone(),
        other => panic!("not one receipt: {other:?}"),
    }
}

pub(crate) fn class(outcome: &Outcome) -> Option<Rejection> {
    match outcome {
        Outcome::Rejected { class, .. } => Some(*class),
        _ => None,
    }
}

/// What an intake does with an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Record,
    Refuse,
    Fail,
}

/// An intake that remembers what it was handed. It records, unless told otherwise, as soon as it is let.
pub(crate) struct Desk {
    verdicts: Mutex<VecDeque<Verdict>>,
    permits: Semaphore,
    handed: watch::Sender<Vec<Event>>,
    /// Where the account stands, as often as it was kept.
    kept: watch::Sender<Vec<String>>,
    /// How often something came that was no event.
    alive: watch::Sender<usize>,
    pub(crate) met: Mutex<Vec<Identity>>,
}

impl Desk {
    /// One that takes everything.
    pub(crate) fn open() -> Self {
        Self::with([], Semaphore::MAX_PERMITS)
    }

    /// One that takes nothing until it is let.
    pub(crate) fn closed() -> Self {
        Self::with([], 0)
    }

    /// One that judges the first events like this.
    pub(crate) fn judging<const N: usize>(verdicts: [Verdict; N]) -> Self {
        Self::with(verdicts, Semaphore::MAX_PERMITS)
    }

    /// The one that comes after a crash: it knows what was kept, and nothing else.
    pub(crate) fn after(crashed: &Self) -> Self {
        let desk = Self::open();
        let last = crashed.place();
        desk.kept.send_modify(|kept| kept.extend(last));
        desk
    }

    fn with<const N: usize>(verdicts: [Verdict; N], permits: usize) -> Self {
        Self {
            verdicts: Mutex::new(verdicts.into()),
            permits: Semaphore::new(permits),
            handed: watch::Sender::new(Vec::new()),
            kept: watch::Sender::new(Vec::new()),
            alive: watch::Sender::new(0),
            met: Mutex::default(),
        }
    }

    /// Lets it take one more.
    pub(crate) fn let_one(&self) {
        self.permits.add_permits(1);
    }

    /// Waits until it was handed so many.
    pub(crate) async fn was_handed(&self, count: usize) {
        let mut handed = self.handed.subscribe();
        in_time(handed.wait_for(|handed| handed.len() >= count))
            .await
            .unwrap();
    }

    /// Waits until the place was kept so often.
    pub(crate) async fn was_kept(&self, times: usize) {
        let mut kept = self.kept.subscribe();
        in_time(kept.wait_for(|kept| kept.len() >= times))
            .await
            .unwrap();
    }

    /// Waits until a place was kept that says this.
    pub(crate) async fn kept_one_that(&self, says: impl Fn(&str) -> bool) {
        let mut kept = self.kept.subscribe();
        in_time(kept.wait_for(|kept| kept.last().is_some_and(|last| says(last))))
            .await
            .unwrap();
    }

    /// Waits until it was told so often that the connection is alive.
    pub(crate) async fn was_alive(&self, times: usize) {
        let mut alive = self.alive.subscribe();
        in_time(alive.wait_for(|alive| *alive >= times))
            .await
            .unwrap();
    }

    /// Where the account stands, as it was last kept.
    pub(crate) fn place(&self) -> Option<String> {
        self.kept.borrow().last().cloned()
    }

    /// What it was handed.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.handed.borrow().clone()
    }

    /// The texts it was handed.
    pub(crate) fn texts(&self) -> Vec<String> {
        let text = |event: &Event| match &event.kind {
            EventKind::Message(content) | EventKind::Edited(content) => content.text.clone(),
            other => panic!("unexpected {other:?}"),
        };
        self.handed.borrow().iter().map(text).collect()
    }

    async fn judge(&self, event: Event) -> Result<Accepted, NotAccepted> {
        let id = event.id;
        self.handed.send_modify(|handed| handed.push(event));
        self.permits.acquire().await.unwrap().forget();
        let verdict = self.verdicts.lock().unwrap().pop_front();
        match verdict.unwrap_or(Verdict::Record) {
            Verdict::Record => Ok(Accepted::Recorded {
                event: id,
                session: SessionId::from_bytes(*SeededIds::from_seed(2).next(NOW).as_bytes()),
            }),
            Verdict::Refuse => Ok(Accepted::Refused {
                reason: "a stranger".to_owned(),
            }),
            Verdict::Fail => Err(NotAccepted {
                reason: "the store is away".to_owned(),
            }),
        }
    }
}

impl Intake for Desk {
    fn connected(&self, _: &Account, identity: &Identity) -> Result<(), Disconnected> {
        self.met.lock().unwrap().push(identity.clone());
        Ok(())
    }

    fn alive(&self, _: &Account) {
        self.alive.send_modify(|alive| *alive += 1);
    }

    fn kept<'a>(&'a self, _: &'a Account) -> Pending<'a, Result<Option<String>, NotAccepted>> {
        Box::pin(std::future::ready(Ok(self.place())))
    }

    fn keep<'a>(&'a self, _: &'a Account, place: String) -> Pending<'a, Result<(), NotAccepted>> {
        self.kept.send_modify(|kept| kept.push(place));
        Box::pin(std::future::ready(Ok(())))
    }

    fn accept(&self, event: Event) -> Pending<'_, Result<Accepted, NotAccepted>> {
        Box::pin(self.judge(event))
    }
}
