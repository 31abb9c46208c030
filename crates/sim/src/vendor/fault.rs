//! Pure: what goes wrong, on what, and how often.

#[cfg(test)]
mod tests;

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A fault that is ordered.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What it happens to.
    pub on: On,
    /// What happens.
    #[serde(rename = "do")]
    pub mishap: Mishap,
    /// What the adapter is told about when to come back, in seconds.
    #[serde(default)]
    pub retry_after: Option<u64>,
    /// How often it happens; never means that all faults on this end.
    #[serde(default = "once")]
    pub times: u32,
}

const fn once() -> u32 {
    1
}

/// What a fault happens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum On {
    /// A message that is sent.
    Send,
    /// A message that is changed.
    Edit,
    /// A question for what is new.
    Updates,
    /// A question who we are.
    About,
    /// A connection that is to stay, while it is made.
    Connect,
    /// A connection that stays, after the next thing that is said on it.
    Socket,
    /// A typing sign.
    Typing,
    /// A mark on a message.
    Mark,
    /// A file that is sent.
    Upload,
    /// A file that is fetched.
    Fetch,
    /// A thread that is opened.
    Thread,
    /// Any other question.
    Other,
}

/// What happens.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Mishap {
    /// Nothing is done and this is answered.
    Answer {
        /// The status.
        status: u16,
        /// The code in the body.
        code: String,
    },
    /// Nothing is done and nothing is answered.
    Hang,
    /// Nothing is done and the connection closes.
    Close,
    /// It is done and the connection closes.
    DropAfterAccept,
    /// Something is answered that makes no sense, and nothing is done.
    Garbage,
}

/// A text that should have been a mishap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoMishap(String);

impl std::fmt::Display for NoMishap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(found) = self;
        write!(
            f,
            "expected a status and a code such as \"400 markup\", or hang, close, close_before_accept, \
             drop_after_accept, garbage, found {found:?}"
        )
    }
}

impl std::error::Error for NoMishap {}

impl FromStr for Mishap {
    type Err = NoMishap;

    fn from_str(text: &str) -> Result<Self, NoMishap> {
        match text {
            "hang" => return Ok(Self::Hang),
            "close" | "close_before_accept" => return Ok(Self::Close),
            "drop_after_accept" => return Ok(Self::DropAfterAccept),
            "garbage" => return Ok(Self::Garbage),
            _ => {}
        }
        let (status, code) = text.split_once(' ').unwrap_or((text, ""));
        let status = status.parse().ok();
        let status = status.filter(|status| (300..600).contains(status));
        Ok(Self::Answer {
            status: status.ok_or_else(|| NoMishap(text.to_owned()))?,
            code: code.to_owned(),
        })
    }
}

impl TryFrom<String> for Mishap {
    type Error = NoMishap;

    fn try_from(text: String) -> Result<Self, NoMishap> {
        text.parse()
    }
}

/// The faults that are still to happen, in order.
#[derive(Debug, Default)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// Orders a fault.
    pub fn order(&mut self, fault: Fault) {
        if fault.times == 0 {
            self.0.retain(|other| other.on != fault.on);
        } else {
            self.0.push(fault);
        }
    }

    /// Whether something goes wrong next time.
    pub fn has(&self, on: On) -> bool {
        self.0.iter().any(|fault| fault.on == on)
    }

    /// What goes wrong this time.
    pub fn next(&mut self, on: On) -> Option<Fault> {
        let at = self.0.iter().position(|fault| fault.on == on)?;
        let fault = self.0.get_mut(at)?;
        fault.times -= 1;
        let next = fault.clone();
        if next.times == 0 {
            self.0.remove(at);
        }
        Some(next)
    }
}
