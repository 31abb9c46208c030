//! The contract between the gateway and a platform: [`Adapter`] turns wire events into [`Event`]s and parts into
//! messages; [`Intake`] is where its events go. What a platform can do beside sending is the presence of an object, so
//! that nothing can be claimed without being implemented.

use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use crate::address::Address;
use crate::capabilities::Capabilities;
use crate::delivery::{Outcome, Part, Receipt, ReplyKind};
use crate::event::{Attachment, Event, ReactionChange};
use crate::ids::{EventId, SessionId};
use crate::names::{MessageId, UserId};
use crate::profile::Account;
use crate::question::Prompt;

/// Something that is being done. Dropping it stops it.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Our code for a platform, connected through one account.
pub trait Adapter: Send + Sync {
    /// Which account this is, and whose.
    fn account(&self) -> &Account;

    /// What the account can do. Asked for only once the adapter has said that it is connected.
    fn capabilities(&self) -> Capabilities;

    /// Says `intake.connected` once the platform has let us in and it is known what the account can do; then hands what
    /// arrives to `intake` for as long as the connection lasts. Returns why it ended. The platform is told
    /// "got it" only after `intake` said so. Dropping the future ends the connection.
    fn receive<'a>(&'a self, intake: &'a dyn Intake) -> Pending<'a, Disconnected>;

    /// Sends a part that is not there yet.
    fn send<'a>(&'a self, outgoing: &'a Outgoing) -> Pending<'a, Outcome>;

    /// What can be done beside sending, as it is known by now.
    fn abilities(&self) -> Abilities<'_>;
}

/// What an account can do beside sending text: each is there, or it is not.
#[derive(Default, Clone, Copy)]
pub struct Abilities<'a> {
    /// Messages can be changed.
    pub edit: Option<&'a dyn Edit>,
    /// A typing sign can be shown.
    pub typing: Option<&'a dyn Typing>,
    /// Marks can be put on messages.
    pub reactions: Option<&'a dyn Reactions>,
    /// Threads can be opened.
    pub threads: Option<&'a dyn Threads>,
    /// Files can be sent and fetched.
    pub media: Option<&'a dyn Media>,
    /// The platform calls us.
    pub hook: Option<&'a dyn Hook>,
}

/// A platform whose messages can be changed.
pub trait Edit: Send + Sync {
    /// Makes the message that `receipt` is for show this part.
    fn edit<'a>(&'a self, receipt: &'a Receipt, outgoing: &'a Outgoing) -> Pending<'a, Outcome>;
}

/// A platform that shows when somebody is about to answer.
pub trait Typing: Send + Sync {
    /// How long the sign stays by itself.
    fn lasts(&self) -> Duration;

    /// Shows it at this place, or takes it away where it does not go by itself.
    fn sign<'a>(&'a self, at: &'a Address, sign: Sign) -> Pending<'a, Outcome>;
}

/// A typing sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Somebody is about to answer.
    On,
    /// Nobody is any more.
    Off,
}

/// A platform whose messages can be marked.
pub trait Reactions: Send + Sync {
    /// Puts a mark on somebody's message, or takes it away.
    fn mark<'a>(
        &'a self,
        message: (&'a Address, &'a MessageId),
        mark: Mark,
        change: ReactionChange,
    ) -> Pending<'a, Outcome>;
}

/// What a mark says. Each platform has its own picture for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// We are at it.
    Seen,
    /// It is answered.
    Done,
    /// It could not be answered.
    Failed,
}

/// A platform where threads can be opened.
pub trait Threads: Send + Sync {
    /// Opens a thread below this place; gives where it is.
    fn open<'a>(
        &'a self,
        parent: &'a Address,
        name: &'a str,
    ) -> Pending<'a, Result<Address, Outcome>>;
}

/// A platform that carries files. A part that is a file is sent like any other, from [`Outgoing::file`].
pub trait Media: Send + Sync {
    /// The largest file that can be sent.
    fn most_bytes(&self) -> u64;

    /// Gets a file that somebody sent, if it is not larger than `most` bytes.
    fn fetch<'a>(
        &'a self,
        attachment: &'a Attachment,
        most: u64,
    ) -> Pending<'a, Result<Vec<u8>, NotFetched>>;
}

