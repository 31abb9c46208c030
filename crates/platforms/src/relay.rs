//! Bring your own platform: the adapter for every chat system that has none here. The operator's own bridge is the
//! server, this is the client; they speak the protocol of `docs/relay.md`, plain HTTP and JSON. What can be done there
//! is what the bridge said of itself when we last connected.

pub mod config;

mod classify;
mod client;
mod connection;
mod inbound;
mod outbound;
mod wire;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use talaria_domain::adapter::{
    Abilities, Adapter, Disconnected, Edit, Identity, Intake, Outgoing, Pending,
};
use talaria_domain::capabilities::{Capabilities, Capability, DeliveryWindow, TextLimit};
use talaria_domain::clock::Clock;
use talaria_domain::delivery::{Outcome, Receipt};
use talaria_domain::ids::Ids;
use talaria_domain::names::MessageId;
use talaria_domain::profile::Account;

use self::client::Client;
use self::config::RelaySettings;
use self::wire::About;

/// One account on a bridge.
pub struct Relay {
    account: Account,
    client: Client,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    /// What the bridge last said of itself.
    about: Mutex<Option<About>>,
}

impl Relay {
    /// The adapter for a bridge, on a client that follows no redirects.
    pub fn new(
        settings: RelaySettings,
        client: reqwest::Client,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
    ) -> Self {
        Self {
            account: settings.account,
            client: Client::of(client, settings.base_url, settings.token),
            clock,
            ids,
            about: Mutex::default(),
        }
    }

    /// Takes note of what the bridge says of itself; gives the bot's id. Another bot behind the same account would
    /// mix up conversations.
    fn meet(&self, about: About) -> Result<String, Disconnected> {
        let lost = |detail: String| Err(Disconnected::Lost { detail });
        if about.id.is_empty() || about.limit == 0 {
            return lost("the bridge said no `id`, or a `limit` of nothing".to_owned());
        }
        let mut known = self.known();
        if let Some(known) = &*known
            && known.id != about.id
        {
            let (was, is) = (&known.id, &about.id);
            return lost(format!(
                "the bridge speaks for another bot, {is:?} instead of {was:?}: give it an account of its own"
            ));
        }
        tracing::info!(account = %self.account.name, bot = about.id, name = about.name, "connected");
        let id = about.id.clone();
        *known = Some(about);
        Ok(id)
    }

    /// Who the bot is among all bots: each bridge is a world of its own.
    fn identity(&self, bot: &str) -> Identity {
        let name = self.known().as_ref().map(|about| about.name.clone());
        Identity {
            id: format!("{bot} at {}", self.client.bridge()).into(),
            name: name.unwrap_or_default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, Option<About>> {
        self.about.lock().unwrap_or_else(PoisonError::into_inner)
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

impl Adapter for Relay {
    fn account(&self) -> &Account {
        &self.account
    }

    fn capabilities(&self) -> Capabilities {
        let known = self.known();
        let about = known.as_ref();
        let keys =
            Some(Capability::IdempotentSend).filter(|_| about.is_some_and(|about| about.keys));
        Capabilities {
            can: keys.into_iter().collect(),
            text_limit: TextLimit {
                max: about.map_or_else(wire::usual_limit, |about| about.limit),
                unit: about.map_or_else(wire::usual_unit, |about| about.unit),
            },
            window: DeliveryWindow::Always,
        }
    }

    fn receive<'a>(&'a self, intake: &'a dyn Intake) -> Pending<'a, Disconnected> {
        Box::pin(connection::receive(self, intake))
    }

    fn send<'a>(&'a self, outgoing: &'a Outgoing) -> Pending<'a, Outcome> {
        Box::pin(async move {
            let message = match outbound::message(outgoing) {
                Ok(message) => message,
                Err(outcome) => return outcome,
            };
            self.outcome(self.client.send(&message).await)
        })
    }

    fn abilities(&self) -> Abilities<'_> {
        let edits = self.known().as_ref().is_some_and(|about| about.edits);
        Abilities {
            edit: edits.then_some(self),
            ..Abilities::default()
        }
    }
}

impl Edit for Relay {
    fn edit<'a>(&'a self, receipt: &'a Receipt, outgoing: &'a Outgoing) -> Pending<'a, Outcome> {
        Box::pin(async move {
            let message = match outbound::message(outgoing) {
                Ok(message) => message,
                Err(outcome) => return outcome,
            };
            self.outcome(self.client.change(&receipt.message, &message).await)
        })
    }
}
