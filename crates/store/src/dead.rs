//! What was given up, in both directions, for an operator to list, replay or drop. A dead letter points at the thing
//! itself, which keeps its whole history.

use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{DeadId, EventId, PartId, SessionId};
use talaria_domain::machine::{DeadState, Machine as _};

use crate::bind;
use crate::change::{found, legal};
use crate::error::{Result, StoreError};
use crate::tx::{Row, Tx};
use crate::value::{Bind, Value};
use crate::{inbox, outbox};

/// What was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Thing {
    /// Something that arrived.
    Event(EventId),
    /// Something that should have gone out.
    Part(PartId),
}

impl Thing {
    const fn name(self) -> &'static str {
        match self {
            Self::Event(_) => "event",
            Self::Part(_) => "part",
        }
    }
}

impl Bind for Thing {
    fn bind(&self) -> Value<'_> {
        match self {
            Self::Event(id) => id.bind(),
            Self::Part(id) => id.bind(),
        }
    }
}

/// A dead letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// Its id.
    pub id: DeadId,
    /// What was given up.
    pub thing: Thing,
    /// In which conversation.
    pub session: SessionId,
    /// Whether somebody has looked at it.
    pub state: DeadState,
    /// Why it was given up.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

/// What is written when something is given up.
pub(crate) struct Burial<'a> {
    pub(crate) id: DeadId,
    pub(crate) thing: Thing,
    pub(crate) session: SessionId,
    pub(crate) reason: &'a str,
}

macro_rules! columns {
    () => {
        "dead_id, thing, thing_id, session_id, state, reason, at"
    };
}

fn read(row: &Row<'_>) -> Result<DeadLetter> {
    let thing = match row.get::<String>(1)?.as_str() {
        "event" => Thing::Event(row.get(2)?),
        "part" => Thing::Part(row.get(2)?),
        other => {
            return Err(StoreError::unreadable(
                "dead letter",
                &format!("it is about a {other}"),
            ));
        }
    };
    Ok(DeadLetter {
        id: row.get(0)?,
        thing,
        session: row.get(3)?,
        state: row.state(4)?,
        reason: row.get(5)?,
        at: row.get(6)?,
    })
}

/// Writes a dead letter. The thing itself is changed by its own module, in the same transaction.
pub(crate) fn record(tx: &mut Tx<'_>, burial: &Burial<'_>, at: Timestamp) -> Result<()> {
    let Burial {
        id,
        thing,
        session,
        reason,
    } = burial;
    tx.execute(
        "INSERT INTO dead_letters (dead_id, thing, thing_id, session_id, state, reason, at)
         VALUES (?1, ?2, ?3, ?4, 'open', ?5, ?6)",
        bind![id, thing.name(), thing, session, reason, at],
    )?;
    Ok(())
}

/// Sends the thing on its way again.
pub fn replay(tx: &mut Tx<'_>, id: DeadId, at: Timestamp) -> Result<()> {
    let letter = get(tx, id)?;
    close(tx, &letter, DeadState::Replayed, at)?;
    match letter.thing {
        Thing::Event(event) => {
            outbox::set_aside(tx, event, id)?;
            inbox::replay(tx, event)
        }
        Thing::Part(part) => outbox::replay(tx, part),
    }
}

/// Lays the thing to rest.
pub fn drop(tx: &mut Tx<'_>, id: DeadId, at: Timestamp) -> Result<()> {
    let letter = get(tx, id)?;
    close(tx, &letter, DeadState::Dropped, at)?;
    match letter.thing {
        Thing::Event(event) => inbox::lay_to_rest(tx, event, at),
        Thing::Part(part) => outbox::discard(tx, part, at),
    }
}

fn close(tx: &mut Tx<'_>, letter: &DeadLetter, to: DeadState, at: Timestamp) -> Result<()> {
    let verb = if to == DeadState::Replayed {
        "replay"
    } else {
        "drop"
    };
    legal(letter.id, letter.state, verb, to)?;
    tx.execute(
        "UPDATE dead_letters SET state = ?2, ended_at = ?3 WHERE dead_id = ?1",
        bind![letter.id, to.as_str(), at],
    )?;
    Ok(())
}

/// A dead letter by its id.
pub fn get(tx: &mut Tx<'_>, id: DeadId) -> Result<DeadLetter> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM dead_letters WHERE dead_id = ?1"
    );
    let row = tx.row(sql, bind![id], read)?;
    found("dead letter", id, row)
}

/// Dead letters that nobody has looked at, oldest first, from after `after`.
pub fn list(tx: &mut Tx<'_>, after: Option<DeadId>, limit: u32) -> Result<Vec<DeadLetter>> {
    let after = after.unwrap_or_else(|| DeadId::from_bytes([0; 16]));
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM dead_letters WHERE ended_at IS NULL AND dead_id > ?1 ORDER BY dead_id LIMIT ?2"
    );
    tx.rows(sql, bind![after, limit], read)
}
