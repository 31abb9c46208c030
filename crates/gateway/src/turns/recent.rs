//! What was said in conversations that go on, kept in memory from one turn to the next, so that a long conversation does
//! not have to be read again for each of its messages. The ledger stays the only truth: what is kept counts only while
//! the session's last number is the one that it was kept with, and everything that changes what a model is shown takes
//! a number.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use talaria_domain::ids::SessionId;
use talaria_domain::runner::Said;

/// What a model is shown of a session, in order, each with its number.
pub(crate) type History = Vec<(i64, Said)>;

/// How many bytes of words are kept, twice: those of conversations that were used lately, and the ones before them.
const ROOM: usize = 2 << 20;
/// What an entry takes beside its words, roughly.
const ENTRY: usize = 128;

/// Histories of conversations that were used lately.
#[derive(Default)]
pub(crate) struct Recents(Mutex<Generations>);

/// When the young ones fill their room, they become the old ones, and the old ones go.
#[derive(Default)]
struct Generations {
    young: HashMap<SessionId, Kept>,
    old: HashMap<SessionId, Kept>,
    filled: usize,
}

struct Kept {
    last: i64,
    history: History,
}

impl Recents {
    /// Takes out what is kept of a session whose last number is this one.
    pub(crate) fn take(&self, session: SessionId, last: i64) -> Option<History> {
        let mut generations = self.generations();
        let young = generations.young.remove(&session);
        let kept = young.or_else(|| generations.old.remove(&session))?;
        (kept.last == last).then_some(kept.history)
    }

    /// Keeps what a model is shown of a session up to its last number.
    pub(crate) fn put(&self, session: SessionId, last: i64, history: History) {
        let size: usize = history.iter().map(|(_, said)| size(said)).sum();
        if size > ROOM {
            return;
        }
        let mut generations = self.generations();
        if generations.filled + size > ROOM {
            generations.old = std::mem::take(&mut generations.young);
            generations.filled = 0;
        }
        generations.filled += size;
        generations.young.insert(session, Kept { last, history });
    }

    fn generations(&self) -> MutexGuard<'_, Generations> {
        // Nothing panics while it holds this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn size(said: &Said) -> usize {
    let calls = said
        .calls
        .iter()
        .map(|call| call.arguments.to_string().len());
    said.text.len() + calls.sum::<usize>() + ENTRY
}
