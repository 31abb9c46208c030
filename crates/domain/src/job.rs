//! Work that outlives its turn. It knows its way back from the moment it is recorded, before anything is started; its end
//! is a commit that brings the news to the conversation that asked, whatever became of the turn.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::adapter::Pending;
use crate::address::ReturnAddress;
use crate::clock::Timestamp;
use crate::ids::{JobId, RunId};
use crate::machine::JobState;

/// Work that outlives its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// The run that asked for it.
    pub run: Option<RunId>,
    /// What kind of work it is.
    pub kind: JobKind,
    /// Where it stands.
    pub state: JobState,
    /// Where its result goes.
    pub return_to: ReturnAddress,
    /// What is to be done.
    pub work: Json,
    /// What was promised about its end.
    pub promise: Promise,
    /// How to find it again after a restart: a pid and its start time, an output file.
    pub handle: Option<Json>,
    /// What came of it.
    pub result: Option<Json>,
    /// When it was recorded.
    pub created_at: Timestamp,
}

/// What kind of work a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// A process in the background.
    Process,
    /// A task given to another run.
    Delegation,
}

impl JobKind {
    /// Its name in the ledger and in logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Delegation => "delegation",
        }
    }

    /// The kind that this name stands for.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Process, Self::Delegation]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

/// What is fixed when a job is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobOrder {
    /// The run that asks for it.
    pub run: RunId,
    /// What kind of work it is.
    pub kind: JobKind,
    /// Where its result goes.
    pub return_to: ReturnAddress,
    /// What is to be done.
    pub work: Json,
    /// What was promised about its end.
    pub promise: Promise,
}

/// What was promised about the end of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Promise {
    /// Nothing: whoever wants to know asks.
    Nothing,
    /// The conversation that asked is woken with the result.
    Wake,
    /// The people there are told, and no agent is.
    Notice,
}

impl Promise {
    /// Its name in the ledger and in logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Wake => "wake",
            Self::Notice => "notice",
        }
    }

    /// The promise that this name stands for.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Nothing, Self::Wake, Self::Notice]
            .into_iter()
            .find(|promise| promise.as_str() == name)
    }
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEnd {
    /// One of the states that are ends.
    pub state: JobState,
    /// What is told about it: complete in itself, as it may be read long afterwards.
    pub text: String,
    /// The same for programs.
    pub result: Json,
}

/// The book of jobs. What returned `Ok` is in the ledger; calling again changes nothing.
pub trait Jobs: Send + Sync {
    /// Records a job. Only then may anything of it be started.
    fn record(&self, order: JobOrder) -> Pending<'_, Result<JobId, JobError>>;

    /// It runs; `handle` is how to find it again after a restart.
    fn start(&self, job: JobId, handle: Json) -> Pending<'_, Result<(), JobError>>;

    /// Something about it is worth a word before it ends: the conversation that asked is woken with `text`. `token`
    /// tells two reports of one job apart, and makes one that is repeated the same.
    fn report(&self, job: JobId, token: u64, text: String) -> Pending<'_, Result<(), JobError>>;

    /// It ended, and what was promised is kept in the same commit. Of several ends the first one counts.
    fn end(&self, job: JobId, end: JobEnd) -> Pending<'_, Result<(), JobError>>;

    /// Its conversation has taken the result by itself: nobody needs to be woken any more.
    fn consume(&self, job: JobId) -> Pending<'_, Result<(), JobError>>;
}

/// Why the book did not take it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// There is no such job.
    #[error("there is no job {0}")]
    NotFound(JobId),
    /// It may not be, and why.
    #[error("{0}")]
    Refused(String),
    /// The ledger cannot be reached.
    #[error("the ledger cannot be reached: {0}")]
    Unavailable(String),
}

/// What does jobs that are processes. It is asked when the gateway starts to take up what was under way when it ended.
pub trait Worker: Send + Sync {
    /// Goes on with this job if it can be proven to be the same, and tells its end in any case.
    fn adopt(&self, job: Job, jobs: std::sync::Arc<dyn Jobs>) -> Pending<'_, ()>;

    /// Ends it, if it is ours and runs; its end is told like any other.
    fn cancel(&self, job: JobId) -> Pending<'_, ()>;
}
