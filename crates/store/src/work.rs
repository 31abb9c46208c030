//! A closure on its way to an engine. [`Work`] erases its type so that one queue carries them all; the caller
//! waits for the answer, which is given only after the commit that holds the closure's effects.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::sync::oneshot;

use crate::engine::Access;
use crate::error::{Result, StoreError};
use crate::tx::Tx;

/// What an engine does with a closure: run it, perhaps more than once, then answer once.
pub(crate) trait Work: Send {
    /// Runs the closure. Its effects count only if [`Work::answer`] is called with success.
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<()>;

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

struct Pending<F, T> {
    closure: F,
    value: Option<T>,
    reply: oneshot::Sender<Result<T>>,
}

/// Wraps a closure and the place where its answer will be.
pub(crate) fn pending<F, T>(closure: F) -> (BoxedWork, oneshot::Receiver<Result<T>>)
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

    fn answer(self: Box<Self>, committed: Result<()>) {
        let Self { value, reply, .. } = *self;
        let lost = || StoreError::broken("a closure was committed without having run");
        // A caller that stopped waiting does not undo the commit.
        drop(reply.send(committed.and_then(|()| value.ok_or_else(lost))));
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
