//! Erasing a conversation: everything that has its words in it, and the conversation with it. Nothing that is under way is
//! torn down: a conversation with something open is left as it is.
//!
//! It goes in two steps, because events are not indexed by conversation: looking for them takes a while, and the writer
//! must not wait for it. What was found is erased only if nothing happened in between.

use talaria_domain::ids::{EventId, SessionId};
use talaria_domain::principal::PrincipalKey;

use crate::bind;
use crate::error::Result;
use crate::sessions;
use crate::transcripts;
use crate::tx::Tx;

/// What goes with a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estate {
    owner: PrincipalKey,
    session: SessionId,
    /// The conversation, and those in which agents worked for it.
    sessions: Vec<SessionId>,
    events: Vec<EventId>,
    /// Conversations that go on from it.
    heirs: Vec<SessionId>,
    /// The last event that there was.
    seen: i64,
    is_busy: bool,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Erased {
    /// Nothing of it is left.
    Gone,
    /// Something is under way in it: nothing was erased.
    Busy,
    /// Something happened since it was looked at: nothing was erased, look again.
    Moved,
}

/// Looks for everything that goes with an owner's conversation. For [`crate::Ledger::read`].
pub fn survey(tx: &mut Tx<'_>, owner: PrincipalKey, session: SessionId) -> Result<Estate> {
    sessions::get_owned(tx, owner, session)?;
    let seen = tx.row("SELECT MAX(seq) FROM inbox", &[], |row| {
        row.get::<Option<i64>>(0)
    })?;
    let mut estate = Estate {
        owner,
        session,
        sessions: vec![session],
        events: Vec::new(),
        heirs: children(tx, session, "conversation")?,
        seen: seen.flatten().unwrap_or(0),
        is_busy: false,
    };
    let mut next = 0;
    while let Some(one) = estate.sessions.get(next).copied() {
        next += 1;
        estate.is_busy |= is_busy(tx, one)?;
        estate.sessions.extend(children(tx, one, "apart")?);
        let events: Vec<EventId> = tx.rows(
            "SELECT event_id FROM inbox WHERE session_id = ?1",
            bind![one],
            |row| row.get(0),
        )?;
        estate.events.extend(events);
    }
    Ok(estate)
}

fn children(tx: &mut Tx<'_>, parent: SessionId, kind: &str) -> Result<Vec<SessionId>> {
    tx.rows(
        "SELECT session_id FROM sessions WHERE parent = ?1 AND kind = ?2",
        bind![parent, kind],
        |row| row.get(0),
    )
}

// What has the session's own id is not in the index of the others.
macro_rules! replies_of {
    () => {
        "SELECT reply_id FROM replies WHERE session_id = ?1 AND reply_id <> session_id
         UNION ALL SELECT reply_id FROM replies WHERE reply_id = ?1"
    };
}

macro_rules! runs_of {
    () => {
        "SELECT run_id FROM runs WHERE session_id = ?1 AND run_id <> session_id
         UNION ALL SELECT run_id FROM runs WHERE run_id = ?1"
    };
}

/// Each finds something that is not over.
const OPEN: [&str; 4] = [
    "SELECT seq FROM inbox WHERE session_id = ?1 AND state IN ('queued', 'claimed') LIMIT 1",
    concat!(
        "SELECT created_at FROM runs WHERE run_id IN (",
        runs_of!(),
        ") AND ended_at IS NULL LIMIT 1"
    ),
    "SELECT created_at FROM jobs WHERE session_id = ?1 AND ended_at IS NULL LIMIT 1",
    concat!(
        "SELECT created_at FROM parts WHERE reply_id IN (",
        replies_of!(),
        ") AND state IN ('queued', 'retry', 'sending', 'doubted') LIMIT 1"
    ),
];

fn is_busy(tx: &mut Tx<'_>, session: SessionId) -> Result<bool> {
    for sql in OPEN {
        let open: Option<i64> = tx.row(sql, bind![session], |row| row.get(0))?;
        if open.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Erases what was looked for. For [`crate::Ledger::write`].
pub fn erase(tx: &mut Tx<'_>, estate: &Estate) -> Result<Erased> {
    sessions::get_owned(tx, estate.owner, estate.session)?;
    if estate.is_busy {
        return Ok(Erased::Busy);
    }
    for session in &estate.sessions {
        if is_busy(tx, *session)? {
            return Ok(Erased::Busy);
        }
        let newer: Option<i64> = tx.row(
            "SELECT seq FROM inbox WHERE seq > ?2 AND session_id = ?1 LIMIT 1",
            bind![*session, estate.seen],
            |row| row.get(0),
        )?;
        if newer.is_some() {
            return Ok(Erased::Moved);
        }
    }
    for event in &estate.events {
        tx.execute(
            "DELETE FROM dedupe WHERE dedupe_key IN (SELECT dedupe_key FROM inbox WHERE event_id = ?1)",
            bind![*event],
        )?;
        tx.execute("DELETE FROM inbox WHERE event_id = ?1", bind![*event])?;
    }
    for heir in &estate.heirs {
        let sql = "UPDATE sessions SET parent = NULL WHERE session_id = ?1";
        tx.execute(sql, bind![*heir])?;
    }
    for session in &estate.sessions {
        erase_one(tx, *session)?;
    }
    Ok(Erased::Gone)
}

macro_rules! parts_of {
    () => {
        concat!(
            "SELECT part_id FROM parts WHERE reply_id IN (",
            replies_of!(),
            ")"
        )
    };
}

/// What belongs to a row goes first, then the row.
const BELONGING: [&str; 9] = [
    concat!("DELETE FROM receipts WHERE part_id IN (", parts_of!(), ")"),
    concat!("DELETE FROM attempts WHERE part_id IN (", parts_of!(), ")"),
    concat!("DELETE FROM parts WHERE reply_id IN (", replies_of!(), ")"),
    concat!(
        "DELETE FROM replies WHERE reply_id IN (",
        replies_of!(),
        ")"
    ),
    concat!("DELETE FROM run_events WHERE run_id IN (", runs_of!(), ")"),
    concat!("DELETE FROM questions WHERE run_id IN (", runs_of!(), ")"),
    concat!("DELETE FROM runs WHERE run_id IN (", runs_of!(), ")"),
    "DELETE FROM dead_letters WHERE session_id = ?1",
    "DELETE FROM jobs WHERE session_id = ?1",
];

macro_rules! of_a_chat_without_conversations {
    () => {
        "key_id = ?1 AND NOT EXISTS (SELECT 1 FROM session_keys k WHERE k.key_id = ?1 AND k.kept > 0)"
    };
}

/// What is planned in a chat goes with its last conversation, and so does what its key was made of.
const LAST: [&str; 3] = [
    concat!(
        "DELETE FROM occurrences WHERE schedule_id IN (SELECT schedule_id FROM schedules WHERE ",
        of_a_chat_without_conversations!(),
        ")"
    ),
    concat!(
        "DELETE FROM schedules WHERE ",
        of_a_chat_without_conversations!()
    ),
    "DELETE FROM session_keys WHERE key_id = ?1 AND session_id IS NULL AND kept = 0",
];

fn erase_one(tx: &mut Tx<'_>, session: SessionId) -> Result<()> {
    let whole = sessions::get(tx, session)?;
    for sql in BELONGING {
        tx.execute(sql, bind![session])?;
    }
    transcripts::erase(tx, session)?;
    sessions::erase(tx, &whole)?;
    for sql in LAST {
        tx.execute(sql, bind![whole.key])?;
    }
    Ok(())
}
