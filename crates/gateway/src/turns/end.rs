//! The end of a turn, in one transaction: what was said goes into the transcript, the answer into the outbox, the event
//! and the run into a named state, the lease back. A turn that was stopped by a command was ended there; its lease is
//! gone, and nothing of it is written any more.

use std::sync::Arc;
use std::time::Duration;

use talaria_domain::live::Happening;
use talaria_domain::run::{RunEvent, RunOutcome};
use talaria_domain::runner::{Said, Speaker};
use talaria_store::{Result, StoreError, Tx, inbox, leases, runs};

use super::begin::{self, Begin, Begun};
use super::{LEDGER_PAUSE, history};
use crate::delivery::say::{self, Statement};
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
    Failed(String),
    /// It was told to stop: by a command, which has ended it, or because the gateway stops.
    Stopped,
    /// The runner broke; it may be tried again.
    Panicked,
}

impl Ended {
    pub(crate) fn by(outcome: RunOutcome) -> Self {
        match outcome {
            RunOutcome::Completed { .. } => Self::Answered(outcome),
            RunOutcome::Failed { reason } => Self::Failed(reason),
            RunOutcome::Cancelled | RunOutcome::Interrupted => Self::Stopped,
        }
    }
}

/// Writes the end of a turn down, as soon as the ledger can be reached.
pub(crate) async fn settle(
    shared: &Arc<Shared>,
    begun: &Arc<Begun>,
    journal: &[RunEvent],
    ended: Ended,
) {
    let record = record::record(journal);
    loop {
        let (this, begun, ended) = (Arc::clone(shared), Arc::clone(begun), ended.clone());
        let (session, run, record) = (begun.session(), begun.run, record.clone());
        let written = shared
            .ledger
            .write(move |tx| write(tx, &this, &begun, &record, &ended))
            .await;
        match written {
            Ok(happenings) => {
                for happening in happenings {
                    shared.watchers.tell(session, happening);
                }
                return;
            }
            Err(StoreError::Conflict(conflict)) => {
                // Somebody else has ended it: a command, or a node that took over.
                tracing::debug!(%run, %conflict, "the turn was ended elsewhere");
                return;
            }
            Err(error) => {
                tracing::error!(%run, %error, "the end of a turn could not be written; trying again");
                tokio::select! {
                    biased;
                    () = shared.stop.cancelled() => return,
                    () = tokio::time::sleep(LEDGER_PAUSE) => {}
                }
            }
        }
    }
}

fn write(
    tx: &mut Tx<'_>,
    shared: &Arc<Shared>,
    begun: &Begun,
    record: &Record,
    ended: &Ended,
) -> Result<Vec<Happening>> {
    match ended {
        Ended::Answered(outcome) => answer(tx, shared, begun, record, outcome),
        Ended::Failed(reason) => fail(tx, shared, begun, record, reason),
        Ended::Stopped => interrupt(tx, shared, begun),
        Ended::Panicked => again(tx, shared, begun),
    }
}

fn answer(
    tx: &mut Tx<'_>,
    shared: &Shared,
    begun: &Begun,
    record: &Record,
    outcome: &RunOutcome,
) -> Result<Vec<Happening>> {
    remember(tx, shared, begun, &record.said)?;
    let mut happenings = Vec::new();
    if record.answer.trim().is_empty() {
        say::fall_silent(tx, shared, &begun.row.event)?;
    } else {
        let statement = Statement::to(&begun.row, Some(begun.run), &record.answer);
        happenings.push(say::answer(tx, shared, &begun.place, &statement)?);
    }
    happenings.push(close(tx, shared, begun, outcome)?);
    inbox::complete(tx, &begun.lease, begun.row.event.id, shared.now())?;
    leases::release(tx, &begun.lease)?;
    Ok(happenings)
}

fn fail(
    tx: &mut Tx<'_>,
    shared: &Shared,
    begun: &Begun,
    record: &Record,
    reason: &str,
) -> Result<Vec<Happening>> {
    let text = format!("I could not finish this: {reason}.");
    let text = text.replace("..", ".");
    let mut said = record.said.clone();
    said.push(Said::plain(Speaker::Assistant, &text));
    remember(tx, shared, begun, &said)?;
    let statement = Statement::to(&begun.row, Some(begun.run), &text);
    let told = say::answer(tx, shared, &begun.place, &statement)?;
    let outcome = RunOutcome::Failed {
        reason: reason.to_owned(),
    };
    let closed = close(tx, shared, begun, &outcome)?;
    inbox::complete(tx, &begun.lease, begun.row.event.id, shared.now())?;
    leases::release(tx, &begun.lease)?;
    Ok(vec![told, closed])
}

/// The gateway stops under the turn: the event goes back to its lane.
fn interrupt(tx: &mut Tx<'_>, shared: &Shared, begun: &Begun) -> Result<Vec<Happening>> {
    let closed = close(tx, shared, begun, &RunOutcome::Interrupted)?;
    leases::release(tx, &begun.lease)?;
    Ok(vec![closed])
}

/// The runner broke: once more, or not any more.
fn again(tx: &mut Tx<'_>, shared: &Arc<Shared>, begun: &Begun) -> Result<Vec<Happening>> {
    let reason = "the runner broke".to_owned();
    let closed = close(tx, shared, begun, &RunOutcome::Failed { reason })?;
    let (attempts, now) = (begun.row.attempts, shared.now());
    if attempts >= shared.settings.limits.attempts {
        let reason = format!("what thinks for me broke {attempts} times");
        let row = (&begun.lease, &begun.row);
        let told = begin::give_up(tx, shared, row, &begun.place, &reason)?;
        let mut happenings = vec![closed];
        if let Begin::Told(told) = told {
            happenings.extend(told);
        }
        return Ok(happenings);
    }
    let pause = RETRY_PAUSE * 2_u32.saturating_pow(attempts.saturating_sub(1));
    inbox::retry_at(tx, &begun.lease, begun.row.event.id, now.plus(pause))?;
    leases::release(tx, &begun.lease)?;
    Ok(vec![closed])
}

fn remember(tx: &mut Tx<'_>, shared: &Shared, begun: &Begun, said: &[Said]) -> Result<()> {
    let (session, run, now) = (begun.session(), Some(begun.run), shared.now());
    let asked = Said::plain(Speaker::User, begun.prompt());
    for said in std::iter::once(&asked).chain(said) {
        history::append(tx, session, run, said, now)?;
    }
    Ok(())
}

/// The run's last words in its journal, and its end.
fn close(
    tx: &mut Tx<'_>,
    shared: &Shared,
    begun: &Begun,
    outcome: &RunOutcome,
) -> Result<Happening> {
    let (run, now) = (begun.run, shared.now());
    let what = RunEvent::Ended(outcome.clone());
    let seq = runs::append(tx, &begun.lease, run, &what, now)?;
    runs::complete(tx, &begun.lease, run, outcome, now)?;
    Ok(Happening::Yielded { run, seq, what })
}
