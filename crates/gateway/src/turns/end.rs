//! The end of a turn, in one transaction: what was said goes into the transcript, the answer into the outbox, the event
//! and the run into a named state, the lease back. A turn that was stopped by a command was ended there; its lease is
//! gone, and nothing of it is written any more.

use std::sync::Arc;
use std::time::Duration;

use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{RunId, SessionId};
use talaria_domain::live::Happening;
use talaria_domain::run::{Failure, FailureCode, RunEvent, RunOutcome};
use talaria_domain::runner::{Said, Speaker};
use talaria_store::runs::{self, Conclusion};
use talaria_store::transcripts::{self, Utterance};
use talaria_store::{Result, StoreError, Tx, inbox, leases};

use super::begin::{self, Begin, Begun};
use super::whole::Whole;
use super::written::Beginning;
use super::{LEDGER_PAUSE, errand, history};
use crate::delivery::say::{self, Statement};
use crate::jobs::keep::Told;
use crate::jobs::way_back;
use crate::shared::Shared;
use crate::turns::record::{self, Record};

/// The pause before a turn that broke is tried again, doubled each time.
const RETRY_PAUSE: Duration = Duration::from_secs(2);

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With an answer, or with deliberate silence.
    Answered(RunOutcome),
    /// With a reason that the person is told.
    Failed(Failure),
    /// It was told to stop: by a command, which has ended it, or because the gateway stops.
    Stopped,
    /// The runner broke; it may be tried again.
    Panicked,
    /// It never began.
    Undone,
}

impl Ended {
    pub(crate) fn by(outcome: RunOutcome) -> Self {
        match outcome {
            RunOutcome::Completed { .. } => Self::Answered(outcome),
            RunOutcome::Failed(failure) => Self::Failed(failure),
            RunOutcome::Cancelled | RunOutcome::Interrupted => Self::Stopped,
        }
    }
}

/// What is left in a lane when a turn has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Nothing was when it did.
    Empty,
    /// That has to be looked at.
    Unknown,
}

/// Writes the end of a turn down, as soon as the ledger can be reached.
pub(crate) async fn settle(
    shared: &Arc<Shared>,
    begun: &Arc<Begun>,
    (journal, unwritten): (&[RunEvent], Unwritten),
    ended: Ended,
) -> Rest {
    if ended == Ended::Undone {
        return Rest::Unknown;
    }
    let record = record::record(journal);
    let last = Arc::new(LastWords {
        record,
        unwritten,
        ended,
    });
    if let Some(rest) = settle_whole(shared, begun, &last).await {
        return rest;
    }
    begun.written.precedes().await;
    let run = begun.run;
    loop {
        let (this, turn, words) = (Arc::clone(shared), Arc::clone(begun), Arc::clone(&last));
        let written = shared
            .ledger
            .write(move |tx| {
                let written = write(tx, &this, &turn, &words)?;
                // Whatever came to a lane that was empty when its turn began has knocked, here or at the lane.
                let is_open = !turn.is_alone && inbox::is_open(tx, turn.session())?;
                Ok((written, is_open))
            })
            .await;
        if begun.written.known().await == Beginning::IsUndone {
            return Rest::Unknown;
        }
        match written {
            Ok((written, is_open)) => {
                if let Some(first) = written.first {
                    remembered(shared, begun, &last.record, first);
                }
                shared.watchers.tell_all(written.told);
                return if is_open { Rest::Unknown } else { Rest::Empty };
            }
            Err(StoreError::Conflict(conflict)) => {
                // Somebody else has ended it: a command, or a node that took over.
                tracing::debug!(%run, %conflict, "the turn was ended elsewhere");
                return Rest::Unknown;
            }
            Err(error) => {
                tracing::error!(%run, %error, "the end of a turn could not be written; trying again");
                tokio::select! {
                    biased;
                    () = shared.stop.cancelled() => return Rest::Unknown,
                    // Not polling: the ledger is away, and says nothing when it is back.
                    () = tokio::time::sleep(LEDGER_PAUSE) => {}
                }
            }
        }
    }
}

/// The same for a turn whose beginning is still held, if both can be written down together.
async fn settle_whole(shared: &Shared, begun: &Begun, last: &Arc<LastWords>) -> Option<Rest> {
    if !begun.written.is_held() {
        return None;
    }
    let whole = Whole::of(shared, begun, last)?;
    let told = whole.told(begun);
    if !begun.written.ends_as(Box::new(whole)) {
        return None;
    }
    if begun.written.known().await == Beginning::IsUndone {
        return Some(Rest::Unknown);
    }
    shared.watchers.tell_all(told);
    Some(Rest::Empty)
}

