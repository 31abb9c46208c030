//! Who goes first where there is more to do than can be done at once: first words go before ends. Somebody who has heard
//! nothing yet waits for us; somebody who has words reads them meanwhile, and hears of the end a little later.
//!
//! Ends are let through a few at a time, and only while few turns are still to be heard of. They are written down
//! together then, and those who come back with the next question do not come all at once. Nobody waits here for longer
//! than they said, and nobody at all where there is little to do.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// So many turns may be unheard of when an end is let through. More of both make more of a commit and let first words
/// wait for longer.
const FEW_UNHEARD: usize = 2;
/// So many ends may be under way.
const MOST_ENDING: usize = 4;

/// Who is under way, and who waits.
#[derive(Debug, Default)]
pub(crate) struct Courtesy(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    unheard: usize,
    ending: usize,
    /// Those who let others go first, in the order in which they came.
    waiting: VecDeque<Arc<Notify>>,
}

impl State {
    const fn has_room(&self) -> bool {
        self.unheard <= FEW_UNHEARD && self.ending < MOST_ENDING
    }

    fn let_through(&mut self) {
        while self.has_room()
            && let Some(next) = self.waiting.pop_front()
        {
            self.ending += 1;
            next.notify_one();
        }
    }

    /// Takes somebody out of the line; says whether they were still in it.
    fn is_withdrawn(&mut self, who: &Arc<Notify>) -> bool {
        let mut line = self.waiting.iter();
        let place = line.position(|other| Arc::ptr_eq(other, who));
        place.is_some_and(|place| self.waiting.remove(place).is_some())
    }
}

impl Courtesy {
    /// A turn begins of which nobody has heard yet.
    pub(crate) fn begin(&self) -> Unheard<'_> {
        self.state().unheard += 1;
        Unheard(self)
    }

    /// Lets others go first, until it has been `enough`.
    pub(crate) async fn end(&self, enough: impl Future<Output = ()>) -> Ending<'_> {
        let ending = self.line_up();
        tokio::select! {
            biased;
            () = ending.turn.notified() => {}
            () = enough => ending.insist(),
        }
        ending
    }

    fn line_up(&self) -> Ending<'_> {
        let ending = Ending {
            courtesy: self,
            turn: Arc::default(),
        };
        let mut state = self.state();
        state.waiting.push_back(Arc::clone(&ending.turn));
        state.let_through();
        drop(state);
        ending
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A turn of which nobody has heard yet.
#[derive(Debug)]
pub(crate) struct Unheard<'a>(&'a Courtesy);

impl Drop for Unheard<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.unheard -= 1;
        state.let_through();
    }
}

/// An end that waits to be written down, or is written down.
#[derive(Debug)]
pub(crate) struct Ending<'a> {
    courtesy: &'a Courtesy,
    turn: Arc<Notify>,
}

impl Ending<'_> {
    /// Goes now, whoever else is under way.
    fn insist(&self) {
        let mut state = self.courtesy.state();
        state.ending += usize::from(state.is_withdrawn(&self.turn));
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let mut state = self.courtesy.state();
        if !state.is_withdrawn(&self.turn) {
            state.ending -= 1;
        }
        state.let_through();
    }
}

#[cfg(test)]
mod tests;
