//! The one way out. Each target (account, chat, thread) has a queue and, while something waits in it, a task that sends
//! one part after the other under the target's lease. What the adapter said is written down before the next part is
//! looked at; a sender that dies in between leaves a part in doubt, never one that is sent twice.

pub mod pace;
pub mod plan;
pub mod settle;

pub(crate) mod say;
mod send;

use std::sync::Arc;
use std::time::Duration;

use talaria_domain::address::{Address, TargetKey};
use talaria_domain::clock::Timestamp;
use talaria_domain::delivery::Outcome;
use talaria_domain::ids::DeadId;
use talaria_store::leases::{self, Lease, LeaseName};
use talaria_store::outbox::{self, Attempt, Head, Sending};
use talaria_store::{Conflict, Result, StoreError, Tx};
use tokio::sync::Notify;

use self::pace::Lane;
use self::settle::{Attempted, Verdict};
use crate::shared::Shared;

/// How long to wait when the ledger cannot be reached.
const LEDGER_PAUSE: Duration = Duration::from_secs(1);

/// Makes sure that somebody looks at a target.
pub(crate) fn knock(shared: &Arc<Shared>, target: TargetKey) {
    if shared.stop.is_cancelled() {
        return;
    }
    if let Some(knock) = shared.targets.knock(target) {
        let task = serve(Arc::clone(shared), target, knock);
        shared.spawn(task);
    }
}

/// A send that ended and has to be written down.
#[derive(Clone)]
struct Settled {
    sending: Box<Sending>,
    outcome: Outcome,
    verdict: Verdict,
}

/// What a target does next.
enum Step {
    Send(Lease, Box<Sending>),
    Doubted(Lease, Box<Sending>),
    Later(Timestamp),
    Idle,
}

