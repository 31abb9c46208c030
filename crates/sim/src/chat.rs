//! A simulated chat platform: a vendor that keeps what people wrote until it was acknowledged and shows what we wrote,
//! and an adapter for it. The vendor outlives the gateway. Faults are decided by whoever holds its [`Moods`].

mod courtesy;
mod media;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use talaria_domain::adapter::{
    Abilities, Adapter, Disconnected, Edit, Identity, Intake, Outgoing, Pending, TextForm,
};
use talaria_domain::capabilities::{Capabilities, Capability, DeliveryWindow, TextLimit, TextUnit};
use talaria_domain::clock::Clock;
use talaria_domain::delivery::{Outcome, PartBody, Receipt, Rejection};
use talaria_domain::event::Event;
use talaria_domain::ids::{EventId, Ids, PartId, ReplyId};
use talaria_domain::profile::Account;
use talaria_domain::question::Prompt;
use tokio::sync::Notify;

pub use courtesy::{Courtesy, Shown as Courteous};
pub use media::{Media, Sent};

use crate::trace::Trace;

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
    /// Does it at once, and takes this long to say so.
    Lagging(Duration),
    /// Nothing, and keeps the line open for ever.
    Hung,
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
    /// The part that it was made for.
    pub part: PartId,
    /// Where.
    pub chat: String,
    /// The thread in it.
    pub thread: Option<String>,
    /// What it says.
    pub text: String,
    /// How often it was changed.
    pub edits: u32,
    /// The buttons below it.
    pub prompt: Option<Prompt>,
    /// The file that it is.
    pub file: Option<Sent>,
}

/// One change of what people see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The message that was made or changed.
    pub message: u64,
    /// The reply that it shows.
    pub reply: ReplyId,
    /// What it says from then on.
    pub text: String,
}

#[derive(Default)]
struct State {
    /// What people wrote and nobody acknowledged, in order.
    backlog: Vec<Event>,
    acknowledged: Vec<Event>,
    shown: Vec<Shown>,
    changes: Vec<Change>,
    keys: BTreeMap<PartId, u64>,
    courtesies: Vec<Courtesy>,
}

impl State {
    fn change(&mut self, message: u64, outgoing: &Outgoing, text: &str) {
        self.changes.push(Change {
            message,
            reply: outgoing.part.reply,
            text: text.to_owned(),
        });
    }
}

/// The platform's side.
pub struct Vendor {
    offer: Offer,
    limit: TextLimit,
    has_buttons: AtomicBool,
    is_courteous: AtomicBool,
    /// The files that it has, if it carries any.
    pub media: Media,
    moods: Arc<dyn Moods>,
    state: Mutex<State>,
    arrived: Notify,
    trace: OnceLock<(String, Arc<Trace>)>,
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
            has_buttons: AtomicBool::new(false),
            is_courteous: AtomicBool::new(false),
            media: Media::default(),
            moods,
            state: Mutex::default(),
            arrived: Notify::new(),
            trace: OnceLock::new(),
        })
    }

    /// Buttons are shown from now on.
    pub fn show_buttons(&self) {
        self.has_buttons.store(true, Ordering::Relaxed);
    }

    /// Typing signs and marks are shown from now on.
    pub fn show_courtesies(&self) {
        self.is_courteous.store(true, Ordering::Relaxed);
    }

    /// Typing signs and marks that were shown, in order.
    pub fn courtesies(&self) -> Vec<Courtesy> {
        self.state().courtesies.clone()
    }

    /// Writes down what happens here, under this name, from now on.
    pub fn trace_to(&self, name: &str, trace: &Arc<Trace>) {
        // Who traces already goes on doing so.
        self.trace
            .set((name.to_owned(), Arc::clone(trace)))
            .unwrap_or_default();
    }

    fn note(&self, what: impl FnOnce() -> String) {
        if let Some((name, trace)) = self.trace.get() {
            trace.note(&format!("{name} {}", what()));
        }
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

    /// What changed of what people see, in order.
    pub fn changes(&self) -> Vec<Change> {
        self.state().changes.clone()
    }

    /// What the platform offers.
    pub const fn offer(&self) -> Offer {
        self.offer
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
            ids: None,
            connection: Arc::new(AlwaysFine),
            manners: Manners::RecordFirst,
        }
    }

    fn first(&self) -> Option<Event> {
        self.state().backlog.first().cloned()
    }

    fn acknowledge(&self, event: &Event) {
        self.note(|| format!("is told that {} arrived", token(event)));
        let mut state = self.state();
        // The same thing may have been handed in under another id.
        state.backlog.retain(|other| other.dedupe != event.dedupe);
        state.acknowledged.push(event.clone());
    }

    fn post(&self, outgoing: &Outgoing, text: &str) -> u64 {
        let (to, part) = (&outgoing.to, outgoing.part.id);
        let mut state = self.state();
        if self.offer == Offer::Keys
            && let Some(id) = state.keys.get(&part)
        {
            self.note(|| format!("has that already, as {id}"));
            return *id;
        }
        let id = state.shown.len() as u64 + 1;
        state.keys.insert(part, id);
        state.change(id, outgoing, text);
        let shown = Shown {
            id,
            part,
            chat: to.chat.to_string(),
            thread: to.thread.as_ref().map(ToString::to_string),
            text: text.to_owned(),
            edits: 0,
            prompt: outgoing.prompt.clone(),
            file: media::sent(outgoing),
        };
        self.note(|| format!("shows {id} in {}: {text:?}", place(&shown)));
        state.shown.push(shown);
        id
    }

    fn change(&self, id: u64, outgoing: &Outgoing, text: &str) -> bool {
        let mut state = self.state();
        let Some(shown) = state.shown.iter_mut().find(|shown| shown.id == id) else {
            return false;
        };
        text.clone_into(&mut shown.text);
        shown.edits += 1;
        state.change(id, outgoing, text);
        self.note(|| format!("changes {id}: {text:?}"));
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn token(event: &Event) -> &str {
    event
        .message
        .as_ref()
        .map_or("", |message| message.as_str())
}

fn place(shown: &Shown) -> String {
    match &shown.thread {
        Some(thread) => format!("{}/{thread}", shown.chat),
        None => shown.chat.clone(),
    }
}

/// When an adapter tells its platform "got it".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manners {
    RecordFirst,
    AcknowledgeFirst,
}

