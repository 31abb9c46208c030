//! The gateway's protocol ("Gateway"): what is said on a connection, and what is heard.
//!
//! Pure: texts in, words out, and back.

#[cfg(test)]
mod tests;

use std::time::Duration;

use serde_json::{Value, json};

use super::place::{Session, Shard};
use super::wire::{Frame, Hello};

/// GUILDS, `GUILD_MESSAGES`, `GUILD_MESSAGE_REACTIONS`, `DIRECT_MESSAGES`, `DIRECT_MESSAGE_REACTIONS`, `MESSAGE_CONTENT`
/// ("Gateway", list of intents).
const INTENTS: u32 = 1 | 1 << 9 | 1 << 10 | 1 << 12 | 1 << 13 | 1 << 15;
/// No heart beats faster, whatever is said; nor slower, so that a connection that has gone mute is noticed within a
/// minute: Discord asks for a beat every 41 seconds, and takes more.
const FASTEST: Duration = Duration::from_millis(50);
const SLOWEST: Duration = Duration::from_secs(20);

/// What was heard.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Heard {
    /// The connection is there, and wants a heartbeat this often.
    Hello(Duration),
    /// A heartbeat was answered.
    Ack,
    /// A heartbeat is wanted now.
    BeatNow,
    /// The connection is about to be closed: the session is to be taken up on another.
    Reconnect,
    /// The session is not there, or not yet.
    Invalid {
        /// Whether it may be tried again.
        is_resumable: bool,
    },
    /// Something happened.
    Dispatch(Dispatch),
    /// A word that we do not know.
    Nothing,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dispatch {
    /// Its number in its session.
    pub(super) seq: u64,
    /// What.
    pub(super) name: String,
    /// The rest.
    pub(super) body: Value,
}

/// Reads a frame; none if it is garbage.
pub(super) fn heard(text: &str) -> Option<Heard> {
    let frame: Frame = serde_json::from_str(text).ok()?;
    Some(match frame.op {
        0 => Heard::Dispatch(Dispatch {
            seq: frame.s?,
            name: frame.t?,
            body: frame.d,
        }),
        1 => Heard::BeatNow,
        7 => Heard::Reconnect,
        9 => Heard::Invalid {
            is_resumable: frame.d == true,
        },
        10 => {
            let hello: Hello = serde_json::from_value(frame.d).ok()?;
            let pace = Duration::from_millis(hello.heartbeat_interval);
            Heard::Hello(pace.clamp(FASTEST, SLOWEST))
        }
        11 => Heard::Ack,
        _ => Heard::Nothing,
    })
}

/// A heartbeat: what was last accepted.
pub(super) fn beat(seq: Option<u64>) -> String {
    json!({ "op": 1, "d": seq }).to_string()
}

/// Begins a session.
pub(super) fn identify(token: &str, shard: Shard) -> String {
    json!({
        "op": 2,
        "d": {
            "token": token,
            "intents": INTENTS,
            "shard": [shard.index, shard.count],
            "properties": { "os": std::env::consts::OS, "browser": "talaria", "device": "talaria" },
        },
    })
    .to_string()
}

/// Takes a session up again: everything after what was last accepted comes again.
pub(super) fn resume(token: &str, session: &Session) -> String {
    json!({
        "op": 6,
        "d": { "token": token, "session_id": session.id, "seq": session.seq },
    })
    .to_string()
}

/// How long after the greeting the first heartbeat comes: a part of the pace that `chance` says, so that not everybody
/// beats at once.
pub(super) fn first_beat(pace: Duration, chance: u8) -> Duration {
    pace.mul_f64(f64::from(chance) / 256.0)
}
