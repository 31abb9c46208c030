//! Conversations. A [key](crate::keys) leads to one session at a time; a reset ends that one and leads on to the next
//! generation. Whoever asks for a session by its id says who they are: another principal's session is not found.

use talaria_domain::clock::Timestamp;
use talaria_domain::digest::Fields;
use talaria_domain::ids::SessionId;
use talaria_domain::machine::{Machine as _, SessionState};
use talaria_domain::principal::PrincipalKey;
pub use talaria_domain::session::Session;
use talaria_domain::session_key::{SessionKey, SessionKeyId};

use crate::bind;
use crate::change::{found, legal};
use crate::error::Result;
use crate::kept::Kept;
use crate::keys::{self, implied};
use crate::tx::{Row, Tx};

macro_rules! columns {
    () => {
        "session_id, key_id, owner, state, generation, last_seq, parent, title, end_reason, created_at, updated_at"
    };
}

fn read(row: &Row<'_>) -> Result<Session> {
    Ok(Session {
        id: row.get(0)?,
        key: row.get(1)?,
        owner: row.get(2)?,
        state: row.state(3)?,
        generation: row.get(4)?,
        last_seq: row.get(5)?,
        parent: row.get(6)?,
        title: row.get(7)?,
        end_reason: row.get(8)?,
        created_at: row.get(9)?,
        updated_at: row.get(10)?,
    })
}

/// Who a session is for and what it will be called if it has to be made. Made by the caller, so that hashing is not
/// done by the one writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    key: Kept<SessionKey>,
    key_id: SessionKeyId,
    owner: PrincipalKey,
    session: SessionId,
    at: Timestamp,
}

impl Opening {
    /// The conversation `key`, found by `owner`, called `session` if it is new.
    pub fn of(key: SessionKey, owner: PrincipalKey, session: SessionId, at: Timestamp) -> Self {
        Self {
            key_id: key.id(),
            key: Kept::from(key),
            owner,
            session,
            at,
        }
    }

    /// The key it opens.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// Whose conversation it will be if it has to be made.
    pub const fn owner(&self) -> PrincipalKey {
        self.owner
    }

    /// The id of the key it opens.
    pub const fn key_id(&self) -> SessionKeyId {
        self.key_id
    }
}

/// The session that a key leads to; makes the first one.
pub fn resolve(tx: &mut Tx<'_>, opening: &Opening) -> Result<SessionId> {
    Ok(lead(tx, opening)?.session)
}

/// Where a key leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Led {
    /// To this session.
    pub session: SessionId,
    /// Whether it was made just now: then nothing is in it.
    pub is_new: bool,
    /// Whether it was made for this key. People can lead a key to a session that was made for another one.
    pub is_own: bool,
    /// How far it has come.
    pub tail: Tail,
}

/// Where the next entry of a session's transcript goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tail {
    /// Whose session it is.
    pub owner: PrincipalKey,
    /// The last number in it.
    pub last: i64,
}

/// Where a key with a row leads.
macro_rules! led {
    () => {
        "SELECT k.session_id, s.key_id, s.owner, s.last_seq
         FROM session_keys k LEFT JOIN sessions s ON s.session_id = k.session_id
         WHERE k.key_id = ?1 AND k.session_id IS NOT NULL"
    };
}

/// The session that a key leads to, and what can be known about it on the way; makes the first one.
pub(crate) fn lead(tx: &mut Tx<'_>, opening: &Opening) -> Result<Led> {
    let key = opening.key_id;
    let read = |row: &Row<'_>| {
        Ok(Led {
            session: row.get(0)?,
            is_new: false,
            is_own: row.get::<Option<SessionKeyId>>(1)? == Some(key),
            tail: Tail {
                owner: row.get::<Option<_>>(2)?.unwrap_or(opening.owner),
                last: row.get::<Option<_>>(3)?.unwrap_or(0),
            },
        })
    };
    let led = match keys::implied_range(key) {
        None => tx.row(led!(), bind![key], read),
        Some((from, to)) => {
            let sql = concat!(
                led!(),
                " UNION ALL ",
                implied!("session_id, key_id, owner, last_seq"),
                " AND NOT EXISTS (SELECT 1 FROM session_keys k WHERE k.key_id = ?1) LIMIT 1"
            );
            tx.row(sql, bind![key, from, to], read)
        }
    }?;
    if let Some(led) = led {
        return Ok(led);
    }
    Ok(Led {
        session: open(tx, opening, None)?,
        is_new: true,
        is_own: true,
        tail: Tail {
            owner: opening.owner,
            last: 0,
        },
    })
}

/// Opens a conversation that goes on from another one. Its key must be new.
pub(crate) fn open_from(
    tx: &mut Tx<'_>,
    opening: &Opening,
    parent: SessionId,
) -> Result<SessionId> {
    let is_free = keys::current(tx, opening.key_id)?.is_none();
    found(
        "key that leads nowhere",
        opening.key_id.0,
        is_free.then_some(()),
    )?;
    open(tx, opening, Some(parent))
}

