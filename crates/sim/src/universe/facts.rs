//! What the ledger says, all of it, read as it is stored and not through the functions that the gateway reads it with.

use std::collections::{BTreeMap, BTreeSet};

use talaria_domain::address::ReturnAddress;
use talaria_domain::authority::Authority;
use talaria_domain::clock::Timestamp;
use talaria_domain::delivery::{Outcome, PartBody};
use talaria_domain::event::{Event, EventKind, InternalCause};
use talaria_domain::ids::{EventId, JobId, PartId, ReplyId, RunId, ScheduleId, SessionId};
use talaria_domain::job::Promise;
use talaria_domain::machine::{
    InboxState, JobState, Machine as _, PartState, ReplyState, RunState, ScheduleState,
};
use talaria_domain::schedule::Occurrence;
use talaria_domain::session_key::SessionKeyId;
use talaria_store::maintenance::integrity;
use talaria_store::{Result, Row, Tx, inbox};

/// What the ledger says.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) events: BTreeMap<EventId, EventFact>,
    pub(crate) sessions: BTreeMap<SessionId, SessionKeyId>,
    pub(crate) runs: BTreeMap<RunId, RunFact>,
    pub(crate) replies: BTreeMap<ReplyId, ReplyFact>,
    pub(crate) parts: BTreeMap<PartId, PartFact>,
    pub(crate) jobs: BTreeMap<JobId, JobFact>,
    pub(crate) schedules: BTreeMap<ScheduleId, ScheduleFact>,
    pub(crate) occurrences: Vec<Occurrence>,
    /// What people said, by session: each entry's text.
    pub(crate) asked: Vec<(SessionId, String)>,
    /// What open dead letters are about.
    pub(crate) letters: BTreeSet<Vec<u8>>,
    /// What dead letters are about that an operator has settled.
    pub(crate) settled: BTreeSet<Vec<u8>>,
    /// Leases that somebody has.
    pub(crate) held: Vec<String>,
    /// What does not hold together.
    pub(crate) findings: Vec<String>,
}

/// An event.
#[derive(Debug)]
pub(crate) struct EventFact {
    pub(crate) event: Event,
    pub(crate) session: SessionId,
    pub(crate) seq: i64,
    pub(crate) state: InboxState,
    pub(crate) attempts: u32,
    pub(crate) merged_into: Option<EventId>,
    pub(crate) busy: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) ended_at: Option<Timestamp>,
}

impl EventFact {
    /// What was said, if it is something to think about.
    pub(crate) fn message(&self) -> Option<&str> {
        match &self.event.kind {
            EventKind::Message(content) => Some(&content.text),
            _ => None,
        }
    }

    /// What was said or told, if it is something to think about.
    pub(crate) fn said(&self) -> Option<&str> {
        match &self.event.kind {
            EventKind::Internal { text, .. } => Some(text),
            _ => self.message(),
        }
    }

    /// The job that it is about, if it is about one.
    pub(crate) fn news(&self) -> Option<JobId> {
        match &self.event.kind {
            EventKind::Internal {
                cause: InternalCause::JobEnded { job },
                ..
            } => Some(*job),
            _ => None,
        }
    }

    /// Whether it is a task: what comes of it is told by its job, and not by an answer.
    pub(crate) fn is_task(&self) -> bool {
        matches!(
            &self.event.kind,
            EventKind::Internal {
                cause: InternalCause::Delegated { .. },
                ..
            }
        )
    }

    /// The command's name, if it is one.
    pub(crate) fn command(&self) -> Option<&str> {
        match &self.event.kind {
            EventKind::Command { name, .. } => Some(name),
            _ => None,
        }
    }
}

/// A run.
#[derive(Debug)]
pub(crate) struct RunFact {
    pub(crate) session: SessionId,
    pub(crate) event: EventId,
    pub(crate) state: RunState,
    /// What it was admitted with.
    pub(crate) authority: Authority,
}

/// A reply.
#[derive(Debug)]
pub(crate) struct ReplyFact {
    pub(crate) return_to: ReturnAddress,
    pub(crate) state: ReplyState,
    pub(crate) kind: String,
    pub(crate) text: String,
}

/// A job.
#[derive(Debug)]
pub(crate) struct JobFact {
    pub(crate) state: JobState,
    pub(crate) promise: Promise,
    pub(crate) return_to: ReturnAddress,
    /// What is told about its end.
    pub(crate) told: String,
    pub(crate) is_consumed: bool,
}

/// A schedule.
#[derive(Debug)]
pub(crate) struct ScheduleFact {
    pub(crate) state: ScheduleState,
    pub(crate) key: SessionKeyId,
    pub(crate) return_to: ReturnAddress,
}

