//! Ids that sort by time. Every durable thing has an id type of its own, so that a run's id cannot be handed
//! in where a session's is meant; [`Ids`] is where new ones come from, so that a simulated run replays to the
//! same ids.

use std::fmt;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use uuid::{ContextV7, Timestamp as UuidTime, Uuid};

use crate::clock::Timestamp;

/// Where new ids come from.
pub trait Ids: Send + Sync {
    /// A new id, greater than every earlier one from the same source.
    fn next(&self, now: Timestamp) -> Uuid;
}

/// Random ids (UUIDv7).
///
/// Ids of one source keep their order within a millisecond, too.
#[derive(Debug)]
pub struct RandomIds(Mutex<ContextV7>);

impl Default for RandomIds {
    fn default() -> Self {
        Self(Mutex::new(ContextV7::new()))
    }
}

impl Ids for RandomIds {
    fn next(&self, now: Timestamp) -> Uuid {
        let millis = u64::try_from(now.as_millis()).unwrap_or(0);
        let nanos = u32::try_from(millis % 1_000).unwrap_or(0) * 1_000_000;
        // A poisoned lock means another thread panicked between two ids: the counter is still good.
        let context = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        Uuid::new_v7(UuidTime::from_unix(&*context, millis / 1_000, nanos))
    }
}

/// Ids that count up from a seed: the same seed gives the same ids.
#[derive(Debug)]
pub struct SeededIds {
    seed: u16,
    count: AtomicU64,
}

impl SeededIds {
    /// A source whose ids differ from those of every other seed.
    pub const fn from_seed(seed: u16) -> Self {
        Self {
            seed,
            count: AtomicU64::new(0),
        }
    }
}

impl Ids for SeededIds {
    fn next(&self, now: Timestamp) -> Uuid {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let mut tail = [0_u8; 10];
        tail[..2].copy_from_slice(&self.seed.to_be_bytes());
        tail[2..].copy_from_slice(&count.to_be_bytes());
        let millis = u64::try_from(now.as_millis()).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(millis, &tail).into_uuid()
    }
}

/// The time that an id of ours begins with, as its bytes; none for a text that is no such id in its usual spelling.
pub fn time_of(text: &str) -> Option<[u8; 6]> {
    let id = Uuid::try_parse(text).ok().filter(|_| text.len() == 36)?;
    let is_ours = id.get_version_num() == 7;
    id.as_bytes().first_chunk().copied().filter(|_| is_ours)
}

/// A text that should have been an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} such as 0198c0de-0000-7000-8000-000000000001, found {found:?}")]
pub struct NotAnId {
    expected: &'static str,
    found: String,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $what:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// A new one.
            pub fn next(ids: &dyn Ids, now: Timestamp) -> Self {
                Self(ids.next(now))
            }

            /// The one these sixteen bytes stand for.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            /// Its sixteen bytes, as the ledger keeps them.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                let refused = |_| NotAnId { expected: $what, found: text.to_owned() };
                Uuid::parse_str(text).map(Self).map_err(refused)
            }
        }
    )*};
}

ids! {
    /// Something that arrived.
    EventId, "an event id";
    /// One conversation.
    SessionId, "a session id";
    /// One execution of a runner.
    RunId, "a run id";
    /// One logical answer.
    ReplyId, "a reply id";
    /// One visible piece of an answer.
    PartId, "a part id";
    /// Work that outlives its turn.
    JobId, "a job id";
    /// Something that a person is asked.
    QuestionId, "a question id";
    /// Something given up, for an operator to look at.
    DeadId, "a dead letter id";
    /// A conversation on its way to another place.
    HandoffId, "a handoff id";
    /// Where shared tasks are.
    BoardId, "a board id";
    /// One piece of shared work.
    TaskId, "a task id";
    /// Who hears of a task.
    SubscriptionId, "a subscription id";
    /// When to run.
    ScheduleId, "a schedule id";
}

impl EventId {
    /// The id of the conversation that begins with this event, if one does. It is known before the event is recorded, so
    /// that nobody misses what happens first.
    pub const fn opens(self) -> SessionId {
        SessionId(self.0)
    }

    /// The id of the run of a turn that begins before this event is recorded: nothing else can be its first.
    pub const fn begins(self) -> RunId {
        RunId(self.0)
    }
}

#[cfg(test)]
mod tests;
