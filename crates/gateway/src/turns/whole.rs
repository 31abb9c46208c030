//! A turn that was over before anything of it was written down: its conversation, what was asked, the run and the
//! answer go into the ledger at once, each in its last state and without a lease, as nobody could have come between. Most
//! are told by a single row beside the conversation, their event's (`talaria_store::whole`).

use std::sync::Arc;

use talaria_domain::ids::SessionId;
use talaria_domain::live::Happening;
use talaria_domain::run::RunOutcome;
use talaria_store::inbox::{self, Arrival};
use talaria_store::runs::{self, Admission};
use talaria_store::transcripts::{self, Utterance};
use talaria_store::{Result, Tx, sessions, whole};

use super::begin::Begun;
use super::end::{self, Ended, LastWords};
use crate::delivery::say::{self, Statement};
use crate::shared::Shared;

/// All of a turn, made ready as far as that can be done without the ledger.
#[derive(Debug)]
pub(crate) struct Whole {
    said: Vec<Utterance>,
    admission: Admission,
    answer: Option<Statement>,
    last_words: Arc<LastWords>,
    outcome: RunOutcome,
    /// The same but for what was said, where its event's row can tell that.
    in_one_row: Option<whole::Whole>,
}

impl Whole {
    /// Only of a turn that has answered: everything else takes the usual way, on which somebody may have to try again.
    pub(crate) fn of(shared: &Shared, begun: &Begun, last_words: &Arc<LastWords>) -> Option<Self> {
        let Ended::Answered(outcome) = &last_words.ended else {
            return None;
        };
        let (event, record) = (&begun.row.event, &last_words.record);
        let text = Some(&record.answer).filter(|text| !text.trim().is_empty());
        let admission = begun.admission(event.received_at);
        let conclusion = last_words.conclusion(outcome);
        let in_one_row = whole::Whole::of(event, &admission, conclusion, text.map(String::as_str));
        Some(Self {
            said: end::utterances(begun, &record.said, shared.now()),
            admission,
            answer: text.map(|text| Statement::to(&begun.row, Some(begun.run), text)),
            last_words: Arc::clone(last_words),
            outcome: outcome.clone(),
            // If it cannot be written out, whoever writes it down says so.
            in_one_row: in_one_row.ok().flatten(),
        })
    }

    /// What happened, for those who watch.
    pub(crate) fn told(&self, begun: &Begun) -> Vec<(SessionId, Happening)> {
        let (run, last_words) = (begun.run, &self.last_words);
        let mut happenings = last_words.yielded(run, last_words.unwritten.next, &self.outcome);
        happenings.extend(self.answer.as_ref().map(say::said));
        end::in_session(begun, happenings).collect()
    }
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
    if let Some(all) = &whole.in_one_row {
        return whole::record(tx, arrival, (epoch, all), now);
    }
    inbox::record_completed(tx, arrival, session, (epoch, begun.run), now)?;
    let conclusion = whole.last_words.conclusion(&whole.outcome);
    runs::record_ended(tx, epoch, &whole.admission, conclusion, now)?;
    if let Some(answer) = &whole.answer {
        // Only what is said to those who read the ledger is held.
        say::show_whole(tx, shared, &begun.place, answer)?;
    }
    Ok(())
}
