//! Within one conversation answers appear in the order of what they answer, and an answer's parts in theirs.

use std::collections::BTreeMap;

use talaria_domain::ids::{ReplyId, SessionId};

use super::Findings;
use crate::universe::evidence::{Evidence, says_something};

/// Which answer and which piece of it, and where it stands in the chat.
type Position = ((i64, u32), u64);

/// Answers appear in order. What an operator sent on its way again comes when it comes.
pub(super) fn in_order(evidence: &Evidence) -> Findings {
    let facts = &evidence.facts;
    let by_part = evidence.by_part();
    let mut answers: BTreeMap<SessionId, Vec<Position>> = BTreeMap::new();
    for (id, fact) in &facts.events {
        if fact.message().is_none() || facts.is_settled(id.as_bytes()) {
            continue;
        }
        let reply = ReplyId::from_bytes(*id.as_bytes());
        let parts = facts.parts_of(reply).into_iter();
        for (part, piece) in parts.filter(|(id, _)| !facts.is_settled(id.as_bytes())) {
            let messages = by_part.get(&part).into_iter().flatten();
            let positions = messages
                .filter(|(_, shown)| says_something(shown))
                .map(|(_, shown)| ((fact.seq, piece.ordinal), shown.id));
            answers.entry(fact.session).or_default().extend(positions);
        }
    }
    let mut findings = Findings::new();
    for (session, mut shown) in answers {
        shown.sort_unstable();
        for pair in shown.windows(2) {
            if pair[0].1 > pair[1].1 {
                findings.push(format!(
                    "in session {session} {:?} comes after {:?}",
                    pair[0], pair[1]
                ));
            }
        }
    }
    findings
}
