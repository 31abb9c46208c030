//! A bot, the simulated Bot API, and an intake that does what a story wants.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::Url;
use serde_json::Value;
use talaria_domain::adapter::{
    Accepted, Adapter, Disconnected, Identity, Intake, NotAccepted, Outgoing, Pending, TextForm,
};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::{ManualClock, Timestamp};
use talaria_domain::delivery::{Outcome, Part, PartBody, Receipt, Rejection, ReplyKind};
use talaria_domain::event::{Content, Event, EventKind};
use talaria_domain::ids::{Ids as _, PartId, ReplyId, SeededIds, SessionId};
use talaria_domain::profile::Account;
use talaria_domain::secret::SecretString;
use talaria_platforms::telegram::Telegram;
use talaria_platforms::telegram::config::{Hooked, TelegramSettings};
use talaria_sim::telegram::{self, Server, Terms, Vendor};
use talaria_sim::vendor::{Fault, On, World as _, Written};
use tokio::sync::{Semaphore, watch};

/// What the bot proves itself with.
pub(crate) const TOKEN: &str = "1000001:AAa-token-that-nobody-may-see";
/// The number of the bot.
pub(crate) const BOT: &str = "1000001";
/// What the bot is called.
pub(crate) const USERNAME: &str = "sim_1000001_bot";
/// Ada, and the chat with her.
pub(crate) const ADA: &str = "42";
/// A group of people.
pub(crate) const GROUP: &str = "-1001234567890";
/// A group made of topics.
pub(crate) const FORUM: &str = "-1009876543210";
/// The time, which stands still.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// A story that takes longer hangs.
const PATIENCE: Duration = Duration::from_mins(1);

/// The platform and an adapter for it.
pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) telegram: Telegram,
    pub(crate) clock: Arc<ManualClock>,
}

impl World {
    pub(crate) async fn new() -> Self {
        let server = telegram::start("127.0.0.1:0", Terms::of([TOKEN]))
            .await
            .unwrap();
        let clock = Arc::new(ManualClock::at(NOW));
        let telegram = bot_at(&server.url(), &clock, None);
        Self {
            server,
            telegram,
            clock,
        }
    }

    /// One where Ada has written, so that the bot may write to her.
    pub(crate) async fn with_ada() -> Self {
        let world = Self::new().await;
        world.write(ADA, "direct", "hello");
        world
    }

    pub(crate) fn vendor(&self) -> &Vendor {
        self.server.vendor()
    }

    /// Ada writes in a chat of this kind; gives the message's number.
    pub(crate) fn write(&self, chat: &str, kind: &str, text: &str) -> String {
        let written = Written::to_chat(chat, kind, (ADA, text));
        self.vendor().write(&written).id
    }

    /// Something goes wrong so often.
    pub(crate) fn order(&self, on: On, mishap: &str, times: u32) {
        self.vendor().order(Fault {
            on,
            mishap: mishap.parse().unwrap(),
            retry_after: Some(37),
            times,
        });
    }

    /// What the adapter asked by this method, in order.
    pub(crate) fn asked(&self, method: &str) -> Vec<Value> {
        let path = format!("/{method}");
        let requests = self.vendor().requests().into_iter();
        requests
            .filter(|asked| asked.path == path)
            .map(|asked| asked.body)
            .collect()
    }

    /// Waits until the adapter has asked this so often.
    pub(crate) async fn was_asked(&self, method: &str, times: usize) {
        let path = format!("/{method}");
        let count = |world: &telegram::World| {
            let asked = world.room().requests();
            asked.filter(|asked| asked.path == path).count()
        };
        in_time(self.vendor().until(|world| count(world) >= times)).await;
    }

    /// Waits until everything is acknowledged.
    pub(crate) async fn done(&self) {
        in_time(self.vendor().until(|world| world.backlog() == 0)).await;
    }

    /// Connects for as long as the story goes.
    pub(crate) async fn while_connected(&self, desk: &Desk, story: impl Future<Output = ()>) {
        in_time(async {
            tokio::select! {
                biased;
                ended = self.telegram.receive(desk) => panic!("disconnected: {ended:?}"),
                () = story => {}
            }
        })
        .await;
    }

    /// Connects until the connection ends.
    pub(crate) async fn disconnected(&self, desk: &Desk) -> Disconnected {
        in_time(self.telegram.receive(desk)).await
    }

    pub(crate) async fn send(&self, outgoing: &Outgoing) -> Outcome {
        in_time(self.telegram.send(outgoing)).await
    }

    pub(crate) async fn edit(&self, receipt: &Receipt, outgoing: &Outgoing) -> Outcome {
        let edit = self.telegram.abilities().edit.unwrap();
        in_time(edit.edit(receipt, outgoing)).await
    }

    /// What people see of the bot in a chat.
    pub(crate) fn seen(&self, chat: &str) -> Vec<String> {
        let messages = self.vendor().chat(chat).messages.into_iter();
        let ours = messages.filter(|shown| shown.ours);
        ours.map(|shown| shown.text).collect()
    }
}

