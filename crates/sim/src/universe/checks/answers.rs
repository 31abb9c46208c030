//! Answered exactly once, in the place it came from, or somebody was told why not.

use std::collections::{BTreeMap, BTreeSet};

use talaria_domain::address::Address;
use talaria_domain::ids::{EventId, ReplyId};
use talaria_domain::machine::{InboxState, PartState, ReplyState};
use talaria_domain::names::ThreadId;

use super::Findings;
use crate::chat::{Offer, Shown};
use crate::universe::cast::{ACCOUNTS, canaries};
use crate::universe::evidence::{Evidence, says_something};
use crate::universe::facts::{EventFact, Facts, PartFact, ReplyFact};

/// How an answer begins that the script gave.
const ANSWER: &str = "re: ";
/// How an answer begins that says why there is none.
pub(super) const TOLD: [&str; 3] = [
    "I could not finish this",
    "I was interrupted",
    "I could not answer this",
];

/// No part is shown twice, and no answer more often than it was asked for. A placeholder may be left over where that is
/// the only way to be sure.
pub(super) fn at_most_once(evidence: &Evidence) -> Findings {
    let mut findings = Findings::new();
    for (part, messages) in evidence.by_part() {
        let shown = messages.iter().filter(|(_, shown)| says_something(shown));
        let texts: Vec<&str> = shown.map(|(_, shown)| shown.text.as_str()).collect();
        if texts.len() > 1 {
            findings.push(format!(
                "part {part} is shown {} times: {texts:?}",
                texts.len()
            ));
        }
        let is_edited = |account: &usize| evidence.vendors[*account].offer == Offer::Edits;
        if messages.len() > 1 && !messages.iter().all(|(account, _)| is_edited(account)) {
            findings.push(format!("part {part} was sent {} times", messages.len()));
        }
    }
    findings.extend(too_often(evidence));
    findings
}

fn too_often(evidence: &Evidence) -> Findings {
    let facts = &evidence.facts;
    let mut asked: BTreeMap<u32, BTreeSet<EventId>> = BTreeMap::new();
    for (id, fact) in &facts.events {
        for number in fact.message().map(canaries).unwrap_or_default() {
            asked.entry(number).or_default().insert(facts.root(*id));
        }
    }
    let mut answered: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for (_, shown) in evidence
        .shown()
        .filter(|(_, shown)| shown.text.contains(ANSWER))
    {
        for number in canaries(&shown.text) {
            answered.entry(number).or_default().push(&shown.text);
        }
    }
    let times = |number: &u32| asked.get(number).map_or(0, BTreeSet::len);
    answered
        .iter()
        .filter(|(number, texts)| texts.len() > times(number))
        .map(|(number, texts)| {
            let times = times(number);
            format!("m{number:03} was asked {times} times and is answered {texts:?}")
        })
        .collect()
}

/// Nothing is shown anywhere but in the chat and thread of what it is about.
pub(super) fn in_their_place(evidence: &Evidence) -> Findings {
    let facts = &evidence.facts;
    let mut findings = Findings::new();
    for (account, shown) in evidence.shown() {
        let is_at = |at: (usize, &str, Option<&str>)| {
            at == (account, shown.chat.as_str(), shown.thread.as_deref())
        };
        for number in canaries(&shown.text) {
            let is_home = evidence.numbered(number).is_some_and(|written| {
                is_at((written.account, &written.chat, written.thread.as_deref()))
            });
            if !is_home {
                findings.push(format!("m{number:03} is shown elsewhere: {shown:?}"));
            }
        }
        let Some(address) = address_of(facts, shown) else {
            continue;
        };
        let account_of = ACCOUNTS
            .iter()
            .position(|(name, _)| *name == address.account.as_str());
        let thread = address.thread.as_ref().map(ThreadId::as_str);
        let home = (
            account_of.unwrap_or(usize::MAX),
            address.chat.as_str(),
            thread,
        );
        if !is_at(home) {
            findings.push(format!(
                "what answers {home:?} is shown elsewhere: {shown:?}"
            ));
        }
    }
    findings
}

/// Where a message belongs: where the event came from that it answers, or where it was meant to go.
fn address_of<'a>(facts: &'a Facts, shown: &Shown) -> Option<&'a Address> {
    let reply = facts.parts.get(&shown.part)?.reply;
    let event = facts.events.get(&EventId::from_bytes(*reply.as_bytes()));
    let meant = facts
        .replies
        .get(&reply)
        .map(|reply| &reply.return_to.address);
    event.map(|fact| &fact.event.address).or(meant)
}

