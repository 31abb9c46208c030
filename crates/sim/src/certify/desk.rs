//! Where an adapter's events go during a trial: a desk that records what it is told to, and says no when it is told to.

use std::sync::{Mutex, MutexGuard, PoisonError};

use talaria_domain::adapter::{Accepted, Disconnected, Identity, Intake, NotAccepted, Pending};
use talaria_domain::event::Event;
use talaria_domain::ids::SessionId;
use talaria_domain::profile::Account;
use tokio::sync::watch;

/// What the desk does with what comes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    /// Records it.
    #[default]
    Records,
    /// Refuses to record so many, then records.
    Fails(usize),
    /// Keeps whoever hands it in waiting.
    Holds,
}

#[derive(Debug, Default)]
struct Book {
    mood: Mood,
    identity: Option<Identity>,
    connections: usize,
    /// Everything that was handed in, also what was not recorded.
    handed: Vec<Event>,
    recorded: Vec<Event>,
    signs_of_life: usize,
    place: Option<String>,
}

/// The desk.
#[derive(Debug, Default)]
pub(super) struct Desk {
    book: Mutex<Book>,
    changes: watch::Sender<()>,
}

impl Desk {
    /// From now on this is done with what comes.
    pub(super) fn be(&self, mood: Mood) {
        self.change(|book| book.mood = mood);
    }

    pub(super) fn identity(&self) -> Option<Identity> {
        self.book().identity.clone()
    }

    /// How often a connection was made.
    pub(super) fn connections(&self) -> usize {
        self.book().connections
    }

    pub(super) fn handed(&self) -> Vec<Event> {
        self.book().handed.clone()
    }

    pub(super) fn recorded(&self) -> Vec<Event> {
        self.book().recorded.clone()
    }

    /// Waits until this holds of the desk.
    pub(super) async fn until(&self, mut holds: impl FnMut(&Self) -> bool) {
        let mut changes = self.changes.subscribe();
        while !holds(self) {
            // Changes end only with the desk, which we have.
            changes.changed().await.unwrap_or_default();
        }
    }

    async fn judge(&self, event: Event) -> Result<Accepted, NotAccepted> {
        self.change(|book| book.handed.push(event.clone()));
        self.until(|desk| desk.book().mood != Mood::Holds).await;
        let is_recorded = self.change(|book| match book.mood {
            Mood::Fails(left) if left > 0 => {
                book.mood = Mood::Fails(left - 1);
                false
            }
            _ => {
                book.recorded.push(event.clone());
                true
            }
        });
        if is_recorded {
            let session = SessionId::from_bytes([1; 16]);
            return Ok(Accepted::Recorded {
                event: event.id,
                session,
            });
        }
        Err(NotAccepted {
            reason: "the store is away".to_owned(),
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut Book) -> T) -> T {
        let changed = change(&mut self.book());
        self.changes.send_replace(());
        changed
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Intake for Desk {
    fn connected(&self, _: &Account, identity: &Identity) -> Result<(), Disconnected> {
        self.change(|book| {
            book.identity = Some(identity.clone());
            book.connections += 1;
        });
        Ok(())
    }

    fn alive(&self, _: &Account) {
        self.change(|book| book.signs_of_life += 1);
    }

    fn accept(&self, event: Event) -> Pending<'_, Result<Accepted, NotAccepted>> {
        Box::pin(self.judge(event))
    }

    fn kept<'a>(&'a self, _: &'a Account) -> Pending<'a, Result<Option<String>, NotAccepted>> {
        Box::pin(std::future::ready(Ok(self.book().place.clone())))
    }

    fn keep<'a>(&'a self, _: &'a Account, place: String) -> Pending<'a, Result<(), NotAccepted>> {
        self.change(|book| book.place = Some(place));
        Box::pin(std::future::ready(Ok(())))
    }
}
