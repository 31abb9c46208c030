//! A simulated vendor without its wire: what a suite that is the same for all platforms needs of it.

use std::net::SocketAddr;
use std::sync::Arc;

use talaria_domain::adapter::Pending;

use super::fault::Fault;
use super::room::{Asked, Chat, Press, Shown, Written, WrittenId};
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

    /// Waits until bots have written or changed something more than `after` times; gives what that is, as it is shown
    /// now. Unlike a look it costs the same however much was said before.
    fn hear(&self, after: usize) -> Pending<'_, Vec<Shown>>;

    /// Waits until this holds of what is there to be seen.
    fn until<'a>(&'a self, holds: &'a (dyn Fn(&Sight) -> bool + Sync)) -> Pending<'a, ()>;
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
    /// What is there to be seen in this world.
    fn of(world: &impl World) -> Self {
        Self {
            chats: world.room().chats().cloned().collect(),
            requests: world.room().requests().cloned().collect(),
            backlog: world.backlog(),
        }
    }

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
        self.see(Sight::of)
    }

    fn hear(&self, after: usize) -> Pending<'_, Vec<Shown>> {
        Box::pin(async move {
            Self::until(self, |world| world.room().said_ever() > after).await;
            self.see(|world| world.room().said_after(after).cloned().collect())
        })
    }

    fn until<'a>(&'a self, holds: &'a (dyn Fn(&Sight) -> bool + Sync)) -> Pending<'a, ()> {
        Box::pin(Self::until(self, move |world| holds(&Sight::of(world))))
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
