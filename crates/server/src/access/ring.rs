//! What is known of the keys in use while the gateway runs: when each was used last, and who has to go when one is taken
//! back. Uses are gathered here and written down now and then: a request is never a write.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use talaria_domain::clock::Timestamp;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

#[cfg(test)]
mod tests;

/// How long uses are gathered before they are written down.
const GATHERED: Duration = Duration::from_mins(1);

/// The keys in use.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    kept: Mutex<Kept>,
    used: Notify,
}

#[derive(Debug, Default)]
struct Kept {
    keys: BTreeMap<String, Use>,
    /// How many keys were taken back so far.
    taken_back: u64,
}

#[derive(Debug)]
struct Use {
    at: Timestamp,
    is_written: bool,
    gone: CancellationToken,
}

impl Ring {
    /// How many keys were taken back so far: ask before a key is looked up.
    pub(crate) fn taken_back(&self) -> u64 {
        self.kept().taken_back
    }

    /// A key that was found good is used. Gives what is cancelled when it is taken back; nothing if one was taken back
    /// since `seen`, because that may have been this one: look it up again.
    pub(crate) fn note(&self, key: &str, at: Timestamp, seen: u64) -> Option<CancellationToken> {
        let mut kept = self.kept();
        if kept.taken_back != seen {
            return None;
        }
        let one = kept.keys.entry(key.to_owned()).or_insert_with(|| Use {
            at,
            is_written: false,
            gone: CancellationToken::new(),
        });
        if one.at < at {
            one.at = at;
            one.is_written = false;
        }
        let gone = one.gone.clone();
        drop(kept);
        self.used.notify_one();
        Some(gone)
    }

    /// A key is taken back: whoever uses it right now has to go.
    pub(crate) fn take_back(&self, key: &str) {
        let mut kept = self.kept();
        kept.taken_back += 1;
        let gone = kept.keys.remove(key).map(|one| one.gone);
        drop(kept);
        gone.iter().for_each(CancellationToken::cancel);
    }

    /// When a key was used last, as far as this process knows.
    pub(crate) fn last(&self, key: &str) -> Option<Timestamp> {
        self.kept().keys.get(key).map(|one| one.at)
    }

    /// Uses that are not written down.
    pub(crate) fn unwritten(&self) -> Vec<(String, Timestamp)> {
        let kept = self.kept();
        let open = kept.keys.iter().filter(|(_, one)| !one.is_written);
        open.map(|(key, one)| (key.clone(), one.at)).collect()
    }

    /// These are written down.
    pub(crate) fn written(&self, uses: &[(String, Timestamp)]) {
        let mut kept = self.kept();
        for (key, at) in uses {
            if let Some(one) = kept.keys.get_mut(key) {
                one.is_written = one.at == *at;
            }
        }
    }

    /// Has uses written down until it stops: once a minute at most, and never if there are none.
    pub(crate) async fn gather<F>(&self, stop: &CancellationToken, write: impl Fn() -> F)
    where
        F: Future<Output = ()>,
    {
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = self.used.notified() => {}
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                // Not polling: whatever else is used in this time is one write.
                () = tokio::time::sleep(GATHERED) => write().await,
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing panics while it holds this lock.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
