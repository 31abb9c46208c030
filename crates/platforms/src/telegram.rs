//! Telegram, by its Bot API (core.telegram.org/bots/api): updates are asked for or called in, everything else is a method
//! with JSON. What a bot can do is the same everywhere; what it may do in a chat is told when it tries.

pub mod config;

mod classify;
mod client;
mod connection;
mod contest;
mod hook;
mod inbound;
mod outbound;
mod upload;
mod wire;
mod words;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use talaria_domain::adapter::{
    Abilities, Adapter, Disconnected, Edit, Intake, Mark, Media, NotFetched, Outgoing, Pending,
    Reactions, Sign, Threads, Typing,
};
use talaria_domain::address::Address;
use talaria_domain::capabilities::{Capabilities, Capability, DeliveryWindow};
use talaria_domain::clock::Clock;
use talaria_domain::delivery::{Outcome, Receipt};
use talaria_domain::event::{Attachment, ReactionChange};
use talaria_domain::ids::Ids;
use talaria_domain::names::MessageId;
use talaria_domain::profile::Account;

use self::classify::Reply;
use self::client::Client;
use self::config::{Hooked, TelegramSettings};
use self::contest::Contest;
use self::outbound::Request;
use self::wire::{ForumTopic, Sent, User};

/// How long a typing sign stays ("sendChatAction").
const SIGN_LASTS: Duration = Duration::from_secs(5);
/// The largest file that a bot may fetch ("getFile").
const MOST_FETCHED: u64 = 20 * 1024 * 1024;
/// How many marks of ours are remembered.
const REMEMBERED: usize = 1_000;

/// One bot.
pub struct Telegram {
    account: Account,
    client: Client,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    /// How the platform calls us, if it does.
    hooked: Option<Hooked>,
    known: Mutex<Known>,
}

/// What was learned since the process began; all of it can be learned again.
#[derive(Default)]
struct Known {
    /// The bot, as it last introduced itself.
    me: Option<User>,
    /// Whether the menu shows our commands.
    has_menu: bool,
    /// Somebody else who wants our updates.
    contest: Contest,
    /// Groups that became other chats: before and after.
    moved: VecDeque<(i64, i64)>,
    /// The marks that we put, oldest first. There is at most one of ours on a message.
    marks: VecDeque<((String, i64), Mark)>,
}

