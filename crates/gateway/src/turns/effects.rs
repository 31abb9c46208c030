//! What a run does with what it was granted. Every effect is checked here, at the moment it happens, against the
//! authority that was frozen when the run was admitted and what was revoked since. What it changes is written together
//! with its journal, under the lane's lease: a run that lost it changes nothing.

use std::sync::Arc;

use serde_json::Value;
use talaria_domain::adapter::Pending;
use talaria_domain::authority::{Grant, ResourceKind, Right};
use talaria_domain::clock::Timestamp;
use talaria_domain::effects::{
    Answer, Effects, Memory, MemoryAnswer, MemoryRequest, PastAnswer, PastLine, PastRequest,
    Question, Refusal, RefusalCode,
};
use talaria_domain::ids::{EventId, ScheduleId, SessionId};
use talaria_domain::run::RunEvent;
use talaria_domain::runner::Stopped;
use talaria_domain::schedule::{Schedule, ScheduleRequest};
use talaria_domain::scope::StateScope;
use talaria_store::transcripts::{self, Entry};
use talaria_store::{Result, StoreError, Tx, inbox, leases, runs, search, sessions};

use super::begin::Begun;
use super::history;
use super::host::TurnHost;
use crate::asking;
use crate::jobs::way_back;
use crate::schedule::keep::{self, Commission};
use crate::state::{self, rules};

/// The most that is looked back at in one step.
const MOST_LINES: usize = 100;

type Done<T> = std::result::Result<T, Refusal>;

impl Effects for TurnHost {
    fn check(&self, kind: ResourceKind, name: &str, operation: &str) -> Done<Arc<Grant>> {
        let grant = Arc::clone(self.active.check(kind, name, operation)?);
        self.active.touch(self.shared.now());
        Ok(grant)
    }

    fn remember(&self, memory: Memory, request: MemoryRequest) -> Pending<'_, Done<MemoryAnswer>> {
        Box::pin(async move {
            self.begun.written.precedes().await;
            self.may_remember(memory, &request)?;
            if rules::is_change(&request) {
                return self.change(memory, request).await;
            }
            let (begun, now) = (Arc::clone(&self.begun), self.shared.now());
            let read = self
                .shared
                .ledger
                .read(move |tx| state::answer(tx, begun.drawers(), (memory, &request), now));
            read.await.unwrap_or_else(|error| Err(refusal(&error)))
        })
    }

    fn look_back(&self, request: PastRequest) -> Pending<'_, Done<PastAnswer>> {
        Box::pin(async move {
            self.begun.written.precedes().await;
            self.active.may(match request {
                PastRequest::Page { .. } => Right::HistoryPage,
                PastRequest::Search { .. } => Right::HistorySearch,
                PastRequest::Event { .. } => Right::EventGet,
            })?;
            self.active.touch(self.shared.now());
            let session = self.session();
            let read = self
                .shared
                .ledger
                .read(move |tx| look_back(tx, session, &request));
            read.await.unwrap_or_else(|error| Err(refusal(&error)))
        })
    }

    fn ask(&self, question: Question) -> Pending<'_, Done<Answer>> {
        Box::pin(async move {
            self.begun.written.precedes().await;
            self.active.may(Right::Ask)?;
            let _wait = self.active.wait(&*self.shared.clock);
            asking::ask(&self.shared, &self.begun, &self.stop, question).await
        })
    }

    fn schedule(&self, request: ScheduleRequest) -> Pending<'_, Done<Vec<Schedule>>> {
        Box::pin(self.plan(request))
    }
}

impl TurnHost {
    async fn plan(&self, request: ScheduleRequest) -> Done<Vec<Schedule>> {
        self.begun.written.precedes().await;
        self.active.touch(self.shared.now());
        let (this, begun) = (Arc::clone(&self.shared), Arc::clone(&self.begun));
        let id = ScheduleId::next(&*this.ids, this.now());
        let planned = self.shared.ledger.write(move |tx| {
            leases::fence(tx, &begun.lease)?;
            let (asked, wishes) = (&begun.place.0, begun.wishes());
            let callback = wishes.and_then(|wishes| wishes.callback.as_ref());
            let commission = |order| Commission {
                id,
                order,
                return_to: keep::way_back_of(asked, callback, id),
                window: way_back::window(wishes, &asked.address, |to| this.settings.window(to)),
            };
            keep::obey(tx, &this, commission, (asked, &request))
        });
        match planned.await {
            Ok(Ok(schedules)) => Ok(schedules),
            Ok(Err(words)) => Err(Refusal::new(RefusalCode::Invalid, words)),
            Err(StoreError::Conflict(_)) => {
                Err(Refusal::new(RefusalCode::RunEnded, Stopped.to_string()))
            }
            Err(error) => Err(refusal(&error)),
        }
    }

    fn may_remember(&self, memory: Memory, request: &MemoryRequest) -> Done<()> {
        match rules::store_operation(memory, request) {
            None => self.active.may_remember()?,
            Some((store, operation)) => {
                let (store, operation) = (store.as_str(), operation.as_str());
                self.active.check(ResourceKind::Storage, store, operation)?;
            }
        }
        self.active.touch(self.shared.now());
        Ok(())
    }

    /// Changes what is remembered and journals that, or does neither.
    async fn change(&self, memory: Memory, request: MemoryRequest) -> Done<MemoryAnswer> {
        let unwritten = self.take_unwritten();
        let (begun, now, before) = (
            Arc::clone(&self.begun),
            self.shared.now(),
            unwritten.clone(),
        );
        let written = self
            .shared
            .ledger
            .write(move |tx| change(tx, &begun, (memory, &request), &before, now))
            .await;
        match written {
            Ok((answered, first, events)) => {
                self.tell(first, events);
                answered
            }
            Err(error) => {
                self.put_back(unwritten);
                Err(refusal(&error))
            }
        }
    }

