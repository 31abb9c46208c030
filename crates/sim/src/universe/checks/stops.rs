//! Once people saw that a turn was stopped, nothing more of its answer appears.

use talaria_domain::ids::{EventId, ReplyId};
use talaria_domain::machine::InboxState;

use super::Findings;
use crate::chat::Change;
use crate::universe::evidence::{Evidence, PLACEHOLDER};
use crate::universe::facts::EventFact;

/// What is added to what was shown of an answer.
const MARK: &str = "(stopped)";

/// Nothing appears after "Stopped".
pub(super) fn silent_afterwards(evidence: &Evidence) -> Findings {
    let events = &evidence.facts.events;
    let mut findings = Findings::new();
    let commands = events
        .values()
        .filter(|fact| fact.command() == Some("stop"));
    for command in commands {
        let stopped = events.values().filter(|fact| was_stopped_by(fact, command));
        for stopped in stopped {
            let answer = answer_to(stopped.event.id);
            for vendor in &evidence.vendors {
                let told = answer_to(command.event.id);
                findings.extend(later(&vendor.changes, told, answer));
            }
        }
    }
    findings
}

const fn answer_to(event: EventId) -> ReplyId {
    ReplyId::from_bytes(*event.as_bytes())
}

/// In one transaction, hence at the same time.
fn was_stopped_by(fact: &EventFact, command: &EventFact) -> bool {
    fact.state == InboxState::Discarded
        && fact.session == command.session
        && fact.reason.as_deref() == Some("stopped by /stop")
        && fact.ended_at == command.ended_at
}

/// What appeared of `answer` after `told` did.
fn later(changes: &[Change], told: ReplyId, answer: ReplyId) -> Option<String> {
    let is_told = |change: &Change| change.reply == told && change.text != PLACEHOLDER;
    let at = changes.iter().position(is_told)?;
    let (before, after) = changes.split_at(at);
    let is_older = |change: &&Change| {
        let text = change.text.trim_end_matches(MARK).trim_end();
        let mut earlier = before
            .iter()
            .filter(|other| other.message == change.message);
        let last = earlier.next_back().map(|other| other.text.trim_end());
        change.text == PLACEHOLDER || last == Some(text)
    };
    let mut appeared = after.iter().filter(|change| change.reply == answer);
    let odd = appeared.find(|change| !is_older(change))?;
    Some(format!("after it was said to be stopped, {odd:?} appeared"))
}
