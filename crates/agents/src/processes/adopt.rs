//! Takes up a job that was under way when the gateway ended: it is watched on, or its end is told.

use std::path::Path;
use std::sync::Arc;

use rustix::process::Signal;
use talaria_domain::job::{Job, JobKind, Jobs};
use talaria_domain::machine::Machine as _;

use super::attend::Attendant;
use super::insist::insist;
use super::process::{Input, Life, Origin, Process, output_in};
use super::proof::{Found, Handle, Verdict, decide};
use super::sight::{Sight, boot};
use super::spawn::{Child, exit_code};
use super::told::{Cause, Ending};
use super::watcher::Watcher;
use super::{KEPT, Shared, Work};

const NO_INPUT: &str = "its input was closed when the gateway was restarted";

/// Takes a job up. What it comes to is told by a task of its own.
pub(super) fn adopt(shared: &Arc<Shared>, job: &Job, jobs: Arc<dyn Jobs>) {
    if job.kind != JobKind::Process || job.state.is_end() || shared.is_tracked(job.id) {
        return;
    }
    let work: Work = serde_json::from_value(job.work.clone()).unwrap_or_default();
    let handle: Option<Handle> = job
        .handle
        .clone()
        .and_then(|it| serde_json::from_value(it).ok());
    let directory = handle
        .as_ref()
        .map_or_else(|| shared.directory_of(job.id), |it| it.directory.clone());
    let sight = handle.as_ref().and_then(|it| Sight::of(it.pid).ok());
    // Looked for after the process: one that ends between leaves its code before it is gone.
    let found = find(sight.as_ref(), &directory, &work);
    let verdict = decide(job.state, handle.as_ref(), &found);
    let process = Arc::new(Process::new(Origin {
        id: job.id,
        session: job.return_to.session,
        command: work.command.clone(),
        pid: handle.as_ref().map(|it| it.pid),
        directory,
        life: Life::Adopted,
        input: Input::Closed(NO_INPUT),
    }));
    shared.track(&process);
    match (verdict, sight) {
        (Verdict::Runs, Some(sight)) => watch_on(shared, &process, jobs, (sight, work)),
        (Verdict::Ended(code), _) => tell(shared, process, jobs, ended(code), work),
        (Verdict::End(why), Some(sight)) => {
            sight.signal_group(Signal::KILL);
            tell(shared, process, jobs, lost(why), work);
        }
        (Verdict::Lost(why) | Verdict::End(why), _) => {
            tell(shared, process, jobs, lost(why), work);
        }
        (Verdict::Runs, None) => tell(shared, process, jobs, lost("it is gone"), work),
    }
}

fn find(sight: Option<&Sight>, directory: &Path, work: &Work) -> Found {
    let running = sight.filter(|sight| !sight.is_gone());
    Found {
        start: running.map(Sight::started),
        exit: exit_code(directory),
        boot: boot(),
        has_output: output_in(directory).is_file(),
        is_pty: work.pty,
    }
}

const fn ended(code: i32) -> Ending {
    Ending {
        code: Some(code),
        cause: Cause::Itself,
        after: None,
    }
}

fn lost(why: &str) -> Ending {
    Ending::of(Cause::Lost(why.to_owned()))
}

fn watch_on(
    shared: &Arc<Shared>,
    process: &Arc<Process>,
    jobs: Arc<dyn Jobs>,
    (sight, work): (Sight, Work),
) {
    let patterns = work.watch_patterns;
    let attendant = Attendant {
        // Without it the process is still looked after; only its output is not.
        growing: shared.growth.of(&process.output()).ok(),
        watcher: (!patterns.is_empty()).then(|| Watcher::open(patterns, &process.directory)),
        shared: Arc::clone(shared),
        process: Arc::clone(process),
        jobs,
        sight,
        child: Child::Foreign,
        drained: None,
    };
    shared.tasks.spawn(attendant.attend());
}

/// Tells the end of a job whose process is not there any more.
fn tell(
    shared: &Arc<Shared>,
    process: Arc<Process>,
    jobs: Arc<dyn Jobs>,
    ending: Ending,
    work: Work,
) {
    let (tasks, stop) = (shared.tasks.clone(), shared.stop.clone());
    let shared = Arc::clone(shared);
    let job = process.id;
    let telling = async move {
        let is_taken = process.settle(ending.clone()).await;
        let end = shared.end_of(&process, &ending).await;
        let mut watcher = Watcher::open(work.watch_patterns, &process.directory);
        if is_taken {
            insist("consume", || jobs.consume(job)).await;
        } else if watcher.is_promoted() {
            watcher.report(&jobs, job, end.text.clone()).await;
        }
        insist("end", || jobs.end(job, end.clone())).await;
        drop((process, jobs, end, watcher));
        tokio::time::sleep(KEPT).await;
        shared.forget(job).await;
    };
    tasks.spawn(async move {
        stop.run_until_cancelled(telling).await;
    });
}