/// A file could not be had. The reason has no secret in it and may be told to the agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not fetched: {reason}")]
pub struct NotFetched {
    /// Why.
    pub reason: String,
}

/// A platform that calls us. It is called before anybody has checked who speaks: the adapter does.
pub trait Hook: Send + Sync {
    /// Takes a call: checks its signature first, hands what it says to `intake`, and gives the answer. "Got it" is
    /// answered only after `intake` said so.
    fn take<'a>(&'a self, call: &'a HookCall, intake: &'a dyn Intake) -> Pending<'a, HookAnswer>;
}

/// A call as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCall {
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, to the byte.
    pub body: Vec<u8>,
}

impl HookCall {
    /// The header of this name (in lower case), if it is there exactly once: a second one is a trick.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(other, _)| other == name);
        let first = found.next().map(|(_, value)| value.as_str());
        first.filter(|_| found.next().is_none())
    }
}

/// What is answered to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookAnswer {
    /// The status.
    pub status: u16,
    /// The body's media type.
    pub media_type: &'static str,
    /// The body.
    pub body: String,
}

/// Who an account turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The id that the platform knows it by, which never changes.
    pub id: UserId,
    /// What it is called, for people.
    pub name: String,
}

/// Where an adapter's events go.
pub trait Intake: Send + Sync {
    /// The account has proved who it is, and what it can do is known: what waits for it may go out. An account that
    /// turns out to be one that is served already, or another than it used to be, must not go on.
    fn connected(&self, account: &Account, identity: &Identity) -> Result<(), Disconnected>;

    /// Something came from the platform that is no event: a heartbeat was answered, nothing is new.
    fn alive(&self, account: &Account);

    /// Records an event. Only after this has answered [`Ok`] may the platform be told "got it".
    fn accept(&self, event: Event) -> Pending<'_, Result<Accepted, NotAccepted>>;

    /// Where the account stands in what arrives, as it was last kept: for platforms that do not remember it themselves.
    /// What came since then may come again.
    fn kept<'a>(&'a self, account: &'a Account)
    -> Pending<'a, Result<Option<String>, NotAccepted>>;

    /// Keeps where the account stands: after everything before it was accepted, and not at every event.
    fn keep<'a>(
        &'a self,
        account: &'a Account,
        place: String,
    ) -> Pending<'a, Result<(), NotAccepted>>;
}

/// A part on its way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// What is shown. Its id is the idempotency key where the platform takes one.
    pub part: Part,
    /// Where.
    pub to: Address,
    /// What it is to the reader.
    pub kind: ReplyKind,
    /// How its text is to be read.
    pub form: TextForm,
    /// The buttons below it, for those who can show them. The text says the same in words.
    pub prompt: Option<Prompt>,
    /// Where the file is that the part shows, if it shows one.
    pub file: Option<PathBuf>,
}

/// How a part's text is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// Markdown, to be written in the platform's dialect.
    Markdown,
    /// As it stands: the platform could not read the markup.
    Plain,
}

/// What became of an event that the platform may be told about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accepted {
    /// It is in the ledger.
    Recorded {
        /// The event.
        event: EventId,
        /// The conversation it belongs to.
        session: SessionId,
    },
    /// It is in the ledger and has come to its end at once: too many waited before it, and its sender is told so.
    CrowdedOut {
        /// The event.
        event: EventId,
        /// The conversation it belongs to.
        session: SessionId,
    },
    /// It was there before.
    Duplicate {
        /// The one that counts.
        first: EventId,
    },
    /// Whoever sent it may not. For the operator; a stranger is told nothing.
    Refused {
        /// Why.
        reason: String,
    },
}

/// It was not recorded: the platform must not be told that it was, and will deliver it again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not recorded: {reason}")]
pub struct NotAccepted {
    /// Why.
    pub reason: String,
}

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disconnected {
    /// It may come back by itself.
    Lost {
        /// What happened.
        detail: String,
    },
    /// The credential is not accepted: somebody has to do something.
    Unauthorized {
        /// The platform's words.
        detail: String,
    },
    /// Somebody else uses the same credential.
    Conflict {
        /// The platform's words.
        detail: String,
    },
}
