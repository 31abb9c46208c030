//! The background processes of this gateway. Each is a job that is recorded before anything of it is started, prints
//! into a file of its own, and is found again by the next gateway; its end is told to the book of jobs by whoever looks
//! after it, without a turn, a poller or a model.
//!
//! **Invariant:** a process belongs to the conversation that started it. Every look-up names the conversation, and
//! somebody else's process is not there. Whatever is printed and whatever ends, what is held in memory is bounded.

mod adopt;
mod attend;
mod breaker;
mod growth;
mod insist;
mod launch;
mod output;
mod process;
mod proof;
pub(crate) mod pty;
mod ready;
pub(crate) mod sight;
mod spawn;
mod told;
mod watch;
mod watcher;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use talaria_domain::adapter::Pending;
use talaria_domain::address::ReturnAddress;
use talaria_domain::ids::{JobId, RunId, SessionId};
use talaria_domain::job::{Job, Jobs, Promise, Worker};
use tokio::sync::oneshot;
use tokio::time::{self, Instant};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::breaker::{Breaker, Verdict};
use self::growth::Growth;
pub(crate) use self::output::tail;
pub(crate) use self::process::Process;
pub(crate) use self::told::Cause;

/// How long a process is remembered after its end.
const KEPT: Duration = Duration::from_mins(30);
/// Processes of one conversation.
const MOST_PROCESSES: usize = 64;
/// Bytes of output of one process.
const MOST_OUTPUT: u64 = 256 << 20;

/// The background processes.
pub struct Processes {
    shared: Arc<Shared>,
}

/// What all of them share.
struct Shared {
    directory: PathBuf,
    tasks: TaskTracker,
    stop: CancellationToken,
    growth: Growth,
    breaker: Mutex<Breaker>,
    tracked: Mutex<HashMap<JobId, Arc<Process>>>,
    since: Instant,
}

/// What is started, and for whom.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) run: RunId,
    pub(crate) return_to: ReturnAddress,
    pub(crate) promise: Promise,
    pub(crate) work: Work,
    /// The environment of the child, all of it.
    pub(crate) variables: Vec<(String, String)>,
}

/// What is to be done, as it is recorded with the job.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Work {
    pub(crate) command: String,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) pty: bool,
    pub(crate) watch_patterns: Vec<String>,
}

impl Processes {
    /// Looks after processes whose outputs are below `directory`. Its tasks run in `tasks` until `stop`, which does not
    /// end the processes: the next gateway takes them up.
    pub fn new(directory: PathBuf, tasks: TaskTracker, stop: CancellationToken) -> Self {
        let shared = Arc::new(Shared {
            growth: Growth::new(tasks.clone(), stop.clone()),
            directory,
            tasks,
            stop,
            breaker: Mutex::default(),
            tracked: Mutex::default(),
            since: Instant::now(),
        });
        shared.tidy_up();
        Self { shared }
    }

    /// Stops looking after them. They run on.
    pub async fn close(&self) {
        self.shared.stop.cancel();
        self.shared.tasks.close();
        // A thread that reads a terminal somebody took away with them has no end.
        let _ = time::timeout(Duration::from_secs(1), self.shared.tasks.wait()).await;
    }

    /// For what has to end together with this: where its tasks are counted, and what stops them.
    pub fn lifetime(&self) -> (TaskTracker, CancellationToken) {
        (self.shared.tasks.clone(), self.shared.stop.clone())
    }

    /// Starts a process, or says why not. It is looked after from then on, whoever waits here.
    pub(crate) async fn start(
        &self,
        order: Order,
        jobs: Arc<dyn Jobs>,
    ) -> Result<Arc<Process>, String> {
        if self.shared.stop.is_cancelled() {
            return Err("the gateway is stopping: nothing is started any more".to_owned());
        }
        self.shared.make_room(order.return_to.session).await?;
        let (tell, hear) = oneshot::channel();
        let (shared, stop) = (Arc::clone(&self.shared), self.shared.stop.clone());
        self.shared.tasks.spawn(async move {
            let launching = launch::launch(&shared, order, jobs);
            // What has not begun by then never begins: nobody says the word.
            let Some(launched) = stop.run_until_cancelled(launching).await else {
                return;
            };
            if let Err(Ok(process)) = tell.send(launched) {
                // Nobody waits for it any more: the run was stopped, and nobody was told that it exists.
                process.note_taken();
                process.end(Cause::Cancelled);
            }
        });
        let heard = hear.await;
        heard.unwrap_or_else(|_| Err("the gateway is stopping".to_owned()))
    }

