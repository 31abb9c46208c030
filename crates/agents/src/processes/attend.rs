//! Looks after one process until its end is told: notices its end, brings it about when asked to, looks at its output
//! when that grows. Driven by events; the only times are graces, and the pace at which a growing output is looked at.
//!
//! **Invariant:** the end is told exactly once, whatever became of the turn that started it. What is not told when the
//! gateway stops is found by the next one.

use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use talaria_domain::adapter::Pending;
use talaria_domain::job::Jobs;
use tokio::sync::oneshot;
use tokio::time::{self, Instant};

use super::breaker::Verdict;
use super::growth::Growing;
use super::insist::insist;
use super::output::{shorten, tail};
use super::process::Process;
use super::sight::Sight;
use super::spawn::{Child, exit_code};
use super::told::{self, Cause, Ending};
use super::watch::Notice;
use super::watcher::Watcher;
use super::{KEPT, MOST_OUTPUT, Shared};

/// What a process that is told to end gets before it is made to.
const GRACE: Duration = Duration::from_secs(2);
/// A growing output is looked at once in this time.
const PACE: Duration = Duration::from_millis(100);
/// What a terminal gets to show the last of it.
const AFTERMATH: Duration = Duration::from_secs(2);
/// How much of the output is told with the end.
const TOLD: usize = 2_000;
/// How much of the output of a process that has ended is kept in its file.
const REMEMBERED: u64 = 1 << 20;

/// Somebody who looks after a process.
pub(super) struct Attendant {
    pub(super) shared: Arc<Shared>,
    pub(super) process: Arc<Process>,
    pub(super) jobs: Arc<dyn Jobs>,
    pub(super) sight: Sight,
    pub(super) child: Child,
    pub(super) drained: Option<oneshot::Receiver<()>>,
    pub(super) growing: Option<Growing>,
    pub(super) watcher: Option<Watcher>,
}

/// What happens to a process.
enum Happening {
    Gone,
    AskedToEnd,
    GraceOver,
    Reported,
    Grown,
    LookDue,
}

/// What is under way.
struct Course {
    is_asked: bool,
    grace_ends: Option<Instant>,
    reporting: Option<Pending<'static, ()>>,
    is_grown: bool,
    next_look: Instant,
}

impl Attendant {
    /// Looks after it until the end is told and forgotten, or the gateway stops.
    pub(super) async fn attend(self) {
        let (shared, id) = (Arc::clone(&self.shared), self.process.id);
        let stop = shared.stop.clone();
        let attending = async {
            // What it needed is let go before the long wait.
            Box::pin(self.see_through()).await;
            time::sleep(KEPT).await;
            shared.forget(id).await;
        };
        stop.run_until_cancelled(attending).await;
    }

    async fn see_through(mut self) {
        let reporting = self.watch().await;
        let ending = self.conclude().await;
        let is_taken = self.process.settle(ending.clone()).await;
        if let Some(reporting) = reporting {
            reporting.await;
        }
        self.tell(&ending, is_taken).await;
        let _ = self.process.close_input().await;
        shorten(&self.process.output(), REMEMBERED).await;
    }

