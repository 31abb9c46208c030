//! One turn: claimed under an epoch, run, journalled, ended in a named state. Whatever the runner does (answer, fail,
//! hang, panic, ignore being stopped), the turn ends, the person is told once, and the lane is free.

pub mod doing;
pub mod envelope;
pub mod record;
pub mod resume;
pub mod window;

pub(crate) mod begin;
mod effects;
mod end;
mod errand;
mod growing;
pub(crate) mod history;
mod host;
mod letters;
mod presence;
mod reach;
pub(crate) mod recent;
pub(crate) mod whole;
pub(crate) mod written;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::clock::Timestamp;
use talaria_domain::event::Hearing;
use talaria_domain::ids::SessionId;
use talaria_domain::live::Happening;
use talaria_domain::run::{Failure, FailureCode, RunOutcome};
use talaria_domain::runner::{Said, Turn};
use talaria_store::leases;
use tokio_util::sync::CancellationToken;

use self::begin::{Begin, Begun};
use self::end::{Ended, Rest, Unwritten};
use self::host::TurnHost;
use self::recent::History;
use self::written::Beginning;
use crate::courtesy::Ending;
use crate::files::fetch;
use crate::jobs::way_back;
use crate::registry::{ActiveRun, Registration};
use crate::shared::Shared;

/// How long to wait when the ledger cannot be reached.
const LEDGER_PAUSE: Duration = Duration::from_secs(1);

/// What a lane does next.
pub(crate) enum Next {
    /// Look again.
    Again,
    /// Look again at that time.
    Later(Timestamp),
    /// There is nothing to do.
    Nothing,
}

/// Runs the next turn of a session, if there is one.
pub(crate) async fn run_next(shared: &Arc<Shared>, session: SessionId) -> Next {
    let this = Arc::clone(shared);
    let begun = shared
        .ledger
        .write(move |tx| begin::begin(tx, &this, session))
        .await;
    match begun {
        Ok(Begin::Nothing) => Next::Nothing,
        Ok(Begin::Later(time)) => Next::Later(time),
        Ok(Begin::Told(told)) => {
            shared.watchers.tell_all(told);
            Next::Again
        }
        Ok(Begin::Turn(begun)) => {
            let (begun, history) = begun.share();
            stand(shared, &begun);
            take_turn(shared, &begun, history).await
        }
        Err(error) => {
            tracing::warn!(%session, %error, "a turn could not begin");
            Next::Later(shared.now().plus(LEDGER_PAUSE))
        }
    }
}

/// The beginning of a turn is committed: whoever watches is told, and what it does may be noticed.
pub(crate) fn stand(shared: &Shared, begun: &Begun) {
    let (run, event) = (begun.run, begun.row.event.id);
    let started = Happening::Started { run, event };
    shared.watchers.tell(begun.session(), started);
    begun.written.tell(Beginning::Stands);
}

/// Runs a turn to its end; says whether the lane has to be looked at again. If it turns out that the turn never began,
/// nothing is left of it.
pub(crate) async fn take_turn(
    shared: &Arc<Shared>,
    begun: &Arc<Begun>,
    history: Option<History>,
) -> Next {
    let run = begun.run;
    let stop = shared.stop.child_token();
    let active = match register(shared, begun, &stop) {
        Ok(active) => active,
        Err(failure) => {
            let nothing = Unwritten {
                next: 1,
                events: Vec::new(),
            };
            end::settle(shared, begun, (&[], nothing), Ended::Failed(failure)).await;
            return Next::Again;
        }
    };
    let host = Arc::new(TurnHost::of(shared, begun, &active));
    let ended = supervise(shared, (begun, history), &host, &active).await;
    presence::end(shared, begun, &ended);
    let (journal, unwritten) = host.last_words();
    let _ending = let_others_go_first(shared, begun).await;
    let rest = end::settle(shared, begun, (&journal, unwritten), ended).await;
    host.let_go().await;
    shared.waits.forget(run);
    let is_knocked = shared.running.end(run);
    shared.changed.notify_waiters();
    shared.said.notify_one();
    match rest {
        Rest::Empty if !is_knocked => Next::Nothing,
        Rest::Empty | Rest::Unknown => Next::Again,
    }
}

