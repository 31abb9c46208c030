//! A book of jobs in memory, and what a run can do beyond its conversation. Both write down what they are told; the book
//! wakes nobody, but says whom it would have woken.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use talaria_domain::adapter::Pending;
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{JobId, SeededIds};
use talaria_domain::job::{Job, JobEnd, JobError, JobKind, JobOrder, Jobs, Promise};
use talaria_domain::machine::JobState;
use talaria_domain::runner::{Letter, Reach, Task};
use tokio::sync::{Semaphore, watch};

use crate::world::within;

/// One job as the book knows it.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) order: JobOrder,
    /// Somebody wants to start it; it is there, and the book has not said yes.
    pub(crate) is_starting: bool,
    pub(crate) handle: Option<Value>,
    /// Everything that the conversation was or would be woken with, in order.
    pub(crate) wakes: Vec<String>,
    reports: BTreeMap<u64, String>,
    /// How often an end was taken, also when it changed nothing.
    pub(crate) ends: usize,
    pub(crate) end: Option<JobEnd>,
    pub(crate) is_consumed: bool,
}

/// The book.
pub(crate) struct Book {
    entries: watch::Sender<BTreeMap<JobId, Entry>>,
    ids: SeededIds,
    is_away: AtomicBool,
    pub(crate) refused: AtomicUsize,
    /// Permits to start; as many as anybody wants unless they are taken away.
    starts: Semaphore,
    refuses_starts: AtomicBool,
}

impl Book {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            entries: watch::Sender::default(),
            ids: SeededIds::from_seed(1),
            is_away: AtomicBool::new(false),
            refused: AtomicUsize::new(0),
            starts: Semaphore::new(1),
            refuses_starts: AtomicBool::new(false),
        })
    }

    /// From now on it cannot be reached, or it can.
    pub(crate) fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::SeqCst);
    }

    /// From now on no start is taken.
    pub(crate) fn refuse_starts(&self) {
        self.refuses_starts.store(true, Ordering::SeqCst);
    }

    /// Starts wait until what this answers is dropped.
    pub(crate) async fn hold_starts(&self) -> tokio::sync::SemaphorePermit<'_> {
        self.starts.acquire().await.unwrap()
    }

    pub(crate) fn jobs(&self) -> Vec<JobId> {
        self.entries.borrow().keys().copied().collect()
    }

    pub(crate) fn entry(&self, job: JobId) -> Entry {
        self.entries.borrow()[&job].clone()
    }

    /// The only job there is.
    pub(crate) fn only(&self) -> JobId {
        let jobs = self.jobs();
        assert_eq!(jobs.len(), 1, "{jobs:?}");
        jobs[0]
    }

    /// Waits until the job is as it should be.
    pub(crate) async fn until(&self, job: JobId, is_it: impl Fn(&Entry) -> bool) -> Entry {
        let mut entries = self.entries.subscribe();
        let is_so = |all: &BTreeMap<JobId, Entry>| all.get(&job).is_some_and(&is_it);
        within(entries.wait_for(is_so)).await.unwrap();
        self.entry(job)
    }

    /// Waits for a job to be recorded.
    pub(crate) async fn recorded(&self) -> JobId {
        let mut entries = self.entries.subscribe();
        within(entries.wait_for(|all| !all.is_empty()))
            .await
            .unwrap();
        self.only()
    }

    /// Waits for the end of a job.
    pub(crate) async fn ended(&self, job: JobId) -> JobEnd {
        let entry = self.until(job, |entry| entry.end.is_some()).await;
        entry.end.unwrap()
    }

    /// Waits for the end of all.
    pub(crate) async fn all_ended(&self) {
        let mut entries = self.entries.subscribe();
        let are_ended =
            |all: &BTreeMap<JobId, Entry>| all.values().all(|entry| entry.end.is_some());
        within(entries.wait_for(are_ended)).await.unwrap();
    }

    /// The job as a gateway that comes later finds it.
    pub(crate) fn found(&self, job: JobId) -> Job {
        let entry = self.entry(job);
        let state = match (&entry.end, &entry.handle) {
            (Some(end), _) => end.state,
            (None, Some(_)) => JobState::Running,
            (None, None) => JobState::Queued,
        };
        Job {
            id: job,
            run: Some(entry.order.run),
            kind: entry.order.kind,
            state,
            return_to: entry.order.return_to,
            work: entry.order.work,
            promise: entry.order.promise,
            handle: entry.handle,
            result: None,
            created_at: Timestamp::ZERO,
        }
    }

    fn change(
        &self,
        job: JobId,
        change: impl FnOnce(&mut Entry),
    ) -> Pending<'_, Result<(), JobError>> {
        if self.is_away.load(Ordering::SeqCst) {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return answer(Err(JobError::Unavailable("away".to_owned())));
        }
        let mut is_there = false;
        self.entries.send_modify(|all| {
            if let Some(entry) = all.get_mut(&job) {
                change(entry);
                is_there = true;
            }
        });
        answer(if is_there {
            Ok(())
        } else {
            Err(JobError::NotFound(job))
        })
    }
}

