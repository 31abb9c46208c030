//! When to run, and one such time. The zone is stored with the schedule; each time is a row of its own, and there is
//! only one of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::address::ReturnAddress;
use crate::clock::Timestamp;
use crate::ids::{RunId, ScheduleId};
use crate::machine::OccurrenceState;

/// When to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// Its id.
    pub id: ScheduleId,
    /// What people call it.
    pub name: String,
    /// The rule.
    pub timing: Timing,
    /// What the agent is told when it is time.
    pub prompt: String,
    /// Where the answer goes, and where a failure is announced.
    pub deliver_to: ReturnAddress,
    /// Whether it is in force.
    pub is_enabled: bool,
}

/// A rule that says when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "timing", rename_all = "snake_case")]
pub enum Timing {
    /// A cron expression in a time zone.
    Cron {
        /// The expression.
        expression: String,
        /// The zone's name.
        zone: String,
    },
    /// Again and again.
    Every {
        /// This long after the last time.
        period: Duration,
    },
    /// Once.
    Once {
        /// At this time.
        at: Timestamp,
    },
}

/// One time that a schedule is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occurrence {
    /// The schedule.
    pub schedule: ScheduleId,
    /// The time; with the schedule, it is unique.
    pub due: Timestamp,
    /// Where it stands.
    pub state: OccurrenceState,
    /// The run that it became.
    pub run: Option<RunId>,
}
