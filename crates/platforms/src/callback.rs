//! Calls programs back: what ends after the turn of a program that named an address for it is posted there. Every post is
//! signed as the Standard Webhooks specification says and carries the part's id, the same in every attempt, so that a
//! receiver that honours it takes each once. Nothing comes in this way. `docs/callbacks.md` is the receiver's side.
//!
//! **Invariant:** nothing is posted to an address that the operator does not allow at that moment.

pub mod allow;
pub mod signature;

mod body;
mod classify;
mod client;

use std::sync::Arc;

use talaria_domain::adapter::{
    Abilities, Adapter, Disconnected, Identity, Intake, Outgoing, Pending,
};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::capabilities::{Capabilities, Capability, DeliveryWindow, TextLimit, TextUnit};
use talaria_domain::clock::Clock;
use talaria_domain::delivery::{Outcome, Receipt, Rejection};
use talaria_domain::names::{ChatId, ProfileName};
use talaria_domain::profile::Account;

use self::allow::AllowList;
use self::client::{Client, Post};
use self::signature::Signer;
use crate::Workshop;

const PLATFORM: &str = "callback";
const ACCOUNT: &str = "default";

/// What the operator decided about callbacks.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where programs may be called back.
    pub allow: AllowList,
    /// What posts are signed with.
    pub signer: Signer,
    /// Whose account it is.
    pub profile: ProfileName,
}

/// The place that an address named by a program stands for, or the words why it may not be called.
pub fn address(allow: &AllowList, url: &str) -> Result<Address, &'static str> {
    let url = allow.permit(url)?;
    Ok(Address {
        platform: PLATFORM.into(),
        account: ACCOUNT.into(),
        chat_kind: ChatKind::Webhook,
        chat: ChatId::from(String::from(url)),
        thread: None,
        reply_to: None,
    })
}

/// The way to programs that want to be called back.
pub struct Callback {
    account: Account,
    allow: AllowList,
    signer: Signer,
    client: Client,
    clock: Arc<dyn Clock>,
}

impl Callback {
    /// The adapter, on a client that follows no redirects.
    pub fn new(settings: Settings, workshop: &Workshop) -> Self {
        Self {
            account: Account {
                platform: PLATFORM.into(),
                name: ACCOUNT.into(),
                profile: settings.profile,
            },
            allow: settings.allow,
            signer: settings.signer,
            client: Client::of(workshop.client.clone()),
            clock: Arc::clone(&workshop.clock),
        }
    }

    async fn post(&self, outgoing: &Outgoing) -> Outcome {
        // The operator may have changed their mind since it was promised.
        let url = match self.allow.permit(outgoing.to.chat.as_str()) {
            Ok(url) => url,
            Err(why) => {
                return Outcome::Rejected {
                    class: Rejection::Forbidden,
                    detail: why.to_owned(),
                };
            }
        };
        let text = match body::of(outgoing) {
            Ok(text) => text,
            Err(outcome) => return outcome,
        };
        let id = outgoing.part.id.to_string();
        let seconds = self.clock.now().as_millis() / 1_000;
        let post = Post {
            url,
            signature: self.signer.sign(&id, seconds, &text),
            id,
            seconds,
            body: text,
        };
        match classify::outcome(self.client.post(&post).await) {
            Ok(()) => Outcome::Delivered {
                receipts: vec![Receipt {
                    message: post.id.into(),
                    at: self.clock.now(),
                }],
            },
            Err(outcome) => outcome,
        }
    }
}

impl Adapter for Callback {
    fn account(&self) -> &Account {
        &self.account
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            can: [Capability::IdempotentSend].into(),
            // One answer is one post, and a receiver sees one id.
            text_limit: TextLimit {
                max: usize::MAX,
                unit: TextUnit::Bytes,
            },
            window: DeliveryWindow::Always,
        }
    }

    fn receive<'a>(&'a self, intake: &'a dyn Intake) -> Pending<'a, Disconnected> {
        let identity = Identity {
            id: self.account.platform.as_str().into(),
            name: self.account.platform.to_string(),
        };
        match intake.connected(&self.account, &identity) {
            Ok(()) => Box::pin(std::future::pending()),
            Err(ended) => Box::pin(std::future::ready(ended)),
        }
    }

    fn send<'a>(&'a self, outgoing: &'a Outgoing) -> Pending<'a, Outcome> {
        Box::pin(self.post(outgoing))
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities::default()
    }
}
