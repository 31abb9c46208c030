//! Moving a conversation to another place: terminal to chat, chat to chat, and back.

use serde::{Deserialize, Serialize};

use crate::address::{Address, ReturnAddress};
use crate::clock::Timestamp;
use crate::ids::{HandoffId, SessionId};
use crate::machine::HandoffState;

/// A conversation on its way to another place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handoff {
    /// Its id.
    pub id: HandoffId,
    /// The conversation, with all that was said in it.
    pub session: SessionId,
    /// Where it was; told how it went.
    pub from: ReturnAddress,
    /// Where it goes.
    pub to: Address,
    /// Where it stands.
    pub state: HandoffState,
    /// Why it failed.
    pub error: Option<String>,
    /// When it was asked for.
    pub created_at: Timestamp,
}
