//! A conversation: what a session key leads to, until it is reset.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::ids::SessionId;
use crate::machine::SessionState;
use crate::principal::PrincipalKey;
use crate::session_key::SessionKeyId;

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// The key it was made under.
    pub key: SessionKeyId,
    /// Who may find it.
    pub owner: PrincipalKey,
    /// Whether it goes on.
    pub state: SessionState,
    /// Which life of its key this is, from zero.
    pub generation: u32,
    /// The number of the last thing that was said in it.
    pub last_seq: i64,
    /// The session it was branched from or follows.
    pub parent: Option<SessionId>,
    /// What people call it.
    pub title: Option<String>,
    /// Why it ended.
    pub end_reason: Option<String>,
    /// When it began.
    pub created_at: Timestamp,
    /// When something was last said in it.
    pub updated_at: Timestamp,
}
