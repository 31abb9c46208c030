//! What is planned happens once, at the place where it was planned, and each time that was due says what came of it.

use talaria_domain::event::{EventKind, InternalCause};
use talaria_domain::ids::ScheduleId;
use talaria_domain::machine::{OccurrenceState, ScheduleState};
use talaria_domain::schedule::Occurrence;

use super::Findings;
use crate::universe::evidence::Evidence;
use crate::universe::facts::Facts;

/// Each time has one outcome that is there, and each outcome is that of a time.
pub(super) fn one_outcome(evidence: &Evidence) -> Findings {
    let facts = &evidence.facts;
    let times = facts.occurrences.iter();
    let wrong = times.filter_map(|time| Some(format!("{time:?} {}", wrong(facts, time)?)));
    wrong.chain(without_a_time(facts)).collect()
}

/// What is wrong with what came of a time.
fn wrong(facts: &Facts, time: &Occurrence) -> Option<&'static str> {
    let Some(schedule) = facts.schedules.get(&time.schedule) else {
        return Some("is of no schedule");
    };
    let target = schedule.return_to.address.target();
    match (time.state, time.event, time.reply) {
        (OccurrenceState::Served, Some(event), None) => {
            let Some(fact) = facts.events.get(&event) else {
                return Some("became an event that is not there");
            };
            let is_home = fact.event.address.target() == target
                && fact.event.principal.key() == schedule.return_to.requester.key()
                && facts.sessions.get(&fact.session) == Some(&schedule.key);
            (!is_home).then_some("happens elsewhere")
        }
        (OccurrenceState::Served, None, Some(reply)) => {
            let Some(reply) = facts.replies.get(&reply) else {
                return Some("became a message that is not there");
            };
            let is_home = reply.return_to.address.target() == target;
            (!is_home).then_some("is said elsewhere")
        }
        (OccurrenceState::Skipped, None, None) => {
            let has_reason = time
                .reason
                .as_ref()
                .is_some_and(|reason| !reason.is_empty());
            (!has_reason).then_some("was passed over without a reason")
        }
        _ => Some("has no outcome, or several"),
    }
}

/// Events that say that they are a time, and are not.
fn without_a_time(facts: &Facts) -> impl Iterator<Item = String> {
    facts.events.values().filter_map(|fact| {
        let EventKind::Internal {
            cause: InternalCause::Schedule { schedule, due },
            ..
        } = &fact.event.kind
        else {
            return None;
        };
        let is_it = |time: &&Occurrence| (time.schedule, time.due) == (*schedule, *due);
        let time = facts.occurrences.iter().find(is_it);
        let is_known = time.is_some_and(|time| time.event == Some(fact.event.id));
        (!is_known).then(|| format!("event {} is no time of {schedule}", fact.event.id))
    })
}

/// What was planned for once has happened, and not again.
pub(super) fn happened(evidence: &Evidence) -> Findings {
    let facts = &evidence.facts;
    let served = |id: &ScheduleId| {
        let times = facts.occurrences.iter();
        let served = times.filter(|time| time.schedule == *id);
        served
            .filter(|time| time.state == OccurrenceState::Served)
            .count()
    };
    let schedules = facts.schedules.iter();
    let wrong =
        schedules.filter(|(id, schedule)| schedule.state != ScheduleState::Done || served(id) != 1);
    wrong
        .map(|(id, schedule)| {
            format!(
                "schedule {id} has happened {} times: {schedule:?}",
                served(id)
            )
        })
        .collect()
}
