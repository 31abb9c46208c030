//! What happens at a time, as an operator asks for it. Which places there are and what can be kept is the gateway's
//! knowledge; this is what it is asked with.

use talaria_domain::adapter::Pending;
use talaria_domain::ids::ScheduleId;
use talaria_domain::principal::Principal;
use talaria_domain::schedule::{Schedule, ScheduleOrder};

use crate::courier::Destination;

/// Who lets things happen at a time.
pub trait Timetable: Send + Sync {
    /// Makes a schedule.
    fn create(&self, wanted: Wanted) -> Pending<'_, Result<Schedule, NotPlanned>>;

    /// Changes one, whoever made it.
    fn change(&self, id: ScheduleId, deed: Deed) -> Pending<'_, Result<Schedule, NotPlanned>>;
}

/// A schedule that an operator wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Where it happens.
    pub to: Destination,
    /// What, and when.
    pub order: ScheduleOrder,
    /// Who wants it.
    pub requester: Principal,
}

/// What is done with a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Nothing of it happens for now.
    Pause,
    /// It is in force again.
    Resume,
    /// It ends.
    Remove,
    /// It happens now, beside its times.
    Run,
}

/// Why nothing was done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPlanned {
    /// There is no such schedule.
    #[error("{reason}")]
    NotFound {
        /// Which one.
        reason: String,
    },
    /// It may not be, or makes no sense.
    #[error("{reason}")]
    Refused {
        /// What to do instead.
        reason: String,
    },
    /// Not now: the same may work later.
    #[error("{reason}")]
    Retry {
        /// What was in the way.
        reason: String,
    },
}