    /// A runner says what it remembers from now on. What is refused is told to the operator, never dropped.
    pub(super) async fn update_state(
        &self,
        scope: StateScope,
        key: String,
        value: Value,
    ) -> std::result::Result<(), Stopped> {
        let request = match value {
            Value::Null => MemoryRequest::Delete { key },
            value => MemoryRequest::Set {
                key,
                value,
                expected: None,
            },
        };
        let Err(refusal) = self.remember(Memory::State(scope), request).await else {
            return Ok(());
        };
        if refusal.code == RefusalCode::RunEnded {
            return Err(Stopped);
        }
        let (run, scope) = (self.begun.run, scope.as_str());
        tracing::warn!(%run, scope, %refusal, "a run could not update its state");
        let text = format!("the state of the {scope} was not updated: {refusal}");
        self.keep(RunEvent::Log { text }).await
    }
}

type Changed = (Done<MemoryAnswer>, i64, Vec<RunEvent>);

fn change(
    tx: &mut Tx<'_>,
    begun: &Begun,
    (memory, request): (Memory, &MemoryRequest),
    unwritten: &[RunEvent],
    now: Timestamp,
) -> Result<Changed> {
    let answered = state::answer(tx, begun.drawers(), (memory, request), now)?;
    let mut events = unwritten.to_vec();
    if let Ok(answer) = &answered {
        events.extend(journalled(memory, request, answer));
    }
    if events.is_empty() {
        leases::fence(tx, &begun.lease)?;
        return Ok((answered, 0, events));
    }
    let first = runs::append_all(tx, &begun.lease, begun.run, &events, now)?;
    Ok((answered, first, events))
}

/// What the journal says of a change. Stores are not part of the conversation.
fn journalled(memory: Memory, request: &MemoryRequest, answer: &MemoryAnswer) -> Option<RunEvent> {
    let Memory::State(scope) = memory else {
        return None;
    };
    let updated = |key: &str, value: &Value| RunEvent::StateUpdated {
        scope,
        key: rules::named(memory, key),
        value: value.clone(),
    };
    match (request, answer) {
        (MemoryRequest::Set { key, value, .. }, _) => Some(updated(key, value)),
        (MemoryRequest::Delete { key }, MemoryAnswer::Deleted(true)) => {
            Some(updated(key, &Value::Null))
        }
        (MemoryRequest::Clear, MemoryAnswer::Cleared(count)) => Some(RunEvent::Log {
            text: format!(
                "the state of the {} was cleared: {count} values",
                scope.as_str()
            ),
        }),
        _ => None,
    }
}

/// Looks into one conversation, and into no other.
fn look_back(
    tx: &mut Tx<'_>,
    session: SessionId,
    request: &PastRequest,
) -> Result<Done<PastAnswer>> {
    let limit = |limit: usize| limit.clamp(1, MOST_LINES);
    match request {
        PastRequest::Page {
            before,
            limit: asked,
        } => {
            let limit = limit(*asked);
            // One more than asked for tells whether there is more.
            let count = u32::try_from(limit + 1).unwrap_or(u32::MAX);
            let mut found = transcripts::before(tx, session, before.unwrap_or(i64::MAX), count)?;
            let has_more = found.len() > limit;
            found.drain(..found.len().saturating_sub(limit));
            Ok(Ok(said(found, has_more)))
        }
        PastRequest::Search {
            words,
            limit: asked,
        } => {
            let limit = limit(*asked);
            let count = u32::try_from(limit + 1).unwrap_or(u32::MAX);
            let owner = sessions::get(tx, session)?.owner;
            let mut hits = search::search_in(tx, (owner, session), words, count)?;
            let has_more = hits.len() > limit;
            hits.truncate(limit);
            let numbers: Vec<i64> = hits.iter().map(|hit| hit.seq).collect();
            let found = transcripts::numbered(tx, session, &numbers)?;
            Ok(Ok(said(found, has_more)))
        }
        PastRequest::Event { id } => event(tx, session, *id),
    }
}

fn event(tx: &mut Tx<'_>, session: SessionId, id: EventId) -> Result<Done<PastAnswer>> {
    let found = match inbox::get(tx, id) {
        Ok(row) => Some(row),
        Err(StoreError::NotFound { .. }) => None,
        Err(error) => return Err(error),
    };
    // Another conversation's event is not there, in the same words.
    let own = found.filter(|row| row.session == session);
    Ok(own.map_or_else(
        || {
            let reason = format!("there is no event {id} in this conversation");
            Err(Refusal::new(RefusalCode::NotFound, reason))
        },
        |row| Ok(PastAnswer::Event(Box::new(row.event))),
    ))
}

fn said(entries: Vec<Entry>, has_more: bool) -> PastAnswer {
    let lines = entries.into_iter().map(|entry| PastLine {
        seq: entry.seq,
        at: entry.at,
        said: history::said(entry.speaker, entry.text, &entry.detail),
    });
    PastAnswer::Said {
        lines: lines.collect(),
        has_more,
    }
}

fn refusal(error: &StoreError) -> Refusal {
    match error {
        StoreError::Conflict(_) => Refusal::new(RefusalCode::RunEnded, "the run was stopped"),
        error => Refusal::new(RefusalCode::Unavailable, error.to_string()),
    }
}
