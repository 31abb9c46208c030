//! What the gateway says about its parts, and when all of them together are ready. Alive means that a message can get
//! in and out, so a part that cannot do its work makes the whole not ready, and says which one it is.

use schemars::JsonSchema;
use serde::Serialize;
use talaria_domain::clock::Timestamp;

use crate::contract::words;

/// Where the gateway's condition can be asked for.
pub trait Health: Send + Sync {
    /// How everything is right now. Answers at once.
    fn report(&self) -> Report;
}

/// How everything is.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Report {
    /// Every adapter and every loop.
    pub parts: Vec<PartReport>,
    /// How many lanes have a turn under way.
    pub lanes_running: usize,
    /// What was turned away since the gateway started.
    pub turned_away: TurnedAway,
}

/// What was turned away since the gateway started.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct TurnedAway {
    /// What was not for us: said to the room, or by a program.
    pub ignored: u64,
    /// What somebody did who may not.
    pub refused: u64,
}

/// How one part of the gateway is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PartReport {
    /// Which.
    pub name: String,
    /// How it is.
    pub state: Condition,
    /// Why, where there is something to say.
    pub detail: Option<String>,
    /// When something last came in through it.
    #[schemars(with = "Option<words::Time>")]
    pub last_receive: Option<Timestamp>,
    /// When something last went out through it.
    #[schemars(with = "Option<words::Time>")]
    pub last_send: Option<Timestamp>,
}

/// How a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Not there yet.
    Starting,
    /// Does its work.
    Connected,
    /// Does its work, with difficulty.
    Degraded,
    /// Its credential is not accepted.
    AuthFailed,
    /// Somebody logged it out.
    LoggedOut,
    /// Somebody else uses its credential.
    Conflict,
    /// Not at work.
    Stopped,
}

impl Condition {
    /// Whether messages get through.
    pub const fn is_ready(self) -> bool {
        matches!(self, Self::Connected | Self::Degraded)
    }
}