/// Where commits wait for nothing, the end of a turn whose first words were heard waits for the first words of others.
/// Where they do wait, all that is there shares one commit, and waiting would be for nothing.
async fn let_others_go_first<'a>(shared: &'a Shared, begun: &Begun) -> Option<Ending<'a>> {
    let is_heard = begun.row.event.hearing() == Hearing::AsItGrows && begun.written.was_held();
    if is_heard && !begun.written.is_held() && shared.ledger.commits_at_once() {
        Some(shared.courtesy.end(shared.moments.pass()).await)
    } else {
        None
    }
}

/// Makes the run known: from here on it can be reached, and has effects.
fn register(
    shared: &Shared,
    begun: &Begun,
    stop: &CancellationToken,
) -> Result<Arc<ActiveRun>, Failure> {
    let registration = Registration {
        run: begun.run,
        session: begun.session(),
        runner: begun.profile.profile.runner.clone(),
        binding: begun.binding.clone(),
        authority: begun.frozen(),
        idle: shared.settings.limits.idle_run,
        at: shared.now(),
        stop: stop.clone(),
    };
    let registered = shared.running.register(registration);
    registered.map_err(|why| Failure::of(FailureCode::Other, why.to_string()))
}

/// How a run that was told to stop has ended: a command or the gateway stopped it, or it did nothing for too long.
fn stopped(active: &ActiveRun) -> Ended {
    match active.expired() {
        None => Ended::Stopped,
        Some(idle) => {
            let reason = format!("nothing happened for {}", minutes(idle));
            Ended::Failed(Failure::of(FailureCode::NoProgress, reason))
        }
    }
}

/// Runs the runner until it ends, is stopped, hangs, panics or loses its lane.
async fn supervise(
    shared: &Arc<Shared>,
    (begun, history): (&Arc<Begun>, Option<History>),
    host: &Arc<TurnHost>,
    active: &ActiveRun,
) -> Ended {
    let stop = &active.registration().stop;
    let asked = (Arc::clone(begun), history);
    let thinking = think(Arc::clone(shared), asked, Arc::clone(host));
    let mut thinking = Box::pin(AssertUnwindSafe(thinking).catch_unwind());
    let grace = shared.settings.limits.grace;
    let ended = tokio::select! {
        biased;
        () = stop.cancelled() => stopped(active),
        () = begun.written.undone() => Ended::Undone,
        ended = watch(shared, begun, host) => ended,
        () = presence::show(shared, begun) => Ended::Stopped,
        () = host.catch_up() => Ended::Stopped,
        outcome = &mut thinking => return match outcome {
            Ok(outcome) => Ended::by(outcome),
            Err(_) => Ended::Panicked,
        },
    };
    stop.cancel();
    // Time to clean up; dropping it takes what is left by force. What it yields is fenced off or not asked for any more.
    drop(tokio::time::timeout(grace, &mut thinking).await);
    ended
}

async fn think(
    shared: Arc<Shared>,
    (begun, history): (Arc<Begun>, Option<History>),
    host: Arc<TurnHost>,
) -> RunOutcome {
    let runner = Arc::clone(&begun.profile.runner);
    let (history, numbers) = match fit(&shared, &begun, history).await {
        Ok(fitting) => fitting,
        Err(reason) => return RunOutcome::failed(FailureCode::Other, reason),
    };
    // Whatever is fetched or started is noticed by somebody.
    let is_noticed = !runner.thinks_first() || fetch::has_files(&begun.events);
    if is_noticed && begun.written.known().await == Beginning::IsUndone {
        return RunOutcome::Cancelled;
    }
    let may_read = |attachment: &_| begun.may_read(attachment);
    if let Some(fetched) = fetch::fetch(&shared, &begun.events, may_read).await {
        begun.fetched.get_or_init(|| fetched.into());
    }
    let mut profile = begun.profile.profile.clone();
    let wishes = begun.wishes();
    if let Some(more) = wishes.and_then(|wishes| wishes.instructions.as_deref()) {
        if !profile.instructions.is_empty() {
            profile.instructions.push_str("\n\n");
        }
        profile.instructions.push_str(more);
    }
    let turn = Turn {
        run: begun.run,
        profile,
        authority: begun.frozen(),
        return_to: (*begun.place.0).clone(),
        session_key: begun.key.0.to_string(),
        window: match begun.errand {
            Some(_) => DeliveryWindow::InTurnOnly,
            None => way_back::window(wishes, &begun.place.0.address, |to| {
                shared.settings.window(to)
            }),
        },
        state: begun.snapshot.clone(),
        config: begun.config.clone(),
        depth: begun.depth(),
        history,
        input: Arc::clone(begun.input()),
        prompt: begun.prompt(),
        options: wishes.map_or_else(BTreeMap::new, |wishes| wishes.options.clone()),
    };
    let outcome = runner.run(&turn, &*host).await;
    if let Some(numbers) = numbers {
        begun.lay_down(numbers.into_iter().zip(turn.history).collect());
    }
    outcome
}

