//! Lists, newest first, in stretches. Open rows come from the indexes that hold nothing else; other filters look at one
//! window at a time.

use talaria_domain::ids::{EventId, JobId, PartId, RunId, SessionId};
use talaria_domain::machine::{InboxState, JobState, Machine, PartState, RunState};

use super::{EventView, JobView, PartView, RunView, WINDOW, event, job, part, run};
use crate::bind;
use crate::error::Result;
use crate::tx::{Row, Tx};
use crate::value::Column;

/// A stretch of a list, newest first, and where it goes on; none at its end. A stretch may be empty and still go on:
/// nothing in its window was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed<T, C> {
    /// What was found.
    pub rows: Vec<T>,
    /// Where to look on.
    pub next: Option<C>,
}

/// Which stretch of a list is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted<C> {
    /// Only what comes after this one.
    pub after: Option<C>,
    /// At most so many.
    pub limit: u32,
}

/// The name of one row in a window: by what it is found again, and what it is chosen by.
struct Glimpse<I, C, M> {
    id: I,
    cursor: C,
    state: M,
    session: Option<SessionId>,
}

/// Chooses from what was looked at. `asked` is how many rows the query was allowed to give.
fn choose<I: Copy, C: Copy, M>(
    looked: &[Glimpse<I, C, M>],
    (limit, asked): (u32, u32),
    is_wanted: impl Fn(&Glimpse<I, C, M>) -> bool,
) -> Listed<I, C> {
    let (limit, asked) = (limit as usize, asked as usize);
    let mut rows = Vec::new();
    for (at, glimpse) in looked.iter().enumerate() {
        if is_wanted(glimpse) {
            rows.push(glimpse.id);
        }
        let is_more = at + 1 < looked.len() || looked.len() >= asked;
        if rows.len() >= limit {
            return Listed {
                rows,
                next: is_more.then_some(glimpse.cursor),
            };
        }
    }
    let next = looked.last().filter(|_| looked.len() >= asked);
    Listed {
        rows,
        next: next.map(|glimpse| glimpse.cursor),
    }
}

/// How much to look at: one more than wanted shows whether there is more; a filter looks at a whole window.
const fn look(limit: u32, is_filtered: bool) -> u32 {
    if is_filtered { WINDOW } else { limit + 1 }
}

impl<I, C> Listed<I, C> {
    fn fill<T>(self, read: impl FnMut(I) -> Result<T>) -> Result<Listed<T, C>> {
        let rows = self.rows.into_iter().map(read).collect::<Result<_>>()?;
        Ok(Listed {
            rows,
            next: self.next,
        })
    }
}

/// Events, in one state or all, of one session or all.
pub fn events(
    tx: &mut Tx<'_>,
    state: Option<InboxState>,
    session: Option<SessionId>,
    wanted: Wanted<i64>,
) -> Result<Listed<EventView, i64>> {
    let before = wanted.after.unwrap_or(i64::MAX);
    let open = state.filter(|state| !state.is_end());
    let asked = look(
        wanted.limit,
        open.is_none() && (state.is_some() || session.is_some()),
    );
    let glimpse = |row: &Row<'_>| {
        Ok(Glimpse {
            id: row.get::<EventId>(0)?,
            cursor: row.get::<i64>(1)?,
            state: row.state::<InboxState>(2)?,
            session: Some(row.get(3)?),
        })
    };
    // An expression and not the number itself: by its key, the whole table would be walked for a few open rows.
    let looked = match (open, session) {
        (Some(open), Some(session)) => tx.rows(
            "SELECT event_id, seq, state, session_id FROM inbox
             WHERE state IN ('queued', 'claimed') AND session_id = ?4 AND state = ?2 AND seq < ?1
             ORDER BY seq DESC LIMIT ?3",
            bind![before, open.as_str(), asked, session],
            glimpse,
        ),
        (Some(open), None) => tx.rows(
            "SELECT event_id, seq, state, session_id FROM inbox
             WHERE state IN ('queued', 'claimed') AND state = ?2 AND seq + 0 < ?1
             ORDER BY seq + 0 DESC LIMIT ?3",
            bind![before, open.as_str(), asked],
            glimpse,
        ),
        (None, _) => tx.rows(
            "SELECT event_id, seq, state, session_id FROM inbox WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2",
            bind![before, asked],
            glimpse,
        ),
    }?;
    let is_wanted = |found: &Glimpse<_, _, InboxState>| {
        state.is_none_or(|state| found.state == state)
            && (session.is_none() || found.session == session)
    };
    choose(&looked, (wanted.limit, asked), is_wanted).fill(|id| event(tx, id))
}

