//! Programs that talk to each other without end. Where what programs write counts, six of their messages in a row within
//! a minute and a half, without a person in between, are enough: then nothing of theirs counts in that chat for ten
//! minutes, and the operator is told once.
//!
//! [`Window`] is the rule; `Watch` keeps one for each chat that needs it, in memory.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use talaria_domain::address::Address;
use talaria_domain::clock::Timestamp;
use talaria_domain::names::{AccountName, ChatId, PlatformName};

/// So many messages of programs,
pub const MOST: usize = 6;
/// in so short a time,
pub const WITHIN: Duration = Duration::from_secs(90);
/// are followed by so long a pause.
pub const PAUSE: Duration = Duration::from_mins(10);
/// How many chats are watched.
const CHATS: usize = 1_024;

/// What programs said lately in one chat.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Window {
    said: VecDeque<Timestamp>,
    closed_until: Option<Timestamp>,
}

/// Whether what a program says counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It does.
    Counts,
    /// It does not.
    Over {
        /// Whether that has just begun: the operator is to be told.
        is_news: bool,
    },
}

impl Window {
    /// A program says something.
    pub fn program(&mut self, now: Timestamp) -> Turn {
        if self.closed_until.is_some_and(|until| now < until) {
            return Turn::Over { is_news: false };
        }
        self.closed_until = None;
        while self.said.front().is_some_and(|at| now >= at.plus(WITHIN)) {
            self.said.pop_front();
        }
        if self.said.len() >= MOST {
            self.said.clear();
            self.closed_until = Some(now.plus(PAUSE));
            return Turn::Over { is_news: true };
        }
        self.said.push_back(now);
        Turn::Counts
    }

    /// A person says something. A pause goes on all the same.
    pub fn person(&mut self) {
        self.said.clear();
    }

    /// What was said last was nothing new.
    pub fn take_back(&mut self) {
        self.said.pop_back();
    }

    fn is_over(&self, now: Timestamp) -> bool {
        let is_quiet = self.said.back().is_none_or(|at| now >= at.plus(WITHIN));
        is_quiet && self.closed_until.is_none_or(|until| now >= until)
    }

    fn last(&self) -> Timestamp {
        let said = self.said.back().copied();
        said.max(self.closed_until).unwrap_or(Timestamp::ZERO)
    }
}

type Chat = (PlatformName, AccountName, ChatId);

/// The chats in which programs talk.
#[derive(Debug, Default)]
pub(crate) struct Watch(Mutex<HashMap<Chat, Window>>);

impl Watch {
    pub(crate) fn program(&self, at: &Address, now: Timestamp) -> Turn {
        let mut chats = self.chats();
        let chat = chat(at);
        if chats.len() >= CHATS && !chats.contains_key(&chat) {
            make_room(&mut chats, now);
        }
        chats.entry(chat).or_default().program(now)
    }

    pub(crate) fn person(&self, at: &Address) {
        let mut chats = self.chats();
        if chats.is_empty() {
            return;
        }
        if let Some(window) = chats.get_mut(&chat(at)) {
            window.person();
        }
    }

    pub(crate) fn take_back(&self, at: &Address) {
        if let Some(window) = self.chats().get_mut(&chat(at)) {
            window.take_back();
        }
    }

    fn chats(&self) -> MutexGuard<'_, HashMap<Chat, Window>> {
        // Nothing panics while it holds this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn chat(at: &Address) -> Chat {
    (at.platform.clone(), at.account.clone(), at.chat.clone())
}

/// Forgets what is over; if nothing is, whatever is oldest.
fn make_room(chats: &mut HashMap<Chat, Window>, now: Timestamp) {
    chats.retain(|_, window| !window.is_over(now));
    if chats.len() < CHATS {
        return;
    }
    let oldest = chats.iter().min_by_key(|(_, window)| window.last());
    if let Some(oldest) = oldest.map(|(chat, _)| chat.clone()) {
        chats.remove(&oldest);
    }
}