/// A part.
#[derive(Debug)]
pub(crate) struct PartFact {
    pub(crate) reply: ReplyId,
    pub(crate) ordinal: u32,
    pub(crate) state: PartState,
    pub(crate) text: String,
    pub(crate) created_at: Timestamp,
    /// What became of the last attempt, and when.
    pub(crate) last: Option<(Outcome, Timestamp)>,
}

impl Facts {
    /// Reads all of it.
    pub(crate) fn read(tx: &mut Tx<'_>) -> Result<Self> {
        Ok(Self {
            events: events(tx)?,
            sessions: map(tx, "SELECT session_id, key_id FROM sessions", |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?,
            runs: map(
                tx,
                "SELECT run_id, session_id, event_id, state, authority FROM runs",
                run,
            )?,
            replies: map(
                tx,
                "SELECT reply_id, return_to, state, text, kind FROM replies",
                reply,
            )?,
            parts: parts(tx)?,
            jobs: map(
                tx,
                "SELECT job_id, state, promise, return_to, told, consumed_at FROM jobs",
                job,
            )?,
            schedules: map(
                tx,
                "SELECT schedule_id, state, key_id, return_to FROM schedules",
                schedule,
            )?,
            occurrences: tx.rows(
                "SELECT schedule_id, due_at, state, event_id, reply_id, reason, at FROM occurrences
                 ORDER BY due_at, schedule_id",
                &[],
                occurrence,
            )?,
            asked: tx.rows(
                "SELECT session_id, text FROM transcripts WHERE role = 'user' ORDER BY entry_id",
                &[],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?,
            letters: things(
                tx,
                "SELECT thing_id FROM dead_letters WHERE ended_at IS NULL",
            )?,
            settled: things(
                tx,
                "SELECT thing_id FROM dead_letters WHERE ended_at IS NOT NULL",
            )?,
            held: tx.rows(
                "SELECT name FROM leases WHERE expires_at > 0 ORDER BY name",
                &[],
                |row| row.get(0),
            )?,
            findings: integrity::check(tx)?,
        })
    }

    /// The event whose turn this event was part of: itself, unless it was merged.
    pub(crate) fn root(&self, id: EventId) -> EventId {
        let merged_into = |id: &EventId| self.events.get(id).and_then(|fact| fact.merged_into);
        std::iter::successors(Some(id), merged_into)
            .last()
            .unwrap_or(id)
    }

    /// Whether an operator has decided about it.
    pub(crate) fn is_settled(&self, thing: &[u8; 16]) -> bool {
        self.settled.contains(thing.as_slice())
    }

    /// What is said to a part's reader, in order.
    pub(crate) fn parts_of(&self, reply: ReplyId) -> Vec<(PartId, &PartFact)> {
        let of_reply = self.parts.iter().filter(|(_, part)| part.reply == reply);
        let mut parts: Vec<_> = of_reply.map(|(id, part)| (*id, part)).collect();
        parts.sort_by_key(|(_, part)| part.ordinal);
        parts
    }

    /// How many messages have an answer that is there.
    pub(crate) fn delivered_answers(&self) -> usize {
        let is_answer = |id: &ReplyId| {
            let event = self.events.get(&EventId::from_bytes(*id.as_bytes()));
            event.is_some_and(|event| event.message().is_some())
        };
        let answers = self.replies.iter().filter(|(id, _)| is_answer(id));
        answers
            .filter(|(_, reply)| reply.state == ReplyState::Delivered)
            .count()
    }

    /// How many parts may or may not be there.
    pub(crate) fn unknown_parts(&self) -> usize {
        let parts = self.parts.values();
        parts
            .filter(|part| part.state == PartState::Unknown)
            .count()
    }

    /// One line for each, for people.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut events: Vec<_> = self.events.values().collect();
        events.sort_by_key(|fact| fact.seq);
        let events = events.into_iter().map(|fact| {
            format!(
                "event {} {:?} in {}: {} after {} attempts, {:?}, merged into {:?}: {:?}",
                fact.seq,
                fact.event.id.to_string(),
                fact.session,
                fact.state.as_str(),
                fact.attempts,
                fact.reason,
                fact.merged_into.map(|id| id.to_string()),
                fact.event.kind,
            )
        });
        let replies = self
            .replies
            .iter()
            .map(|(id, reply)| format!("reply {id}: {} {:?}", reply.state.as_str(), reply.text));
        let parts = self.parts.iter().map(|(id, part)| {
            let (reply, ordinal, state) = (part.reply, part.ordinal, part.state.as_str());
            format!("part {id} {ordinal} of {reply}: {state}")
        });
        let asked = self
            .asked
            .iter()
            .map(|(session, text)| format!("asked in {session}: {text:?}"));
        let jobs = self
            .jobs
            .iter()
            .map(|(id, job)| format!("job {id}: {job:?}"));
        let schedules = self
            .schedules
            .iter()
            .map(|(id, schedule)| format!("schedule {id}: {schedule:?}"));
        let times = self.occurrences.iter().map(|time| format!("{time:?}"));
        events
            .chain(replies)
            .chain(parts)
            .chain(asked)
            .chain(jobs)
            .chain(schedules)
            .chain(times)
            .collect()
    }
}

fn map<K: Ord, V>(
    tx: &mut Tx<'_>,
    sql: &'static str,
    read: impl Fn(&Row<'_>) -> Result<(K, V)>,
) -> Result<BTreeMap<K, V>> {
    Ok(tx.rows(sql, &[], read)?.into_iter().collect())
}

fn events(tx: &mut Tx<'_>) -> Result<BTreeMap<EventId, EventFact>> {
    map(
        tx,
        "SELECT event, event_id, dedupe_key, message, received_at, session_id, seq, state, attempts, merged_into, reason,
             ended_at, busy FROM inbox",
        |row| {
            let fact = EventFact {
                event: inbox::read_event(row, 0)?,
                session: row.get(5)?,
                seq: row.get(6)?,
                state: row.state(7)?,
                attempts: row.get(8)?,
                merged_into: row.get(9)?,
                reason: row.get(10)?,
                ended_at: row.get(11)?,
                busy: row.get(12)?,
            };
            Ok((row.get(1)?, fact))
        },
    )
}

fn run(row: &Row<'_>) -> Result<(RunId, RunFact)> {
    let fact = RunFact {
        session: row.get(1)?,
        event: row.get(2)?,
        state: row.state(3)?,
        authority: row.json(4)?,
    };
    Ok((row.get(0)?, fact))
}

fn reply(row: &Row<'_>) -> Result<(ReplyId, ReplyFact)> {
    let fact = ReplyFact {
        return_to: row.json(1)?,
        state: row.state(2)?,
        text: row.get(3)?,
        kind: row.get(4)?,
    };
    Ok((row.get(0)?, fact))
}

fn job(row: &Row<'_>) -> Result<(JobId, JobFact)> {
    let fact = JobFact {
        state: row.state(1)?,
        promise: Promise::parse(&row.get::<String>(2)?).unwrap_or(Promise::Nothing),
        return_to: row.json(3)?,
        told: row.get::<Option<String>>(4)?.unwrap_or_default(),
        is_consumed: row.get::<Option<Timestamp>>(5)?.is_some(),
    };
    Ok((row.get(0)?, fact))
}

fn schedule(row: &Row<'_>) -> Result<(ScheduleId, ScheduleFact)> {
    let fact = ScheduleFact {
        state: row.state(1)?,
        key: row.get(2)?,
        return_to: row.json(3)?,
    };
    Ok((row.get(0)?, fact))
}

fn occurrence(row: &Row<'_>) -> Result<Occurrence> {
    Ok(Occurrence {
        schedule: row.get(0)?,
        due: row.get(1)?,
        state: row.state(2)?,
        event: row.get(3)?,
        reply: row.get(4)?,
        reason: row.get(5)?,
        at: row.get(6)?,
    })
}

fn parts(tx: &mut Tx<'_>) -> Result<BTreeMap<PartId, PartFact>> {
    let sql = "SELECT part_id, reply_id, ordinal, state, body, created_at FROM parts";
    let mut parts = map(tx, sql, part)?;
    let sql = "SELECT part_id, outcome, at FROM attempts ORDER BY part_id, attempt";
    for (id, outcome, at) in tx.rows(sql, &[], |row| {
        Ok((row.get::<PartId>(0)?, row.json(1)?, row.get(2)?))
    })? {
        if let Some(part) = parts.get_mut(&id) {
            part.last = Some((outcome, at));
        }
    }
    Ok(parts)
}

fn part(row: &Row<'_>) -> Result<(PartId, PartFact)> {
    let body: PartBody = row.json(4)?;
    let fact = PartFact {
        reply: row.get(1)?,
        ordinal: row.get(2)?,
        state: row.state(3)?,
        text: match body {
            PartBody::Text { markdown } => markdown,
            PartBody::File { caption, .. } => caption,
        },
        created_at: row.get(5)?,
        last: None,
    };
    Ok((row.get(0)?, fact))
}

fn things(tx: &mut Tx<'_>, sql: &'static str) -> Result<BTreeSet<Vec<u8>>> {
    // Both kinds of things have ids of sixteen bytes.
    let things = tx.rows(sql, &[], |row| row.get::<PartId>(0))?;
    Ok(things.iter().map(|id| id.as_bytes().to_vec()).collect())
}
