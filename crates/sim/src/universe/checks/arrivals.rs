//! Accepted means recorded, and recorded means it ends.

use std::collections::BTreeSet;

use talaria_domain::machine::Machine as _;

use super::Findings;
use crate::universe::evidence::Evidence;

/// What a vendor was told to have arrived is in the ledger, if its sender may talk; else it is not.
pub(super) fn recorded(evidence: &Evidence) -> Findings {
    let written = evidence.by_dedupe();
    let events = evidence.facts.events.values();
    let kept: BTreeSet<_> = events.map(|fact| fact.event.dedupe).collect();
    let acknowledged = evidence
        .vendors
        .iter()
        .flat_map(|vendor| &vendor.acknowledged);
    let finding = |dedupe| {
        let written = written.get(&dedupe)?;
        let is_kept = kept.contains(&dedupe);
        let what = match (written.is_allowed(), is_kept) {
            (true, false) => "was acknowledged and is not in the ledger",
            (false, true) => "comes from a stranger and is in the ledger",
            _ => return None,
        };
        Some(format!("w{:03} of {} {what}", written.number, written.who))
    };
    acknowledged
        .filter_map(|event| finding(event.dedupe))
        .collect()
}

/// Nothing is under way any more.
pub(super) fn ended(evidence: &Evidence) -> Findings {
    let facts = &evidence.facts;
    let events = facts.events.values().filter(|fact| !fact.state.is_end());
    let events = events.map(|fact| {
        let (id, state) = (fact.event.id, fact.state.as_str());
        format!("event {id} is {state}: {:?}", fact.event.kind)
    });
    let runs = facts.runs.iter().filter(|(_, run)| !run.state.is_end());
    let runs = runs.map(|(id, run)| format!("run {id} is {}", run.state.as_str()));
    let replies = facts
        .replies
        .iter()
        .filter(|(_, reply)| !reply.state.is_end());
    let replies = replies.map(|(id, reply)| format!("reply {id} is {}", reply.state.as_str()));
    let parts = facts.parts.iter().filter(|(_, part)| !part.state.is_end());
    let parts = parts.map(|(id, part)| format!("part {id} is {}", part.state.as_str()));
    let jobs = facts.jobs.iter().filter(|(_, job)| !job.state.is_end());
    let jobs = jobs.map(|(id, job)| format!("job {id} is {}", job.state.as_str()));
    let held = facts
        .held
        .iter()
        .map(|name| format!("the lease {name} is held"));
    let vendors = evidence.vendors.iter().filter(|vendor| vendor.backlog > 0);
    let backlogs = vendors.map(|vendor| {
        let (offer, backlog) = (vendor.offer, vendor.backlog);
        format!("the vendor that offers {offer:?} has {backlog} that nobody acknowledged")
    });
    let broken = facts.findings.iter().cloned();
    events
        .chain(runs)
        .chain(replies)
        .chain(parts)
        .chain(jobs)
        .chain(held)
        .chain(backlogs)
        .chain(broken)
        .collect()
}