/// Our code for the simulated platform.
pub struct SimAdapter {
    vendor: Arc<Vendor>,
    account: Account,
    clock: Arc<dyn Clock>,
    ids: Option<Arc<dyn Ids>>,
    connection: Arc<dyn Moods>,
    manners: Manners,
}

/// How long the adapter waits when an event was not accepted.
const AGAIN: Duration = Duration::from_millis(200);

impl SimAdapter {
    /// The same, as real ones are: whatever is handed in has a new id and the time at which it came, also when it was
    /// handed in before.
    #[must_use]
    pub fn stamping(mut self, ids: Arc<dyn Ids>) -> Self {
        self.ids = Some(ids);
        self
    }

    /// The same, with a connection of these moods, each about one event: deaf loses it before the event came, mute after
    /// it was recorded and before anybody said so, refusing breaks the adapter.
    #[must_use]
    pub fn connected_by(mut self, moods: Arc<dyn Moods>) -> Self {
        self.connection = moods;
        self
    }

    /// The same, broken: it says "got it" before it is true. To see that somebody notices.
    #[must_use]
    pub const fn acknowledging_first(mut self) -> Self {
        self.manners = Manners::AcknowledgeFirst;
        self
    }

    async fn poll(&self, intake: &dyn Intake) -> Disconnected {
        let identity = Identity {
            id: self.account.name.as_str().into(),
            name: self.account.name.to_string(),
        };
        if let Err(ended) = intake.connected(&self.account, &identity) {
            return ended;
        }
        loop {
            let arrived = self.vendor.arrived.notified();
            let Some(event) = self.vendor.first() else {
                arrived.await;
                continue;
            };
            let event = self.stamped(event);
            let mood = self.connection.next();
            match mood {
                Mood::Deaf => return self.lost(),
                Mood::Refusing => std::panic::resume_unwind(Box::new("the adapter breaks")),
                Mood::Slow(time) => tokio::time::sleep(time).await,
                Mood::Hung => std::future::pending().await,
                _ => {}
            }
            if self.manners == Manners::AcknowledgeFirst {
                self.acknowledge_unseen(&event).await;
            }
            match intake.accept(event.clone()).await {
                Ok(_) if self.manners == Manners::AcknowledgeFirst => {}
                Ok(_) if mood == Mood::Mute => return self.lost(),
                Ok(_) => self.vendor.acknowledge(&event),
                Err(_) => tokio::time::sleep(AGAIN).await,
            }
        }
    }

