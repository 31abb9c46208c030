//! What people call themselves. Best effort: it is shown and never part of an identity, so that whatever is in the way of
//! it is in the way of nothing else. Slack is asked once for each, and not at all where the app may not ask.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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

/// Everybody whose name is known.
#[derive(Default)]
pub(super) struct People {
    /// Somebody whose name could not be had is known as well.
    known: Mutex<BTreeMap<String, Option<String>>>,
    may_not_ask: AtomicBool,
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
    pub(super) async fn names(&self, client: &Client, ids: &[&str]) -> Names {
        let mut names = Names::new();
        let mut unknown = Vec::new();
        {
            let known = lock(&self.known);
            for id in ids {
                match known.get(*id) {
                    Some(Some(name)) => drop(names.insert((*id).to_owned(), name.clone())),
                    Some(None) => {}
                    None => unknown.push(*id),
                }
            }
        }
        unknown.truncate(AT_ONCE);
        if unknown.is_empty() || self.may_not_ask.load(Ordering::Relaxed) {
            return names;
        }
        let asking = async {
            for id in unknown {
                if let Some(name) = self.ask(client, id).await {
                    names.insert(id.to_owned(), name);
                }
            }
        };
        // What is not known in time is shown by its id.
        drop(timeout(PATIENCE, asking).await);
        names
    }

    async fn ask(&self, client: &Client, id: &str) -> Option<String> {
        let name = match client.called(id).await {
            Called::Name(name) => name,
            Called::Forbidden => {
                self.may_not_ask.store(true, Ordering::Relaxed);
                return None;
            }
            Called::Silent => return None,
        };
        let mut known = lock(&self.known);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(id.to_owned(), name.clone());
        name
    }
}