/// The first session of a key; or the next, where the one that the key led to was erased.
fn open(tx: &mut Tx<'_>, opening: &Opening, parent: Option<SessionId>) -> Result<SessionId> {
    let Opening {
        key,
        key_id,
        session,
        ..
    } = opening;
    let is_new = keys::record(tx, (*key_id, *session), key.json()?)?;
    let generation = if is_new {
        0
    } else {
        keys::lead_on(tx, *key_id, *session)?
    };
    insert(tx, opening, generation, parent)?;
    Ok(*session)
}

/// Opens a conversation that nobody can know of yet, with what is said in it by the time it is written down: so many
/// numbers are taken.
pub fn open_with(
    tx: &mut Tx<'_>,
    opening: &Opening,
    entries: usize,
    at: Timestamp,
) -> Result<SessionId> {
    let Opening {
        key,
        key_id,
        owner,
        session,
        at: opened_at,
    } = opening;
    let own_chat = key.own_chat_of(*session);
    let own_chat = own_chat.as_ref().map(keys::write_own_chat).transpose()?;
    if own_chat.is_none() {
        let is_new = keys::record(tx, (*key_id, *session), key.json()?)?;
        found("key that leads nowhere", key_id.0, is_new.then_some(()))?;
    }
    let last = i64::try_from(entries).unwrap_or(i64::MAX);
    tx.execute(
        "INSERT INTO sessions (session_id, key_id, owner, state, generation, last_seq, created_at, updated_at, own_chat)
         VALUES (?1, ?2, ?3, 'active', 0, ?4, ?5, ?6, ?7)",
        bind![session, key_id, owner, last, opened_at, at, own_chat],
    )?;
    Ok(*session)
}

/// Erases a session, and its number if that is the last one of its key. No key leads to it afterwards: whoever writes there
/// next begins anew. A key that people had led to it goes with it if it has no session of its own.
pub(crate) fn erase(tx: &mut Tx<'_>, session: &Session) -> Result<()> {
    let Session {
        id,
        key,
        generation,
        ..
    } = session;
    keys::lead_away(tx, *key, *id)?;
    tx.execute("DELETE FROM sessions WHERE session_id = ?1", bind![id])?;
    keys::forget(tx, *key, *generation)
}

/// Whether something was ever answered in the conversation that a key leads to, or in one before it.
pub fn has_history(tx: &mut Tx<'_>, key: SessionKeyId) -> Result<bool> {
    let Some(session) = keys::current(tx, key)? else {
        return Ok(false);
    };
    let sql = "SELECT session_id FROM sessions WHERE session_id = ?1 AND (last_seq > 0 OR generation > 0)";
    let found: Option<SessionId> = tx.row(sql, bind![session], |row| row.get(0))?;
    Ok(found.is_some())
}

fn insert(
    tx: &mut Tx<'_>,
    opening: &Opening,
    generation: u32,
    parent: Option<SessionId>,
) -> Result<()> {
    let Opening {
        key_id,
        owner,
        session,
        at,
        ..
    } = opening;
    tx.execute(
        "INSERT INTO sessions (session_id, key_id, owner, state, generation, last_seq, parent, created_at, updated_at)
         VALUES (?1, ?2, ?3, 'active', ?4, 0, ?5, ?6, ?6)",
        bind![session, key_id, owner, generation, parent, at],
    )?;
    Ok(())
}

/// A session in which an agent works for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apart {
    /// What it will be called.
    pub session: SessionId,
    /// The one that it works for.
    pub parent: SessionId,
    /// Who asked for that.
    pub owner: PrincipalKey,
    /// Now.
    pub at: Timestamp,
}

/// Opens a session that is nobody's conversation: no key leads to it, and its owner does not find it.
pub fn open_apart(tx: &mut Tx<'_>, apart: &Apart) -> Result<()> {
    let Apart {
        session,
        parent,
        owner,
        at,
    } = apart;
    // Made of other fields than keys are, so that no chat can have it.
    let key = SessionKeyId(Fields::of("apart").text(&session.to_string()).digest());
    let made_of = keys::origin_of(tx, *parent)?;
    keys::record_apart(tx, key, &made_of)?;
    tx.execute(
        "INSERT INTO sessions
             (session_id, key_id, owner, state, generation, last_seq, parent, created_at, updated_at, kind)
         VALUES (?1, ?2, ?3, 'active', 0, 0, ?4, ?5, ?5, 'apart')",
        bind![session, key, owner, parent, at],
    )?;
    Ok(())
}