impl Telegram {
    /// The adapter for a bot, on a client that follows no redirects.
    pub fn new(
        settings: TelegramSettings,
        client: reqwest::Client,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
    ) -> Self {
        Self {
            account: settings.account,
            client: Client::of(client, settings.api_base, settings.token),
            clock,
            ids,
            hooked: settings.hooked,
            known: Mutex::default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of a group that became another chat.
    fn remember_move(&self, (before, after): (i64, i64)) {
        let moved = &mut self.known().moved;
        moved.retain(|(other, _)| *other != before);
        if moved.len() == REMEMBERED {
            moved.pop_front();
        }
        moved.push_back((before, after));
    }

    /// What this chat has become, if it has become another.
    fn moved_to(&self, chat: &str) -> Option<i64> {
        let chat: i64 = chat.parse().ok()?;
        let known = self.known();
        let found = known.moved.iter().find(|(before, _)| *before == chat);
        found.map(|(_, after)| *after)
    }

    async fn send_all(&self, outgoing: &Outgoing) -> Outcome {
        let requests = match self.requests(outgoing).await {
            Ok(requests) => requests,
            Err(outcome) => return outcome,
        };
        let mut receipts: Vec<Receipt> = Vec::new();
        for request in requests {
            match self.post(outgoing, request).await {
                Ok(receipt) => receipts.push(receipt),
                Err(outcome) if receipts.is_empty() => return outcome,
                // To be sent again would double what is there.
                Err(outcome) => {
                    let detail = format!("the file is there, not all of its caption: {outcome:?}");
                    return Outcome::Unknown { detail };
                }
            }
        }
        Outcome::Delivered { receipts }
    }

    async fn requests(&self, outgoing: &Outgoing) -> Result<Vec<Request>, Outcome> {
        let size = match &outgoing.file {
            Some(path) => {
                let about = tokio::fs::metadata(path).await;
                let about =
                    about.map_err(|error| outbound::invalid(format!("no such file: {error}")))?;
                about.len()
            }
            None => 0,
        };
        outbound::messages(outgoing, size)
    }

    /// Makes one message; gives its receipt. What could not be done where a group was is done where it is.
    async fn post(&self, outgoing: &Outgoing, request: Request) -> Result<Receipt, Outcome> {
        let chat = outgoing.to.chat.as_str();
        let mut moved = self.moved_to(chat);
        let mut request = match moved {
            Some(after) => request.moved_to(after),
            None => request,
        };
        let mut reply = self.hand_over(outgoing, &request).await;
        if let Some(after) = classify::moved_to(&reply) {
            if let Ok(before) = chat.parse() {
                self.remember_move((before, after));
            }
            moved = Some(after);
            request = request.moved_to(after);
            reply = self.hand_over(outgoing, &request).await;
        }
        if classify::is_no_picture(&reply) {
            reply = self.hand_over(outgoing, &request.as_document()).await;
        }
        let result = classify::outcome(reply)?;
        let sent: Sent = serde_json::from_value(result).map_err(|_| Outcome::Unknown {
            detail: "it was done, and the answer has no `message_id`".to_owned(),
        })?;
        let message = match moved {
            Some(after) => format!("{after}:{}", sent.message_id),
            None => sent.message_id.to_string(),
        };
        Ok(self.receipt(message.into()))
    }

    async fn hand_over(&self, outgoing: &Outgoing, request: &Request) -> Reply {
        match (&request.upload, &outgoing.file) {
            (None, _) => self.client.call(request).await,
            (Some(_), Some(path)) => {
                let boundary = format!("talaria-{}", outgoing.part.id);
                self.client.send_file(request, (path, &boundary)).await
            }
            (Some(_), None) => Reply::NotSent("there is no file to be sent".to_owned()),
        }
    }

    fn receipt(&self, message: MessageId) -> Receipt {
        let at = self.clock.now();
        Receipt { message, at }
    }

    async fn change(&self, receipt: &Receipt, outgoing: &Outgoing) -> Outcome {
        let Some(place) = place(receipt, &outgoing.to) else {
            return outbound::invalid("the receipt is not one of this platform".to_owned());
        };
        let reply = self.client.call(&outbound::change(outgoing, place)).await;
        if !classify::is_unchanged(&reply)
            && let Err(outcome) = classify::outcome(reply)
        {
            return outcome;
        }
        let receipts = vec![self.receipt(receipt.message.clone())];
        Outcome::Delivered { receipts }
    }

    /// Does what leaves no message behind.
    async fn gesture(&self, request: &Request) -> Outcome {
        match classify::outcome(self.client.call(request).await) {
            Ok(_) => Outcome::Delivered {
                receipts: Vec::new(),
            },
            Err(outcome) => outcome,
        }
    }

    async fn put_mark(
        &self,
        (at, message): (&Address, &MessageId),
        mark: Mark,
        change: ReactionChange,
    ) -> Outcome {
        let Ok(id) = message.as_str().parse::<i64>() else {
            return outbound::invalid("the message is not one of this platform".to_owned());
        };
        let key = (at.chat.to_string(), id);
        if change == ReactionChange::Removed && !self.is_last_mark(&key, mark) {
            // Another mark has taken its place; to take that away is not what was asked for.
            return Outcome::Delivered {
                receipts: Vec::new(),
            };
        }
        let outcome = self.gesture(&outbound::mark((at, id), mark, change)).await;
        if matches!(outcome, Outcome::Delivered { .. }) {
            let marks = &mut self.known().marks;
            marks.retain(|(other, _)| *other != key);
            if change == ReactionChange::Added {
                if marks.len() == REMEMBERED {
                    marks.pop_front();
                }
                marks.push_back((key, mark));
            }
        }
        outcome
    }

    fn is_last_mark(&self, key: &(String, i64), mark: Mark) -> bool {
        let known = self.known();
        let last = known.marks.iter().find(|(other, _)| other == key);
        last.is_none_or(|(_, last)| *last == mark)
    }

    async fn open_topic(&self, parent: &Address, name: &str) -> Result<Address, Outcome> {
        let reply = self.client.call(&outbound::open(parent, name)).await;
        let result = classify::outcome(reply)?;
        let topic: ForumTopic = serde_json::from_value(result).map_err(|_| Outcome::Unknown {
            detail: "it was done, and the answer has no `message_thread_id`".to_owned(),
        })?;
        Ok(Address {
            thread: Some(topic.message_thread_id.to_string().into()),
            reply_to: None,
            ..parent.clone()
        })
    }
}

/// The chat and the number of a message of ours. The chat is in the receipt where it is another than it was sent to.
fn place(receipt: &Receipt, to: &Address) -> Option<(serde_json::Value, i64)> {
    let id = receipt.message.as_str();
    match id.split_once(':') {
        Some((chat, id)) => Some((chat.parse::<i64>().ok()?.into(), id.parse().ok()?)),
        None => Some((outbound::chat(to), id.parse().ok()?)),
    }
}

impl Adapter for Telegram {
    fn account(&self) -> &Account {
        &self.account
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            can: [Capability::Prompts].into_iter().collect(),
            text_limit: outbound::TEXT_LIMIT,
            window: DeliveryWindow::Always,
        }
    }

    fn receive<'a>(&'a self, intake: &'a dyn Intake) -> Pending<'a, Disconnected> {
        Box::pin(connection::receive(self, intake))
    }

    fn send<'a>(&'a self, outgoing: &'a Outgoing) -> Pending<'a, Outcome> {
        Box::pin(self.send_all(outgoing))
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            edit: Some(self),
            typing: Some(self),
            reactions: Some(self),
            threads: Some(self),
            media: Some(self),
            hook: self.hooked.as_ref().map(|_| self as _),
        }
    }
}

