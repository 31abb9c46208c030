//! What people call themselves. Best effort: it is shown and never part of an identity, so that whatever is in the way of
//! it is in the way of nothing else. Slack is asked once a day for each, and not at all where the app may not ask.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use talaria_domain::clock::Timestamp;
use tokio::time::timeout;

use super::client::Client;
use super::lock;
use super::text::Names;

/// How many are remembered; then it is asked again.
const MOST: usize = 10_000;
/// How many are asked for at once.
const AT_ONCE: usize = 5;
/// A message does not wait longer for the names in it.
const PATIENCE: Duration = Duration::from_secs(1);
/// For how long a name is good: people change them.
const GOOD_FOR: Duration = Duration::from_hours(24);
/// How soon somebody is asked for again whose name could not be had.
const AGAIN: Duration = Duration::from_mins(5);

/// Everybody whose name is known.
#[derive(Default)]
pub(super) struct People {
    known: Mutex<BTreeMap<String, Known>>,
    may_not_ask: AtomicBool,
}

/// What somebody is called, if it could be had, and until when that is all there is to know.
struct Known {
    name: Option<String>,
    until: Timestamp,
}

/// What Slack says when it is asked who somebody is.
pub(super) enum Called {
    /// This.
    Name(Option<String>),
    /// We may not ask.
    Forbidden,
    /// Nothing, for now.
    Silent,
}

impl People {
    /// What these people are called, as far as it can be had at once.
    pub(super) async fn names(&self, client: &Client, ids: &[&str], now: Timestamp) -> Names {
        let (mut names, mut unknown) = self.recall(ids, now);
        unknown.truncate(AT_ONCE);
        if unknown.is_empty() || self.may_not_ask.load(Ordering::Relaxed) {
            return names;
        }
        let asking = async {
            for id in &unknown {
                if let Some(name) = self.ask(client, id, now).await {
                    names.insert((*id).to_owned(), name);
                }
            }
        };
        if timeout(PATIENCE, asking).await.is_err() {
            // What is not known in time is shown by its id, and not waited for with every message.
            for id in unknown.into_iter().filter(|id| !names.contains_key(*id)) {
                self.remember(id, None, now);
            }
        }
        names
    }

    /// What is known, and who is not.
    fn recall<'a>(&self, ids: &[&'a str], now: Timestamp) -> (Names, Vec<&'a str>) {
        let (mut names, mut unknown) = (Names::new(), Vec::new());
        let known = lock(&self.known);
        for id in ids {
            match known.get(*id).filter(|known| now < known.until) {
                Some(Known { name, .. }) => {
                    names.extend(name.clone().map(|name| ((*id).to_owned(), name)));
                }
                None => unknown.push(*id),
            }
        }
        (names, unknown)
    }

    async fn ask(&self, client: &Client, id: &str, now: Timestamp) -> Option<String> {
        let name = match client.called(id).await {
            Called::Name(name) => name,
            Called::Forbidden => {
                self.may_not_ask.store(true, Ordering::Relaxed);
                return None;
            }
            Called::Silent => None,
        };
        self.remember(id, name.clone(), now);
        name
    }

    fn remember(&self, id: &str, name: Option<String>, now: Timestamp) {
        let mut known = lock(&self.known);
        if known.len() >= MOST {
            known.clear();
        }
        let until = now.plus(if name.is_some() { GOOD_FOR } else { AGAIN });
        known.insert(id.to_owned(), Known { name, until });
    }
}
