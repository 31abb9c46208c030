//! The contract between the gateway and a platform: [`Adapter`] turns wire events into [`Event`]s and parts into
//! messages; [`Intake`] is where its events go. What a platform can do beside sending is the presence of an object, so
//! that nothing can be claimed without being implemented.

use std::pin::Pin;

use crate::address::Address;
use crate::capabilities::Capabilities;
use crate::delivery::{Outcome, Part, Receipt, ReplyKind};
use crate::event::Event;
use crate::ids::{EventId, SessionId};
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

    /// Changes a message that is there, where the platform can.
    fn edit(&self) -> Option<&dyn Edit>;
}

/// A platform whose messages can be changed.
pub trait Edit: Send + Sync {
    /// Makes the message that `receipt` is for show this part.
    fn edit<'a>(&'a self, receipt: &'a Receipt, outgoing: &'a Outgoing) -> Pending<'a, Outcome>;
}

/// Where an adapter's events go.
pub trait Intake: Send + Sync {
    /// The account is who it says it is, and what it can do is known: what waits for it may go out.
    fn connected(&self, account: &Account);

    /// Records an event. Only after this has answered [`Ok`] may the platform be told "got it".
    fn accept(&self, event: Event) -> Pending<'_, Result<Accepted, NotAccepted>>;
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
