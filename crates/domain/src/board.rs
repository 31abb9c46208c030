//! Work that agents share: a board of tasks, and who hears of what becomes of them.

use serde::{Deserialize, Serialize};

use crate::address::ReturnAddress;
use crate::clock::Timestamp;
use crate::ids::{BoardId, SubscriptionId, TaskId};
use crate::machine::TaskState;
use crate::names::ProfileName;

/// Where tasks are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board {
    /// Its id.
    pub id: BoardId,
    /// What people call it.
    pub name: String,
}

/// One piece of shared work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// Where it is.
    pub board: BoardId,
    /// What is to be done, in a line.
    pub title: String,
    /// And at length.
    pub body: String,
    /// Who does it.
    pub assignee: Option<ProfileName>,
    /// Where it stands.
    pub state: TaskState,
    /// Who asked, and where: that conversation is woken when it ends.
    pub created_by: ReturnAddress,
    /// When.
    pub created_at: Timestamp,
}

/// Who hears of what becomes of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    /// Its id.
    pub id: SubscriptionId,
    /// The task.
    pub task: TaskId,
    /// Where to tell it, and through whose account.
    pub tell: ReturnAddress,
    /// The last thing that was told.
    pub cursor: i64,
}
