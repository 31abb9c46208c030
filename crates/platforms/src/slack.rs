//! Slack: a workspace through one app of its own. Events come by Socket Mode, or Slack calls us; everything else is the
//! Web API. A channel is served in threads: a message outside of one opens it, and the answer stays there.

pub mod config;

mod classify;
mod client;
mod connection;
mod files;
mod hook;
mod inbound;
mod outbound;
mod people;
mod text;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use talaria_domain::adapter::{
    Abilities, Adapter, Disconnected, Edit, Hook, HookAnswer, HookCall, Intake, Mark, Media,
    NotFetched, Outgoing, Pending, Reactions, Sign, Threads, Typing,
};
use talaria_domain::address::Address;
use talaria_domain::capabilities::{Capabilities, Capability, DeliveryWindow};
use talaria_domain::clock::Clock;
use talaria_domain::delivery::{Outcome, PartBody, Receipt, Rejection};
use talaria_domain::event::{Attachment, ReactionChange};
use talaria_domain::ids::Ids;
use talaria_domain::names::MessageId;
use talaria_domain::profile::Account;

use self::client::Client;
use self::config::SlackSettings;
use self::inbound::Me;
use self::outbound::{Post, TEXT_LIMIT};
use self::people::People;
use crate::Workshop;
use crate::webhook::HookSecret;

/// Slack takes a status away by itself after two minutes.
const STATUS_LASTS: Duration = Duration::from_mins(1);
const STATUS: &str = "is thinking…";
/// What Slack takes is a gigabyte; nobody waits for that.
const MOST_FILE_BYTES: u64 = 100 * 1024 * 1024;
/// How many places are remembered; then it is asked again.
const MOST_PLACES: usize = 4_096;

/// One workspace, through one bot.
pub struct Slack {
    account: Account,
    client: Client,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    secret: Option<HookSecret>,
    people: People,
    /// Who we are, since Slack said so.
    me: Mutex<Option<Me>>,
    /// Chats that have no status line.
    without_status: Mutex<BTreeSet<String>>,
    /// The direct chats with people, by their ids.
    direct: Mutex<BTreeMap<String, String>>,
    /// How much made no sense.
    garbled: AtomicU64,
}

impl Slack {
    /// The adapter for an account, on a client that follows no redirects.
    pub fn new(settings: SlackSettings, workshop: &Workshop) -> Self {
        let SlackSettings {
            account,
            api_base,
            token,
            app_token,
            secret,
        } = settings;
        Self {
            account,
            client: Client::of(workshop.client.clone(), api_base, (token, app_token)),
            clock: Arc::clone(&workshop.clock),
            ids: Arc::clone(&workshop.ids),
            secret,
            people: People::default(),
            me: Mutex::default(),
            without_status: Mutex::default(),
            direct: Mutex::default(),
            garbled: AtomicU64::new(0),
        }
    }

    /// Who we are, if Slack has said so.
    fn me(&self) -> Option<Me> {
        lock(&self.me).clone()
    }

    /// The place that is written to: somebody's id stands for the direct chat with them.
    async fn channel(&self, chat: &str) -> Result<String, Outcome> {
        if !outbound::is_person(chat) {
            return Ok(chat.to_owned());
        }
        if let Some(known) = lock(&self.direct).get(chat) {
            return Ok(known.clone());
        }
        let opened = self.client.open_direct(chat).await?;
        let mut direct = lock(&self.direct);
        if direct.len() >= MOST_PLACES {
            direct.clear();
        }
        direct.insert(chat.to_owned(), opened.clone());
        Ok(opened)
    }

    async fn deliver(&self, outgoing: &Outgoing) -> Result<MessageId, Outcome> {
        let channel = self.channel(outgoing.to.chat.as_str()).await?;
        if let PartBody::File { .. } = &outgoing.part.body {
            return files::send(&self.client, outgoing, &channel).await;
        }
        let message = outbound::message(outgoing, &channel, Post::Send)?;
        self.client.post("chat.postMessage", &message).await
    }

    async fn change(&self, receipt: &Receipt, outgoing: &Outgoing) -> Result<MessageId, Outcome> {
        let channel = self.channel(outgoing.to.chat.as_str()).await?;
        let message = outbound::message(outgoing, &channel, Post::Change(&receipt.message))?;
        self.client.post("chat.update", &message).await
    }

    async fn open(&self, parent: &Address, name: &str) -> Result<Address, Outcome> {
        let channel = self.channel(parent.chat.as_str()).await?;
        let message = outbound::opening(&channel, name);
        let root = self.client.post("chat.postMessage", &message).await?;
        Ok(Address {
            chat: channel.into(),
            thread: Some(root.as_str().into()),
            reply_to: None,
            ..parent.clone()
        })
    }

