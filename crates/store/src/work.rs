//! A closure on its way to an engine. [`Work`] erases its type so that one queue carries them all; the caller
//! waits for the answer, which is given only after the commit that holds the closure's effects. A caller that asked ahead
//! hears the value before that, as soon as the closure has run, and afterwards whether it stays.
//!
//! The closure goes back with the answer: what is in it is freed by whoever made it, and not by the one writer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::sync::oneshot;

use crate::engine::Access;
use crate::error::{Result, StoreError};
use crate::tx::Tx;

/// What an engine does with a closure: run it, perhaps more than once, then answer once.
pub(crate) trait Work: Send {
    /// Runs the closure. Its effects count only if [`Work::answer`] is called with success.
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<()>;

    /// The closure has run and will be committed, as far as anybody can say: tells a caller that asked ahead.
    fn foretell(&mut self);

    /// Tells the caller: the value if `committed`, else why not.
    fn answer(self: Box<Self>, committed: Result<()>);
}

/// Work whose type is forgotten.
pub(crate) type BoxedWork = Box<dyn Work>;

/// Work as it stands in a queue.
pub(crate) struct Job {
    /// Whether it may change anything.
    pub(crate) access: Access,
    /// What is done.
    pub(crate) work: BoxedWork,
}

/// What a caller is told, and the closure that is done with.
pub(crate) struct Answer<F, T> {
    pub(crate) result: Result<T>,
    _closure: F,
}

struct Pending<F, T> {
    closure: F,
    value: Option<T>,
    reply: oneshot::Sender<Answer<F, T>>,
}

/// Wraps a closure and the place where its answer will be.
pub(crate) fn pending<F, T>(closure: F) -> (BoxedWork, oneshot::Receiver<Answer<F, T>>)
where
    F: Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
    T: Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    (
        Box::new(Pending {
            closure,
            value: None,
            reply,
        }),
        answer,
    )
}

impl<F, T> Work for Pending<F, T>
where
    F: Fn(&mut Tx<'_>) -> Result<T> + Send,
    T: Send,
{
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        self.value = Some(run_guarded(&self.closure, tx)?);
        Ok(())
    }

    fn foretell(&mut self) {}

    fn answer(self: Box<Self>, committed: Result<()>) {
        let Self {
            closure,
            value,
            reply,
        } = *self;
        let answer = Answer {
            result: committed.and_then(|()| value.ok_or_else(not_run)),
            _closure: closure,
        };
        // A caller that stopped waiting does not undo the commit.
        drop(reply.send(answer));
    }
}

fn not_run() -> StoreError {
    StoreError::broken("a closure was committed without having run")
}

/// What became of a value that was told ahead.
#[derive(Debug, PartialEq, Eq)]
pub enum Committed<T> {
    /// It is committed as it was told.
    AsTold,
    /// What was told was undone, because of somebody else in the same transaction. The closure has run again, and this is
    /// what it came to.
    Anew(T),
}

/// A value that was told ahead: its closure has run and is not committed yet.
pub struct Ahead<T> {
    /// What it came to. Nobody outside may notice anything of it before it is committed.
    pub value: T,
    /// Whether it stays.
    pub commit: Commit<T>,
}

/// The commit that a value was told ahead of.
pub struct Commit<T>(pub(crate) Pin<Box<dyn Future<Output = Result<Committed<T>>> + Send>>);

impl<T> Future for Commit<T> {
    type Output = Result<Committed<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(context)
    }
}

struct Told<F, T> {
    closure: F,
    value: Option<T>,
    /// Where the value is told ahead, until it was.
    ahead: Option<oneshot::Sender<Result<T>>>,
    reply: oneshot::Sender<Answer<F, Committed<T>>>,
}

/// Wraps a closure, the place where its value will be, and the one where it is said whether that stays.
pub(crate) fn told_ahead<F, T>(closure: F) -> (BoxedWork, oneshot::Receiver<Result<T>>, Commit<T>)
where
    F: Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
    T: Send + 'static,
{
    let (ahead, told) = oneshot::channel();
    let (reply, answer) = oneshot::channel();
    let work = Told {
        closure,
        value: None,
        ahead: Some(ahead),
        reply,
    };
    let commit = async move { answer.await.map_err(|_| StoreError::Closed)?.result };
    (Box::new(work), told, Commit(Box::pin(commit)))
}

impl<F, T> Work for Told<F, T>
where
    F: Fn(&mut Tx<'_>) -> Result<T> + Send,
    T: Send,
{
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        self.value = Some(run_guarded(&self.closure, tx)?);
        Ok(())
    }

    fn foretell(&mut self) {
        if let Some(ahead) = self.ahead.take_if(|_| self.value.is_some()) {
            // A caller that stopped waiting does not undo what was done.
            drop(ahead.send(self.value.take().ok_or_else(not_run)));
        }
    }

    fn answer(mut self: Box<Self>, committed: Result<()>) {
        if committed.is_ok() {
            self.foretell();
        }
        let Self {
            closure,
            value,
            ahead,
            reply,
        } = *self;
        match (committed, ahead) {
            (Err(error), Some(ahead)) => drop(ahead.send(Err(error))),
            (committed, _) => {
                let became = value.map_or(Committed::AsTold, Committed::Anew);
                let answer = Answer {
                    result: committed.map(|()| became),
                    _closure: closure,
                };
                drop(reply.send(answer));
            }
        }
    }
}

/// Runs a closure; a panic in it is its own failure and nobody else's.
pub(crate) fn run_guarded<T>(
    closure: &impl Fn(&mut Tx<'_>) -> Result<T>,
    tx: &mut Tx<'_>,
) -> Result<T> {
    catch_unwind(AssertUnwindSafe(|| closure(tx))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(StoreError::broken(&format!(
            "panic: {}",
            text.unwrap_or_default()
        )))
    })
}
