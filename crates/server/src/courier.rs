//! The way out for texts that an operator sends without an agent. What an account is called, where its home is and how
//! much fits into a message is the gateway's knowledge, so the gateway records them; this is what it is asked with.

use talaria_domain::adapter::Pending;
use talaria_domain::ids::ReplyId;
use talaria_domain::names::{AccountName, ChatId, PlatformName, ThreadId};
use talaria_domain::principal::Principal;

/// Who brings texts to platforms.
pub trait Courier: Send + Sync {
    /// Records a text in the outbox. What becomes of it is in the ledger under the reply's id.
    fn dispatch(&self, parcel: Parcel) -> Pending<'_, Result<ReplyId, NotDispatched>>;
}

/// A text and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parcel {
    /// Where.
    pub to: Destination,
    /// What, in Markdown.
    pub text: String,
    /// Who asked for it.
    pub requester: Principal,
}

/// A place as an operator names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The chat service.
    pub platform: PlatformName,
    /// Our account there; none where there is only one.
    pub account: Option<AccountName>,
    /// The chat; none for the account's home.
    pub chat: Option<ChatId>,
    /// The thread in it.
    pub thread: Option<ThreadId>,
}

/// Why nothing was recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotDispatched {
    /// There is no such place: another destination may work.
    #[error("{reason}")]
    NotFound {
        /// What is missing: the account, its home.
        reason: String,
    },
    /// Not now: the same may work later.
    #[error("{reason}")]
    Retry {
        /// What was in the way.
        reason: String,
    },
}
