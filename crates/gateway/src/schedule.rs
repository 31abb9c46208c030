//! What happens at a time. A schedule is recorded with its way back; when its time has come, the occurrence, what comes
//! of it and the next time are one commit.
//!
//! **Invariant:** each time that a schedule is due has one row, and with it one message, one event, or one reason why
//! not: however many nodes look, and wherever one of them dies.
//!
//! It happens where it was asked for, in whatever conversation that chat has by then.

pub mod due;
pub mod words;

pub(crate) mod attend;
pub(crate) mod keep;
pub(crate) mod serve;

use std::sync::Arc;

use talaria_domain::address::Address;
use talaria_domain::ids::ScheduleId;
use talaria_domain::principal::Principal;
use talaria_domain::schedule::{Schedule, ScheduleOrder};
use talaria_store::{Result, StoreError};

use self::keep::Commission;
use crate::delivery::say::Place;
use crate::shared::Shared;

/// Every schedule, for operators.
pub struct Schedules(pub(crate) Arc<Shared>);

/// What an operator does with a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Nothing of it happens for now.
    Pause,
    /// It is in force again.
    Resume,
    /// It ends.
    Remove,
    /// It happens now, beside its times.
    Run,
}

/// What became of something that an operator wanted.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// The schedule, as it is now.
    Done(Box<Schedule>),
    /// There is no such schedule.
    NotFound,
    /// It may not be, and why.
    Refused(String),
}

impl Schedules {
    /// Makes a schedule for a place that an account of ours can reach.
    pub async fn create(
        &self,
        to: &Address,
        requester: &Principal,
        order: ScheduleOrder,
    ) -> Result<Settled> {
        let shared = Arc::clone(&self.0);
        let (to, requester) = (to.clone(), requester.clone());
        let id = ScheduleId::next(&*shared.ids, shared.now());
        let window = shared.settings.window(&to);
        let ledger = shared.ledger.clone();
        let created = ledger.write(move |tx| {
            let Some(place) = Place::unasked(tx, &shared, &to, &requester)? else {
                let platform = to.platform.as_str();
                return Ok(Err(format!("no account of ours is on {platform:?}")));
            };
            let commission = Commission {
                id,
                order: order.clone(),
                return_to: (*place.0).clone(),
                window,
            };
            keep::create(tx, &shared, &commission)
        });
        Ok(match created.await? {
            Ok(schedule) => Settled::Done(Box::new(schedule)),
            Err(words) => Settled::Refused(words),
        })
    }

    /// Changes a schedule, whoever made it.
    pub async fn change(&self, id: ScheduleId, change: Change) -> Result<Settled> {
        let shared = Arc::clone(&self.0);
        let changed = self
            .0
            .ledger
            .write(move |tx| keep::change(tx, &shared, id, change));
        match changed.await {
            Ok(Ok((schedule, told))) => {
                self.0.watchers.tell_all(told);
                Ok(Settled::Done(Box::new(schedule)))
            }
            Ok(Err(words)) => Ok(Settled::Refused(words)),
            Err(StoreError::NotFound { .. }) => Ok(Settled::NotFound),
            Err(error) => Err(error),
        }
    }
}
