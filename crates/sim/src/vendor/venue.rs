//! A simulated vendor without its wire: what a suite that is the same for all platforms needs of it.

use std::net::SocketAddr;
use std::sync::Arc;

use super::fault::Fault;
use super::room::{Asked, Chat, Press, Reaction, Shown, Written, WrittenId};
use super::server::Server;
use super::stage::{Stage, World};

/// A vendor on a port.
pub trait Venue: Send + Sync {
    /// Where it listens.
    fn address(&self) -> SocketAddr;

    /// What people do and see there.
    fn stage(&self) -> Arc<dyn Scene>;
}

/// What people do and see on a platform.
pub trait Scene: Send + Sync {
    /// Somebody writes.
    fn write(&self, written: &Written) -> WrittenId;

    /// Somebody presses a button. Says whether it is there.
    fn press(&self, press: &Press) -> bool;

    /// Something is to go wrong.
    fn order(&self, fault: Fault);

    /// What is there to be seen.
    fn look(&self) -> Sight;

    /// Somebody puts a mark on a message. Says whether it is there.
    fn react(&self, reaction: &Reaction) -> bool;
}

/// What is there to be seen.
#[derive(Debug, Clone)]
pub struct Sight {
    /// All chats.
    pub chats: Vec<Chat>,
    /// What adapters asked lately, in order.
    pub requests: Vec<Asked>,
    /// How much bots have not acknowledged.
    pub backlog: usize,
}

impl Sight {
    /// What our bots wrote, in order, in each chat.
    pub fn ours(&self) -> impl Iterator<Item = (&Chat, &Shown)> {
        let chats = self.chats.iter();
        chats.flat_map(|chat| {
            let shown = chat.messages.iter().filter(|shown| shown.ours);
            shown.map(move |shown| (chat, shown))
        })
    }
}

impl<W: World> Scene for Stage<W> {
    fn write(&self, written: &Written) -> WrittenId {
        Self::write(self, written)
    }

    fn press(&self, press: &Press) -> bool {
        Self::press(self, press)
    }

    fn order(&self, fault: Fault) {
        Self::order(self, fault);
    }

    fn look(&self) -> Sight {
        Sight {
            chats: self.chats(),
            requests: self.requests(),
            backlog: self.backlog(),
        }
    }

    fn react(&self, reaction: &Reaction) -> bool {
        Self::react(self, reaction)
    }
}

impl<W: World> Venue for Server<W> {
    fn address(&self) -> SocketAddr {
        Self::address(self)
    }

    fn stage(&self) -> Arc<dyn Scene> {
        Arc::<Stage<W>>::clone(self.vendor())
    }
}