fn answer<'a, T: Send + 'a>(answer: T) -> Pending<'a, T> {
    Box::pin(async move {
        // As a commit would: somebody else gets a turn.
        tokio::task::yield_now().await;
        answer
    })
}

impl Jobs for Book {
    fn record(&self, order: JobOrder) -> Pending<'_, Result<JobId, JobError>> {
        if self.is_away.load(Ordering::SeqCst) {
            return answer(Err(JobError::Unavailable("away".to_owned())));
        }
        assert_eq!(order.kind, JobKind::Process);
        let job = JobId::next(&self.ids, Timestamp::ZERO);
        let entry = Entry {
            order,
            is_starting: false,
            handle: None,
            wakes: Vec::new(),
            reports: BTreeMap::new(),
            ends: 0,
            end: None,
            is_consumed: false,
        };
        self.entries.send_modify(|all| drop(all.insert(job, entry)));
        answer(Ok(job))
    }

    fn start(&self, job: JobId, handle: Value) -> Pending<'_, Result<(), JobError>> {
        Box::pin(async move {
            if self.refuses_starts.load(Ordering::SeqCst) {
                return Err(JobError::Refused("the run was stopped".to_owned()));
            }
            self.change(job, |entry| entry.is_starting = true).await?;
            let _permit = self.starts.acquire().await.unwrap();
            self.change(job, |entry| entry.handle = Some(handle)).await
        })
    }

    fn report(&self, job: JobId, token: u64, text: String) -> Pending<'_, Result<(), JobError>> {
        self.change(job, |entry| {
            assert!(entry.end.is_none(), "nothing is reported after the end");
            if entry.reports.insert(token, text.clone()).is_none() {
                entry.wakes.push(text);
            }
        })
    }

    fn end(&self, job: JobId, end: JobEnd) -> Pending<'_, Result<(), JobError>> {
        self.change(job, |entry| {
            entry.ends += 1;
            if entry.end.is_some() {
                return;
            }
            if entry.order.promise == Promise::Wake && !entry.is_consumed {
                entry.wakes.push(end.text.clone());
            }
            entry.end = Some(end);
        })
    }

    fn consume(&self, job: JobId) -> Pending<'_, Result<(), JobError>> {
        self.change(job, |entry| {
            entry.is_consumed = true;
            // A wake that nobody has heard yet is taken back.
            if entry.order.promise == Promise::Wake && entry.end.is_some() {
                entry.wakes.pop();
            }
        })
    }
}

/// What a run can do beyond its conversation.
pub(crate) struct Beyond {
    pub(crate) book: Arc<Book>,
    pub(crate) tasks: Mutex<Vec<Task>>,
    pub(crate) cancelled: Mutex<Vec<JobId>>,
    pub(crate) sent: Mutex<Vec<Letter>>,
    /// Delegations that may end; each outcome needs one.
    pub(crate) done: Semaphore,
}

impl Beyond {
    pub(crate) fn new(book: Arc<Book>) -> Self {
        Self {
            book,
            tasks: Mutex::default(),
            cancelled: Mutex::default(),
            sent: Mutex::default(),
            done: Semaphore::new(0),
        }
    }

    fn job_of(number: usize) -> JobId {
        JobId::from_bytes([u8::try_from(number + 1).unwrap(); 16])
    }
}

impl Reach for Beyond {
    fn jobs(&self) -> Arc<dyn Jobs> {
        Arc::<Book>::clone(&self.book)
    }

    fn delegate(&self, task: Task) -> Pending<'_, Result<JobId, String>> {
        if task.goal == "refuse" {
            return answer(Err("too many delegations".to_owned()));
        }
        let mut tasks = self.tasks.lock().unwrap();
        tasks.push(task);
        answer(Ok(Self::job_of(tasks.len() - 1)))
    }

    fn outcome(&self, job: JobId) -> Pending<'_, Result<JobEnd, String>> {
        Box::pin(async move {
            self.done.acquire().await.unwrap().forget();
            let tasks = self.tasks.lock().unwrap();
            let number = usize::from(job.as_bytes()[0]) - 1;
            Ok(JobEnd {
                state: JobState::Completed,
                text: format!("did {}", tasks[number].goal),
                result: Value::Null,
            })
        })
    }

    fn cancel(&self, job: JobId) -> Pending<'_, Result<(), String>> {
        self.cancelled.lock().unwrap().push(job);
        answer(Ok(()))
    }

    fn send(&self, letter: Letter) -> Pending<'_, Result<String, String>> {
        if let Some(target) = letter.target.as_deref().filter(|it| *it != "example:chat") {
            return answer(Err(format!("there is no target {target:?}")));
        }
        self.sent.lock().unwrap().push(letter);
        answer(Ok("sent".to_owned()))
    }
}
