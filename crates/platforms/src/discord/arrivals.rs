//! Hands what was heard to intake, one by one and in order, and keeps where we stand. A new session after an old one
//! leaves a gap: what was written in it is asked for, channel by channel, before anything that is new.
//!
//! **Invariant:** the place moves past an event only after intake has accepted it.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use talaria_domain::adapter::{Accepted, Disconnected};
use talaria_domain::delivery::Outcome;
use talaria_domain::event::{Event, ReactionChange};
use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep, sleep_until};

use super::channels::{Missing, Spot, kind};
use super::client::Load;
use super::connection::Hearing;
use super::gateway::Dispatch;
use super::inbound;
use super::place::{Session, Shard};
use super::socket::lost;
use super::wire::{Channel, Guild, Interaction, Message, Named, Reacted, Ready};

/// How long an event that was not accepted is left alone.
const AGAIN: Duration = Duration::from_millis(500);
/// How often the place is kept.
const KEEP: Duration = Duration::from_secs(1);
/// How often Discord is asked again for something that it did not answer.
const MOST_TRIES: u32 = 10;
/// How much is asked for at once, and how often, for one channel.
const PAGE: usize = 100;
const MOST_PAGES: usize = 10;

/// Hands in until there is nothing more. An error ends the connection.
pub(super) async fn hand_in(
    hearing: &Hearing<'_>,
    shard: Shard,
    queue: Receiver<Dispatch>,
) -> Result<(), Disconnected> {
    let mut hands = Hands {
        hearing,
        shard,
        queue,
        gap: None,
        unreadable: 0,
    };
    let mut keep_at = None;
    loop {
        let due = keep_at.unwrap_or_else(Instant::now);
        let dispatch = tokio::select! {
            biased;
            () = sleep_until(due), if keep_at.is_some() => {
                keep_at = None;
                hearing.keep().await;
                continue;
            }
            dispatch = hands.queue.recv() => dispatch,
        };
        let Some(dispatch) = dispatch else {
            return Ok(());
        };
        hands.take(dispatch).await?;
        keep_at = keep_at.or_else(|| Some(Instant::now() + KEEP));
    }
}

struct Hands<'a> {
    hearing: &'a Hearing<'a>,
    shard: Shard,
    queue: Receiver<Dispatch>,
    /// Everything before this id was told to us before the session began; none if nothing was missed.
    gap: Option<u64>,
    /// What could not be read.
    unreadable: u64,
}

