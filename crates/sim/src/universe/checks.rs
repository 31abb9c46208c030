//! The promises, each as a question to the evidence. Pure: evidence in, violations out. What has to hold at any time is
//! asked after every life; what has to hold in the end is asked there.

mod answers;
mod arrivals;
mod authority;
mod identity;
mod later;
mod memory;
mod order;
mod patience;
mod planned;
mod stops;

use std::fmt;

use super::evidence::Evidence;
use super::world::Moment;

/// A promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// What was acknowledged is in the ledger.
    Recorded,
    /// What is in the ledger comes to an end.
    Ends,
    /// Each message is answered once, where it came from, or somebody is told why not.
    AnsweredOnce,
    /// Answers come in the order of what they answer.
    Ordered,
    /// Nobody is shown anything of another conversation.
    Identity,
    /// A tool is used at most once for an event.
    EffectOnce,
    /// Nothing of a turn happens after it was said to be stopped.
    Stopped,
    /// What was asked is remembered, once, where it was asked.
    Remembered,
    /// What ends later is told once, where it was asked for.
    ToldLater,
    /// A run does what it was admitted to do and was not taken away from it, and nothing else.
    WithinAuthority,
    /// What is planned happens once, where it was planned.
    Planned,
}

/// A promise that was not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub invariant: Invariant,
    /// How it can be seen.
    pub found: String,
}

impl Violation {
    pub(crate) const fn of(invariant: Invariant, found: String) -> Self {
        Self { invariant, found }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let promise = match self.invariant {
            Invariant::Recorded => "1, accepted means recorded",
            Invariant::Ends => "2, recorded means it ends",
            Invariant::AnsweredOnce => "3, answered exactly once or told why not",
            Invariant::Ordered => "4, in order",
            Invariant::Identity => "5, identity does not leak",
            Invariant::EffectOnce => "6, effects at most once",
            Invariant::Stopped => "7, nothing after stop",
            Invariant::Remembered => "8, remembered once",
            Invariant::ToldLater => "9, what ends later is told once where it was asked for",
            Invariant::WithinAuthority => "10, nothing beyond what a run may",
            Invariant::Planned => "11, what is planned happens once where it was planned",
        };
        write!(f, "invariant {promise}: {}", self.found)
    }
}

type Findings = Vec<String>;
type Question = fn(&Evidence) -> Findings;

const ALWAYS: [(Invariant, Question); 15] = [
    (Invariant::Recorded, arrivals::recorded),
    (Invariant::AnsweredOnce, answers::at_most_once),
    (Invariant::AnsweredOnce, answers::in_their_place),
    (Invariant::Ordered, order::in_order),
    (Invariant::Identity, identity::own_conversation),
    (Invariant::Identity, identity::one_sender),
    (Invariant::Identity, identity::merged_with_their_own),
    (Invariant::EffectOnce, identity::effects),
    (Invariant::Stopped, stops::silent_afterwards),
    (Invariant::ToldLater, later::in_their_place),
    (Invariant::ToldLater, later::at_most_once),
    (Invariant::ToldLater, later::tasks_are_silent),
    (Invariant::WithinAuthority, authority::as_admitted),
    (Invariant::WithinAuthority, authority::not_after_it_was_lost),
    (Invariant::Planned, planned::one_outcome),
];

const IN_THE_END: [(Invariant, Question); 7] = [
    (Invariant::Ends, arrivals::ended),
    (Invariant::AnsweredOnce, answers::parts_as_recorded),
    (Invariant::AnsweredOnce, answers::accounted_for),
    (Invariant::AnsweredOnce, patience::given_up_in_time),
    (Invariant::Remembered, memory::remembered_once),
    (Invariant::ToldLater, later::told_once),
    (Invariant::Planned, planned::happened),
];

#[cfg(test)]
mod tests;

/// Which promises were not kept.
pub(crate) fn check(evidence: &Evidence, moment: Moment) -> Vec<Violation> {
    let last: &[_] = match moment {
        Moment::Between => &[],
        Moment::End => &IN_THE_END,
    };
    let asked = ALWAYS.iter().chain(last);
    asked
        .flat_map(|(invariant, question)| {
            let findings = question(evidence).into_iter();
            findings.map(|found| Violation::of(*invariant, found))
        })
        .collect()
}