/// Fails if it takes too long.
pub(crate) async fn in_time<T>(story: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(PATIENCE, story).await;
    done.expect("it took too long")
}

/// A bot whose API is at this address.
pub(crate) fn bot_at(url: &str, clock: &Arc<ManualClock>, hooked: Option<Hooked>) -> Telegram {
    let settings = TelegramSettings {
        account: Account {
            platform: "telegram".into(),
            name: "office".into(),
            profile: "assistant".into(),
        },
        api_base: Url::parse(url).unwrap(),
        token: SecretString::from(TOKEN),
        hooked,
    };
    let ids = Arc::new(SeededIds::from_seed(1));
    Telegram::new(settings, client(), Arc::clone(clock) as _, ids)
}

fn client() -> reqwest::Client {
    // Another test of this process may have been first.
    let provider = rustls::crypto::ring::default_provider();
    provider.install_default().unwrap_or_default();
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    client.build().unwrap()
}

/// The place with this chat and thread.
pub(crate) fn place(chat: &str, chat_kind: ChatKind, thread: Option<&str>) -> Address {
    Address {
        platform: "telegram".into(),
        account: "office".into(),
        chat_kind,
        chat: chat.into(),
        thread: thread.map(Into::into),
        reply_to: None,
    }
}

/// A part for Ada. The same number is the same part.
pub(crate) fn part(number: u8, text: &str) -> Outgoing {
    let body = PartBody::Text {
        markdown: text.to_owned(),
    };
    part_of(number, body, place(ADA, ChatKind::Direct, None))
}

/// A part for a place.
pub(crate) fn part_of(number: u8, body: PartBody, to: Address) -> Outgoing {
    Outgoing {
        part: Part {
            id: PartId::from_bytes([number; 16]),
            reply: ReplyId::from_bytes([number; 16]),
            ordinal: 0,
            body,
        },
        to,
        kind: ReplyKind::Final,
        form: TextForm::Markdown,
        prompt: None,
        file: None,
    }
}

/// The one receipt.
pub(crate) fn receipt(outcome: Outcome) -> Receipt {
    match outcome {
        Outcome::Delivered { receipts } if receipts.len() == 1 => receipts[0].clone(),
        other => panic!("not one receipt: {other:?}"),
    }
}

/// The class of a no.
pub(crate) fn class(outcome: &Outcome) -> Option<Rejection> {
    match outcome {
        Outcome::Rejected { class, .. } => Some(*class),
        _ => None,
    }
}

/// What was written.
pub(crate) fn content(event: &Event) -> &Content {
    match &event.kind {
        EventKind::Message(content) | EventKind::Edited(content) => content,
        other => panic!("unexpected {other:?}"),
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
    met: watch::Sender<Vec<Identity>>,
    alive: watch::Sender<usize>,
    /// What is said to an account that connects.
    turned_away: Option<Disconnected>,
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

    /// One that lets nobody connect.
    pub(crate) fn turning_away(ended: Disconnected) -> Self {
        Self {
            turned_away: Some(ended),
            ..Self::open()
        }
    }

    fn with<const N: usize>(verdicts: [Verdict; N], permits: usize) -> Self {
        Self {
            verdicts: Mutex::new(verdicts.into()),
            permits: Semaphore::new(permits),
            handed: watch::Sender::new(Vec::new()),
            met: watch::Sender::new(Vec::new()),
            alive: watch::Sender::new(0),
            turned_away: None,
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

    /// Waits until it heard so often that somebody is alive.
    pub(crate) async fn heard_life(&self, count: usize) {
        let mut alive = self.alive.subscribe();
        in_time(alive.wait_for(|alive| *alive >= count))
            .await
            .unwrap();
    }

    /// Waits until an account has connected.
    pub(crate) async fn was_met(&self) {
        let mut met = self.met.subscribe();
        in_time(met.wait_for(|met| !met.is_empty())).await.unwrap();
    }

    /// Who connected.
    pub(crate) fn identities(&self) -> Vec<Identity> {
        self.met.borrow().clone()
    }

    /// What it was handed.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.handed.borrow().clone()
    }

    /// The texts it was handed.
    pub(crate) fn texts(&self) -> Vec<String> {
        let handed = self.handed.borrow();
        handed
            .iter()
            .map(|event| content(event).text.clone())
            .collect()
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
        self.met.send_modify(|met| met.push(identity.clone()));
        self.turned_away.clone().map_or(Ok(()), Err)
    }

    fn alive(&self, _: &Account) {
        self.alive.send_modify(|alive| *alive += 1);
    }

    fn kept<'a>(&'a self, _: &'a Account) -> Pending<'a, Result<Option<String>, NotAccepted>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn keep<'a>(&'a self, _: &'a Account, _: String) -> Pending<'a, Result<(), NotAccepted>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn accept(&self, event: Event) -> Pending<'_, Result<Accepted, NotAccepted>> {
        Box::pin(self.judge(event))
    }
}