impl Hands<'_> {
    async fn take(&mut self, dispatch: Dispatch) -> Result<(), Disconnected> {
        // Whatever comes first says that the session is there.
        self.hearing.connected()?;
        let Dispatch { seq, name, body } = dispatch;
        match name.as_str() {
            "READY" => self.begin(seq, body).await?,
            "GUILD_CREATE" => self.guild(body).await?,
            "THREAD_LIST_SYNC" => drop(self.learn_all(body)),
            "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE" => {
                self.learn(body);
            }
            "CHANNEL_DELETE" | "THREAD_DELETE" => {
                if let Some(gone) = self.read::<Named>(&name, body) {
                    self.hearing.place().forget(&gone.id);
                }
            }
            "MESSAGE_CREATE" => {
                if let Some(message) = self.read(&name, body) {
                    self.message(message, Came::Live).await?;
                }
            }
            "MESSAGE_UPDATE" => {
                if let Some(message) = self.read::<Message>(&name, body) {
                    self.edited(message).await?;
                }
            }
            "MESSAGE_REACTION_ADD" => self.reacted(seq, body, ReactionChange::Added).await?,
            "MESSAGE_REACTION_REMOVE" => self.reacted(seq, body, ReactionChange::Removed).await?,
            "INTERACTION_CREATE" => {
                if let Some(interaction) = self.read(&name, body) {
                    self.interaction(interaction).await?;
                }
            }
            _ => {}
        }
        self.hearing.place().pass(self.shard, seq);
        Ok(())
    }

    /// What somebody said cannot be read: it is counted and passed over, and its words are not told.
    fn read<T: DeserializeOwned>(&mut self, name: &str, body: Value) -> Option<T> {
        let read = serde_json::from_value(body).ok();
        if read.is_none() {
            self.unreadable += 1;
            let account = &self.hearing.discord.account.name;
            tracing::warn!(%account, name, so_far = self.unreadable, "an event cannot be read");
        }
        read
    }

    /// A new session. It counts only after the gap before it is closed, so that a crash meanwhile leaves the gap open.
    async fn begin(&mut self, seq: u64, body: Value) -> Result<(), Disconnected> {
        let Some(ready) = self.read::<Ready>("READY", body) else {
            return Err(lost("the gateway's READY cannot be read".to_owned()));
        };
        let (floor, known) = {
            let place = self.hearing.place();
            (place.floor(), place.channels())
        };
        self.gap = floor;
        for (channel, last) in known {
            self.fill(&channel, &last).await?;
        }
        let session = Session {
            id: ready.session_id,
            url: ready.resume_gateway_url,
            seq,
            count: self.shard.count,
        };
        self.hearing.place().begin(self.shard, session);
        // At once: a crash within the first second would leave nothing that could be taken up again.
        self.hearing.keep().await;
        Ok(())
    }

    /// A guild, with its channels. One where somebody wrote in the gap for the first time is asked as well.
    async fn guild(&mut self, body: Value) -> Result<(), Disconnected> {
        let channels = self.learn_all(body);
        let Some(gap) = self.gap else {
            return Ok(());
        };
        for channel in channels {
            let last = channel.last_message_id.and_then(|id| id.parse().ok());
            let is_known = {
                let known = self.hearing.place().channels();
                known.iter().any(|(id, _)| *id == channel.id)
            };
            if !is_known && last.is_some_and(|last: u64| last > gap) {
                self.fill(&channel.id, &gap.to_string()).await?;
            }
        }
        Ok(())
    }

    fn learn_all(&mut self, body: Value) -> Vec<Channel> {
        let guild: Guild = serde_json::from_value(body).unwrap_or_default();
        let all = guild.channels.into_iter().chain(guild.threads);
        all.filter_map(|channel| self.learn(channel)).collect()
    }

    fn learn(&mut self, body: Value) -> Option<Channel> {
        let channel: Channel = self.read("a channel", body)?;
        self.hearing.discord.channels().learn(&channel);
        Some(channel)
    }

    /// Hands in what was written in a channel after this message.
    async fn fill(&mut self, channel: &str, after: &str) -> Result<(), Disconnected> {
        let mut after = after.to_owned();
        for _ in 0..MOST_PAGES {
            let page = self.page(channel, &after).await?;
            let is_last = page.len() < PAGE;
            // Newest first, as Discord gives them.
            for body in page.into_iter().rev() {
                let Some(message) = self.read::<Message>("a message", body) else {
                    continue;
                };
                after.clone_from(&message.id);
                self.message(message, Came::Late).await?;
            }
            if is_last {
                return Ok(());
            }
        }
        let account = &self.hearing.discord.account.name;
        tracing::warn!(%account, channel, "more was written while we were away than is read again");
        Ok(())
    }

    async fn page(&mut self, channel: &str, after: &str) -> Result<Vec<Value>, Disconnected> {
        let fields = || {
            let (after, limit) = (after.to_owned(), PAGE.to_string());
            Load::Query(vec![("after", after), ("limit", limit)])
        };
        let path = ["channels", channel, "messages"];
        let page = self.look(&path, fields).await?;
        if page.is_none() {
            self.hearing.place().forget(channel);
        }
        Ok(page.unwrap_or_default())
    }

    /// What is there; none if it is not for us. Whatever goes by is waited for.
    async fn look<T: DeserializeOwned>(
        &self,
        path: &[&str],
        load: impl Fn() -> Load,
    ) -> Result<Option<T>, Disconnected> {
        let mut tries = 0;
        loop {
            let detail = match self.hearing.discord.client.look(path, load()).await {
                Ok(found) => return Ok(Some(found)),
                Err(Outcome::Rejected { .. } | Outcome::Delivered { .. }) => return Ok(None),
                Err(Outcome::NotSent {
                    retry_after: Some(wait),
                    ..
                }) if !self.queue.is_closed() => {
                    // Not polling: Discord said when.
                    sleep(wait).await;
                    continue;
                }
                Err(Outcome::NotSent { detail, .. } | Outcome::Unknown { detail }) => detail,
            };
            tries += 1;
            if tries == MOST_TRIES || self.queue.is_closed() {
                return Err(lost(detail));
            }
            // Not polling: Discord does not tell when it is well again.
            sleep(AGAIN * tries).await;
        }
    }

    async fn message(&self, message: Message, came: Came) -> Result<(), Disconnected> {
        let (channel, id) = (message.channel_id.clone(), message.id.clone());
        let is_direct = came == Came::Live && message.guild_id.is_none();
        let spot = self.spot(&channel, is_direct).await?;
        let event = inbound::message(self.hearing.listener(), &spot, &message);
        if let Some(event) = event {
            self.accept(event).await?;
        }
        self.hearing.place().saw(&channel, &id);
        Ok(())
    }

    async fn edited(&self, message: Message) -> Result<(), Disconnected> {
        let is_direct = message.guild_id.is_none();
        let spot = self.spot(&message.channel_id, is_direct).await?;
        match inbound::edited(self.hearing.listener(), &spot, &message) {
            Some(event) => self.accept(event).await.map(drop),
            None => Ok(()),
        }
    }

    async fn reacted(
        &mut self,
        seq: u64,
        body: Value,
        change: ReactionChange,
    ) -> Result<(), Disconnected> {
        let Some(reacted) = self.read::<Reacted>("a reaction", body) else {
            return Ok(());
        };
        let session = self.hearing.place().session(self.shard).cloned();
        let place = format!("{}:{seq}", session.map(|it| it.id).unwrap_or_default());
        let spot = self
            .spot(&reacted.channel_id, reacted.guild_id.is_none())
            .await?;
        let listener = self.hearing.listener();
        match inbound::reacted(listener, &spot, reacted, (change, &place)) {
            Some(event) => self.accept(event).await.map(drop),
            None => Ok(()),
        }
    }

    /// Whoever used a button or a command is told that it arrived, after it did. A stranger is told nothing.
    async fn interaction(&self, used: Interaction) -> Result<(), Disconnected> {
        if let Some(channel) = &used.channel {
            self.hearing.discord.channels().learn(channel);
        }
        let Some(channel) = used.channel_id.clone() else {
            return Ok(());
        };
        let spot = self.spot(&channel, used.guild_id.is_none()).await?;
        let (id, token) = (used.id.clone(), used.token.clone());
        let is_button = used.message.is_some();
        let Some(event) = inbound::interaction(self.hearing.listener(), &spot, used) else {
            return Ok(());
        };
        let accepted = self.accept(event).await?;
        let with = if is_button {
            // Nothing to show: what follows comes as a message.
            json!({ "type": 6 })
        } else if matches!(accepted, Accepted::Refused { .. }) {
            return Ok(());
        } else {
            json!({ "type": 4, "data": { "content": "Got it.", "flags": 64 } })
        };
        if let Err(outcome) = self
            .hearing
            .discord
            .client
            .answer((&id, &token), with)
            .await
        {
            let account = &self.hearing.discord.account.name;
            tracing::debug!(%account, ?outcome, "an interaction could not be answered");
        }
        Ok(())
    }

    /// Where a channel is. One that nobody tells about is taken for what it seems to be.
    async fn spot(&self, channel: &str, is_direct: bool) -> Result<Spot, Disconnected> {
        if is_direct {
            self.hearing
                .discord
                .channels()
                .assume(channel, kind::DIRECT);
        }
        loop {
            let found = self.hearing.discord.channels().spot(channel);
            let missing = match found {
                Ok(spot) => return Ok(spot),
                Err(Missing(missing)) => missing,
            };
            let asked: Option<Channel> =
                self.look(&["channels", &missing], || Load::Nothing).await?;
            let mut channels = self.hearing.discord.channels();
            if let Some(asked) = asked {
                channels.learn(&asked);
            }
            channels.assume(&missing, kind::TEXT);
        }
    }

    /// Hands an event in, until intake has it. While the connection lasts there is nothing better to do: whatever
    /// comes after it may not overtake it.
    async fn accept(&self, event: Event) -> Result<Accepted, Disconnected> {
        loop {
            let refused = match self.hearing.intake.accept(event.clone()).await {
                Ok(accepted) => return Ok(accepted),
                Err(refused) => refused,
            };
            let account = &self.hearing.discord.account.name;
            tracing::warn!(%account, why = refused.reason, "not accepted");
            if self.queue.is_closed() {
                return Err(lost(refused.to_string()));
            }
            // Not polling: intake refused for now, and does not tell when it will take more.
            sleep(AGAIN).await;
        }
    }
}

/// How a message came.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Came {
    /// Over the gateway.
    Live,
    /// Asked for afterwards; then it does not say whether it was written in a guild.
    Late,
}
