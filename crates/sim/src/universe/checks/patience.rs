//! Nothing is given up before its time: what could still be sent is tried for as long as the operator said, and what
//! could still be thought about as often.

use talaria_domain::delivery::Outcome;
use talaria_domain::machine::{InboxState, PartState};

use super::Findings;
use crate::chat::Offer;
use crate::universe::evidence::Evidence;
use crate::universe::facts::PartFact;

/// What was given up could not be helped any more.
pub(super) fn given_up_in_time(evidence: &Evidence) -> Findings {
    let facts = &evidence.facts;
    let by_part = evidence.by_part();
    let offer = |part: &PartFact| {
        let reply = facts.replies.get(&part.reply)?;
        let account = &reply.return_to.address.account;
        evidence.offer_of(account.as_str())
    };
    let early = facts.parts.iter().filter(|(_, part)| {
        let Some((outcome, at)) = &part.last else {
            return false;
        };
        let is_late = at.since(part.created_at) >= evidence.limits.delivery;
        let could_be_sent = match (part.state, outcome) {
            (PartState::Failed, Outcome::NotSent { .. }) => true,
            (PartState::Unknown, Outcome::Unknown { .. }) => offer(part) != Some(Offer::Plain),
            _ => false,
        };
        could_be_sent && !is_late
    });
    let parts = early.map(|(id, part)| {
        let shown = by_part.get(id).map_or(0, Vec::len);
        format!("part {id} was given up too early (shown {shown} times): {part:?}")
    });
    let events = facts.events.values();
    let early = events
        .filter(|fact| fact.state == InboxState::Dead && fact.attempts < evidence.limits.attempts);
    let events = early.map(|fact| format!("it was given up too early: {fact:?}"));
    parts.chain(events).collect()
}
