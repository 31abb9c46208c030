//! A run knows its own conversation and nothing else, and does what it does at most once.

use std::collections::{BTreeMap, BTreeSet};

use talaria_domain::ids::SessionId;

use super::Findings;
use crate::script::Seen;
use crate::universe::cast::canaries;
use crate::universe::evidence::Evidence;

/// What a run is shown was said in its own conversation: in its place, by the universe's own account, and in its session,
/// by the ledger's.
pub(super) fn own_conversation(evidence: &Evidence) -> Findings {
    let facts = &evidence.facts;
    let events = facts.events.values();
    let said: BTreeSet<(SessionId, u32)> = events
        .flat_map(|fact| {
            let numbers = canaries(fact.message().unwrap_or_default()).into_iter();
            numbers.map(|number| (fact.session, number))
        })
        .collect();
    let mut findings = Findings::new();
    for seen in &evidence.seen {
        let Some(run) = facts.runs.get(&seen.run) else {
            findings.extend(never_began(evidence, seen));
            continue;
        };
        let key = facts.sessions.get(&run.session);
        for number in shown(seen) {
            let home = evidence.numbered(number).map(|written| &written.key);
            let is_said = said.contains(&(run.session, number));
            if home.is_none() || home != key || !is_said {
                findings.push(format!(
                    "run {} in session {} was shown m{number:03}, which is of another conversation: {:?}",
                    seen.run, run.session, seen.prompt
                ));
            }
        }
    }
    findings
}

/// A run whose beginning was undone has thought, and that is all; what it was shown was of one conversation, too.
fn never_began(evidence: &Evidence, seen: &Seen) -> Option<String> {
    let numbers = shown(seen).into_iter();
    let homes: Vec<_> = numbers
        .map(|number| evidence.numbered(number).map(|written| &written.key))
        .collect();
    let is_one = homes.windows(2).all(|two| two[0] == two[1]);
    (!is_one || homes.contains(&None)).then(|| {
        format!(
            "run {}, which is not in the ledger, was shown what is of several conversations: {:?}",
            seen.run, seen.prompt
        )
    })
}

fn shown(seen: &Seen) -> BTreeSet<u32> {
    let history = seen.history.iter().map(|said| said.text.as_str());
    let all = history.chain([seen.prompt.as_str()]);
    all.flat_map(canaries).collect()
}

/// A prompt has one sender, unless several people meet there.
pub(super) fn one_sender(evidence: &Evidence) -> Findings {
    let mixed = |seen: &&Seen| {
        let numbers = canaries(&seen.prompt).into_iter();
        let written: Vec<_> = numbers
            .filter_map(|number| evidence.numbered(number))
            .collect();
        let senders: BTreeSet<&str> = written.iter().map(|written| written.who).collect();
        senders.len() > 1 && !written.iter().all(|written| written.is_shared)
    };
    let seen = evidence.seen.iter().filter(mixed);
    seen.map(|seen| format!("run {} was told by several: {:?}", seen.run, seen.prompt))
        .collect()
}

/// Only what one sender wrote at one place is merged. What was passed on to a turn that ran is not: that may be anybody's
/// who is in the conversation.
pub(super) fn merged_with_their_own(evidence: &Evidence) -> Findings {
    let events = &evidence.facts.events;
    let mut findings = Findings::new();
    for fact in events
        .values()
        .filter(|fact| fact.busy.as_deref() != Some("steer"))
    {
        let Some(into) = fact.merged_into.and_then(|into| events.get(&into)) else {
            continue;
        };
        let (event, into) = (&fact.event, &into.event);
        let is_own = event.principal.key() == into.principal.key()
            && event.address.target() == into.address.target();
        if !is_own {
            findings.push(format!("{:?} is part of {:?}", event.kind, into.kind));
        }
    }
    findings
}

/// A tool is used at most once for an event, unless an operator wanted it again.
pub(super) fn effects(evidence: &Evidence) -> Findings {
    let mut times: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for (run, prompt) in &evidence.effects {
        let event = evidence.facts.runs.get(run).map(|run| run.event);
        if event.is_some_and(|event| evidence.facts.is_settled(event.as_bytes())) {
            continue;
        }
        times
            .entry(event)
            .or_default()
            .push(format!("run {run} for {prompt:?}"));
    }
    let doubled = times.into_values().filter(|runs| runs.len() > 1);
    doubled
        .map(|runs| {
            format!(
                "the lever was pulled {} times for one event: {runs:?}",
                runs.len()
            )
        })
        .collect()
}
