//! When something is to happen, and one such time. The zone is stored with the schedule; each time is a row of its own,
//! and there is only one of it. What people write about a time is read in one place ([`words`]), what follows from it is
//! computed in another ([`When::next_after`]); neither asks a clock.

pub mod words;

mod when;
mod zone;

use serde::{Deserialize, Serialize};

use crate::address::ReturnAddress;
use crate::clock::Timestamp;
use crate::ids::{EventId, ReplyId, ScheduleId};
use crate::machine::{OccurrenceState, ScheduleState};
use crate::principal::PrincipalKey;
use crate::session_key::SessionKeyId;

pub use self::when::When;
pub use self::zone::Zone;

/// How much may be said at a time, in letters.
pub const LONGEST_TEXT: usize = 4_000;
/// How long a name may be, in letters.
pub const LONGEST_NAME: usize = 80;
/// How much of the text stands for a name that nobody gave.
const NAME_OF_TEXT: usize = 40;

/// When something is to happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// Its id.
    pub id: ScheduleId,
    /// What people call it.
    pub name: String,
    /// The rule.
    pub when: When,
    /// Where its clock hangs.
    pub zone: Zone,
    /// What happens.
    pub what: What,
    /// Where it happens, and who wanted it. Its session is the one that it was made in.
    pub return_to: ReturnAddress,
    /// The chat: it happens in whatever conversation this leads to by then.
    pub key: SessionKeyId,
    /// Where it stands.
    pub state: ScheduleState,
    /// The next time; none unless it is active.
    pub next_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Schedule {
    /// Whose it is.
    pub fn owner(&self) -> PrincipalKey {
        self.return_to.requester.key()
    }
}

/// What happens at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", content = "text", rename_all = "snake_case")]
pub enum What {
    /// This is posted as it is.
    Say(String),
    /// The agent is asked this, in the conversation.
    Ask(String),
}

impl What {
    /// Its name in the ledger, the API and commands.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Say(_) => "say",
            Self::Ask(_) => "ask",
        }
    }

    /// The words.
    pub fn text(&self) -> &str {
        match self {
            Self::Say(text) | Self::Ask(text) => text,
        }
    }

    /// What this name and these words stand for.
    pub fn of(name: &str, text: String) -> Option<Self> {
        match name {
            "say" => Some(Self::Say(text)),
            "ask" => Some(Self::Ask(text)),
            _ => None,
        }
    }
}

/// A schedule that somebody wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleOrder {
    /// What it is to be called; the beginning of its text, if nothing is said.
    pub name: Option<String>,
    /// When, in people's words.
    pub when: String,
    /// Where its clock hangs, if somewhere else than usual.
    pub zone: Option<String>,
    /// What.
    pub what: What,
}

/// The same, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What it is called.
    pub name: String,
    /// The rule.
    pub when: When,
    /// Where its clock hangs.
    pub zone: Zone,
    /// What happens.
    pub what: What,
    /// The first time.
    pub next_at: Timestamp,
}

impl ScheduleOrder {
    /// Understands it, or says what to write instead. `usual` is the zone where nothing else is said.
    pub fn understand(self, usual: &Zone, now: Timestamp) -> Result<Plan, String> {
        let text = self.what.text().trim();
        if text.is_empty() {
            return Err("expected some text, found none".to_owned());
        }
        let length = text.chars().count();
        if length > LONGEST_TEXT {
            return Err(format!(
                "the text has {length} letters, and may have {LONGEST_TEXT}"
            ));
        }
        let name = self
            .name
            .as_deref()
            .map_or_else(|| beginning(text), one_line);
        if name.is_empty() || name.chars().count() > LONGEST_NAME {
            return Err(format!("a name has 1 to {LONGEST_NAME} letters"));
        }
        let zone = match &self.zone {
            Some(zone) => Zone::parse(zone)?,
            None => usual.clone(),
        };
        let (when, zone) = words::parse(&self.when, &zone, now)?;
        let next_at = when.next_after(&zone, now);
        let never = || format!("{:?} never comes: write another time", self.when.trim());
        Ok(Plan {
            next_at: next_at.ok_or_else(never)?,
            name,
            when,
            zone,
            what: self.what,
        })
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn beginning(text: &str) -> String {
    let line = one_line(text.lines().next().unwrap_or_default());
    let mut short: String = line.chars().take(NAME_OF_TEXT).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

/// What a run wants to do with the schedules of its conversation and of whoever asks there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScheduleRequest {
    /// Make one.
    Create(ScheduleOrder),
    /// Look at all that have not ended.
    List,
    /// Let nothing of it happen for now. By its id or its name, as the others.
    Pause(String),
    /// Let it happen again.
    Resume(String),
    /// End it.
    Remove(String),
}

/// One time that a schedule is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occurrence {
    /// The schedule.
    pub schedule: ScheduleId,
    /// The time; with the schedule, it is unique.
    pub due: Timestamp,
    /// Where it stands.
    pub state: OccurrenceState,
    /// The event that it became.
    pub event: Option<EventId>,
    /// The message that it became.
    pub reply: Option<ReplyId>,
    /// Why it was passed over.
    pub reason: Option<String>,
    /// When it was served or passed over.
    pub at: Timestamp,
}

#[cfg(test)]
mod tests;
