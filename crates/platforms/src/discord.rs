//! Discord: a bot on its gateway (version 10, JSON) and its HTTP API. What arrives is heard on a websocket that
//! acknowledges nothing, so where we stand is kept with intake (`discord/place.rs`); what goes out waits for Discord's
//! own limits (`discord/limits.rs`).

pub mod config;

mod arrivals;
mod channels;
mod classify;
mod client;
mod connection;
mod gateway;
mod inbound;
mod limits;
mod multipart;
mod outbound;
mod place;
mod shard;
mod socket;
mod upload;
mod wire;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::{Method, Url};
use serde_json::Value;
use talaria_domain::adapter::{
    Abilities, Adapter, Disconnected, Edit, Intake, Mark, Media, NotFetched, Outgoing, Pending,
    Reactions, Sign, Threads, Typing,
};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::capabilities::{Capabilities, Capability, DeliveryWindow};
use talaria_domain::clock::Clock;
use talaria_domain::delivery::{Outcome, Receipt, Rejection};
use talaria_domain::event::{Attachment, ReactionChange};
use talaria_domain::ids::Ids;
use talaria_domain::names::MessageId;
use talaria_domain::profile::Account;
use talaria_domain::secret::SecretString;

use self::channels::Channels;
use self::client::{Client, Load};
use self::wire::Message;
use crate::Workshop;

/// How long a typing sign stays ("Channel Resource", trigger typing indicator).
const TYPING: Duration = Duration::from_secs(10);
/// What everybody may upload ("API Reference", uploading files).
const MOST_BYTES: u64 = 10 * 1024 * 1024;

/// One bot.
pub struct Discord {
    account: Account,
    client: Client,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    /// What is known about channels.
    channels: Mutex<Channels>,
}

impl Discord {
    /// The adapter for a bot, at this address and with this token, on a client that follows no redirects.
    pub fn of(account: Account, (base, token): (Url, SecretString), workshop: &Workshop) -> Self {
        Self {
            account,
            client: Client::of(workshop.client.clone(), base, token),
            clock: Arc::clone(&workshop.clock),
            ids: Arc::clone(&workshop.ids),
            channels: Mutex::default(),
        }
    }

    fn channels(&self) -> MutexGuard<'_, Channels> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Makes a part be there, as a message of its own or as what a message is changed to.
    async fn show(
        &self,
        outgoing: &Outgoing,
        body: Result<Value, Outcome>,
        changed: Option<&MessageId>,
    ) -> Result<MessageId, Outcome> {
        let load = upload::load(outgoing, body?).await?;
        let channel = outbound::channel(&outgoing.to);
        let reply = match changed {
            Some(id) => {
                let path = ["channels", channel, "messages", id.as_str()];
                self.client.ask(Method::PATCH, &path, load).await
            }
            None => {
                let path = ["channels", channel, "messages"];
                self.client.ask(Method::POST, &path, load).await
            }
        };
        classify::sent(reply, changed)
    }

    /// Does something that leaves nothing to be shown.
    async fn act(&self, method: Method, path: &[&str]) -> Outcome {
        let reply = self.client.ask(method, path, Load::Nothing).await;
        match classify::done(reply) {
            Ok(_) => nothing_to_show(),
            Err(outcome) => outcome,
        }
    }
}

const fn nothing_to_show() -> Outcome {
    Outcome::Delivered {
        receipts: Vec::new(),
    }
}

impl Adapter for Discord {
    fn account(&self) -> &Account {
        &self.account
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            can: [Capability::Prompts].into(),
            text_limit: outbound::LIMIT,
            window: DeliveryWindow::Always,
        }
    }

    fn receive<'a>(&'a self, intake: &'a dyn Intake) -> Pending<'a, Disconnected> {
        Box::pin(connection::receive(self, intake))
    }

    fn send<'a>(&'a self, outgoing: &'a Outgoing) -> Pending<'a, Outcome> {
        Box::pin(async move {
            let body = outbound::message(outgoing);
            self.outcome(self.show(outgoing, body, None).await)
        })
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            edit: Some(self),
            typing: Some(self),
            reactions: Some(self),
            threads: Some(self),
            media: Some(self),
            hook: None,
        }
    }
}