    async fn status(&self, at: &Address, sign: Sign) -> Outcome {
        let chat = at.chat.as_str();
        let Some(thread) = &at.thread else {
            return no_status();
        };
        if lock(&self.without_status).contains(chat) {
            return no_status();
        }
        let status = match sign {
            Sign::On => STATUS,
            Sign::Off => "",
        };
        let asked = json!({ "channel_id": chat, "thread_ts": thread, "status": status });
        let method = "assistant.threads.setStatus";
        let outcome = self.client.done(method, &asked, &[]).await;
        if let Outcome::Rejected { class, .. } = outcome
            && class != Rejection::Unauthorized
        {
            // Not every place has one. Asking again would only cost.
            let mut without = lock(&self.without_status);
            if without.len() >= MOST_PLACES {
                without.clear();
            }
            without.insert(chat.to_owned());
        }
        outcome
    }

    fn outcome(&self, sent: Result<MessageId, Outcome>) -> Outcome {
        match sent {
            Ok(message) => {
                let at = self.clock.now();
                let receipts = vec![Receipt { message, at }];
                Outcome::Delivered { receipts }
            }
            Err(outcome) => outcome,
        }
    }
}

fn no_status() -> Outcome {
    Outcome::Rejected {
        class: Rejection::Invalid,
        detail: "no status is shown there".to_owned(),
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Adapter for Slack {
    fn account(&self) -> &Account {
        &self.account
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            // Slack has a `client_msg_id`, but does not say that a bot's message with the same one is the same
            // message: repeating is made safe by changing what is there.
            can: BTreeSet::from([Capability::Prompts]),
            text_limit: TEXT_LIMIT,
            window: DeliveryWindow::Always,
        }
    }

    fn receive<'a>(&'a self, intake: &'a dyn Intake) -> Pending<'a, Disconnected> {
        Box::pin(connection::receive(self, intake))
    }

    fn send<'a>(&'a self, outgoing: &'a Outgoing) -> Pending<'a, Outcome> {
        Box::pin(async move { self.outcome(self.deliver(outgoing).await) })
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            edit: Some(self),
            typing: Some(self),
            reactions: Some(self),
            threads: Some(self),
            media: Some(self),
            hook: self.secret.is_some().then_some(self as &dyn Hook),
        }
    }
}

impl Edit for Slack {
    fn edit<'a>(&'a self, receipt: &'a Receipt, outgoing: &'a Outgoing) -> Pending<'a, Outcome> {
        Box::pin(async move { self.outcome(self.change(receipt, outgoing).await) })
    }
}

impl Typing for Slack {
    fn lasts(&self) -> Duration {
        STATUS_LASTS
    }

    fn sign<'a>(&'a self, at: &'a Address, sign: Sign) -> Pending<'a, Outcome> {
        Box::pin(self.status(at, sign))
    }
}

impl Reactions for Slack {
    fn mark<'a>(
        &'a self,
        (at, message): (&'a Address, &'a MessageId),
        mark: Mark,
        change: ReactionChange,
    ) -> Pending<'a, Outcome> {
        Box::pin(async move {
            let channel = match self.channel(at.chat.as_str()).await {
                Ok(channel) => channel,
                Err(outcome) => return outcome,
            };
            let name = outbound::picture(mark);
            let asked = json!({ "channel": channel, "timestamp": message, "name": name });
            let (method, as_good) = match change {
                ReactionChange::Added => ("reactions.add", "already_reacted"),
                ReactionChange::Removed => ("reactions.remove", "no_reaction"),
            };
            self.client.done(method, &asked, &[as_good]).await
        })
    }
}

impl Threads for Slack {
    fn open<'a>(
        &'a self,
        parent: &'a Address,
        name: &'a str,
    ) -> Pending<'a, Result<Address, Outcome>> {
        Box::pin(self.open(parent, name))
    }
}

impl Media for Slack {
    fn most_bytes(&self) -> u64 {
        MOST_FILE_BYTES
    }

    fn fetch<'a>(
        &'a self,
        attachment: &'a Attachment,
        most: u64,
    ) -> Pending<'a, Result<Vec<u8>, NotFetched>> {
        Box::pin(files::fetch(&self.client, attachment, most))
    }
}

impl Hook for Slack {
    fn take<'a>(&'a self, call: &'a HookCall, intake: &'a dyn Intake) -> Pending<'a, HookAnswer> {
        Box::pin(hook::take(self, call, intake))
    }
}
