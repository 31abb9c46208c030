//! Takes something away from a run for good. It is journalled with the run first, under whichever node has it, and with
//! every run that does a task for it; then it counts here, and the other nodes hear of it.
//!
//! **Invariant:** what was taken away stays away: the next attempt at the same event, after a crash too, begins without
//! it (`turns/begin.rs`), and so does a task that was given before and begins after (`jobs/delegation.rs`).

use std::sync::Arc;

use talaria_domain::authority::{Authority, Revocation, Revoked};
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{EventId, RunId, SessionId};
use talaria_domain::job::JobKind;
use talaria_domain::live::Happening;
use talaria_domain::machine::Machine as _;
use talaria_domain::run::{Run, RunEvent};
use talaria_store::{Result, Tx, jobs, runs};

use crate::jobs::delegation;
use crate::shared::Shared;

/// A run that lost something, and the number of that in its journal.
type Lost = (SessionId, RunId, i64);

/// Takes something away from a run and from whatever runs for it; gives which runs these are, the run itself first.
pub(crate) async fn revoke(
    shared: &Arc<Shared>,
    run: RunId,
    what: Revocation,
) -> Result<Vec<RunId>> {
    let (now, taken) = (shared.now(), what.clone());
    let lost = shared
        .ledger
        .write(move |tx| record(tx, run, &taken, now))
        .await?;
    for (session, run, seq) in &lost {
        shared.running.revoke_from(*run, &what);
        let (run, seq, what) = (*run, *seq, RunEvent::Revoked { what: what.clone() });
        let happening = Happening::Yielded { run, seq, what };
        shared.watchers.tell(*session, happening);
    }
    tracing::warn!(%run, ?what, runs = lost.len(), "an operator took something away from a run");
    Ok(lost.into_iter().map(|(_, run, _)| run).collect())
}

fn record(tx: &mut Tx<'_>, run: RunId, what: &Revocation, now: Timestamp) -> Result<Vec<Lost>> {
    let mut family = vec![runs::get(tx, run)?];
    let mut lost = Vec::new();
    while let Some(run) = family.pop() {
        let seq = runs::revoke(tx, run.id, what, now)?;
        lost.push((run.session, run.id, seq));
        family.extend(helpers(tx, &run)?);
    }
    Ok(lost)
}

/// The runs that do tasks for a run at this moment.
fn helpers(tx: &mut Tx<'_>, run: &Run) -> Result<Vec<Run>> {
    let mut helpers = Vec::new();
    for job in jobs::open(tx, Some(run.session))? {
        if job.run != Some(run.id) || job.kind != JobKind::Delegation {
            continue;
        }
        let last = runs::last(tx, delegation::session_of(job.id))?;
        helpers.extend(last.filter(|last| !last.state.is_end()));
    }
    Ok(helpers)
}

/// Another node took something away from a run, perhaps from one of ours; perhaps from one that is not registered yet.
pub(crate) async fn hear(shared: &Arc<Shared>, run: RunId) -> Result<()> {
    let taken = shared.ledger.read(move |tx| runs::revocations(tx, run));
    for what in taken.await? {
        shared.running.revoke_from(run, &what);
    }
    Ok(())
}

/// The same for all of ours, where nobody knows what was missed.
pub(crate) async fn hear_all(shared: &Arc<Shared>) -> Result<()> {
    for run in shared.running.list() {
        hear(shared, run.registration().run).await?;
    }
    Ok(())
}

/// What is left of an authority after what was taken away from earlier attempts at an event.
pub(crate) fn left_for(
    tx: &mut Tx<'_>,
    event: EventId,
    authority: &Authority,
) -> Result<Authority> {
    Ok(left(authority, &runs::revocations_for(tx, event)?))
}

/// What is left of an authority after what was taken away from the run that gives it on.
pub(crate) fn left_by(tx: &mut Tx<'_>, run: RunId, authority: &Authority) -> Result<Authority> {
    Ok(left(authority, &runs::revocations(tx, run)?))
}

fn left(authority: &Authority, taken: &[Revocation]) -> Authority {
    let mut revoked = Revoked::default();
    for what in taken {
        revoked.add(what);
    }
    revoked.taken_from(authority)
}
