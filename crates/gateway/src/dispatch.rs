//! One task per key that has something to do, and none for those that have not. Whoever hears of a commit knocks; the
//! first knock starts a task, later ones tell it to look again. A task that found nothing leaves, unless somebody
//! knocked meanwhile: no knock is lost, and nobody looks twice for nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Who is at work.
#[derive(Debug)]
pub(crate) struct Dispatch<K>(Mutex<BTreeMap<K, Door>>);

#[derive(Debug)]
struct Door {
    knock: Arc<Notify>,
    is_knocked: bool,
}

impl<K> Default for Dispatch<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Ord + Copy> Dispatch<K> {
    /// Says that there may be something to do. Gives how the task that has to be started hears of later knocks; nothing
    /// if one is at work already.
    pub(crate) fn knock(&self, key: K) -> Option<Arc<Notify>> {
        let mut doors = self.doors();
        if let Some(door) = doors.get_mut(&key) {
            door.is_knocked = true;
            door.knock.notify_one();
            return None;
        }
        let knock = Arc::new(Notify::new());
        doors.insert(
            key,
            Door {
                knock: Arc::clone(&knock),
                is_knocked: false,
            },
        );
        Some(knock)
    }

    /// Whether a task is at work for this key.
    pub(crate) fn is_served(&self, key: K) -> bool {
        self.doors().contains_key(&key)
    }

    /// Before looking: what was knocked for so far will be seen.
    pub(crate) fn look(&self, key: K) {
        if let Some(door) = self.doors().get_mut(&key) {
            door.is_knocked = false;
        }
    }

    /// After finding nothing: whether the task may go. If not, somebody knocked since it looked.
    pub(crate) fn leave(&self, key: K) -> bool {
        let mut doors = self.doors();
        let may_go = doors.get(&key).is_none_or(|door| !door.is_knocked);
        if may_go {
            doors.remove(&key);
        }
        may_go
    }

    /// How many are at work.
    pub(crate) fn len(&self) -> usize {
        self.doors().len()
    }

    fn doors(&self) -> MutexGuard<'_, BTreeMap<K, Door>> {
        // Nothing panics while it holds this lock; a map that outlived a panic is as good as before.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    //! No knock is lost.

    use super::*;

    #[test]
    fn a_knock_between_looking_and_leaving_is_heard() {
        let dispatch = Dispatch::default();
        assert!(dispatch.knock(1).is_some(), "the first starts a task");
        dispatch.look(1);
        assert!(dispatch.knock(1).is_none(), "it is at work");
        assert!(!dispatch.leave(1), "it has to look again");
        dispatch.look(1);
        assert!(dispatch.leave(1));
        assert_eq!(dispatch.len(), 0, "idle ones cost nothing");
        assert!(dispatch.knock(1).is_some(), "and the next starts again");
    }
}
