//! The bridge's world behind one lock that can be waited on: everything that changes it wakes whoever waits for it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use talaria_domain::clock::{Clock as _, SystemClock};
use tokio::sync::watch;

use super::fault::{Fault, On};
use super::world::{Asked, Chat, Offer, World, Written, WrittenId};

/// What a bridge offers, and to whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// What it offers beside messages.
    pub offer: Offer,
    /// How much text fits into one message, in UTF-16.
    pub limit: usize,
    /// The token that is accepted; any if there is none.
    pub token: Option<String>,
}

impl Terms {
    /// The usual terms with this offer.
    pub const fn offering(offer: Offer) -> Self {
        Self {
            offer,
            limit: 4_096,
            token: None,
        }
    }
}

/// The bridge.
#[derive(Debug)]
pub struct Vendor {
    token: Option<String>,
    world: Mutex<World>,
    changes: watch::Sender<()>,
}

impl Vendor {
    pub(super) fn on(terms: Terms) -> Self {
        Self {
            token: terms.token,
            world: Mutex::new(World::offering(terms.offer, terms.limit)),
            changes: watch::Sender::new(()),
        }
    }

    /// Somebody writes.
    pub fn write(&self, written: &Written) -> WrittenId {
        self.with(|world| world.write(written, SystemClock.now()))
    }

    /// Something is to go wrong.
    pub fn order(&self, fault: Fault) {
        self.with(|world| world.order(fault));
    }

    /// A chat as people see it; an empty one if nobody ever wrote there.
    pub fn chat(&self, chat: &str) -> Chat {
        let none = || Chat {
            chat: chat.to_owned(),
            ..Chat::default()
        };
        self.see(|world| world.chat(chat).cloned().unwrap_or_else(none))
    }

    /// All chats.
    pub fn chats(&self) -> Vec<Chat> {
        self.see(|world| world.chats().cloned().collect())
    }

    /// What the adapter asked, the last thousand times.
    pub fn requests(&self) -> Vec<Asked> {
        self.see(|world| world.requests().cloned().collect())
    }

    /// How many updates nobody has acknowledged.
    pub fn backlog(&self) -> usize {
        self.see(World::backlog)
    }

    /// Waits until this holds.
    pub async fn until(&self, mut holds: impl FnMut(&World) -> bool) {
        let mut changes = self.changes.subscribe();
        while !self.see(&mut holds) {
            // Changes end only with the vendor, which we have.
            changes.changed().await.unwrap_or_default();
        }
    }

    pub(super) fn knows(&self, token: Option<&str>) -> bool {
        match (&self.token, token) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(ours), Some(theirs)) => ours == theirs,
        }
    }

    pub(super) fn next_fault(&self, on: On) -> Option<Fault> {
        self.with(|world| world.next_fault(on))
    }

    pub(super) fn see<T>(&self, look: impl FnOnce(&World) -> T) -> T {
        look(&self.lock())
    }

    pub(super) fn with<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        let changed = change(&mut self.lock());
        self.changes.send_replace(());
        changed
    }

    fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