/// What the ledger says of each part is what people see of it, and what is not there has a dead letter.
pub(super) fn parts_as_recorded(evidence: &Evidence) -> Findings {
    let shown = evidence.by_part();
    let mut findings = Findings::new();
    for (id, part) in &evidence.facts.parts {
        let messages = shown.get(id).map(Vec::as_slice).unwrap_or_default();
        let texts: Vec<&str> = messages
            .iter()
            .filter(|(_, shown)| says_something(shown))
            .map(|(_, shown)| shown.text.as_str())
            .collect();
        let has_letter = evidence.facts.letters.contains(id.as_bytes().as_slice());
        // What was dropped may have been there, in part or as far as anybody knew.
        let is_dropped =
            part.state == PartState::Discarded && evidence.facts.is_settled(id.as_bytes());
        if is_dropped {
            continue;
        }
        if let Some(wrong) = wrong(part, &texts, has_letter) {
            let state = part.state;
            findings.push(format!(
                "part {id} ({:?}) is {state:?} {wrong}: {texts:?}",
                part.text
            ));
        }
    }
    for (id, messages) in &shown {
        if !evidence.facts.parts.contains_key(id) {
            findings.push(format!("nobody recorded {messages:?}"));
        }
    }
    findings
}

fn wrong(part: &PartFact, texts: &[&str], has_letter: bool) -> Option<&'static str> {
    let is_placeholder = part.text == crate::universe::evidence::PLACEHOLDER;
    match part.state {
        PartState::Delivered if is_placeholder && texts.is_empty() => None,
        PartState::Delivered if texts != [part.text.as_str()] => Some("and not shown as it is"),
        PartState::Discarded if !texts.is_empty() => Some("and shown"),
        PartState::Failed | PartState::Unknown if !has_letter => Some("without a dead letter"),
        _ => None,
    }
}

/// Every message has its answer, or a reason why not; every command has its answer.
pub(super) fn accounted_for(evidence: &Evidence) -> Findings {
    let facts = &evidence.facts;
    facts
        .events
        .iter()
        .filter(|(_, fact)| !fact.is_task())
        .filter_map(|(id, fact)| {
            let missing = match fact.command() {
                Some(_) => not_told(facts, *id, fact)?,
                None => missing(facts, *id, fact)?,
            };
            Some(format!("event {id} ({:?}) {missing}", fact.event.kind))
        })
        .collect()
}

fn not_told(facts: &Facts, id: EventId, fact: &EventFact) -> Option<String> {
    let reply = facts.replies.get(&ReplyId::from_bytes(*id.as_bytes()));
    let is_told = reply
        .is_some_and(|reply| matches!(reply.state, ReplyState::Delivered | ReplyState::Failed));
    let is_over = fact.state == InboxState::Completed;
    (is_over && !is_told).then(|| "was carried out and nobody was told".to_owned())
}

fn missing(facts: &Facts, id: EventId, fact: &EventFact) -> Option<String> {
    match fact.state {
        // That it has not ended is said elsewhere.
        InboxState::Queued | InboxState::Claimed => None,
        InboxState::Completed => unanswered(facts, id),
        InboxState::Merged => {
            let root = facts.events.get(&facts.root(id))?;
            let is_odd = root.session != fact.session || root.seq >= fact.seq;
            is_odd.then(|| format!("was merged into {}", root.event.id))
        }
        InboxState::Discarded => {
            let has_reason = fact
                .reason
                .as_ref()
                .is_some_and(|reason| !reason.is_empty());
            (!has_reason).then(|| "was discarded without a reason".to_owned())
        }
        InboxState::Dead => {
            let has_letter = facts.letters.contains(id.as_bytes().as_slice());
            (!has_letter).then(|| "is dead without a letter".to_owned())
        }
    }
}

/// What is wrong with the answer to an event that was completed.
fn unanswered(facts: &Facts, id: EventId) -> Option<String> {
    let in_turn = |fact: &&EventFact| facts.root(fact.event.id) == id;
    let messages = facts.events.values().filter(in_turn);
    let texts: Vec<&str> = messages.filter_map(EventFact::message).collect();
    let reply = ReplyId::from_bytes(*id.as_bytes());
    let is_silent = texts.iter().any(|text| text.contains("silent"));
    let Some(answer) = facts.replies.get(&reply) else {
        return (!is_silent).then(|| "was completed without an answer".to_owned());
    };
    match answer.state {
        // What was shown of it before it fell silent stays.
        ReplyState::Delivered | ReplyState::Discarded if is_silent => None,
        ReplyState::Failed => None,
        ReplyState::Delivered => incomplete(facts, reply, answer, &texts),
        state => Some(format!("was completed and its answer is {state:?}")),
    }
}

fn incomplete(facts: &Facts, reply: ReplyId, answer: &ReplyFact, texts: &[&str]) -> Option<String> {
    if TOLD.iter().any(|told| answer.text.starts_with(told)) {
        return None;
    }
    let asked: BTreeSet<u32> = texts.iter().flat_map(|text| canaries(text)).collect();
    let answered = canaries(&answer.text);
    if !asked.is_subset(&answered) {
        return Some(format!("asks {asked:?} and is answered {:?}", answer.text));
    }
    let parts = facts.parts_of(reply);
    let shown: String = parts.iter().map(|(_, part)| part.text.as_str()).collect();
    let plain = |text: &str| {
        text.chars()
            .filter(|c| !c.is_whitespace())
            .collect::<String>()
    };
    let is_whole = plain(&shown).trim_end_matches('…') == plain(&answer.text);
    (!is_whole).then(|| format!("is answered {:?} and shown {shown:?}", answer.text))
}