impl Edit for Discord {
    fn edit<'a>(&'a self, receipt: &'a Receipt, outgoing: &'a Outgoing) -> Pending<'a, Outcome> {
        Box::pin(async move {
            let body = outbound::change(outgoing);
            let changed = self.show(outgoing, body, Some(&receipt.message)).await;
            self.outcome(changed)
        })
    }
}

impl Typing for Discord {
    fn lasts(&self) -> Duration {
        TYPING
    }

    fn sign<'a>(&'a self, at: &'a Address, sign: Sign) -> Pending<'a, Outcome> {
        Box::pin(async move {
            match sign {
                Sign::On => {
                    let path = ["channels", outbound::channel(at), "typing"];
                    self.act(Method::POST, &path).await
                }
                // It goes by itself, or with the next message.
                Sign::Off => nothing_to_show(),
            }
        })
    }
}

impl Reactions for Discord {
    fn mark<'a>(
        &'a self,
        (at, message): (&'a Address, &'a MessageId),
        mark: Mark,
        change: ReactionChange,
    ) -> Pending<'a, Outcome> {
        Box::pin(async move {
            let picture = match mark {
                Mark::Seen => "👀",
                Mark::Done => "✅",
                Mark::Failed => "❌",
            };
            let method = match change {
                ReactionChange::Added => Method::PUT,
                ReactionChange::Removed => Method::DELETE,
            };
            let (channel, message) = (outbound::channel(at), message.as_str());
            let path = [
                "channels",
                channel,
                "messages",
                message,
                "reactions",
                picture,
                "@me",
            ];
            self.act(method, &path).await
        })
    }
}

impl Threads for Discord {
    fn open<'a>(
        &'a self,
        parent: &'a Address,
        name: &'a str,
    ) -> Pending<'a, Result<Address, Outcome>> {
        Box::pin(async move {
            let (body, anchor) =
                outbound::thread(parent, name).ok_or_else(|| Outcome::Rejected {
                    class: Rejection::Invalid,
                    detail: "there are no threads in a direct chat".to_owned(),
                })?;
            let chat = parent.chat.as_str();
            let path = match anchor {
                Some(message) => vec!["channels", chat, "messages", message, "threads"],
                None => vec!["channels", chat, "threads"],
            };
            let reply = self.client.ask(Method::POST, &path, Load::Json(body)).await;
            let thread = classify::sent(reply, None)?;
            Ok(Address {
                thread: Some(thread.as_str().into()),
                reply_to: None,
                chat_kind: match parent.chat_kind {
                    ChatKind::Forum => ChatKind::Forum,
                    _ => ChatKind::Thread,
                },
                ..parent.clone()
            })
        })
    }
}

impl Media for Discord {
    fn most_bytes(&self) -> u64 {
        MOST_BYTES
    }

    fn fetch<'a>(
        &'a self,
        attachment: &'a Attachment,
        most: u64,
    ) -> Pending<'a, Result<Vec<u8>, NotFetched>> {
        Box::pin(async move {
            let fetched = self.fetched(&attachment.locator, most).await;
            fetched.map_err(|reason| NotFetched { reason })
        })
    }
}

impl Discord {
    /// A file, by way of its message: that says where the file is today.
    async fn fetched(&self, locator: &str, most: u64) -> Result<Vec<u8>, String> {
        let found = inbound::located(locator).ok_or("this is no file of this platform")?;
        let (channel, message, file) = found;
        let path = ["channels", channel, "messages", message];
        let message: Message = match self.client.look(&path, Load::Nothing).await {
            Ok(message) => message,
            Err(
                Outcome::Rejected { detail, .. }
                | Outcome::NotSent { detail, .. }
                | Outcome::Unknown { detail },
            ) => return Err(detail),
            Err(Outcome::Delivered { .. }) => return Err("nothing was answered".to_owned()),
        };
        let mut files = message.attachments.iter();
        let file = files
            .find(|it| it.id == file)
            .ok_or("it is not there any more")?;
        if file.size.is_some_and(|size| size > most) {
            return Err(format!("it is larger than {most} bytes"));
        }
        self.client.file(&file.url, most).await
    }
}