async fn serve(shared: Arc<Shared>, target: TargetKey, knock: Arc<Notify>) {
    let mut lease = None;
    let mut settled = None;
    loop {
        shared.targets.look(target);
        let step = take_step(&shared, target, (lease.clone(), settled.clone())).await;
        match step {
            Ok(Step::Send(held, sending)) => {
                settled = Some(send_one(&shared, &sending, held.epoch).await);
                lease = Some(held);
            }
            Ok(Step::Doubted(held, sending)) => {
                settled = Some(doubt(&shared, sending));
                lease = Some(held);
            }
            Ok(Step::Later(time)) => {
                (lease, settled) = (None, None);
                if shared.stop.is_cancelled() {
                    return;
                }
                shared.wait_until(time, &knock).await;
            }
            Ok(Step::Idle) => {
                (lease, settled) = (None, None);
                shared.pace().leave(target);
                if shared.targets.leave(target) {
                    shared.changed.notify_waiters();
                    return;
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a send could not be written down or begun; trying again");
                if shared.stop.is_cancelled() {
                    return;
                }
                let time = shared.now().plus(LEDGER_PAUSE);
                shared.wait_until(time, &Notify::new()).await;
            }
        }
    }
}

/// Writes down what was sent, and takes what is next, in one transaction.
async fn take_step(
    shared: &Arc<Shared>,
    target: TargetKey,
    (lease, settled): (Option<Lease>, Option<Settled>),
) -> Result<Step> {
    let this = Arc::clone(shared);
    let step = shared.ledger.write(move |tx| {
        let held = match &lease {
            Some(lease) => lease.clone(),
            None => {
                match leases::claim(
                    tx,
                    &LeaseName::Target(target),
                    &this.settings.node,
                    this.settings.limits.lease,
                ) {
                    Ok(lease) => lease,
                    Err(StoreError::Conflict(Conflict::Held { until, .. })) => {
                        return Ok(Step::Later(until));
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        if let Some(settled) = &settled {
            write_down(tx, &this, &held, settled)?;
        }
        next(tx, &this, held, target)
    });
    match step.await {
        // Somebody else took over: what was sent is theirs to settle.
        Err(StoreError::Conflict(conflict)) => {
            tracing::warn!(%conflict, "a target was taken over");
            Ok(Step::Idle)
        }
        step => step,
    }
}

fn next(tx: &mut Tx<'_>, shared: &Shared, lease: Lease, target: TargetKey) -> Result<Step> {
    let now = shared.now();
    if shared.stop.is_cancelled() {
        leases::release(tx, &lease)?;
        return Ok(Step::Later(now));
    }
    if !is_known(tx, shared, target)? {
        // Once the account is connected, everybody is told to look again.
        leases::hand_in(tx, &lease)?;
        return Ok(Step::Idle);
    }
    if let Some(later) = held_until(tx, shared, target)? {
        leases::release(tx, &lease)?;
        return Ok(Step::Later(later));
    }
    let step = match outbox::claim(tx, target, lease.epoch, now)? {
        Head::Claimed(sending) => return Ok(Step::Send(lease, sending)),
        Head::Doubted(sending) => return Ok(Step::Doubted(lease, sending)),
        Head::Later(time) => Step::Later(time),
        Head::Empty | Head::Busy => Step::Idle,
    };
    leases::hand_in(tx, &lease)?;
    Ok(step)
}

/// When the target's chat and account take more, if not now. If they do, the target has a place among all that is sent:
/// of many that look at once no more go on than may.
fn held_until(tx: &mut Tx<'_>, shared: &Shared, target: TargetKey) -> Result<Option<Timestamp>> {
    if shared.settings.is_unlimited() && shared.pace().is_free() {
        return Ok(None);
    }
    let Some(to) = outbox::waiting(tx, target)? else {
        return Ok(None);
    };
    let Some(account) = shared.settings.account(&to.address) else {
        return Ok(None);
    };
    let wanted = (Lane::of(&to.address), account.rates());
    Ok(shared.pace().take(target, wanted, shared.now()).err())
}

/// Whether it is known what the target's account can do. One that is not configured any more is known well enough.
fn is_known(tx: &mut Tx<'_>, shared: &Shared, target: TargetKey) -> Result<bool> {
    if shared.pulse.is_all_known() {
        return Ok(true);
    }
    let Some(to) = outbox::waiting(tx, target)? else {
        return Ok(true);
    };
    let account = shared.settings.account(&to.address);
    Ok(account.is_none_or(|account| shared.pulse.is_known(account.adapter.account())))
}

fn write_down(tx: &mut Tx<'_>, shared: &Shared, lease: &Lease, settled: &Settled) -> Result<()> {
    leases::fence(tx, lease)?;
    let now = shared.now();
    let attempt = Attempt {
        part: settled.sending.queued.part.id,
        epoch: settled.sending.queued.epoch,
        outcome: settled.outcome.clone(),
        at: now,
    };
    let letter = DeadId::next(&*shared.ids, now);
    match &settled.verdict {
        Verdict::Deliver => outbox::deliver(tx, &attempt),
        Verdict::RetryAt(time) => outbox::retry_at(tx, &attempt, *time),
        Verdict::Fail { reason } => outbox::fail(tx, &attempt, letter, reason),
        Verdict::Unknown { reason } => {
            if settled.sending.queued.state == talaria_domain::machine::PartState::Sending {
                outbox::doubt(tx, &attempt)?;
            }
            outbox::settle(tx, &attempt, letter, reason)
        }
    }
}

async fn send_one(shared: &Arc<Shared>, sending: &Sending, epoch: i64) -> Settled {
    let address = &sending.reply.return_to.address;
    shared.pace().spend(sending.queued.target, shared.now());
    let outcome = send::send(shared, sending, epoch).await;
    heed(shared, address, &outcome);
    conclude(shared, Box::new(sending.clone()), outcome)
}

/// A platform that says "later" says it for everything to that chat.
pub(crate) fn heed(shared: &Shared, address: &Address, outcome: &Outcome) {
    if let Outcome::NotSent {
        retry_after: Some(wait),
        ..
    } = outcome
    {
        let until = shared.now().plus(*wait);
        shared.pace().close(Lane::of(address), until);
    }
}

/// A part whose sender is gone: nobody knows whether it arrived.
fn doubt(shared: &Shared, sending: Box<Sending>) -> Settled {
    let outcome = Outcome::Unknown {
        detail: "the gateway stopped while it was being sent".to_owned(),
    };
    conclude(shared, sending, outcome)
}

fn conclude(shared: &Shared, sending: Box<Sending>, outcome: Outcome) -> Settled {
    let account = shared.settings.account(&sending.reply.return_to.address);
    let attempted = Attempted {
        outcome: &outcome,
        repeat: send::repeat(account, &sending),
        attempts: sending.queued.attempts,
        since: sending.queued.created_at,
        now: shared.now(),
    };
    let policy = account.map_or_else(Default::default, |account| account.doubt);
    let verdict = settle::decide(&attempted, policy, shared.settings.limits.delivery);
    Settled {
        sending,
        outcome,
        verdict,
    }
}