/// What a run said at last, and how it ended.
#[derive(Debug)]
pub(crate) struct LastWords {
    pub(super) record: Record,
    pub(super) unwritten: Unwritten,
    pub(super) ended: Ended,
}

impl LastWords {
    /// How the run comes to its end in the ledger.
    pub(super) fn conclusion<'a>(&'a self, outcome: &'a RunOutcome) -> Conclusion<'a> {
        let Unwritten { next, events } = &self.unwritten;
        Conclusion {
            next: *next,
            events,
            outcome,
        }
    }

    /// The last of what it yielded, from this number on, and its end.
    pub(super) fn yielded(&self, run: RunId, first: i64, outcome: &RunOutcome) -> Vec<Happening> {
        let end = RunEvent::Ended(outcome.clone());
        let events = self.unwritten.events.iter().cloned().chain([end]);
        let told = (first..).zip(events);
        told.map(|(seq, what)| Happening::Yielded { run, seq, what })
            .collect()
    }
}

/// What of a run is not in the ledger's journal yet.
#[derive(Debug)]
pub(crate) struct Unwritten {
    /// The number that the first of it will have.
    pub(crate) next: i64,
    pub(crate) events: Vec<RunEvent>,
}

/// What became of the end of a turn.
struct Written {
    told: Told,
    /// The number under which what was said begins in the transcript, if the turn was answered.
    first: Option<i64>,
}

/// Whatever the end is, the run is closed first: that says whether it still may be. One that was written, though nobody
/// heard of it, is a conflict and not a reply that is there twice.
fn write(
    tx: &mut Tx<'_>,
    shared: &Arc<Shared>,
    begun: &Begun,
    last_words: &LastWords,
) -> Result<Written> {
    let mut first = None;
    let happenings = match (&last_words.ended, &begun.errand) {
        (Ended::Answered(outcome), Some(errand)) => {
            let told = errand::answer(tx, shared, (begun, errand), last_words, outcome)?;
            return Ok(Written { told, first });
        }
        (Ended::Failed(failure), Some(errand)) => {
            let told = errand::fail(tx, shared, (begun, errand), last_words, failure)?;
            return Ok(Written { told, first });
        }
        (Ended::Panicked, _) => {
            let told = again(tx, shared, begun, last_words)?;
            return Ok(Written { told, first });
        }
        (Ended::Answered(outcome), None) => {
            let closed = close(tx, shared, begun, last_words, outcome)?;
            first = Some(remember(tx, shared, begun, &last_words.record.said)?);
            answer(tx, shared, begun, &last_words.record, closed)?
        }
        (Ended::Failed(failure), None) => fail(tx, shared, begun, last_words, failure)?,
        (Ended::Stopped, _) => interrupt(tx, shared, begun, last_words)?,
        (Ended::Undone, _) => Vec::new(),
    };
    let told = in_session(begun, happenings).collect();
    Ok(Written { told, first })
}

/// What was said is kept for the next turn, if nothing else was said or taken back since this one began.
fn remembered(shared: &Shared, begun: &Begun, record: &Record, first: i64) {
    let (Some(mut history), Some(tail)) = (begun.take_shown(), begun.tail) else {
        return;
    };
    let asked = Said::plain(Speaker::User, begun.prompt());
    let said = std::iter::once(asked).chain(record.said.iter().cloned());
    let said: Vec<Said> = said.collect();
    // The ledger keeps a NUL as something else.
    if first != tail.last + 1 || said.iter().any(|said| said.text.contains('\0')) {
        return;
    }
    history.extend((first..).zip(said));
    if let Some((now_last, _)) = history.last() {
        shared.recents.put(begun.session(), *now_last, history);
    }
}

/// What happened in the turn's own session.
pub(super) fn in_session(
    begun: &Begun,
    happenings: Vec<Happening>,
) -> impl Iterator<Item = (SessionId, Happening)> {
    let session = begun.session();
    happenings
        .into_iter()
        .map(move |happening| (session, happening))
}

