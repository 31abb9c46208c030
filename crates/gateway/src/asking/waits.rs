//! Who waits for a person in this process: what each question is woken by, what its buttons carry, and for how long each
//! run has waited. Nothing of it outlives the process; a question whose process is gone is withdrawn by whoever takes
//! its run's lane over.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{QuestionId, RunId};
use talaria_domain::question::PressToken;
use tokio::sync::Notify;

/// Who waits.
#[derive(Debug, Default)]
pub(crate) struct Waits(Mutex<Book>);

#[derive(Debug, Default)]
struct Book {
    questions: BTreeMap<QuestionId, Door>,
    runs: BTreeMap<RunId, Wait>,
}

#[derive(Debug)]
struct Door {
    knock: Arc<Notify>,
    token: PressToken,
}

/// How long one run has waited.
#[derive(Debug, Clone, Copy)]
struct Wait {
    open: usize,
    /// Since when something is open.
    since: Timestamp,
    /// When nothing was any more.
    until: Timestamp,
    /// In all, but for the present wait.
    spent: Duration,
}

impl Waits {
    /// A run begins to wait; gives what it is woken by.
    pub(super) fn begin(
        &self,
        run: RunId,
        question: QuestionId,
        token: PressToken,
        now: Timestamp,
    ) -> Arc<Notify> {
        let mut book = self.book();
        let wait = book.runs.entry(run).or_insert(Wait {
            open: 0,
            since: now,
            until: now,
            spent: Duration::ZERO,
        });
        if wait.open == 0 {
            wait.since = now;
        }
        wait.open += 1;
        let knock = Arc::new(Notify::new());
        let door = Door {
            knock: Arc::clone(&knock),
            token,
        };
        book.questions.insert(question, door);
        knock
    }

    pub(super) fn end(&self, run: RunId, question: QuestionId, now: Timestamp) {
        let mut book = self.book();
        book.questions.remove(&question);
        if let Some(wait) = book.runs.get_mut(&run) {
            wait.open = wait.open.saturating_sub(1);
            if wait.open == 0 {
                wait.spent += now.since(wait.since);
                wait.until = now;
            }
        }
    }

    /// A question has ended.
    pub(crate) fn knock(&self, question: QuestionId) {
        if let Some(door) = self.book().questions.get(&question) {
            door.knock.notify_one();
        }
    }

    /// Any of them may have.
    pub(crate) fn knock_all(&self) {
        for door in self.book().questions.values() {
            door.knock.notify_one();
        }
    }

    /// What a question's buttons carry, if it is ours and open.
    pub(crate) fn token(&self, question: QuestionId) -> Option<PressToken> {
        let book = self.book();
        book.questions.get(&question).map(|door| door.token.clone())
    }

    /// Whether a run waits for somebody.
    pub(crate) fn is_open(&self, run: RunId) -> bool {
        self.book().runs.get(&run).is_some_and(|wait| wait.open > 0)
    }

    /// When a run last waited: now, if it does.
    pub(crate) fn last(&self, run: RunId, now: Timestamp) -> Timestamp {
        let book = self.book();
        book.runs.get(&run).map_or(Timestamp::ZERO, |wait| {
            if wait.open > 0 { now } else { wait.until }
        })
    }

    /// How long a run has waited in all.
    pub(crate) fn spent(&self, run: RunId, now: Timestamp) -> Duration {
        let book = self.book();
        book.runs.get(&run).map_or(Duration::ZERO, |wait| {
            let present = if wait.open > 0 {
                now.since(wait.since)
            } else {
                Duration::ZERO
            };
            wait.spent + present
        })
    }

    /// The run is over.
    pub(crate) fn forget(&self, run: RunId) {
        self.book().runs.remove(&run);
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // Nothing panics while it holds this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    //! Time that is spent waiting.

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    #[test]
    fn a_wait_counts_once_however_much_is_asked_meanwhile() {
        let waits = Waits::default();
        let run = RunId::from_bytes([1; 16]);
        let [first, second] = [[2; 16], [3; 16]].map(QuestionId::from_bytes);
        let token = || PressToken::from_random([0; 16]);
        assert_eq!(waits.last(run, at(5)), Timestamp::ZERO);
        waits.begin(run, first, token(), at(10));
        waits.begin(run, second, token(), at(12));
        waits.end(run, first, at(14));
        assert_eq!(waits.last(run, at(15)), at(15), "it still waits");
        assert_eq!(waits.spent(run, at(15)), Duration::from_secs(5));
        assert!(waits.token(first).is_none() && waits.token(second).is_some());
        waits.end(run, second, at(20));
        assert_eq!(waits.last(run, at(25)), at(20));
        assert_eq!(waits.spent(run, at(25)), Duration::from_secs(10));
        waits.begin(run, first, token(), at(30));
        waits.end(run, first, at(31));
        assert_eq!(waits.spent(run, at(40)), Duration::from_secs(11));
        waits.forget(run);
        assert_eq!(waits.spent(run, at(40)), Duration::ZERO);
    }
}