/// The history as the model can be shown it; what is too much is summed up, for good. With its numbers if it is what
/// the ledger has.
async fn fit(
    shared: &Arc<Shared>,
    begun: &Arc<Begun>,
    read: Option<History>,
) -> Result<(Vec<Said>, Option<Vec<i64>>), String> {
    if let Some(history) = begun.wishes().and_then(|wishes| wishes.history.clone()) {
        // Whoever brings a history of their own answers for its length.
        return Ok((history, None));
    }
    let session = begun.session();
    let shown = if let Some(history) = read {
        history
    } else {
        let read = shared.ledger.read(move |tx| history::shown(tx, session));
        read.await.map_err(|error| error.to_string())?
    };
    let (numbers, mut said): (Vec<i64>, Vec<Said>) = shown.into_iter().unzip();
    let Some(cut) = window::outgrown(&said, begun.profile.runner.window()) else {
        return Ok((said, Some(numbers)));
    };
    let summary = begun.profile.runner.summarise(&said[..cut]).await?;
    let (begun, now) = (Arc::clone(begun), shared.now());
    let (numbers, text) = (numbers[..cut].to_vec(), summary.clone());
    let compacted = shared.ledger.write(move |tx| {
        leases::fence(tx, &begun.lease)?;
        history::compact(tx, begun.session(), &numbers, &text, now)
    });
    compacted.await.map_err(|error| error.to_string())?;
    let kept = said.split_off(cut);
    let first = Said::plain(
        talaria_domain::runner::Speaker::System,
        format!("What was said before, in short:\n{summary}"),
    );
    Ok((std::iter::once(first).chain(kept).collect(), None))
}

/// Ends when the run hangs or loses its lane. Neither happens to what is over in a moment.
async fn watch(shared: &Shared, begun: &Arc<Begun>, host: &TurnHost) -> Ended {
    let started = shared.now();
    shared.moments.pass().await;
    tokio::select! {
        biased;
        late = hang(shared, (begun, started), host) => Ended::Failed(late),
        () = lose(shared, begun) => Ended::Stopped,
    }
}

/// Ends when the run has taken too long or yields nothing any more; says which.
async fn hang(shared: &Shared, (begun, started): (&Begun, Timestamp), host: &TurnHost) -> Failure {
    let limits = shared.settings.limits;
    loop {
        let now = shared.now();
        let (total, idle) = (
            // What a person takes to answer is not the run's time.
            started.plus(limits.turn_time + shared.waits.spent(begun.run, now)),
            host.active_at().plus(limits.no_progress),
        );
        if now >= total {
            let reason = format!("it took longer than {}", minutes(limits.turn_time));
            return Failure::of(FailureCode::Timeout, reason);
        }
        if now >= idle {
            let reason = format!("nothing happened for {}", minutes(limits.no_progress));
            return Failure::of(FailureCode::NoProgress, reason);
        }
        let next = total.min(idle);
        tracing::trace!(run = %begun.run, ?next, "watching");
        // Not polling: it wakes once at the earliest time at which the run can be late.
        tokio::time::sleep(next.since(now)).await;
    }
}

fn minutes(time: Duration) -> String {
    if time < Duration::from_mins(2) {
        return format!("{} seconds", time.as_secs());
    }
    format!("{} minutes", time.as_secs() / 60)
}

/// Keeps the lane's lease alive; ends when somebody else has it.
async fn lose(shared: &Shared, begun: &Arc<Begun>) {
    let ttl = shared.settings.limits.lease;
    loop {
        // Not polling: a lease lives by being renewed in time.
        tokio::time::sleep(ttl / 3).await;
        let begun = Arc::clone(begun);
        let renewed = shared
            .ledger
            .write(move |tx| leases::renew(tx, &begun.lease, ttl))
            .await;
        if let Err(talaria_store::StoreError::Conflict(_)) = renewed {
            return;
        }
    }
}