/// Runs, in one state or all, of one session or all.
pub fn runs(
    tx: &mut Tx<'_>,
    state: Option<RunState>,
    session: Option<SessionId>,
    wanted: Wanted<RunId>,
) -> Result<Listed<RunView, RunId>> {
    let before = wanted
        .after
        .unwrap_or_else(|| RunId::from_bytes([0xff; 16]));
    let open = state.filter(|state| !state.is_end() && session.is_none());
    let asked = look(wanted.limit, open.is_none() && state.is_some());
    let looked = match (open, session) {
        (Some(open), _) => tx.rows(
            "SELECT r.run_id, r.state FROM inbox i JOIN runs r ON r.run_id = i.run_id
             WHERE i.state = 'claimed' AND r.ended_at IS NULL AND r.state = ?2 AND i.run_id < ?1
             ORDER BY i.run_id DESC LIMIT ?3",
            bind![before, open.as_str(), asked],
            by_own_id,
        ),
        (None, Some(session)) => tx.rows(
            "SELECT run_id, state FROM (
                 SELECT run_id, state FROM runs WHERE session_id = ?2 AND run_id <> session_id AND run_id < ?1
                 ORDER BY run_id DESC LIMIT ?3) AS later
             UNION ALL SELECT run_id, state FROM runs WHERE run_id = ?2 AND run_id < ?1
             UNION ALL SELECT event_id, state FROM inbox WHERE event_id = ?2 AND event_id < ?1 AND outcome IS NOT NULL
             ORDER BY run_id DESC LIMIT ?3",
            bind![before, session, asked],
            by_own_id,
        ),
        (None, None) => return all_runs(tx, state, (before, wanted.limit)),
    }?;
    let is_wanted =
        |found: &Glimpse<_, _, RunState>| state.is_none_or(|state| found.state == state);
    choose(&looked, (wanted.limit, asked), is_wanted).fill(|id| run(tx, id))
}

