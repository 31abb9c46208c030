//! Where an account stands in what arrives. Discord acknowledges nothing: what was heard is known to us alone, so the
//! session, the number of the last event that intake accepted and the last message of each channel are kept.
//!
//! Pure: what was accepted in, a text to keep out. **Invariant:** nothing is in it that intake has not accepted.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Channels that were quiet for longest are forgotten first.
const MOST_CHANNELS: usize = 500;
/// Discord's ids carry milliseconds above these bits ("API Reference", snowflakes).
const TIME_SHIFT: u32 = 22;
/// The first of those milliseconds, since 1970.
const EPOCH: i64 = 1_420_070_400_000;
/// Messages of different channels may overtake each other by this much.
const LEEWAY_MILLIS: u64 = 5_000;

/// One of the connections that share an account's guilds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shard {
    /// Which.
    pub(super) index: u32,
    /// Of how many.
    pub(super) count: u32,
}

/// A session that can be taken up again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Session {
    /// Its id.
    pub(super) id: String,
    /// Where it is taken up again.
    pub(super) url: String,
    /// The last event that was accepted.
    pub(super) seq: u64,
    /// Of how many shards it is one.
    pub(super) count: u32,
}

/// Where an account stands.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Place {
    sessions: BTreeMap<u32, Session>,
    /// The last message of each channel.
    last: BTreeMap<u64, u64>,
}

impl Place {
    /// What was kept; none if nothing was, or nothing that can be read.
    pub(super) fn read(kept: Option<&str>) -> Option<Self> {
        kept.and_then(|text| serde_json::from_str(text).ok())
    }

    /// To be kept.
    pub(super) fn write(&self) -> String {
        // Numbers and texts can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The session that this shard can take up again.
    pub(super) fn session(&self, shard: Shard) -> Option<&Session> {
        let session = self.sessions.get(&shard.index);
        session.filter(|session| session.count == shard.count)
    }

    /// A session begins.
    pub(super) fn begin(&mut self, shard: Shard, session: Session) {
        self.sessions.insert(shard.index, session);
    }

    /// A session cannot be taken up again.
    pub(super) fn end(&mut self, shard: Shard) {
        self.sessions.remove(&shard.index);
    }

    /// Everything up to this event was accepted.
    pub(super) fn pass(&mut self, shard: Shard, seq: u64) {
        if let Some(session) = self.sessions.get_mut(&shard.index) {
            session.seq = session.seq.max(seq);
        }
    }

    /// A message was accepted, and everything before it in its channel.
    pub(super) fn saw(&mut self, channel: &str, message: &str) {
        let (Ok(channel), Ok(message)) = (channel.parse(), message.parse::<u64>()) else {
            return;
        };
        let last = self.last.entry(channel).or_default();
        *last = message.max(*last);
        if self.last.len() > MOST_CHANNELS {
            let quietest = self.last.iter().min_by_key(|(_, message)| **message);
            let quietest = quietest.map(|(channel, _)| *channel);
            quietest.and_then(|channel| self.last.remove(&channel));
        }
    }

    /// A channel is gone.
    pub(super) fn forget(&mut self, channel: &str) {
        channel
            .parse()
            .ok()
            .and_then(|id: u64| self.last.remove(&id));
    }

    /// The last message of each channel.
    pub(super) fn channels(&self) -> Vec<(String, String)> {
        let pair = |(channel, message): (&u64, &u64)| (channel.to_string(), message.to_string());
        self.last.iter().map(pair).collect()
    }

    /// Before this id, everything that anybody wrote was told to us: a little before the newest that was. None if
    /// nothing ever was.
    pub(super) fn floor(&self) -> Option<u64> {
        let newest = self.last.values().max()?;
        Some(newest.saturating_sub(LEEWAY_MILLIS << TIME_SHIFT))
    }
}

/// When something with this id was made, in milliseconds since 1970.
pub(super) fn made_at(id: &str) -> Option<i64> {
    let id: u64 = id.parse().ok()?;
    i64::try_from(id >> TIME_SHIFT).ok()?.checked_add(EPOCH)
}