    /// The process of this conversation with this id.
    pub(crate) fn find(&self, session: SessionId, id: JobId) -> Option<Arc<Process>> {
        let tracked = self.shared.lock();
        let process = tracked.get(&id);
        process.filter(|it| it.session == session).cloned()
    }

    /// The processes of this conversation, the oldest first.
    pub(crate) fn of(&self, session: SessionId) -> Vec<Arc<Process>> {
        self.shared.of(session)
    }

    /// Where threads of terminals are counted.
    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.shared.tasks
    }
}

impl Worker for Processes {
    fn adopt(&self, job: Job, jobs: Arc<dyn Jobs>) -> Pending<'_, ()> {
        Box::pin(async move { adopt::adopt(&self.shared, &job, jobs) })
    }

    fn cancel(&self, job: JobId) -> Pending<'_, ()> {
        let process = self.shared.lock().get(&job).cloned();
        if let Some(process) = process {
            process.end(Cause::Cancelled);
        }
        Box::pin(std::future::ready(()))
    }
}

impl Shared {
    fn directory_of(&self, job: JobId) -> PathBuf {
        self.directory.join(job.to_string())
    }

    fn track(&self, process: &Arc<Process>) {
        self.lock().insert(process.id, Arc::clone(process));
    }

    fn is_tracked(&self, job: JobId) -> bool {
        self.lock().contains_key(&job)
    }

    fn of(&self, session: SessionId) -> Vec<Arc<Process>> {
        let tracked = self.lock();
        let mut all: Vec<_> = tracked
            .values()
            .filter(|it| it.session == session)
            .cloned()
            .collect();
        drop(tracked);
        all.sort_by_key(|process| process.id);
        all
    }

    /// What has ended makes way for what is new, the oldest end first; what runs does not.
    async fn make_room(&self, session: SessionId) -> Result<(), String> {
        let all = self.of(session);
        if all.len() < MOST_PROCESSES {
            return Ok(());
        }
        let ended = all.iter().filter_map(|it| Some((it.ended_at()?, it.id)));
        let Some((_, oldest)) = ended.min() else {
            return Err(format!(
                "{MOST_PROCESSES} background processes of this conversation are running, which is the most there may \
                 be: wait for one, or end one with process(action=\"kill\")"
            ));
        };
        self.forget(oldest).await;
        Ok(())
    }

    /// Lets go of a process and of its output.
    async fn forget(&self, job: JobId) {
        let process = self.lock().remove(&job);
        if let Some(process) = process {
            // What cannot be removed is there for the next start to remove.
            let _ = tokio::fs::remove_dir_all(&process.directory).await;
        }
    }

    /// Removes outputs that an earlier gateway left, once everything that was under way has been taken up.
    fn tidy_up(self: &Arc<Self>) {
        let listed = std::fs::read_dir(&self.directory).into_iter().flatten();
        let left: Vec<JobId> = listed
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect();
        if left.is_empty() {
            return;
        }
        let (shared, stop) = (Arc::clone(self), self.stop.clone());
        let tidying = async move {
            time::sleep(KEPT).await;
            for job in left.into_iter().filter(|job| !shared.is_tracked(*job)) {
                let _ = tokio::fs::remove_dir_all(shared.directory_of(job)).await;
            }
        };
        self.tasks.spawn(async move {
            stop.run_until_cancelled(tidying).await;
        });
    }

    fn decide(&self, session: SessionId, now: Duration) -> Verdict {
        let breaker = self.breaker.lock();
        let mut breaker = breaker.unwrap_or_else(PoisonError::into_inner);
        breaker.decide(session, now)
    }

    /// A poisoned lock means that somebody panicked between two entries: what is there is still good.
    fn lock(&self) -> MutexGuard<'_, HashMap<JobId, Arc<Process>>> {
        self.tracked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