/// Runs of all sessions. Those of whole turns are among the events: both are looked at in windows, and what is older than
/// the end of either window is left to the next look.
fn all_runs(
    tx: &mut Tx<'_>,
    state: Option<RunState>,
    (before, limit): (RunId, u32),
) -> Result<Listed<RunView, RunId>> {
    let mut looked: Vec<Glimpse<RunId, RunId, RunState>> = tx.rows(
        "SELECT run_id, state FROM runs WHERE run_id < ?1 ORDER BY run_id DESC LIMIT ?2",
        bind![before, WINDOW],
        by_own_id,
    )?;
    let events: Vec<(RunId, Option<String>)> = tx.rows(
        "SELECT event_id, runner FROM inbox WHERE event_id < ?1 ORDER BY event_id DESC LIMIT ?2",
        bind![before, WINDOW],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let is_full = |len: usize| len >= WINDOW as usize;
    let ends = [
        looked
            .last()
            .map(|last| last.id)
            .filter(|_| is_full(looked.len())),
        events
            .last()
            .map(|last| last.0)
            .filter(|_| is_full(events.len())),
    ];
    let end = ends.into_iter().flatten().max();
    let whole = events.into_iter().filter(|(_, runner)| runner.is_some());
    looked.extend(whole.map(|(id, _)| Glimpse {
        id,
        cursor: id,
        state: RunState::Completed,
        session: None,
    }));
    looked.retain(|glimpse| end.is_none_or(|end| glimpse.id >= end));
    looked.sort_by_key(|glimpse| std::cmp::Reverse(glimpse.id));
    let is_wanted =
        |found: &Glimpse<_, _, RunState>| state.is_none_or(|state| found.state == state);
    let mut listed = choose(&looked, (limit, u32::MAX), is_wanted);
    listed.next = listed.next.or(end);
    listed.fill(|id| run(tx, id))
}

/// Jobs, in one state or all, of one session or all.
pub fn jobs(
    tx: &mut Tx<'_>,
    state: Option<JobState>,
    session: Option<SessionId>,
    wanted: Wanted<JobId>,
) -> Result<Listed<JobView, JobId>> {
    let before = wanted
        .after
        .unwrap_or_else(|| JobId::from_bytes([0xff; 16]));
    let open = state.filter(|state| !state.is_end() && session.is_none());
    let asked = look(wanted.limit, open.is_none() && state.is_some());
    let looked = match (open, session) {
        (Some(open), _) => tx.rows(
            "SELECT job_id, state FROM jobs
             WHERE ended_at IS NULL AND state = ?2 AND COALESCE(job_id, job_id) < ?1
             ORDER BY COALESCE(job_id, job_id) DESC LIMIT ?3",
            bind![before, open.as_str(), asked],
            by_own_id,
        ),
        (None, Some(session)) => tx.rows(
            "SELECT job_id, state FROM jobs WHERE session_id = ?2 AND job_id < ?1 ORDER BY job_id DESC LIMIT ?3",
            bind![before, session, asked],
            by_own_id,
        ),
        (None, None) => tx.rows(
            "SELECT job_id, state FROM jobs WHERE job_id < ?1 ORDER BY job_id DESC LIMIT ?2",
            bind![before, asked],
            by_own_id,
        ),
    }?;
    let is_wanted =
        |found: &Glimpse<_, _, JobState>| state.is_none_or(|state| found.state == state);
    choose(&looked, (wanted.limit, asked), is_wanted).fill(|id| job(tx, id))
}

/// Parts, in one state or all.
pub fn parts(
    tx: &mut Tx<'_>,
    state: Option<PartState>,
    wanted: Wanted<PartId>,
) -> Result<Listed<PartView, PartId>> {
    let before = wanted
        .after
        .unwrap_or_else(|| PartId::from_bytes([0xff; 16]));
    let open = state.filter(|state| !state.is_end());
    let asked = look(wanted.limit, open.is_none() && state.is_some());
    let looked = match open {
        Some(open) => tx.rows(
            "SELECT part_id, state FROM parts
             WHERE state IN ('queued', 'retry', 'sending', 'doubted') AND state = ?2
                 AND COALESCE(part_id, part_id) < ?1
             ORDER BY COALESCE(part_id, part_id) DESC LIMIT ?3",
            bind![before, open.as_str(), asked],
            by_own_id,
        ),
        None => tx.rows(
            "SELECT part_id, state FROM parts WHERE part_id < ?1 ORDER BY part_id DESC LIMIT ?2",
            bind![before, asked],
            by_own_id,
        ),
    }?;
    let is_wanted =
        |found: &Glimpse<_, _, PartState>| state.is_none_or(|state| found.state == state);
    choose(&looked, (wanted.limit, asked), is_wanted).fill(|id| part(tx, id))
}

fn by_own_id<I: Column + Copy, M: Machine>(row: &Row<'_>) -> Result<Glimpse<I, I, M>> {
    let id = row.get(0)?;
    Ok(Glimpse {
        id,
        cursor: id,
        state: row.state(1)?,
        session: None,
    })
}

#[cfg(test)]
mod tests;
