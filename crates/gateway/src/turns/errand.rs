//! The end of a turn that did somebody else's task. What it said is the end of the job and goes nowhere by itself; where a
//! person would be told that it failed, the job fails with those words.

use talaria_domain::machine::JobState;
use talaria_domain::run::{Failure, RunOutcome};
use talaria_domain::runner::{Said, Speaker};
use talaria_store::inbox::InboxRow;
use talaria_store::leases::Lease;
use talaria_store::{Result, Tx, inbox, leases};

use super::begin::{Begin, Begun};
use super::end::{self, LastWords};
use crate::jobs::delegation::{self, Errand};
use crate::jobs::keep::Told;
use crate::shared::Shared;

/// It came to an answer, or to silence.
pub(super) fn answer(
    tx: &mut Tx<'_>,
    shared: &Shared,
    (begun, errand): (&Begun, &Errand),
    last_words: &LastWords,
    outcome: &RunOutcome,
) -> Result<Told> {
    let record = &last_words.record;
    end::remember(tx, shared, begun, &record.said)?;
    let happenings = end::close(tx, shared, begun, last_words, outcome)?;
    let end = (JobState::Completed, record.answer.as_str());
    let told = delegation::finish(tx, shared, errand, end)?;
    complete(tx, shared, begun)?;
    Ok(end::in_session(begun, happenings).chain(told).collect())
}

/// It came to nothing.
pub(super) fn fail(
    tx: &mut Tx<'_>,
    shared: &Shared,
    (begun, errand): (&Begun, &Errand),
    last_words: &LastWords,
    failure: &Failure,
) -> Result<Told> {
    let reason = failure.reason.as_str();
    let mut said = last_words.record.said.clone();
    said.push(Said::plain(Speaker::Assistant, reason));
    end::remember(tx, shared, begun, &said)?;
    let outcome = RunOutcome::Failed(failure.clone());
    let happenings = end::close(tx, shared, begun, last_words, &outcome)?;
    let told = delegation::finish(tx, shared, errand, (JobState::Failed, reason))?;
    complete(tx, shared, begun)?;
    Ok(end::in_session(begun, happenings).chain(told).collect())
}

fn complete(tx: &mut Tx<'_>, shared: &Shared, begun: &Begun) -> Result<()> {
    inbox::complete(tx, &begun.lease, begun.row.event.id, shared.now())?;
    leases::hand_in(tx, &begun.lease)
}

/// It was interrupted where it cannot simply be done again.
pub(super) fn interrupted(tools: &[String]) -> String {
    if tools.is_empty() {
        return "it was interrupted before it came to an answer".to_owned();
    }
    format!(
        "it was interrupted while it was using {}, and nobody knows how far that got",
        tools.join(", ")
    )
}

/// It is not tried again: whoever gave the task is told why, which is more than a dead letter would.
pub(super) fn give_up(
    tx: &mut Tx<'_>,
    shared: &Shared,
    (lease, row): (&Lease, &InboxRow),
    errand: &Errand,
    reason: &str,
) -> Result<Begin> {
    let told = delegation::finish(tx, shared, errand, (JobState::Failed, reason))?;
    inbox::discard(tx, row.event.id, reason, shared.now())?;
    leases::release(tx, lease)?;
    Ok(Begin::Told(told))
}
