//! Watching a conversation while it happens: what surfaces that stream are told, after it was recorded. Whoever
//! watches may miss something and is told so; the ledger has all of it.

use serde::{Deserialize, Serialize};

use crate::adapter::Pending;
use crate::delivery::ReplyKind;
use crate::ids::{EventId, ReplyId, RunId, SessionId};
use crate::run::RunEvent;

/// Where conversations can be watched.
pub trait Live: Send + Sync {
    /// Everything that happens in a session from here on.
    fn watch(&self, session: SessionId) -> Box<dyn Watch>;
}

/// Somebody who watches.
pub trait Watch: Send {
    /// What happens next; none once the gateway stops.
    fn next(&mut self) -> Pending<'_, Option<Happening>>;
}

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "happening", rename_all = "snake_case")]
pub enum Happening {
    /// A turn began.
    Started {
        /// The run.
        run: RunId,
        /// What it answers.
        event: EventId,
    },
    /// A run yielded something; it is in the journal under this number.
    Yielded {
        /// The run.
        run: RunId,
        /// Its number in the journal.
        seq: i64,
        /// What.
        what: RunEvent,
    },
    /// Something was said, all of it: an answer or a notice.
    Said {
        /// The reply.
        reply: ReplyId,
        /// What it is to the reader.
        kind: ReplyKind,
        /// The run that said it; none for the gateway's own notices.
        run: Option<RunId>,
        /// All of its text.
        text: String,
    },
    /// Something was missed: look into the ledger.
    Missed,
}
