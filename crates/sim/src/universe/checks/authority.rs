//! A run does what it was admitted to do, by the ledger's account, until that is taken away from it.

use talaria_domain::authority::ResourceKind;
use talaria_domain::ids::RunId;

use super::Findings;
use crate::script::LEVER;
use crate::universe::evidence::Evidence;

/// Every effect was granted when its run was admitted.
pub(super) fn as_admitted(evidence: &Evidence) -> Findings {
    let mut findings = Findings::new();
    for (run, prompt) in &evidence.effects {
        let fact = evidence.facts.runs.get(run);
        let authority = fact.map(|fact| &fact.authority);
        if !authority.is_some_and(|it| it.allows(ResourceKind::Tool, LEVER, "call")) {
            findings.push(format!(
                "run {run} pulled the lever for {prompt:?} and was never allowed to"
            ));
        }
    }
    findings
}

/// No effect comes after it was taken away, from the run itself or from an earlier attempt at the same event.
pub(super) fn not_after_it_was_lost(evidence: &Evidence) -> Findings {
    let event_of = |run: &RunId| evidence.facts.runs.get(run).map(|fact| fact.event);
    let mut findings = Findings::new();
    for (index, (run, prompt)) in evidence.effects.iter().enumerate() {
        let is_same = |loser: &RunId| loser == run || event_of(loser) == event_of(run);
        let is_lost = |(loser, before): &(RunId, usize)| is_same(loser) && *before <= index;
        if evidence.lost.iter().any(is_lost) {
            findings.push(format!(
                "run {run} pulled the lever for {prompt:?} after it was taken away"
            ));
        }
    }
    findings
}
