//! An adapter, the simulated Slack, and an intake that does what a story wants.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::Url;
use talaria_domain::adapter::{
    Accepted, Adapter as _, Disconnected, Identity, Intake, NotAccepted, Outgoing, Pending,
    TextForm,
};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::{ManualClock, Timestamp};
use talaria_domain::delivery::{Outcome, Part, PartBody, Receipt, Rejection, ReplyKind};
use talaria_domain::event::{Content, Event, EventKind};
use talaria_domain::ids::{Ids as _, PartId, ReplyId, SeededIds, SessionId};
use talaria_domain::profile::Account;
use talaria_domain::secret::SecretString;
use talaria_platforms::Workshop;
use talaria_platforms::slack::Slack;
use talaria_platforms::slack::config::SlackSettings;
use talaria_platforms::webhook::HookSecret;
use talaria_sim::slack::{self, Bot, Fault, Mishap, On, Server, Terms, Vendor, Written};
use talaria_sim::vendor::World as _;
use tokio::sync::{Semaphore, watch};

/// What the adapter proves itself with.
pub(crate) const TOKEN: &str = "xoxb-that-nobody-may-see";
pub(crate) const APP_TOKEN: &str = "xapp-that-nobody-may-see";
pub(crate) const SECRET: &str = "a-signing-secret";
/// The time, which stands still.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// Our bot.
pub(crate) const BOT: &str = "U0BOT0001";
/// Ada, her chat with the bot, and a channel.
pub(crate) const ADA: &str = "U0ADA";
pub(crate) const DIRECT: &str = "D0ADA";
pub(crate) const CHANNEL: &str = "C0ROOM";
/// A story that takes longer hangs.
const PATIENCE: Duration = Duration::from_mins(1);

/// The simulated Slack and an adapter for it.
pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) slack: Slack,
}

impl World {
    pub(crate) async fn start() -> Self {
        let bot = Bot::numbered(1).let_in_by(TOKEN).connected_by(APP_TOKEN);
        let terms = Terms::serving(vec![bot]);
        let server = slack::start("127.0.0.1:0", terms).await.unwrap();
        let slack = slack_at(&server.url());
        Self { server, slack }
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
        let count = |world: &slack::World| {
            let asked = world.room().requests();
            asked.filter(|asked| asked.on == on).count()
        };
        in_time(self.vendor().until(|world| count(world) >= times)).await;
    }

    /// Waits until everything is acknowledged.
    pub(crate) async fn all_acknowledged(&self) {
        in_time(self.vendor().until(|world| world.backlog() == 0)).await;
    }

    /// Waits until so many sockets are open.
    pub(crate) async fn has_sockets(&self, count: usize) {
        in_time(self.vendor().until(|world| world.sockets() == count)).await;
    }

    /// Connects for as long as the story goes.
    pub(crate) async fn while_connected(&self, desk: &Desk, story: impl Future<Output = ()>) {
        in_time(async {
            tokio::select! {
                biased;
                ended = self.slack.receive(desk) => panic!("disconnected: {ended:?}"),
                () = story => {}
            }
        })
        .await;
    }

    /// Connects until the connection ends.
    pub(crate) async fn disconnected(&self, desk: &Desk) -> Disconnected {
        in_time(self.slack.receive(desk)).await
    }

    pub(crate) async fn send(&self, outgoing: &Outgoing) -> Outcome {
        in_time(self.slack.send(outgoing)).await
    }

    /// What people see of the bot in a chat.
    pub(crate) fn seen(&self, chat: &str) -> Vec<String> {
        let messages = self.vendor().chat(chat).messages;
        let ours = messages.into_iter().filter(|shown| shown.ours);
        ours.map(|shown| shown.text).collect()
    }
}

/// What Ada writes to the bot.
pub(crate) fn direct(text: &str) -> Written {
    Written::to_chat(DIRECT, "direct", (ADA, text))
}

/// What Ada writes in the channel.
pub(crate) fn in_channel(text: &str) -> Written {
    Written::to_chat(CHANNEL, "channel", (ADA, text))
}

/// Fails if it takes too long.
pub(crate) async fn in_time<T>(story: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(PATIENCE, story).await;
    done.expect("it took too long")
}

pub(crate) fn account() -> Account {
    Account {
        platform: "slack".into(),
        name: "office".into(),
        profile: "assistant".into(),
    }
}

pub(crate) fn workshop() -> Workshop {
    // Another test of this process may have been first.
    let provider = rustls::crypto::ring::default_provider();
    provider.install_default().unwrap_or_default();
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    Workshop {
        client: client.build().unwrap(),
        clock: Arc::new(ManualClock::at(NOW)),
        ids: Arc::new(SeededIds::from_seed(1)),
    }
}

