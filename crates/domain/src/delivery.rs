//! What goes out and what became of it. A logical reply is made of visible parts; each part ends with the
//! platform's receipt or with a named reason. An adapter answers a send with an [`Outcome`], never with a bare
//! success: "sent, but no answer came" is an outcome of its own, because it must not be sent again blindly.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::address::ReturnAddress;
use crate::clock::Timestamp;
use crate::event::Attachment;
use crate::ids::{PartId, ReplyId, RunId, SessionId};
use crate::machine::ReplyState;
use crate::names::MessageId;

/// One visible piece of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its id, which is also the idempotency key where the platform takes one.
    pub id: PartId,
    /// The reply it belongs to.
    pub reply: ReplyId,
    /// Its place in the reply, from zero.
    pub ordinal: u32,
    /// What is shown.
    pub body: PartBody,
}

/// What a part shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "body", rename_all = "snake_case")]
pub enum PartBody {
    /// Markdown, to be written in the platform's dialect.
    Text {
        /// The source text.
        markdown: String,
    },
    /// A file with a caption.
    File {
        /// The file.
        attachment: Attachment,
        /// Markdown beside it.
        caption: String,
    },
}

/// One logical answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// Its id.
    pub id: ReplyId,
    /// The conversation it belongs to.
    pub session: SessionId,
    /// The run that said it; none for the gateway's own notices.
    pub run: Option<RunId>,
    /// What it is to the reader.
    pub kind: ReplyKind,
    /// Where it stands.
    pub state: ReplyState,
    /// Where it goes, fixed when it was recorded.
    pub return_to: ReturnAddress,
    /// All of its text so far.
    pub text: String,
    /// How often the text was changed.
    pub revision: i64,
}

/// What a reply is to the reader; answers and notices go out before progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyKind {
    /// The answer.
    Final,
    /// Something the gateway has to say.
    Notice,
    /// Something that the reader is asked.
    Prompt,
    /// What is going on; the latest state wins.
    Progress,
}

impl ReplyKind {
    /// Its name in the ledger and in logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Final => "final",
            Self::Notice => "notice",
            Self::Prompt => "prompt",
            Self::Progress => "progress",
        }
    }

    /// The kind that this name stands for.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Final, Self::Notice, Self::Prompt, Self::Progress]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

/// The platform's proof that a part is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The platform's id of what it shows.
    pub message: MessageId,
    /// When the platform said so.
    pub at: Timestamp,
}

/// What became of a send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It is there.
    Delivered {
        /// One for each message that the platform made of it.
        receipts: Vec<Receipt>,
    },
    /// The platform said no, and would again.
    Rejected {
        /// What kind of no.
        class: Rejection,
        /// The platform's words.
        detail: String,
    },
    /// It certainly was not sent; it may be tried again.
    NotSent {
        /// Not before this long; closes the chat for everything.
        retry_after: Option<Duration>,
        /// What was in the way.
        detail: String,
    },
    /// It was sent and no answer came. Never resent blindly.
    Unknown {
        /// What is known.
        detail: String,
    },
}

/// What kind of no a platform gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// It could not read the markup: plain text is next.
    Markup,
    /// Too long after all.
    TooLong,
    /// We may not write there.
    Forbidden,
    /// The chat or the message is gone.
    Gone,
    /// Our credential is not accepted.
    Unauthorized,
    /// Anything else that will not get better.
    Invalid,
}
