//! What receiving is: who we are, which commands there are, where we stood, and then a connection for each shard until
//! one of them ends.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use reqwest::Method;
use serde_json::{Value, json};
use talaria_domain::adapter::{Disconnected, Identity, Intake};
use talaria_domain::ids::EventId;

use super::Discord;
use super::classify;
use super::client::Load;
use super::inbound::Listener;
use super::place::{Place, Shard};
use super::shard;
use super::socket::lost;
use super::wire::{Entrance, Named, Registered, User};
use crate::commands::COMMANDS;

/// More connections than this are not opened for one bot.
const MOST_SHARDS: u32 = 64;
/// What can be written behind a command.
const OPTION: &str = "text";
/// A text ("Application Commands", option types).
const STRING: u8 = 3;

/// Everything that the shards of one account share while it is connected.
pub(super) struct Hearing<'a> {
    pub(super) discord: &'a Discord,
    pub(super) intake: &'a dyn Intake,
    /// The bot's own id.
    pub(super) bot: String,
    /// Where the gateway is.
    pub(super) entrance: Entrance,
    place: Mutex<Place>,
    /// How many more sessions may be begun.
    beginnings: AtomicU32,
}

/// Receives until the connection ends; gives why it did.
pub(super) async fn receive(discord: &Discord, intake: &dyn Intake) -> Disconnected {
    match hear(discord, intake).await {
        Ok(never) => match never {},
        Err(ended) => ended,
    }
}

async fn hear(discord: &Discord, intake: &dyn Intake) -> Result<Infallible, Disconnected> {
    let me: User = discord.client.get(&["users", "@me"]).await?;
    let identity = Identity {
        id: me.id.as_str().into(),
        name: me.username,
    };
    intake.connected(&discord.account, &identity)?;
    tracing::info!(account = %discord.account.name, bot = me.id, name = identity.name, "connected");
    register(discord).await?;
    let kept = intake.kept(&discord.account).await;
    let kept = kept.map_err(|error| lost(error.to_string()))?;
    let entrance: Entrance = discord.client.get(&["gateway", "bot"]).await?;
    let count = entrance.shards.clamp(1, MOST_SHARDS);
    let hearing = Hearing {
        discord,
        intake,
        bot: me.id,
        place: Mutex::new(Place::read(kept.as_deref()).unwrap_or_default()),
        beginnings: AtomicU32::new(entrance.session_start_limit.remaining),
        entrance,
    };
    let shards = (0..count).map(|index| shard::serve(&hearing, Shard { index, count }));
    let mut shards: FuturesUnordered<_> = shards.collect();
    let ended = shards.next().await;
    drop(shards);
    Err(ended.unwrap_or_else(|| lost("there is no shard".to_owned())))
}

impl Hearing<'_> {
    /// Where the account stands.
    pub(super) fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps where the account stands. If that fails, more comes again than has to.
    pub(super) async fn keep(&self) {
        let place = self.place().write();
        let account = &self.discord.account;
        if let Err(error) = self.intake.keep(account, place).await {
            tracing::warn!(account = %account.name, why = error.reason, "the place could not be kept");
        }
    }

    /// Takes one of the sessions that may still be begun. Discord takes the token away from whoever begins too many.
    pub(super) fn may_begin(&self) -> bool {
        let less = |left: u32| left.checked_sub(1);
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        self.beginnings.fetch_update(set, fetch, less).is_ok()
    }

    /// Who listens, for the next event.
    pub(super) fn listener(&self) -> Listener<'_> {
        let now = self.discord.clock.now();
        Listener {
            account: &self.discord.account,
            bot: &self.bot,
            id: EventId::next(&*self.discord.ids, now),
            now,
        }
    }
}

/// Registers the commands, if others are registered. Without them they can still be typed, so only a token that is not
/// accepted is in the way.
async fn register(discord: &Discord) -> Result<(), Disconnected> {
    match registered(discord).await {
        Err(Disconnected::Lost { detail }) => {
            tracing::warn!(account = %discord.account.name, why = detail, "no commands in the menu");
            Ok(())
        }
        other => other,
    }
}

async fn registered(discord: &Discord) -> Result<(), Disconnected> {
    let application: Named = discord.client.get(&["applications", "@me"]).await?;
    let path = ["applications", &application.id, "commands"];
    let known: Vec<Registered> = discord.client.get(&path).await?;
    if is_same(&known) {
        return Ok(());
    }
    let load = Load::Json(menu());
    let reply = discord.client.ask(Method::PUT, &path, load).await;
    classify::received(reply).map(drop)
}

fn is_same(known: &[Registered]) -> bool {
    let mut known = known.to_vec();
    let mut wanted: Vec<Registered> = serde_json::from_value(menu()).unwrap_or_default();
    known.sort();
    wanted.sort();
    known == wanted
}

/// The commands as Discord takes them ("Application Commands", bulk overwrite).
fn menu() -> Value {
    let one = |(name, does): &(&str, &str)| {
        json!({
            "name": name,
            "description": does,
            "type": 1,
            "options": [{ "type": STRING, "name": OPTION, "description": "What goes with it", "required": false }],
        })
    };
    COMMANDS.iter().map(one).collect()
}
