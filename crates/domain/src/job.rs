//! Work that outlives its turn. It knows its way back from the moment it is recorded, before anything is started.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

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