    /// Until it is gone. Answers the notice that is still on its way.
    async fn watch(&mut self) -> Option<Pending<'static, ()>> {
        let mut course = Course {
            is_asked: false,
            grace_ends: None,
            reporting: None,
            // What it printed before anybody looked counts.
            is_grown: self.growing.is_some(),
            next_look: Instant::now(),
        };
        loop {
            match self.next(&mut course).await {
                Happening::Gone => return course.reporting,
                Happening::AskedToEnd => {
                    self.sight.signal_group(Signal::TERM);
                    course.is_asked = true;
                    course.grace_ends = Some(Instant::now() + GRACE);
                }
                Happening::GraceOver => {
                    self.sight.signal_group(Signal::KILL);
                    course.grace_ends = None;
                }
                Happening::Reported => {
                    course.reporting = None;
                    course.is_grown = true;
                }
                Happening::Grown => course.is_grown = true,
                Happening::LookDue => self.look(&mut course).await,
            }
        }
    }

    async fn next(&self, course: &mut Course) -> Happening {
        let (grace_ends, next_look) = (course.grace_ends, course.next_look);
        tokio::select! {
            biased;
            () = self.sight.gone() => Happening::Gone,
            () = self.process.asked_to_end(), if !course.is_asked => Happening::AskedToEnd,
            () = until(grace_ends) => Happening::GraceOver,
            () = finished(&mut course.reporting) => Happening::Reported,
            () = grown(self.growing.as_ref()), if !course.is_grown => Happening::Grown,
            () = time::sleep_until(next_look), if course.is_grown => Happening::LookDue,
        }
    }

    async fn look(&mut self, course: &mut Course) {
        course.is_grown = false;
        course.next_look = Instant::now() + PACE;
        if let Some(Err(error)) = self.growing.as_mut().map(Growing::arm) {
            let job = self.process.id;
            tracing::warn!(%job, %error, "the output of a process cannot be watched any more");
            self.growing = None;
        }
        let found = tokio::fs::metadata(self.process.output()).await;
        if found.is_ok_and(|found| found.len() > MOST_OUTPUT) {
            self.process.end(Cause::TooMuchOutput);
        }
        // While the book has not taken one notice the output waits in its file.
        if course.reporting.is_none() {
            course.reporting = self.notice().await;
        }
    }

    /// The next notice on its way to the book, if there is one.
    async fn notice(&mut self) -> Option<Pending<'static, ()>> {
        let watcher = self.watcher.as_mut()?;
        let now = self.shared.since.elapsed();
        let notice = watcher.look(now).await?;
        let (job, command) = (self.process.id, &self.process.command);
        let verdict = match notice {
            // Its last notice says that it is the last one: it is told in any case.
            Notice::Disabled { .. } => Verdict::Tell,
            Notice::Matched { .. } => self.shared.decide(self.process.session, now),
        };
        let text = match verdict {
            Verdict::Tell => told::notice(job, command, &notice),
            Verdict::TellSilence => {
                watcher.take_back(&notice);
                told::silence(job)
            }
            Verdict::Hold => {
                watcher.take_back(&notice);
                return None;
            }
        };
        Some(watcher.report(&self.jobs, job, text))
    }

    /// How it ended. What it left in its group ends with it.
    async fn conclude(&mut self) -> Ending {
        if self.child.is_ours() {
            self.sight.signal_unreaped(Signal::KILL);
        }
        if let Some(drained) = self.drained.take() {
            // What left the terminal's group may hold it for ever.
            let _ = time::timeout(AFTERMATH, drained).await;
        }
        let reaped = self.child.reap();
        Ending {
            code: exit_code(&self.process.directory).or(reaped),
            cause: self.process.cause(),
            after: self.process.age(),
        }
    }

    async fn tell(&mut self, ending: &Ending, is_taken: bool) {
        let job = self.process.id;
        let end = self.shared.end_of(&self.process, ending).await;
        if is_taken {
            insist("consume", || self.jobs.consume(job)).await;
        } else {
            if let Some(reporting) = self.notice().await {
                reporting.await;
            }
            let (watcher, process) = (self.watcher.as_mut(), &self.process);
            let is_promoted = |it: &&mut Watcher| it.is_promoted() && !process.is_taken();
            if let Some(watcher) = watcher.filter(is_promoted) {
                watcher.report(&self.jobs, job, end.text.clone()).await;
            }
        }
        insist("end", || self.jobs.end(job, end.clone())).await;
    }
}

impl Shared {
    /// The end of a process, with the last of its output.
    pub(super) async fn end_of(
        &self,
        process: &Process,
        ending: &Ending,
    ) -> talaria_domain::job::JobEnd {
        let tail = tail(&process.output(), TOLD).await;
        told::end(process.id, &process.command, ending, &tail.text)
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn finished(reporting: &mut Option<Pending<'static, ()>>) {
    match reporting {
        Some(reporting) => reporting.await,
        None => std::future::pending().await,
    }
}

async fn grown(growing: Option<&Growing>) {
    match growing {
        Some(growing) => growing.grown().await,
        None => std::future::pending().await,
    }
}