fn answer(
    tx: &mut Tx<'_>,
    shared: &Shared,
    begun: &Begun,
    record: &Record,
    mut happenings: Vec<Happening>,
) -> Result<Vec<Happening>> {
    let text = Some(&record.answer).filter(|text| !text.trim().is_empty());
    match text.map(|text| Statement::to(&begun.row, Some(begun.run), text)) {
        Some(answer) => happenings.push(say::answer(tx, shared, &begun.place, &answer)?),
        None if way_back::is_called_back(&begun.place.0) => {
            // A program was promised that it is told: then by the gateway, in the words of the news.
            let news = Statement::to(&begun.row, Some(begun.run), &begun.prompt());
            happenings.push(say::answer(
                tx,
                shared,
                &begun.place,
                &news.by_the_gateway(),
            )?);
        }
        None => say::fall_silent(tx, shared, &begun.row.event)?,
    }
    inbox::complete(tx, &begun.lease, begun.row.event.id, shared.now())?;
    leases::hand_in(tx, &begun.lease)?;
    Ok(happenings)
}

fn fail(
    tx: &mut Tx<'_>,
    shared: &Shared,
    begun: &Begun,
    last_words: &LastWords,
    failure: &Failure,
) -> Result<Vec<Happening>> {
    let outcome = RunOutcome::Failed(failure.clone());
    let mut happenings = close(tx, shared, begun, last_words, &outcome)?;
    let text = format!("I could not finish this: {}.", failure.reason);
    let text = text.replace("..", ".");
    let mut said = last_words.record.said.clone();
    said.push(Said::plain(Speaker::Assistant, &text));
    remember(tx, shared, begun, &said)?;
    let statement = Statement::to(&begun.row, Some(begun.run), &text);
    happenings.push(say::answer(tx, shared, &begun.place, &statement)?);
    inbox::complete(tx, &begun.lease, begun.row.event.id, shared.now())?;
    leases::hand_in(tx, &begun.lease)?;
    Ok(happenings)
}

/// The gateway stops under the turn: the event goes back to its lane.
fn interrupt(
    tx: &mut Tx<'_>,
    shared: &Shared,
    begun: &Begun,
    last_words: &LastWords,
) -> Result<Vec<Happening>> {
    let closed = close(tx, shared, begun, last_words, &RunOutcome::Interrupted)?;
    leases::release(tx, &begun.lease)?;
    Ok(closed)
}

/// The runner broke: once more, or not any more.
fn again(
    tx: &mut Tx<'_>,
    shared: &Arc<Shared>,
    begun: &Begun,
    last_words: &LastWords,
) -> Result<Told> {
    let outcome = RunOutcome::failed(FailureCode::Internal, "the runner broke");
    let happenings = close(tx, shared, begun, last_words, &outcome)?;
    let mut all: Told = in_session(begun, happenings).collect();
    let (attempts, now) = (begun.row.attempts, shared.now());
    if attempts >= shared.settings.limits.attempts {
        let reason = format!("what thinks for me broke {attempts} times");
        let row = (&begun.lease, &begun.row);
        let told = begin::give_up(tx, shared, row, &begun.place, &reason)?;
        if let Begin::Told(told) = told {
            all.extend(told);
        }
        return Ok(all);
    }
    let pause = RETRY_PAUSE * 2_u32.saturating_pow(attempts.saturating_sub(1));
    inbox::retry_at(tx, &begun.lease, begun.row.event.id, now.plus(pause))?;
    leases::release(tx, &begun.lease)?;
    Ok(all)
}

pub(super) fn remember(
    tx: &mut Tx<'_>,
    shared: &Shared,
    begun: &Begun,
    said: &[Said],
) -> Result<i64> {
    let (session, all) = (begun.session(), utterances(begun, said, shared.now()));
    match begun.tail {
        Some(tail) => transcripts::append_after(tx, (session, tail), &all),
        None => transcripts::append_all(tx, session, &all),
    }
}

/// What was asked and what was said to it, as the transcript takes it.
pub(super) fn utterances(begun: &Begun, said: &[Said], now: Timestamp) -> Vec<Utterance> {
    let asked = Said::plain(Speaker::User, begun.prompt());
    let all = std::iter::once(&asked).chain(said);
    history::utterances(all, Some(begun.run), now)
}

/// The run's last words in its journal, and its end.
pub(super) fn close(
    tx: &mut Tx<'_>,
    shared: &Shared,
    begun: &Begun,
    last_words: &LastWords,
    outcome: &RunOutcome,
) -> Result<Vec<Happening>> {
    let (run, now) = (begun.run, shared.now());
    let conclusion = last_words.conclusion(outcome);
    let first = runs::conclude(tx, &begun.lease, run, conclusion, now)?;
    Ok(last_words.yielded(run, first, outcome))
}