impl Edit for Telegram {
    fn edit<'a>(&'a self, receipt: &'a Receipt, outgoing: &'a Outgoing) -> Pending<'a, Outcome> {
        Box::pin(self.change(receipt, outgoing))
    }
}

impl Typing for Telegram {
    fn lasts(&self) -> Duration {
        SIGN_LASTS
    }

    fn sign<'a>(&'a self, at: &'a Address, sign: Sign) -> Pending<'a, Outcome> {
        Box::pin(async move {
            match sign {
                Sign::On => self.gesture(&outbound::typing(at)).await,
                // It goes by itself, or with the next message.
                Sign::Off => Outcome::Delivered {
                    receipts: Vec::new(),
                },
            }
        })
    }
}

impl Reactions for Telegram {
    fn mark<'a>(
        &'a self,
        message: (&'a Address, &'a MessageId),
        mark: Mark,
        change: ReactionChange,
    ) -> Pending<'a, Outcome> {
        Box::pin(self.put_mark(message, mark, change))
    }
}

impl Threads for Telegram {
    fn open<'a>(
        &'a self,
        parent: &'a Address,
        name: &'a str,
    ) -> Pending<'a, Result<Address, Outcome>> {
        Box::pin(self.open_topic(parent, name))
    }
}

impl Media for Telegram {
    fn most_bytes(&self) -> u64 {
        outbound::MOST_BYTES
    }

    fn fetch<'a>(
        &'a self,
        attachment: &'a Attachment,
        most: u64,
    ) -> Pending<'a, Result<Vec<u8>, NotFetched>> {
        Box::pin(
            self.client
                .fetch(&attachment.locator, most.min(MOST_FETCHED)),
        )
    }
}
