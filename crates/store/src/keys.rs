//! Keys: what leads to a conversation. A key counts its conversations, those that were ever made and those that are left,
//! so that nobody has to look for them, and says whether people led it to one that was made for another key.
//!
//! A key whose chat is named after its only conversation needs no row: the conversation's own row says where that chat is
//! (`own_chat`), and leads the key to it. Programs open such a conversation with nearly every question.
//!
//! **Invariant:** where there is a row, it counts. Whoever changes where a key leads spells it out first.

use std::ops::RangeInclusive;

use talaria_domain::ids::SessionId;
use talaria_domain::names::{AccountName, PlatformName, ProfileName};
use talaria_domain::session_key::{OwnChat, SessionKey, SessionKeyId};

use crate::bind;
use crate::change::found;
use crate::error::Result;
use crate::tx::{Row, Tx};
use crate::value::{from_json, to_json};

/// Reads columns of the conversation that a key leads to without a row of its own: the one whose id begins with the same
/// time, as that is what its chat is named after.
macro_rules! implied {
    ($columns:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM sessions
             WHERE session_id BETWEEN ?2 AND ?3 AND key_id = ?1 AND own_chat IS NOT NULL"
        )
    };
}
pub(crate) use implied;

/// From the year 2001 to 2096. Nearly all keys of other chats begin with something else.
const TIMES: RangeInclusive<u64> = 1_000_000_000_000..=4_000_000_000_000;

/// Between which ids the conversation is to be found that a key implies, if it can imply one.
pub(crate) fn implied_range(key: SessionKeyId) -> Option<(SessionId, SessionId)> {
    let mut time = [0; 8];
    time[2..].copy_from_slice(&key.0.as_bytes()[..6]);
    let is_time = TIMES.contains(&u64::from_be_bytes(time));
    let beginning = |rest: u8| {
        let mut id = [rest; 16];
        id[..6].copy_from_slice(&time[2..]);
        SessionId::from_bytes(id)
    };
    is_time.then(|| (beginning(0), beginning(0xff)))
}

/// Where a conversation's chat is that is named after it, as the ledger keeps it.
pub(crate) fn write_own_chat(own: &OwnChat) -> Result<String> {
    let OwnChat {
        profile,
        platform,
        account,
    } = own;
    to_json(&(profile, platform, account))
}

/// The key of a conversation whose id and own chat are in the first two columns.
fn own_key(row: &Row<'_>) -> Result<SessionKey> {
    let (profile, platform, account): (ProfileName, PlatformName, AccountName) = row.json(1)?;
    let own = OwnChat {
        profile,
        platform,
        account,
    };
    Ok(own.key_of(row.get(0)?))
}

/// What a key was made of.
pub fn origin(tx: &mut Tx<'_>, key: SessionKeyId) -> Result<SessionKey> {
    let sql = "SELECT session_key FROM session_keys WHERE key_id = ?1";
    let mut origin = tx.row(sql, bind![key], |row| row.json(0))?;
    if let (None, Some((from, to))) = (&origin, implied_range(key)) {
        let sql = implied!("session_id, own_chat");
        origin = tx.row(sql, bind![key, from, to], own_key)?;
    }
    found("session key", key.0, origin)
}

/// What the key of a session was made of.
pub fn origin_of(tx: &mut Tx<'_>, session: SessionId) -> Result<SessionKey> {
    let sql =
        "SELECT s.session_id, s.own_chat, k.session_key FROM sessions s LEFT JOIN session_keys k ON k.key_id = s.key_id
         WHERE s.session_id = ?1";
    let origin = tx.row(sql, bind![session], |row| {
        match row.get::<Option<String>>(2)? {
            Some(json) => from_json("session key", &json),
            None => own_key(row),
        }
    })?;
    found("session", session, origin)
}

/// The session that a key leads to at present.
pub fn current(tx: &mut Tx<'_>, key: SessionKeyId) -> Result<Option<SessionId>> {
    let sql = "SELECT session_id FROM session_keys WHERE key_id = ?1";
    if let Some(led) = tx.row(sql, bind![key], |row| row.get(0))? {
        return Ok(led);
    }
    let Some((from, to)) = implied_range(key) else {
        return Ok(None);
    };
    let sql = implied!("session_id");
    tx.row(sql, bind![key, from, to], |row| row.get(0))
}

