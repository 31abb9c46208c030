//! What was asked is in its own conversation's transcript, once for each time that it was asked.

use std::collections::BTreeMap;

use talaria_domain::ids::SessionId;
use talaria_domain::machine::InboxState;

use super::Findings;
use crate::universe::cast::canaries;
use crate::universe::evidence::Evidence;
use crate::universe::facts::{EventFact, Facts};

/// How often a message is in a session.
type Times = BTreeMap<(SessionId, u32), usize>;

/// Transcripts hold what was asked, once.
pub(super) fn remembered_once(evidence: &Evidence) -> Findings {
    let facts = &evidence.facts;
    let mut expected = Times::new();
    for fact in facts
        .events
        .values()
        .filter(|fact| is_remembered(facts, fact))
    {
        add(
            &mut expected,
            fact.session,
            fact.message().unwrap_or_default(),
        );
    }
    let mut found = Times::new();
    for (session, text) in &facts.asked {
        add(&mut found, *session, text);
    }
    let keys = expected.keys().chain(found.keys());
    let differs = |key: &&(SessionId, u32)| expected.get(key) != found.get(key);
    let mut findings: Vec<String> = keys
        .filter(differs)
        .map(|key| {
            let times = |times: &Times| times.get(key).copied().unwrap_or(0);
            let (session, number) = key;
            format!(
                "m{number:03} was asked {} times in session {session} and is remembered {} times",
                times(&expected),
                times(&found)
            )
        })
        .collect();
    findings.dedup();
    findings
}

fn add(times: &mut Times, session: SessionId, text: &str) {
    for number in canaries(text) {
        *times.entry((session, number)).or_default() += 1;
    }
}

/// Whether its turn began and ended: with an answer, with a reason, or by being stopped.
fn is_remembered(facts: &Facts, fact: &EventFact) -> bool {
    let root = facts.events.get(&facts.root(fact.event.id)).unwrap_or(fact);
    if fact.message().is_none() {
        return false;
    }
    match root.state {
        InboxState::Completed => true,
        // Those that only waited are not: nobody has read them.
        InboxState::Discarded => {
            root.attempts > 0 && root.reason.as_deref() != Some("dropped by an operator")
        }
        _ => false,
    }
}
