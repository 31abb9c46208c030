//! A vendor's world behind one lock that can be waited on: everything that changes it wakes whoever waits for it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use talaria_domain::clock::{Clock as _, SystemClock, Timestamp};
use tokio::sync::watch;

use super::fault::{Fault, On};
use super::room::{Asked, Chat, Deed, Press, Reaction, Room, Written, WrittenId};

/// What a vendor knows: its rooms, and what is its own.
pub trait World: Send + 'static {
    /// What people see.
    fn room(&self) -> &Room;

    /// What people see, to be changed.
    fn room_mut(&mut self) -> &mut Room;

    /// A person did something that bots are to hear of.
    fn tell(&mut self, deed: Deed);

    /// How much bots were to hear of and have not said that they did.
    fn backlog(&self) -> usize;
}

/// A vendor at work.
#[derive(Debug)]
pub struct Stage<W> {
    world: Mutex<W>,
    changes: watch::Sender<()>,
}

impl<W: World> Stage<W> {
    /// A vendor with this world.
    pub fn of(world: W) -> Self {
        Self {
            world: Mutex::new(world),
            changes: watch::Sender::new(()),
        }
    }

    /// Somebody writes.
    pub fn write(&self, written: &Written) -> WrittenId {
        self.with(|world| {
            let deed = world.room_mut().write(written, now());
            let (id, offset) = (deed.message.clone(), deed.number);
            world.tell(deed);
            WrittenId { id, offset }
        })
    }

    /// Somebody presses a button. Says whether it is there.
    pub fn press(&self, press: &Press) -> bool {
        self.with(|world| {
            let deed = world.room_mut().press(press, now());
            deed.map(|deed| world.tell(deed)).is_some()
        })
    }

    /// Somebody puts a mark on a message. Says whether it is there.
    pub fn react(&self, reaction: &Reaction) -> bool {
        self.with(|world| {
            let deed = world.room_mut().react(reaction, now());
            deed.map(|deed| world.tell(deed)).is_some()
        })
    }

    /// Something is to go wrong.
    pub fn order(&self, fault: Fault) {
        self.with(|world| world.room_mut().order(fault));
    }

    /// What goes wrong this time.
    pub fn next_fault(&self, on: On) -> Option<Fault> {
        self.with(|world| world.room_mut().next_fault(on))
    }

    /// Remembers what an adapter asked.
    pub fn remember(&self, asked: Asked) {
        self.with(|world| world.room_mut().remember(asked));
    }

    /// A chat as people see it; an empty one if nobody ever wrote there.
    pub fn chat(&self, chat: &str) -> Chat {
        let none = || Chat {
            chat: chat.to_owned(),
            ..Chat::default()
        };
        self.see(|world| world.room().chat(chat).cloned().unwrap_or_else(none))
    }

    /// All chats.
    pub fn chats(&self) -> Vec<Chat> {
        self.see(|world| world.room().chats().cloned().collect())
    }

    /// What adapters asked lately, in order.
    pub fn requests(&self) -> Vec<Asked> {
        self.see(|world| world.room().requests().cloned().collect())
    }

    /// How much bots have not acknowledged.
    pub fn backlog(&self) -> usize {
        self.see(World::backlog)
    }

    /// Waits until this holds.
    pub async fn until(&self, mut holds: impl FnMut(&W) -> bool) {
        let mut changes = self.changes.subscribe();
        while !self.see(&mut holds) {
            // Changes end only with the stage, which we have.
            changes.changed().await.unwrap_or_default();
        }
    }

    /// Looks at the world.
    pub fn see<T>(&self, look: impl FnOnce(&W) -> T) -> T {
        look(&self.lock())
    }

    /// Changes the world, and wakes whoever waits for that.
    pub fn with<T>(&self, change: impl FnOnce(&mut W) -> T) -> T {
        let changed = change(&mut self.lock());
        self.changes.send_replace(());
        changed
    }

    fn lock(&self) -> MutexGuard<'_, W> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time that a simulated vendor goes by.
pub fn now() -> Timestamp {
    SystemClock.now()
}
