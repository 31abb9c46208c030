//! Starts a process: recorded, spawned, found again by the ledger, and only then begun. Wherever that stops, the job has
//! an end.

use std::sync::Arc;

use serde_json::Value;
use talaria_domain::ids::JobId;
use talaria_domain::job::{JobKind, JobOrder, Jobs};

use super::attend::Attendant;
use super::insist::insist;
use super::process::{Life, Origin, Process};
use super::proof::Handle;
use super::sight::boot;
use super::spawn::{BEGIN, Spawned, Start, spawn, undo};
use super::told::{self, Cause, Ending};
use super::watcher::Watcher;
use super::{Order, Shared};

/// Starts it, or says why not.
pub(super) async fn launch(
    shared: &Arc<Shared>,
    order: Order,
    jobs: Arc<dyn Jobs>,
) -> Result<Arc<Process>, String> {
    let job = jobs.record(JobOrder {
        run: order.run,
        kind: JobKind::Process,
        return_to: order.return_to.clone(),
        work: serde_json::to_value(&order.work).unwrap_or(Value::Null),
        promise: order.promise,
    });
    let job = job.await.map_err(|error| error.to_string())?;
    match begin(shared, job, &order, &jobs).await {
        Ok(process) => Ok(process),
        Err(why) => {
            give_up(shared, job, &order, jobs, &why);
            Err(format!("the process could not be started: {why}"))
        }
    }
}

async fn begin(
    shared: &Arc<Shared>,
    job: JobId,
    order: &Order,
    jobs: &Arc<dyn Jobs>,
) -> Result<Arc<Process>, String> {
    let directory = shared.directory_of(job);
    let start = Start {
        command: &order.work.command,
        cwd: order.work.cwd.as_deref(),
        variables: &order.variables,
        is_pty: order.work.pty,
        directory: &directory,
    };
    let words = |error: std::io::Error| error.to_string();
    let mut spawned = spawn(&start, &shared.tasks).map_err(words)?;
    let handle = Handle {
        pid: spawned.sight.pid(),
        start: spawned.sight.started(),
        boot: boot(),
        directory,
    };
    let known = jobs
        .start(job, serde_json::to_value(&handle).unwrap_or(Value::Null))
        .await;
    if let Err(error) = known {
        undo(&mut spawned);
        return Err(error.to_string());
    }
    look_after(shared, job, order, jobs, (spawned, handle)).await
}

async fn look_after(
    shared: &Arc<Shared>,
    job: JobId,
    order: &Order,
    jobs: &Arc<dyn Jobs>,
    (mut spawned, handle): (Spawned, Handle),
) -> Result<Arc<Process>, String> {
    let patterns = order.work.watch_patterns.clone();
    let growing = match shared
        .growth
        .of(&super::process::output_in(&handle.directory))
    {
        Ok(growing) => growing,
        Err(error) => {
            undo(&mut spawned);
            return Err(format!("its output cannot be watched: {error}"));
        }
    };
    let process = Arc::new(Process::new(Origin {
        id: job,
        session: order.return_to.session,
        command: order.work.command.clone(),
        pid: Some(handle.pid),
        directory: handle.directory,
        life: Life::Whole,
        input: spawned.input,
    }));
    if !order.work.pty {
        // A shell that is gone already has nothing to begin with; its end says so.
        let _ = process.type_in(BEGIN).await;
    }
    shared.track(&process);
    let attendant = Attendant {
        watcher: (!patterns.is_empty()).then(|| Watcher::open(patterns, &process.directory)),
        shared: Arc::clone(shared),
        process: Arc::clone(&process),
        jobs: Arc::clone(jobs),
        sight: spawned.sight,
        child: spawned.child,
        drained: spawned.drained,
        growing: Some(growing),
    };
    shared.tasks.spawn(attendant.attend());
    Ok(process)
}

/// Ends a job whose process was not started. Whoever asked is told at once, and not again.
fn give_up(shared: &Arc<Shared>, job: JobId, order: &Order, jobs: Arc<dyn Jobs>, why: &str) {
    let ending = Ending::of(Cause::NotStarted(why.to_owned()));
    let end = told::end(job, &order.work.command, &ending, "");
    let (stop, directory) = (shared.stop.clone(), shared.directory_of(job));
    let telling = async move {
        insist("consume", || jobs.consume(job)).await;
        insist("end", || jobs.end(job, end.clone())).await;
        let _ = tokio::fs::remove_dir_all(directory).await;
    };
    shared.tasks.spawn(async move {
        stop.run_until_cancelled(telling).await;
    });
}
