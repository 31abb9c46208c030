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
    pub kind: String,
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
