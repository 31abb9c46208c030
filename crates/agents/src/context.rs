//! Who a task is while it works on a turn: the session's variables, its working directory, and whether a late result
//! can be delivered to it. Task-local, and never inherited: a task that is spawned is nobody until [`scope`] says who it
//! is.
//!
//! **Invariant:** there is no session state of the process. The only thing that sessions share is a latch that says that
//! there was one.

mod children;
mod environment;
mod identity;
mod latch;
mod variable;

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use talaria_domain::ids::SessionId;
use talaria_domain::runner::Turn;

pub use environment::Environment;
pub use identity::{Context, CronTarget, Slot};
pub use variable::Variable;

use self::latch::ENGAGED;

tokio::task_local! {
    static CURRENT: RefCell<Context>;
}

/// This task is nobody's: it was not started in a [`scope`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this task has no session context of its own: run it in `context::scope`")]
pub struct Unscoped;

/// Does `work` as `context`, whoever the caller is. What is bound inside ends with it, also when it fails or is dropped,
/// and a task that it spawns is nobody.
///
/// ```
/// use talaria_agents::context::{self, Context};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let late = context::scope(Context::default(), async { context::async_delivery_supported() });
/// assert!(late.await, "nobody said that it is not");
/// # });
/// ```
pub fn scope<F: Future>(context: Context, work: F) -> impl Future<Output = F::Output> {
    if context.is_bound() {
        ENGAGED.engage();
    }
    CURRENT.scope(RefCell::new(context), work)
}

/// Who this task is, to be handed to one that works for it.
pub fn current() -> Context {
    with(Context::clone)
}

/// This task works on `turn` from here on: all variables of the session are set. Whether a late result can be delivered
/// is what the turn's conversation says.
pub fn bind_turn(turn: &Turn) -> Result<(), Unscoped> {
    change(|context| context.bind_turn(turn)).inspect(|()| ENGAGED.engage())
}

/// The same for a program that asked and is gone once it has its answer: late delivery is off, and there is nothing to
/// say otherwise with.
pub fn bind_api(turn: &Turn) -> Result<(), Unscoped> {
    change(|context| context.bind_api(turn)).inspect(|()| ENGAGED.engage())
}

/// What this task comes to is delivered there, whatever session it is bound to.
pub fn bind_cron(target: &CronTarget) -> Result<(), Unscoped> {
    change(|context| context.bind_cron(target))
}

/// The conversation goes on under another id. All else stays as it is.
pub fn continue_as(session: SessionId) -> Result<(), Unscoped> {
    change(|context| context.continue_as(session))
}

/// The session works in this directory.
pub fn set_cwd(cwd: &Path) -> Result<(), Unscoped> {
    change(|context| context.set_cwd(cwd))
}

/// The session is over: its variables are empty, and what the process was started with does not count.
pub fn clear() -> Result<(), Unscoped> {
    change(Context::clear)
}

/// This task is nobody again, as if it had just begun.
pub fn reset() -> Result<(), Unscoped> {
    change(|context| *context = Context::default())
}

/// What a variable says here; empty if nothing.
pub fn get(variable: Variable, environment: &Environment) -> String {
    with(|context| context.get(variable, environment).to_owned())
}

/// The directory that the session works in, if it has one.
pub fn cwd(environment: &Environment) -> Option<PathBuf> {
    with(|context| context.cwd(environment).map(Path::to_owned))
}

/// Whether a result that comes after the turn can be promised. To be asked before it is promised.
pub fn async_delivery_supported() -> bool {
    with(Context::supports_async_delivery)
}

/// Whether some session was ever bound in this process.
pub fn is_engaged() -> bool {
    ENGAGED.is_engaged()
}

/// The environment of a child of this task. Every child gets it, and none gets anything else.
pub fn child_environment(environment: &Environment) -> Vec<(String, String)> {
    with(|context| children::build(environment, context, &ENGAGED))
}

// Neither of these two is handed anything that comes back here, so that the cell is never borrowed twice.

fn with<T>(read: impl Fn(&Context) -> T) -> T {
    CURRENT
        .try_with(|cell| read(&cell.borrow()))
        .unwrap_or_else(|_| read(&Context::default()))
}

fn change(change: impl FnOnce(&mut Context)) -> Result<(), Unscoped> {
    CURRENT
        .try_with(|cell| change(&mut cell.borrow_mut()))
        .map_err(|_| Unscoped)
}
