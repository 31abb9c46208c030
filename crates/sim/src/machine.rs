//! A simulated machine that background processes run on. It outlives the gateway: a process ends when its time has come,
//! whether or not anybody is there to see it. Whoever starts again finds it by its handle.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use talaria_domain::adapter::Pending;
use talaria_domain::clock::{Clock, Timestamp};
use talaria_domain::ids::JobId;
use talaria_domain::job::{Job, JobEnd, Jobs, Worker};
use talaria_domain::machine::JobState;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

/// A machine.
pub struct Machine {
    clock: Arc<dyn Clock>,
    processes: Mutex<BTreeMap<JobId, Process>>,
    watchers: TaskTracker,
}

/// A process that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// What it is called.
    pub name: String,
    /// When it ends.
    pub ends_at: Timestamp,
}

impl Machine {
    /// A machine that nothing runs on.
    pub fn by(clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self {
            clock,
            processes: Mutex::default(),
            watchers: TaskTracker::new(),
        })
    }

    /// Starts a process for a job that was recorded, and watches it for as long as this gateway lives.
    pub async fn launch(
        self: &Arc<Self>,
        (job, jobs): (JobId, Arc<dyn Jobs>),
        name: &str,
        time: Duration,
    ) {
        let process = Process {
            name: name.to_owned(),
            ends_at: self.clock.now().plus(time),
        };
        self.processes().insert(job, process.clone());
        let (this, (said, heard)) = (Arc::clone(self), oneshot::channel());
        // Apart from whoever asks, who may be stopped at any time.
        self.watchers.spawn(async move {
            let started = jobs.start(job, json!({ "process": job })).await;
            // Nobody waits any more if they were stopped.
            said.send(()).unwrap_or_default();
            if started.is_ok() {
                this.attend(job, &process, &*jobs).await;
            } else {
                this.processes().remove(&job);
            }
        });
        drop(heard.await);
    }

    /// The processes that were ever started.
    pub fn started(&self) -> BTreeMap<JobId, Process> {
        self.processes().clone()
    }

    /// The job of the process of this name that was started last.
    pub fn named(&self, name: &str) -> Option<JobId> {
        let processes = self.processes();
        let mut found = processes.iter().filter(|(_, it)| it.name == name);
        found.next_back().map(|(job, _)| *job)
    }

    async fn attend(&self, job: JobId, process: &Process, jobs: &dyn Jobs) {
        tokio::time::sleep(process.ends_at.since(self.clock.now())).await;
        let end = JobEnd {
            state: JobState::Completed,
            text: format!("{} is done", process.name),
            result: json!({ "code": 0 }),
        };
        // A gateway that is gone tells nobody; the next one asks.
        drop(jobs.end(job, end).await);
    }

    fn processes(&self) -> MutexGuard<'_, BTreeMap<JobId, Process>> {
        self.processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nobody who looks for processes: to see that somebody notices.
#[derive(Debug, Clone, Copy)]
pub struct Forgetful;

impl Worker for Forgetful {
    fn adopt(&self, _job: Job, _jobs: Arc<dyn Jobs>) -> Pending<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn cancel(&self, _job: JobId) -> Pending<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl Worker for Machine {
    fn adopt(&self, job: Job, jobs: Arc<dyn Jobs>) -> Pending<'_, ()> {
        Box::pin(async move {
            let found = self.processes().get(&job.id).cloned();
            if let Some(process) = found.filter(|_| job.handle.is_some()) {
                return self.attend(job.id, &process, &*jobs).await;
            }
            let name = job.work.get("name").and_then(|name| name.as_str());
            let end = JobEnd {
                state: JobState::Lost,
                text: format!("{} is lost", name.unwrap_or("something")),
                result: json!(null),
            };
            drop(jobs.end(job.id, end).await);
        })
    }

    fn cancel(&self, job: JobId) -> Pending<'_, ()> {
        self.processes().remove(&job);
        Box::pin(std::future::ready(()))
    }
}
