//! What is known about channels: which are threads, below what, and so which address a message has. A thread is its own
//! channel at Discord and a thread of its parent here.
//!
//! Pure: channels in, places out. What is not known is named, to be asked for.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use talaria_domain::address::ChatKind;

use super::wire::Channel;

/// More are forgotten, and asked for again.
const MOST: usize = 20_000;

/// The types that matter ("Channel Resource", channel types).
pub(super) mod kind {
    pub(in super::super) const TEXT: u8 = 0;
    pub(in super::super) const DIRECT: u8 = 1;
    pub(in super::super) const ANNOUNCEMENT: u8 = 5;
    pub(in super::super) const ANNOUNCEMENT_THREAD: u8 = 10;
    pub(in super::super) const PUBLIC_THREAD: u8 = 11;
    pub(in super::super) const PRIVATE_THREAD: u8 = 12;
    pub(in super::super) const FORUM: u8 = 15;
    pub(in super::super) const MEDIA: u8 = 16;
}

/// Where something was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    /// The channel, or what the thread is below.
    pub(super) chat: String,
    /// The thread.
    pub(super) thread: Option<String>,
    /// What kind of chat it is.
    pub(super) kind: ChatKind,
}

/// A channel that is not known and has to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Missing(pub(super) String);

/// What is known.
#[derive(Debug, Default)]
pub(super) struct Channels(BTreeMap<String, (u8, Option<String>)>);

impl Channels {
    /// Takes note of a channel.
    pub(super) fn learn(&mut self, channel: &Channel) {
        let parent = channel.parent_id.clone().filter(|id| !id.is_empty());
        self.note(&channel.id, channel.kind, parent);
    }

    /// Takes a channel for one of this kind, because nobody tells.
    pub(super) fn assume(&mut self, id: &str, kind: u8) {
        if !self.0.contains_key(id) {
            self.note(id, kind, None);
        }
    }

    fn note(&mut self, id: &str, kind: u8, parent: Option<String>) {
        if self.0.len() >= MOST && !self.0.contains_key(id) {
            self.0.pop_first();
        }
        self.0.insert(id.to_owned(), (kind, parent));
    }

    /// Where a message in this channel was said.
    pub(super) fn spot(&self, id: &str) -> Result<Spot, Missing> {
        let missing = || Missing(id.to_owned());
        let (kind, parent) = self.0.get(id).ok_or_else(missing)?;
        let Some(parent) = parent.as_ref().filter(|_| is_thread(*kind)) else {
            return Ok(Spot {
                chat: id.to_owned(),
                thread: None,
                kind: chat_kind(*kind),
            });
        };
        let (above, _) = self
            .0
            .get(parent)
            .ok_or_else(|| Missing(parent.to_owned()))?;
        Ok(Spot {
            chat: parent.to_owned(),
            thread: Some(id.to_owned()),
            kind: match *above {
                kind::FORUM | kind::MEDIA => ChatKind::Forum,
                _ => ChatKind::Thread,
            },
        })
    }
}

const fn is_thread(kind: u8) -> bool {
    matches!(
        kind,
        kind::ANNOUNCEMENT_THREAD | kind::PUBLIC_THREAD | kind::PRIVATE_THREAD
    )
}

const fn chat_kind(kind: u8) -> ChatKind {
    match kind {
        kind::DIRECT => ChatKind::Direct,
        kind::ANNOUNCEMENT => ChatKind::Channel,
        kind::FORUM | kind::MEDIA => ChatKind::Forum,
        _ => ChatKind::Group,
    }
}
