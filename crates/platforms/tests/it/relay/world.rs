//! An adapter, a bridge, and an intake that does what a story wants.

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
use talaria_domain::delivery::{Outcome, Part, PartBody, ReplyKind};
use talaria_domain::event::{Event, EventKind};
use talaria_domain::ids::{Ids as _, PartId, ReplyId, SeededIds, SessionId};
use talaria_domain::profile::Account;
use talaria_domain::secret::SecretString;
use talaria_platforms::relay::Relay;
use talaria_platforms::relay::config::RelaySettings;
use talaria_sim::relay::{self, Fault, Mishap, Offer, On, Server, Terms, Vendor};
use talaria_sim::vendor::World as _;
use tokio::sync::{Semaphore, watch};

/// What every adapter here proves itself with.
pub(crate) const TOKEN: &str = "a-token-that-nobody-may-see";
/// The time, which stands still.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// A story that takes longer hangs.
const PATIENCE: Duration = Duration::from_mins(1);

/// A bridge and an adapter for it.
pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) relay: Relay,
}

impl World {
    pub(crate) async fn offering(offer: Offer) -> Self {
        let terms = Terms {
            token: Some(TOKEN.to_owned()),
            ..Terms::offering(offer)
        };
        let server = relay::start("127.0.0.1:0", terms).await.unwrap();
        let relay = relay_to(&server.url());
        Self { server, relay }
    }

    pub(crate) fn vendor(&self) -> &Vendor {
        self.server.vendor()
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

    /// How often the adapter asked this.
    pub(crate) fn asked(&self, on: On) -> usize {
        let requests = self.vendor().requests();
        requests.iter().filter(|asked| asked.on == on).count()
    }

    /// Waits until the adapter has asked this so often.
    pub(crate) async fn was_asked(&self, on: On, times: usize) {
        let count = |world: &relay::World| {
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
                ended = self.relay.receive(desk) => panic!("disconnected: {ended:?}"),
                () = story => {}
            }
        })
        .await;
    }

    /// Connects until the connection ends.
    pub(crate) async fn disconnected(&self, desk: &Desk) -> Disconnected {
        in_time(self.relay.receive(desk)).await
    }

    /// Sends, to the chat that Ada has with the bot.
    pub(crate) async fn send(&self, outgoing: &Outgoing) -> Outcome {
        in_time(self.relay.send(outgoing)).await
    }

    /// What Ada sees of the bot in her chat.
    pub(crate) fn seen(&self) -> Vec<String> {
        let messages = self.vendor().chat("chat of ada").messages;
        let ours = messages.into_iter().filter(|shown| shown.ours);
        ours.map(|shown| shown.text).collect()
    }
}

/// Fails if it takes too long.
pub(crate) async fn in_time<T>(story: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(PATIENCE, story).await;
    done.expect("it took too long")
}

/// An adapter for the bridge at this address.
pub(crate) fn relay_to(url: &str) -> Relay {
    let settings = RelaySettings {
        account: Account {
            platform: "relay".into(),
            name: "office".into(),
            profile: "assistant".into(),
        },
        base_url: Url::parse(url).unwrap(),
        token: SecretString::from(TOKEN),
    };
    let clock = Arc::new(ManualClock::at(NOW));
    Relay::new(settings, client(), clock, Arc::new(SeededIds::from_seed(1)))
}

fn client() -> reqwest::Client {
    // Another test of this process may have been first.
    let provider = rustls::crypto::ring::default_provider();
    provider.install_default().unwrap_or_default();
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    client.build().unwrap()
}

/// A part for Ada. The same number is the same part.
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
            platform: "relay".into(),
            account: "office".into(),
            chat_kind: ChatKind::Direct,
            chat: "chat of ada".into(),
            thread: None,
            reply_to: None,
        },
        kind: ReplyKind::Final,
        form: TextForm::Markdown,
        prompt: None,
        file: None,
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

    fn with<const N: usize>(verdicts: [Verdict; N], permits: usize) -> Self {
        Self {
            verdicts: Mutex::new(verdicts.into()),
            permits: Semaphore::new(permits),
            handed: watch::Sender::new(Vec::new()),
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
    fn connected(&self, _: &Account, _: &Identity) -> Result<(), Disconnected> {
        Ok(())
    }

    fn alive(&self, _: &Account) {}

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
