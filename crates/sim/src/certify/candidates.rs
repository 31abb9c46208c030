//! The adapters that are certified: one line each, and what a suite has to know about their platform.

use futures::future::BoxFuture;
use talaria_domain::adapter::HookCall;
use talaria_domain::clock::Timestamp;
use talaria_platforms::Credential;

use crate::vendor::Written;
use crate::vendor::venue::Venue;

/// A vendor that is being started.
pub type Starting = BoxFuture<'static, std::io::Result<Box<dyn Venue>>>;

/// An adapter and its vendor.
#[derive(Clone, Copy)]
pub struct Candidate {
    /// The platform.
    pub platform: &'static str,
    /// What the account is called where it stands beside others.
    pub name: &'static str,
    /// Whether nobody can know what became of a send without an answer: there are neither keys nor edits.
    pub doubts: bool,
    /// Starts its vendor on a port of its own; the same port again if one is named.
    pub start: fn(u16) -> Starting,
    /// What the operator would write to get there, with a token that is accepted or with another one.
    pub credential: fn(&str, is_valid: bool) -> Credential,
    /// Where people write there.
    pub places: Places,
    /// How it calls us, where it does.
    pub calls: Option<Calls>,
    /// A vendor of many bots, where one vendor has them.
    pub several: Option<Several>,
}

/// A vendor of many bots.
#[derive(Clone, Copy)]
pub struct Several {
    /// Starts one that knows so many.
    pub start: fn(usize) -> Starting,
    /// What the operator would write to be the bot with this number, from 1.
    pub credential: fn(&str, usize) -> Credential,
}

/// How a platform calls us.
#[derive(Clone, Copy)]
pub struct Calls {
    /// What the operator would write so that it does.
    pub credential: fn(&str) -> Credential,
    /// A call at this time. None if its signatures have no such thing.
    pub make: fn(Forgery, Timestamp) -> Option<HookCall>,
}

impl Candidate {
    /// What it is called in a table.
    pub fn title(&self) -> String {
        match self.name {
            "" => self.platform.to_owned(),
            name => format!("{} ({name})", self.platform),
        }
    }
}

/// Where people write: what the person with a number says at each place, ready to be told.
#[derive(Clone, Copy)]
pub struct Places {
    /// To the bot alone.
    pub direct: fn(u64, &str) -> Written,
    /// To the bot in a thread of a group, which is theirs.
    pub thread: Option<fn(u64, &str) -> Written>,
}

/// A call that is genuine, or is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgery {
    /// Genuine.
    Genuine,
    /// Without a signature.
    Absent,
    /// With an empty one.
    Empty,
    /// With a wrong one.
    Wrong,
    /// Genuine, and an hour old.
    Old,
}
