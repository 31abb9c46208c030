//! What a run does through its host: remember, look back, ask a person, plan, use a resource. Every one of them is checked
//! against the run's frozen authority at the moment it happens, so that a revocation counts at once; a refusal has a
//! code for programs and a sentence for people.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::adapter::Pending;
use crate::authority::{Grant, ResourceKind};
use crate::clock::Timestamp;
use crate::event::Event;
use crate::ids::EventId;
use crate::run::Action;
use crate::runner::Said;
use crate::schedule::{Schedule, ScheduleRequest};
use crate::scope::StateScope;

/// What a run may do through its host.
pub trait Effects: Send + Sync {
    /// The grant for one operation on one resource, if the run has it now.
    fn check(&self, kind: ResourceKind, name: &str, operation: &str)
    -> Result<Arc<Grant>, Refusal>;

    /// Reads or changes what is remembered.
    fn remember(
        &self,
        memory: Memory,
        request: MemoryRequest,
    ) -> Pending<'_, Result<MemoryAnswer, Refusal>>;

    /// Looks into the run's own conversation, and into no other.
    fn look_back(&self, request: PastRequest) -> Pending<'_, Result<PastAnswer, Refusal>>;

    /// Asks a person, and waits for their answer, the end of the time, or the end of the run.
    fn ask(&self, question: Question) -> Pending<'_, Result<Answer, Refusal>>;

    /// Makes, lists, pauses, resumes or removes schedules of whoever asks in the run's conversation, and nobody else's.
    /// Gives those that it was about, as they are afterwards.
    fn schedule(&self, request: ScheduleRequest) -> Pending<'_, Result<Vec<Schedule>, Refusal>>;
}

/// Which memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// State of this scope, as the run's binding allows.
    State(StateScope),
    /// The runner's own store, the same in every conversation.
    Plugin,
    /// The profile's store, shared by its runners.
    Workspace,
}

/// What is done with a memory.
#[derive(Debug, Clone, PartialEq)]
pub enum MemoryRequest {
    /// Read one value.
    Get {
        /// Its key.
        key: String,
    },
    /// Remember a value.
    Set {
        /// Its key.
        key: String,
        /// The value.
        value: Value,
        /// The version that the caller knows, zero for none yet; without it the last write wins.
        expected: Option<i64>,
    },
    /// Forget a value.
    Delete {
        /// Its key.
        key: String,
    },
    /// Read what begins like this.
    List {
        /// The beginning, to the letter.
        prefix: String,
        /// Only keys after this one.
        after: Option<String>,
        /// At most so many.
        limit: usize,
    },
    /// Forget everything.
    Clear,
}

/// What a memory answers.
#[derive(Debug, Clone, PartialEq)]
pub enum MemoryAnswer {
    /// To [`MemoryRequest::Get`].
    Found(Option<Kept>),
    /// To [`MemoryRequest::Set`]: the value's version now.
    Stored {
        /// How often it was set.
        version: i64,
    },
    /// To [`MemoryRequest::Delete`]: whether there was one.
    Deleted(bool),
    /// To [`MemoryRequest::List`], by key.
    Listed {
        /// What was found.
        kept: Vec<(String, Kept)>,
        /// Whether there is more after the last of them.
        has_more: bool,
    },
    /// To [`MemoryRequest::Clear`]: how many there were.
    Cleared(u64),
}

/// A value that is remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The value.
    pub value: Value,
    /// How often it was set.
    pub version: i64,
    /// When it was first set. Forgetting ends that.
    pub created_at: Timestamp,
    /// When it was last set.
    pub updated_at: Timestamp,
}

/// What is looked for in the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastRequest {
    /// The newest of what was said before a number.
    Page {
        /// Only what has a smaller number.
        before: Option<i64>,
        /// At most so many.
        limit: usize,
    },
    /// What was said with these words.
    Search {
        /// The words.
        words: String,
        /// At most so many.
        limit: usize,
    },
    /// One event.
    Event {
        /// Which.
        id: EventId,
    },
}

/// What was found in the past.
#[derive(Debug, Clone, PartialEq)]
pub enum PastAnswer {
    /// What was said, in order.
    Said {
        /// Each with its number and its time.
        lines: Vec<PastLine>,
        /// Whether there is more before the first of them.
        has_more: bool,
    },
    /// An event of this conversation.
    Event(Box<Event>),
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq)]
pub struct PastLine {
    /// Its number in the conversation.
    pub seq: i64,
    /// What was said, and by whom.
    pub said: Said,
    /// When.
    pub at: Timestamp,
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What.
    pub action: Action,
    /// For how long.
    pub patience: Duration,
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Yes.
    Approved,
    /// No.
    Denied,
    /// In words, or one of the choices.
    Said {
        /// To the letter.
        text: String,
    },
}

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{reason}")]
pub struct Refusal {
    /// For programs.
    pub code: RefusalCode,
    /// For people.
    pub reason: String,
}

impl Refusal {
    /// A refusal.
    pub fn new(code: RefusalCode, reason: impl Into<String>) -> Self {
        Self {
            code,
            reason: reason.into(),
        }
    }
}

/// Why something was not done, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCode {
    /// The run may not.
    NotAllowed,
    /// It is switched off for this binding.
    Disabled,
    /// There is no such thing, or not for this run.
    NotFound,
    /// What was asked makes no sense.
    Invalid,
    /// It is larger than it may be.
    TooLarge,
    /// Somebody else was first.
    Conflict,
    /// Nobody answered in time.
    Expired,
    /// The run is over.
    RunEnded,
    /// Not now: the same may work later.
    Unavailable,
}
