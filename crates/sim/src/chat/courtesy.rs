//! Typing signs and marks on the simulated platform. A vendor that is flooded says so here, too.

use std::time::Duration;

use talaria_domain::adapter::{Mark, Pending, Reactions, Sign, Typing};
use talaria_domain::address::Address;
use talaria_domain::clock::Timestamp;
use talaria_domain::delivery::Outcome;
use talaria_domain::event::ReactionChange;
use talaria_domain::names::MessageId;

use super::{Mood, SimAdapter};

/// How long a typing sign stays by itself.
const LASTS: Duration = Duration::from_secs(5);

/// A typing sign or a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Courtesy {
    /// When.
    pub at: Timestamp,
    /// Where.
    pub place: Address,
    /// What was shown or taken away.
    pub what: Shown,
}

/// What was shown or taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// A typing sign.
    Sign(Sign),
    /// A mark on a message.
    Mark(MessageId, Mark, ReactionChange),
}

impl SimAdapter {
    fn show(&self, place: &Address, what: Shown) -> Outcome {
        if let Mood::Flooded(wait) = self.vendor.moods.next() {
            return Outcome::NotSent {
                retry_after: Some(wait),
                detail: "too many requests".to_owned(),
            };
        }
        self.vendor.state().courtesies.push(Courtesy {
            at: self.clock.now(),
            place: place.clone(),
            what,
        });
        Outcome::Delivered {
            receipts: Vec::new(),
        }
    }
}

impl Typing for SimAdapter {
    fn lasts(&self) -> Duration {
        LASTS
    }

    fn sign<'a>(&'a self, at: &'a Address, sign: Sign) -> Pending<'a, Outcome> {
        Box::pin(async move { self.show(at, Shown::Sign(sign)) })
    }
}

impl Reactions for SimAdapter {
    fn mark<'a>(
        &'a self,
        (at, message): (&'a Address, &'a MessageId),
        mark: Mark,
        change: ReactionChange,
    ) -> Pending<'a, Outcome> {
        Box::pin(async move { self.show(at, Shown::Mark(message.clone(), mark, change)) })
    }
}