/// An adapter for Slack at this address, with a socket.
pub(crate) fn slack_at(url: &str) -> Slack {
    let settings = SlackSettings {
        account: account(),
        api_base: Url::parse(url).unwrap(),
        token: SecretString::from(TOKEN),
        app_token: Some(SecretString::from(APP_TOKEN)),
        secret: None,
    };
    Slack::new(settings, &workshop())
}

/// An adapter for Slack at this address that is called.
pub(crate) fn called_at(url: &str, workshop: &Workshop) -> Slack {
    let settings = SlackSettings {
        account: account(),
        api_base: Url::parse(url).unwrap(),
        token: SecretString::from(TOKEN),
        app_token: None,
        secret: Some(HookSecret::of(SecretString::from(SECRET)).unwrap()),
    };
    Slack::new(settings, workshop)
}

/// A place.
pub(crate) fn place(chat: &str, thread: Option<&str>) -> Address {
    let is_direct = chat.starts_with('D');
    Address {
        platform: "slack".into(),
        account: "office".into(),
        chat_kind: if is_direct {
            ChatKind::Direct
        } else {
            ChatKind::Group
        },
        chat: chat.into(),
        thread: thread.map(Into::into),
        reply_to: None,
    }
}

/// A part for a place. The same number is the same part.
pub(crate) fn part_to(number: u8, text: &str, to: Address) -> Outgoing {
    Outgoing {
        part: Part {
            id: PartId::from_bytes([number; 16]),
            reply: ReplyId::from_bytes([number; 16]),
            ordinal: 0,
            body: PartBody::Text {
                markdown: text.to_owned(),
            },
        },
        to,
        kind: ReplyKind::Final,
        form: TextForm::Markdown,
        prompt: None,
        file: None,
    }
}

/// A part for Ada.
pub(crate) fn part(number: u8, text: &str) -> Outgoing {
    part_to(number, text, place(DIRECT, None))
}

/// The receipt of what was delivered.
pub(crate) fn receipt(outcome: Outcome) -> Receipt {
    match outcome {
        Outcome::Delivered { mut receipts } if receipts.len() == 1 => receipts.remove(0),
        other => panic!("not delivered: {other:?}"),
    }
}

/// What kind of no it was.
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

/// What an intake has met with.
#[derive(Debug, Default, Clone)]
pub(crate) struct Met {
    pub(crate) events: Vec<Event>,
    pub(crate) identities: Vec<Identity>,
    pub(crate) signs_of_life: usize,
}

/// An intake that remembers what it was handed. It records, unless told otherwise, as soon as it is let.
pub(crate) struct Desk {
    verdicts: Mutex<VecDeque<Verdict>>,
    permits: Semaphore,
    met: watch::Sender<Met>,
    refuses: Option<Disconnected>,
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
    pub(crate) fn refusing(why: Disconnected) -> Self {
        let refuses = Some(why);
        Self {
            refuses,
            ..Self::open()
        }
    }

    fn with<const N: usize>(verdicts: [Verdict; N], permits: usize) -> Self {
        Self {
            verdicts: Mutex::new(verdicts.into()),
            permits: Semaphore::new(permits),
            met: watch::Sender::new(Met::default()),
            refuses: None,
        }
    }

    /// Lets it take one more.
    pub(crate) fn let_one(&self) {
        self.permits.add_permits(1);
    }

    /// Waits until it has met with this.
    pub(crate) async fn has_met(&self, holds: impl FnMut(&Met) -> bool) {
        let mut met = self.met.subscribe();
        in_time(met.wait_for(holds)).await.unwrap();
    }

    /// Waits until it was handed so many.
    pub(crate) async fn was_handed(&self, count: usize) {
        self.has_met(|met| met.events.len() >= count).await;
    }

    /// What it has met with.
    pub(crate) fn met(&self) -> Met {
        self.met.borrow().clone()
    }

    /// What it was handed.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.met().events
    }

    /// What the messages that it was handed say.
    pub(crate) fn contents(&self) -> Vec<Content> {
        let content = |event: Event| match event.kind {
            EventKind::Message(content) | EventKind::Edited(content) => content,
            other => panic!("unexpected {other:?}"),
        };
        self.events().into_iter().map(content).collect()
    }

    /// The texts it was handed.
    pub(crate) fn texts(&self) -> Vec<String> {
        let contents = self.contents().into_iter();
        contents.map(|content| content.text).collect()
    }

    async fn judge(&self, event: Event) -> Result<Accepted, NotAccepted> {
        let id = event.id;
        self.met.send_modify(|met| met.events.push(event));
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
        let identity = identity.clone();
        self.met.send_modify(|met| met.identities.push(identity));
        self.refuses.clone().map_or(Ok(()), Err)
    }

    fn alive(&self, _: &Account) {
        self.met.send_modify(|met| met.signs_of_life += 1);
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
