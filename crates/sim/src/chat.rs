//! A simulated chat platform: a vendor that keeps what people wrote until it was acknowledged and shows what we wrote,
//! and an adapter for it. The vendor outlives the gateway. Faults are decided by whoever holds its [`Moods`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use talaria_domain::adapter::{Adapter, Disconnected, Edit, Intake, Outgoing, Pending};
use talaria_domain::address::Address;
use talaria_domain::capabilities::{Capabilities, Capability, TextLimit, TextUnit};
use talaria_domain::clock::Clock;
use talaria_domain::delivery::{Outcome, PartBody, Receipt, Rejection};
use talaria_domain::event::Event;
use talaria_domain::profile::Account;
use tokio::sync::Notify;

/// What a vendor does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// What was asked.
    Fine,
    /// Nothing, and says when to come back.
    Flooded(Duration),
    /// Nothing, and says nothing either.
    Deaf,
    /// What was asked, and says nothing.
    Mute,
    /// Refuses for good.
    Refusing,
    /// Cannot read the markup.
    Pedantic,
    /// Takes this long, then does it.
    Slow(Duration),
}

/// Who decides how a vendor feels.
pub trait Moods: Send + Sync {
    /// How it feels about the next request.
    fn next(&self) -> Mood;
}

/// A vendor that always does what is asked.
#[derive(Debug, Default, Clone, Copy)]
pub struct AlwaysFine;

impl Moods for AlwaysFine {
    fn next(&self) -> Mood {
        Mood::Fine
    }
}

/// What a platform offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// Messages, and nothing else.
    Plain,
    /// Messages are recognised by a key.
    Keys,
    /// Messages can be changed.
    Edits,
}

/// A message as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The platform's id.
    pub id: u64,
    /// Where.
    pub chat: String,
    /// The thread in it.
    pub thread: Option<String>,
    /// What it says.
    pub text: String,
    /// How often it was changed.
    pub edits: u32,
}

#[derive(Default)]
struct State {
    /// What people wrote and nobody acknowledged, in order.
    backlog: Vec<Event>,
    acknowledged: Vec<Event>,
    shown: Vec<Shown>,
    keys: BTreeMap<String, u64>,
}

/// The platform's side.
pub struct Vendor {
    offer: Offer,
    limit: TextLimit,
    moods: Arc<dyn Moods>,
    state: Mutex<State>,
    arrived: Notify,
}

impl Vendor {
    /// A platform that offers this much.
    pub fn offering(offer: Offer, moods: Arc<dyn Moods>) -> Arc<Self> {
        Self::with_limit(offer, moods, 4_096)
    }

    /// The same, with a limit for the length of messages, in UTF-16.
    pub fn with_limit(offer: Offer, moods: Arc<dyn Moods>, max: usize) -> Arc<Self> {
        Arc::new(Self {
            offer,
            limit: TextLimit {
                max,
                unit: TextUnit::Utf16,
            },
            moods,
            state: Mutex::default(),
            arrived: Notify::new(),
        })
    }

    /// Somebody writes.
    pub fn write(&self, event: Event) {
        self.state().backlog.push(event);
        self.arrived.notify_one();
    }

    /// The platform delivers something again that was acknowledged long ago.
    pub fn deliver_again(&self, index: usize) {
        let mut state = self.state();
        if let Some(event) = state.acknowledged.get(index).cloned() {
            state.backlog.push(event);
            self.arrived.notify_one();
        }
    }

    /// What people see in a chat.
    pub fn chat(&self, chat: &str) -> Vec<Shown> {
        let state = self.state();
        let shown = state.shown.iter().filter(|shown| shown.chat == chat);
        shown.cloned().collect()
    }

    /// Everything that people see.
    pub fn all(&self) -> Vec<Shown> {
        self.state().shown.clone()
    }

    /// What was acknowledged, in order.
    pub fn acknowledged(&self) -> Vec<Event> {
        self.state().acknowledged.clone()
    }

    /// How much nobody has acknowledged.
    pub fn backlog(&self) -> usize {
        self.state().backlog.len()
    }

    /// An adapter for this platform, for an account.
    pub fn adapter(self: &Arc<Self>, account: Account, clock: Arc<dyn Clock>) -> SimAdapter {
        SimAdapter {
            vendor: Arc::clone(self),
            account,
            clock,
        }
    }

    fn first(&self) -> Option<Event> {
        self.state().backlog.first().cloned()
    }

    fn acknowledge(&self, event: &Event) {
        let mut state = self.state();
        state.backlog.retain(|other| other.id != event.id);
        state.acknowledged.push(event.clone());
    }