/// Makes the row of a key that leads to its first session; says whether it had none.
pub(crate) fn record(
    tx: &mut Tx<'_>,
    (key, session): (SessionKeyId, SessionId),
    made_of: &str,
) -> Result<bool> {
    let sql = "INSERT INTO session_keys (key_id, session_id, session_key, made, kept, led) VALUES (?1, ?2, ?3, 1, 1, 0)
               ON CONFLICT (key_id) DO NOTHING";
    Ok(tx.execute(sql, bind![key, session, made_of])? == 1)
}

/// Gives a key a row that only its conversation implies.
fn spell_out(tx: &mut Tx<'_>, key: SessionKeyId) -> Result<()> {
    let Some((from, to)) = implied_range(key) else {
        return Ok(());
    };
    let sql = implied!("session_id, own_chat");
    let implied = tx.row(sql, bind![key, from, to], |row| {
        Ok((row.get(0)?, own_key(row)?))
    })?;
    if let Some((session, made_of)) = implied {
        record(tx, (key, session), &to_json(&made_of)?)?;
    }
    Ok(())
}

/// Makes a key that leads nowhere, for a session that nobody finds by it.
pub(crate) fn record_apart(tx: &mut Tx<'_>, key: SessionKeyId, made_of: &SessionKey) -> Result<()> {
    tx.execute(
        "INSERT INTO session_keys (key_id, session_key, made, kept, led) VALUES (?1, ?2, 1, 1, 0)",
        bind![key, to_json(made_of)?],
    )?;
    Ok(())
}

/// Leads a key to one more session that is made for it; gives which one that is.
pub(crate) fn lead_on(tx: &mut Tx<'_>, key: SessionKeyId, session: SessionId) -> Result<u32> {
    spell_out(tx, key)?;
    let made = "SELECT made FROM session_keys WHERE key_id = ?1";
    let made = tx.row(made, bind![key], |row| row.get(0))?;
    tx.execute(
        "UPDATE session_keys SET session_id = ?2, made = made + 1, kept = kept + 1, led = 0 WHERE key_id = ?1",
        bind![key, session],
    )?;
    found("session key", key.0, made)
}

/// Leads a key back to an earlier session, which was made for it or for another key.
pub(crate) fn lead_back(
    tx: &mut Tx<'_>,
    key: SessionKeyId,
    (session, made_for): (SessionId, SessionKeyId),
) -> Result<()> {
    spell_out(tx, key)?;
    tx.execute(
        "UPDATE session_keys SET session_id = ?2, led = ?3 WHERE key_id = ?1",
        bind![key, session, i64::from(made_for != key)],
    )?;
    Ok(())
}

/// Leads no key to a session any more, which is about to be erased: whoever writes there next begins anew. A key that
/// people had led to it goes with it if it has no session of its own.
pub(crate) fn lead_away(tx: &mut Tx<'_>, key: SessionKeyId, session: SessionId) -> Result<()> {
    let own = "UPDATE session_keys SET session_id = NULL WHERE key_id = ?1 AND session_id = ?2";
    tx.execute(own, bind![key, session])?;
    for led in [
        "DELETE FROM session_keys WHERE session_id = ?1 AND led = 1 AND kept = 0",
        "UPDATE session_keys SET session_id = NULL, led = 0 WHERE session_id = ?1 AND led = 1",
    ] {
        tx.execute(led, bind![session])?;
    }
    Ok(())
}

/// A session of a key is gone, and so is its number if it was the last.
pub(crate) fn forget(tx: &mut Tx<'_>, key: SessionKeyId, generation: u32) -> Result<()> {
    tx.execute(
        "UPDATE session_keys SET kept = kept - 1, made = made - CASE WHEN made - 1 = ?2 THEN 1 ELSE 0 END
         WHERE key_id = ?1",
        bind![key, generation],
    )?;
    Ok(())
}
