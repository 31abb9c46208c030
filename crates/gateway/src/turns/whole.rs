//! A turn that was over before anything of it was written down: its conversation, what was asked, the run and the
//! answer go into the ledger at once, each in its last state and without a lease, as nobody could have come between.

use std::sync::Arc;

use talaria_domain::ids::SessionId;
use talaria_domain::live::Happening;
use talaria_domain::run::RunOutcome;
use talaria_store::inbox::{self, Arrival};
use talaria_store::runs::{self, Admission};
use talaria_store::transcripts::{self, Utterance};
use talaria_store::{Result, Tx, sessions};

use super::begin::Begun;
use super::end::{self, Ended, LastWords};
use crate::delivery::say::{self, Statement};
use crate::shared::Shared;

/// What the run came to, if its turn can be written down as a whole: it has answered. Everything else takes the usual way,
/// on which somebody may have to try again.
pub(crate) fn outcome<'a>(begun: &Begun, last_words: &'a LastWords) -> Option<&'a RunOutcome> {
    match &last_words.ended {
        Ended::Answered(outcome) if begun.errand.is_none() => Some(outcome),
        _ => None,
    }
}

/// All that can be made ready without the ledger.
pub(crate) struct Whole {
    said: Vec<Utterance>,
    admission: Admission,
    answer: Option<Statement>,
    last_words: Arc<LastWords>,
    outcome: RunOutcome,
}

impl Whole {
    /// None if the turn cannot be written down like that.
    pub(crate) fn of(shared: &Shared, begun: &Begun, last_words: &Arc<LastWords>) -> Option<Self> {
        // If it cannot be, whoever writes it down says so.
        drop(begun.place.0.write_out());
        Some(Self {
            outcome: outcome(begun, last_words)?.clone(),
            said: end::utterances(begun, &last_words.record.said, shared.now()),
            admission: begun.admission(begun.row.event.received_at),
            answer: answer(begun, last_words),
            last_words: Arc::clone(last_words),
        })
    }
}

fn answer(begun: &Begun, last_words: &LastWords) -> Option<Statement> {
    let text = Some(&last_words.record.answer).filter(|text| !text.trim().is_empty());
    text.map(|text| Statement::to(&begun.row, Some(begun.run), text))
}

/// Writes all of it down.
pub(crate) fn write(
    tx: &mut Tx<'_>,
    shared: &Shared,
    (arrival, begun): (&Arrival, &Begun),
    whole: &Whole,
) -> Result<()> {
    let (opening, now) = (arrival.opening(), shared.now());
    let session = sessions::open_with(tx, opening, whole.said.len(), now)?;
    transcripts::begin(tx, (session, opening.owner()), &whole.said)?;
    let epoch = begun.lease.epoch;
    inbox::record_completed(tx, arrival, session, (epoch, begun.run), now)?;
    let conclusion = whole.last_words.conclusion(&whole.outcome);
    runs::record_ended(tx, epoch, &whole.admission, conclusion, now)?;
    if let Some(answer) = &whole.answer {
        say::answer(tx, shared, &begun.place, answer)?;
    }
    Ok(())
}

/// What happened, for those who watch.
pub(crate) fn told(
    begun: &Begun,
    last_words: &LastWords,
    outcome: &RunOutcome,
) -> Vec<(SessionId, Happening)> {
    let mut happenings = last_words.yielded(begun.run, last_words.unwritten.next, outcome);
    happenings.extend(answer(begun, last_words).map(|answer| say::said(&answer)));
    end::in_session(begun, happenings).collect()
}
