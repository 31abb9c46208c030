//! What becomes of jobs in the ledger, each in the transaction of whoever calls. What was promised about an end is kept in
//! the commit that ends the job, so that there is no time at which one is true and the other is not.

use serde_json::json;
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{DedupeKey, Event, EventKind, InternalCause};
use talaria_domain::ids::{EventId, JobId, RunId, SessionId};
use talaria_domain::job::{Job, JobEnd, JobKind, Promise};
use talaria_domain::live::Happening;
use talaria_domain::machine::{InboxState, JobState, Machine as _};
use talaria_domain::profile::BusyPolicy;
use talaria_store::inbox::{self, InboxRow, Recorded};
use talaria_store::jobs::{self, Order};
use talaria_store::{Result, Tx, runs};

use super::{Answer, delegation, unreachable_later, way_back};
use crate::delivery::say::{self, Place};
use crate::lanes::busy;
use crate::shared::Shared;

/// What happened, and in which session, for those who watch.
pub(crate) type Told = Vec<(SessionId, Happening)>;

/// Why a wake is not needed any more.
const TAKEN: &str = "the result was taken";

/// Records a job of a run that goes on, or says why not.
pub(crate) fn record(tx: &mut Tx<'_>, shared: &Shared, order: &Order) -> Result<Answer<()>> {
    if jobs::find(tx, order.id)?.is_some() {
        // Told that it might not have been stored, somebody tried again.
        return Ok(Ok(()));
    }
    let session = order.return_to.session;
    let mut asking = None;
    if let Some(run) = order.run {
        let run = runs::get(tx, run)?;
        if run.state.is_end() {
            return Ok(Err("the run was stopped".to_owned()));
        }
        if run.session != session {
            return Ok(Err("the run belongs to another conversation".to_owned()));
        }
        asking = Some(inbox::get(tx, run.event)?.event);
    }
    let wishes = asking.as_ref().and_then(Event::wishes);
    let asked_from = &order.return_to.address;
    let window = way_back::window(wishes, asked_from, |to| shared.settings.window(to));
    let callback = wishes.and_then(|wishes| wishes.callback.as_ref());
    let order = &Order {
        return_to: way_back::of(&order.return_to, callback, order.id),
        ..order.clone()
    };
    if order.promise != Promise::Nothing {
        let is_apart = delegation::of_session(tx, session)?.is_some();
        if is_apart || !window.may_promise(order.at) {
            return Ok(Err(unreachable_later(order.promise)));
        }
    }
    let (open, most) = (jobs::count_open(tx, session)?, shared.settings.limits.jobs);
    if usize::try_from(open).unwrap_or(0) >= most {
        return Ok(Err(format!(
            "{open} jobs of this conversation are under way, and there may be {most}: wait for some to end, or end them"
        )));
    }
    jobs::record(tx, order)?;
    Ok(Ok(()))
}

/// Ends a job and keeps what was promised about it. Of several ends the first one counts.
pub(crate) fn end(tx: &mut Tx<'_>, shared: &Shared, job: JobId, end: &JobEnd) -> Result<Told> {
    let row = jobs::get(tx, job)?;
    if row.state.is_end() {
        return Ok(Told::new());
    }
    if row.state == JobState::Queued && end.state == JobState::Completed {
        // It was quicker than the note that it started.
        jobs::start(tx, job, &serde_json::Value::Null)?;
    }
    jobs::complete(tx, job, end, shared.now())?;
    match row.promise {
        Promise::Nothing => Ok(Told::new()),
        Promise::Wake => wake(tx, shared, &row, (jobs::end_key(job), &end.text)),
        Promise::Notice => notice(tx, shared, &row, &end.text),
    }
}