    fn post(&self, to: &Address, key: &str, text: &str) -> u64 {
        let mut state = self.state();
        if self.offer == Offer::Keys
            && let Some(id) = state.keys.get(key)
        {
            return *id;
        }
        let id = state.shown.len() as u64 + 1;
        state.keys.insert(key.to_owned(), id);
        state.shown.push(Shown {
            id,
            chat: to.chat.to_string(),
            thread: to.thread.as_ref().map(ToString::to_string),
            text: text.to_owned(),
            edits: 0,
        });
        id
    }

    fn change(&self, id: &str, text: &str) -> bool {
        let mut state = self.state();
        let found = state
            .shown
            .iter_mut()
            .find(|shown| shown.id.to_string() == id);
        let Some(shown) = found else {
            return false;
        };
        text.clone_into(&mut shown.text);
        shown.edits += 1;
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Our code for the simulated platform.
pub struct SimAdapter {
    vendor: Arc<Vendor>,
    account: Account,
    clock: Arc<dyn Clock>,
}

/// How long the adapter waits when an event was not accepted.
const AGAIN: Duration = Duration::from_millis(200);

impl SimAdapter {
    async fn poll(&self, intake: &dyn Intake) -> Disconnected {
        loop {
            let arrived = self.vendor.arrived.notified();
            let Some(event) = self.vendor.first() else {
                arrived.await;
                continue;
            };
            match intake.accept(event.clone()).await {
                Ok(_) => self.vendor.acknowledge(&event),
                Err(_) => tokio::time::sleep(AGAIN).await,
            }
        }
    }

    /// What becomes of a request whose effect is `act`.
    async fn ask(&self, text: &str, act: impl FnOnce(&str) -> Option<u64> + Send) -> Outcome {
        let silence = |detail: &str| Outcome::Unknown {
            detail: detail.to_owned(),
        };
        let refused = |class, detail: &str| Outcome::Rejected {
            class,
            detail: detail.to_owned(),
        };
        if self.vendor.limit.unit.measure(text) > self.vendor.limit.max {
            return refused(Rejection::TooLong, "the message is too long");
        }
        match self.vendor.moods.next() {
            Mood::Flooded(wait) => {
                return Outcome::NotSent {
                    retry_after: Some(wait),
                    detail: "too many requests".to_owned(),
                };
            }
            Mood::Deaf => return silence("the connection was lost"),
            Mood::Mute => {
                act(text);
                return silence("no answer came");
            }
            Mood::Refusing => return refused(Rejection::Forbidden, "not allowed here"),
            Mood::Pedantic if text.contains('*') => {
                return refused(Rejection::Markup, "cannot read this");
            }
            Mood::Slow(time) => tokio::time::sleep(time).await,
            Mood::Fine | Mood::Pedantic => {}
        }
        match act(text) {
            Some(id) => Outcome::Delivered {
                receipts: vec![Receipt {
                    message: id.to_string().into(),
                    at: self.clock.now(),
                }],
            },
            None => refused(Rejection::Gone, "no such message"),
        }
    }
}

fn text_of(outgoing: &Outgoing) -> String {
    match &outgoing.part.body {
        PartBody::Text { markdown } => markdown.clone(),
        PartBody::File { caption, .. } => caption.clone(),
    }
}

impl Adapter for SimAdapter {
    fn account(&self) -> &Account {
        &self.account
    }

    fn capabilities(&self) -> Capabilities {
        let keys = Some(Capability::IdempotentSend).filter(|_| self.vendor.offer == Offer::Keys);
        Capabilities {
            can: keys.into_iter().collect(),
            text_limit: self.vendor.limit,
        }
    }

    fn receive<'a>(&'a self, intake: &'a dyn Intake) -> Pending<'a, Disconnected> {
        Box::pin(self.poll(intake))
    }

    fn send<'a>(&'a self, outgoing: &'a Outgoing) -> Pending<'a, Outcome> {
        Box::pin(async move {
            let (text, key) = (text_of(outgoing), outgoing.part.id.to_string());
            let post = |text: &str| Some(self.vendor.post(&outgoing.to, &key, text));
            self.ask(&text, post).await
        })
    }

    fn edit(&self) -> Option<&dyn Edit> {
        (self.vendor.offer == Offer::Edits).then_some(self)
    }
}

impl Edit for SimAdapter {
    fn edit<'a>(&'a self, receipt: &'a Receipt, outgoing: &'a Outgoing) -> Pending<'a, Outcome> {
        Box::pin(async move {
            let (text, id) = (text_of(outgoing), receipt.message.as_str());
            let change = |text: &str| {
                let is_there = self.vendor.change(id, text);
                id.parse().ok().filter(|_| is_there)
            };
            self.ask(&text, change).await
        })
    }
}
