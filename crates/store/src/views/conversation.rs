//! What goes on in one conversation beside what was said: the run under way, what waits, what the gateway said.

use talaria_domain::ids::{EventId, ReplyId, RunId, SessionId};

use super::{ReplyView, WINDOW, reply};
use crate::bind;
use crate::error::Result;
use crate::inbox::{self, InboxRow};
use crate::tx::Tx;

/// The run that is under way in a session.
pub fn running(tx: &mut Tx<'_>, session: SessionId) -> Result<Option<RunId>> {
    tx.row(
        "SELECT run_id FROM (
             SELECT run_id, ended_at FROM (
                 SELECT run_id, ended_at FROM runs WHERE session_id = ?1 AND run_id <> session_id
                 ORDER BY run_id DESC LIMIT 20) AS latest
             UNION ALL SELECT run_id, ended_at FROM runs WHERE run_id = ?1) AS known
         WHERE ended_at IS NULL ORDER BY run_id DESC LIMIT 1",
        bind![session],
        |row| row.get(0),
    )
}

/// What waits in a session for its turn, in order.
pub fn waiting(tx: &mut Tx<'_>, session: SessionId, limit: u32) -> Result<Vec<InboxRow>> {
    let waiting: Vec<EventId> = tx.rows(
        "SELECT event_id FROM inbox
         WHERE session_id = ?1 AND state IN ('queued', 'claimed') AND state = 'queued' ORDER BY seq LIMIT ?2",
        bind![session, limit],
        |row| row.get(0),
    )?;
    waiting.into_iter().map(|id| inbox::get(tx, id)).collect()
}

/// What the gateway itself said in a session lately, no run having said it, oldest first.
pub fn notices(tx: &mut Tx<'_>, session: SessionId, limit: u32) -> Result<Vec<ReplyView>> {
    let mut said: Vec<ReplyId> = tx.rows(
        "SELECT reply_id FROM (
             SELECT reply_id, run_id FROM (
                 SELECT reply_id, run_id FROM replies WHERE session_id = ?1 AND reply_id <> session_id
                 ORDER BY reply_id DESC LIMIT ?3) AS latest
             UNION ALL SELECT reply_id, run_id FROM replies WHERE reply_id = ?1) AS said
         WHERE run_id IS NULL ORDER BY reply_id DESC LIMIT ?2",
        bind![session, limit, WINDOW],
        |row| row.get(0),
    )?;
    said.reverse();
    said.into_iter().map(|id| reply(tx, id)).collect()
}