/// Tells something about a job that goes on.
pub(crate) fn report(
    tx: &mut Tx<'_>,
    shared: &Shared,
    job: JobId,
    (token, text): (u64, &str),
) -> Result<Told> {
    let row = jobs::get(tx, job)?;
    if row.state.is_end() {
        return Ok(Told::new());
    }
    let key = jobs::report_key(job, token);
    match row.promise {
        Promise::Notice => {
            // A notice has no key of its own, so the report's is kept with an event that needs no turn.
            let event = event_of(shared, &row, (key, text));
            let recorded = inbox::record_pinned(tx, &event, row.return_to.session)?;
            if let Recorded::Duplicate { .. } = recorded {
                return Ok(Told::new());
            }
            inbox::discard(tx, event.id, "told as a notice", event.received_at)?;
            notice(tx, shared, &row, text)
        }
        Promise::Nothing | Promise::Wake => wake(tx, shared, &row, (key, text)),
    }
}

/// Nobody needs to be woken about this job any more: what waits is withdrawn, what comes is not told.
pub(crate) fn consume(tx: &mut Tx<'_>, job: JobId, now: Timestamp) -> Result<()> {
    let row = jobs::get(tx, job)?;
    jobs::consume(tx, job, now)?;
    let is_about_it = |row: &&InboxRow| {
        let cause = InternalCause::JobEnded { job };
        let is_untouched = row.state == InboxState::Queued && row.attempts == 0;
        is_untouched
            && matches!(&row.event.kind, EventKind::Internal { cause: why, .. } if *why == cause)
    };
    let lane = inbox::lane(tx, row.return_to.session)?;
    for waiting in lane.iter().filter(is_about_it) {
        inbox::discard(tx, waiting.event.id, TAKEN, now)?;
    }
    Ok(())
}

/// Ends what a run recorded and did not start: now that it is over, nobody will. Nobody was promised anything either, as
/// whoever asked was not told that it exists.
pub(crate) fn call_off_unstarted(
    tx: &mut Tx<'_>,
    shared: &Shared,
    session: SessionId,
    run: RunId,
) -> Result<()> {
    for job in jobs::open(tx, Some(session))? {
        let is_unstarted = job.kind == JobKind::Process && job.state == JobState::Queued;
        if !is_unstarted || job.run != Some(run) {
            continue;
        }
        let why = "it was stopped before it started";
        jobs::consume(tx, job.id, shared.now())?;
        let called_off = JobEnd {
            state: JobState::Cancelled,
            text: format!("Job {} is cancelled: {why}.", job.id),
            result: json!({ "error": why }),
        };
        jobs::complete(tx, job.id, &called_off, shared.now())?;
    }
    Ok(())
}

/// Puts the news into the lane of the session that asked. A turn that runs there is never stopped for it.
fn wake(
    tx: &mut Tx<'_>,
    shared: &Shared,
    job: &Job,
    (key, text): (DedupeKey, &str),
) -> Result<Told> {
    if jobs::is_consumed(tx, job.id)? {
        return Ok(Told::new());
    }
    let session = job.return_to.session;
    let event = event_of(shared, job, (key, text));
    if let Recorded::Duplicate { .. } = inbox::record_pinned(tx, &event, session)? {
        return Ok(Told::new());
    }
    if inbox::occupancy(tx, session)?.claimed.is_some() {
        let profile = shared.settings.profiles.get(&job.return_to.profile);
        let usual = profile.map_or(BusyPolicy::Queue, |profile| profile.profile.busy);
        let policy = if way_back::is_called_back(&job.return_to) {
            // Each job is told by itself, and never as a part of another answer.
            BusyPolicy::Queue
        } else {
            busy::gentle(busy::policy_of(tx, session, usual)?)
        };
        inbox::set_busy(tx, event.id, policy)?;
    }
    Ok(Told::new())
}

fn event_of(shared: &Shared, job: &Job, (key, text): (DedupeKey, &str)) -> Event {
    let now = shared.now();
    Event {
        id: EventId::next(&*shared.ids, now),
        dedupe: key,
        address: job.return_to.address.clone(),
        principal: job.return_to.requester.clone(),
        message: None,
        kind: EventKind::Internal {
            cause: InternalCause::JobEnded { job: job.id },
            text: text.to_owned(),
        },
        sent_at: None,
        received_at: now,
    }
}

fn notice(tx: &mut Tx<'_>, shared: &Shared, job: &Job, text: &str) -> Result<Told> {
    let place = Place::of(job.return_to.clone());
    let said = say::notice(tx, shared, &place, text)?;
    Ok(vec![(place.session(), said)])
}