/// Takes the next `count` numbers in a session's transcript, if it has come no further than this. Also says that something
/// happened in it.
pub(crate) fn take_entries(
    tx: &mut Tx<'_>,
    (session, last): (SessionId, i64),
    count: usize,
    at: Timestamp,
) -> Result<bool> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let taken = tx.execute(
        "UPDATE sessions SET last_seq = ?3, updated_at = ?2 WHERE session_id = ?1 AND last_seq = ?4",
        bind![session, at, last + count, last],
    )?;
    Ok(taken == 1)
}

/// How far a session has come.
pub(crate) fn tail(tx: &mut Tx<'_>, session: SessionId) -> Result<Tail> {
    let sql = "SELECT owner, last_seq FROM sessions WHERE session_id = ?1";
    let read = tx.row(sql, bind![session], |row| {
        Ok(Tail {
            owner: row.get(0)?,
            last: row.get(1)?,
        })
    })?;
    found("session", session, read)
}

/// Takes a number that no entry gets: what is shown of the session changes without one.
pub(crate) fn take_number(tx: &mut Tx<'_>, session: SessionId) -> Result<()> {
    tx.execute(
        "UPDATE sessions SET last_seq = last_seq + 1 WHERE session_id = ?1",
        bind![session],
    )?;
    Ok(())
}

/// Ends the session that the key leads to, for `reason`, and leads on to a new one.
pub fn reset(tx: &mut Tx<'_>, opening: &Opening, reason: &str) -> Result<SessionId> {
    let key = opening.key_id;
    let Some(before) = keys::current(tx, key)? else {
        return resolve(tx, opening);
    };
    let before = get(tx, before)?;
    if before.state == SessionState::Active {
        end(tx, before.id, reason, opening.at)?;
    }
    let generation = keys::lead_on(tx, key, opening.session)?;
    insert(tx, opening, generation, Some(before.id))?;
    Ok(opening.session)
}

/// Leads the key to an earlier session of the same owner, and ends the one it led to.
pub fn resume(
    tx: &mut Tx<'_>,
    key: SessionKeyId,
    owner: PrincipalKey,
    session: SessionId,
    at: Timestamp,
) -> Result<()> {
    let wanted = get_owned(tx, owner, session)?;
    let before = keys::current(tx, key)?.filter(|before| *before != session);
    if let Some(before) = before {
        let before = get(tx, before)?;
        if before.state == SessionState::Active {
            end(tx, before.id, "session_switch", at)?;
        }
    }
    if wanted.state == SessionState::Ended {
        set_state(tx, &wanted, SessionState::Active, None, at)?;
    }
    keys::lead_back(tx, key, (session, wanted.key))
}

/// Ends a session. Its transcript stays.
pub fn end(tx: &mut Tx<'_>, session: SessionId, reason: &str, at: Timestamp) -> Result<()> {
    let session = get(tx, session)?;
    set_state(tx, &session, SessionState::Ended, Some(reason), at)
}

fn set_state(
    tx: &mut Tx<'_>,
    session: &Session,
    to: SessionState,
    reason: Option<&str>,
    at: Timestamp,
) -> Result<()> {
    let verb = match to {
        SessionState::Ended => "end",
        SessionState::Active => "resume",
    };
    legal(session.id, session.state, verb, to)?;
    tx.execute(
        "UPDATE sessions SET state = ?2, end_reason = ?3, updated_at = ?4 WHERE session_id = ?1",
        bind![session.id, to.as_str(), reason, at],
    )?;
    Ok(())
}

/// Names a session of this owner.
pub fn set_title(
    tx: &mut Tx<'_>,
    owner: PrincipalKey,
    session: SessionId,
    title: &str,
) -> Result<()> {
    let session = get_owned(tx, owner, session)?;
    tx.execute(
        "UPDATE sessions SET title = ?2 WHERE session_id = ?1",
        bind![session.id, title],
    )?;
    Ok(())
}

/// A session by its id, for work that already belongs to it.
pub fn get(tx: &mut Tx<'_>, session: SessionId) -> Result<Session> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM sessions WHERE session_id = ?1"
    );
    let row = tx.row(sql, bind![session], read)?;
    found("session", session, row)
}

/// A session by its id, for somebody who asks.
pub fn get_owned(tx: &mut Tx<'_>, owner: PrincipalKey, session: SessionId) -> Result<Session> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM sessions WHERE session_id = ?1 AND owner = ?2 AND kind = 'conversation'"
    );
    let row = tx.row(sql, bind![session, owner], read)?;
    found("session", session, row)
}

/// An owner's sessions, newest first, from before `before`.
pub fn list(
    tx: &mut Tx<'_>,
    owner: PrincipalKey,
    before: Option<SessionId>,
    limit: u32,
) -> Result<Vec<Session>> {
    let before = before.unwrap_or_else(|| SessionId::from_bytes([0xff; 16]));
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM sessions WHERE owner = ?1 AND session_id < ?2 AND kind = 'conversation'
         ORDER BY session_id DESC LIMIT ?3"
    );
    tx.rows(sql, bind![owner, before, limit], read)
}