    fn lost(&self) -> Disconnected {
        let detail = "the connection was lost".to_owned();
        self.vendor.note(|| detail.clone());
        Disconnected::Lost { detail }
    }

    async fn acknowledge_unseen(&self, event: &Event) {
        // A process that is gone, whom vendors never hear of again, does not even do this.
        while self.vendor.moods.next() == Mood::Hung {
            tokio::time::sleep(AGAIN).await;
        }
        self.vendor.acknowledge(event);
    }

    fn stamped(&self, event: Event) -> Event {
        let Some(ids) = &self.ids else { return event };
        let now = self.clock.now();
        Event {
            id: EventId::next(&**ids, now),
            received_at: now,
            ..event
        }
    }

    /// What becomes of a request whose effect is `act`.
    async fn ask(
        &self,
        outgoing: &Outgoing,
        act: impl FnOnce(&str) -> Option<u64> + Send,
    ) -> Outcome {
        let text = text_of(outgoing);
        if self.vendor.limit.unit.measure(text) > self.vendor.limit.max {
            return refused(Rejection::TooLong, "the message is too long");
        }
        let mood = self.vendor.moods.next();
        if mood != Mood::Fine {
            self.vendor.note(|| format!("feels {mood:?}"));
        }
        let done = match mood {
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
            Mood::Pedantic if outgoing.form == TextForm::Markdown && text.contains('*') => {
                return refused(Rejection::Markup, "cannot read this");
            }
            Mood::Hung => std::future::pending().await,
            Mood::Slow(time) => {
                tokio::time::sleep(time).await;
                act(text)
            }
            Mood::Lagging(time) => {
                let done = act(text);
                tokio::time::sleep(time).await;
                done
            }
            Mood::Fine | Mood::Pedantic => act(text),
        };
        match done {
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

fn silence(detail: &str) -> Outcome {
    Outcome::Unknown {
        detail: detail.to_owned(),
    }
}

fn refused(class: Rejection, detail: &str) -> Outcome {
    Outcome::Rejected {
        class,
        detail: detail.to_owned(),
    }
}

fn text_of(outgoing: &Outgoing) -> &str {
    match &outgoing.part.body {
        PartBody::Text { markdown } => markdown,
        PartBody::File { caption, .. } => caption,
    }
}

impl Adapter for SimAdapter {
    fn account(&self) -> &Account {
        &self.account
    }

    fn capabilities(&self) -> Capabilities {
        let keys = Some(Capability::IdempotentSend).filter(|_| self.vendor.offer == Offer::Keys);
        let has_buttons = self.vendor.has_buttons.load(Ordering::Relaxed);
        let buttons = has_buttons.then_some(Capability::Prompts);
        Capabilities {
            can: keys.into_iter().chain(buttons).collect(),
            text_limit: self.vendor.limit,
            window: DeliveryWindow::Always,
        }
    }

    fn receive<'a>(&'a self, intake: &'a dyn Intake) -> Pending<'a, Disconnected> {
        Box::pin(self.poll(intake))
    }

    fn send<'a>(&'a self, outgoing: &'a Outgoing) -> Pending<'a, Outcome> {
        let post = |text: &str| Some(self.vendor.post(outgoing, text));
        if self.vendor.media.keeps_quiet_about(outgoing) {
            post(text_of(outgoing));
            return Box::pin(std::future::ready(silence("no answer came")));
        }
        Box::pin(self.ask(outgoing, post))
    }

    fn abilities(&self) -> Abilities<'_> {
        let is_courteous = self.vendor.is_courteous.load(Ordering::Relaxed);
        Abilities {
            edit: (self.vendor.offer == Offer::Edits).then_some(self),
            typing: is_courteous.then_some(self),
            reactions: is_courteous.then_some(self),
            media: self.vendor.media.is_carried().then_some(self),
            ..Abilities::default()
        }
    }
}

impl Edit for SimAdapter {
    fn edit<'a>(&'a self, receipt: &'a Receipt, outgoing: &'a Outgoing) -> Pending<'a, Outcome> {
        let change = |text: &str| {
            let id = receipt.message.as_str().parse().ok()?;
            Some(id).filter(|id| self.vendor.change(*id, outgoing, text))
        };
        Box::pin(self.ask(outgoing, change))
    }
}
