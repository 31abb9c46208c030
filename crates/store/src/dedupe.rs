//! Recorded once. A platform may deliver an event live, again, from its backlog and in a replay: the key is the same
//! each time, and only the first one counts. A key lives as long as its event.

use talaria_domain::event::DedupeKey;
use talaria_domain::ids::EventId;

use crate::bind;
use crate::error::Result;
use crate::tx::Tx;

/// Records the key for `event`, or gives the event that was recorded under it before.
pub fn record(tx: &mut Tx<'_>, key: DedupeKey, event: EventId) -> Result<Option<EventId>> {
    if key == DedupeKey::own(event) {
        // Its id is unique in the inbox already.
        return Ok(None);
    }
    let recorded = tx.execute(
        "INSERT INTO dedupe (dedupe_key, event_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        bind![key, event],
    )?;
    if recorded == 1 {
        return Ok(None);
    }
    first(tx, key)
}

/// The event that was recorded under a key.
pub fn first(tx: &mut Tx<'_>, key: DedupeKey) -> Result<Option<EventId>> {
    tx.row(
        "SELECT event_id FROM dedupe WHERE dedupe_key = ?1",
        bind![key],
        |row| row.get(0),
    )
}
