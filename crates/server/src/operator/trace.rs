//! `GET /api/trace/{id}`: the whole life of a message, from any one thing of it: by our id of the event, the run, the reply,
//! the part or a job, or by the platform's id of the message. One look at one state of the ledger.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use talaria_domain::address::Address;
use talaria_domain::clock::Timestamp;
use talaria_domain::delivery::{PartBody, ReplyKind};
use talaria_domain::event::{EventKind, InternalCause};
use talaria_domain::ids::{EventId, JobId, ReplyId, RunId, SessionId};
use talaria_domain::machine::ReplyState;
use talaria_domain::names::{MessageId, ProfileName};
use talaria_domain::run::RunEvent;
use talaria_store::dead::Thing;
use talaria_store::views::{self, EventView, Found, PartView, ReplyView, RunView};
use talaria_store::{StoreError, Tx, outbox, schedules};

use super::dead::LetterRow;
use super::inbox::EventRow;
use super::jobs::JobRow;
use super::outbox::PartRow;
use super::runs::RunRow;
use super::schedules::OccurrenceRow;
use crate::contract::{Operation, Routes, words};
use crate::error::ApiError;
use crate::input::Named;
use crate::shared::App;

/// How much of a run's journal is shown.
const JOURNAL: u32 = 1_000;

pub(super) fn routes() -> Routes {
    Routes::new().get("/api/trace/{id}", trace, || {
        let operation = Operation::of("The whole life of a message, from any one thing of it.");
        operation.gives::<Trace>(StatusCode::OK)
    })
}

#[derive(Serialize, JsonSchema)]
struct Trace {
    /// The job that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<JobRow>,
    /// The time of a schedule that it all came of.
    #[serde(skip_serializing_if = "Option::is_none")]
    occurrence: Option<TracedOccurrence>,
    event: Option<TracedEvent>,
    runs: Vec<TracedRun>,
    replies: Vec<TracedReply>,
    dead: Vec<LetterRow>,
}

#[derive(Serialize, JsonSchema)]
struct TracedOccurrence {
    #[serde(flatten)]
    row: OccurrenceRow,
    /// What its schedule is called.
    schedule: String,
    /// The rule, in words.
    when: String,
}

#[derive(Serialize, JsonSchema)]
struct TracedEvent {
    #[serde(flatten)]
    row: EventRow,
    #[schemars(with = "words::Tagged")]
    content: EventKind,
}

#[derive(Serialize, JsonSchema)]
struct TracedRun {
    #[serde(flatten)]
    row: RunRow,
    journal: Vec<JournalRow>,
}

#[derive(Serialize, JsonSchema)]
struct JournalRow {
    seq: i64,
    #[serde(flatten)]
    #[schemars(with = "words::Tagged")]
    event: RunEvent,
    #[schemars(with = "words::Time")]
    at: Timestamp,
}

#[derive(Serialize, JsonSchema)]
struct TracedReply {
    #[schemars(with = "words::Id")]
    id: ReplyId,
    #[schemars(with = "words::Id")]
    session_id: SessionId,
    #[schemars(with = "Option<words::Id>")]
    run_id: Option<RunId>,
    #[schemars(with = "words::Name")]
    kind: ReplyKind,
    #[schemars(schema_with = "words::state::<ReplyState>")]
    state: ReplyState,
    #[schemars(with = "words::Name")]
    profile: ProfileName,
    #[schemars(with = "words::Address")]
    to: Address,
    text: String,
    revision: i64,
    #[schemars(with = "words::Time")]
    created_at: Timestamp,
    #[schemars(with = "Option<words::Time>")]
    ended_at: Option<Timestamp>,
    parts: Vec<TracedPart>,
}

#[derive(Serialize, JsonSchema)]
struct TracedPart {
    #[serde(flatten)]
    row: PartRow,
    #[schemars(with = "words::Tagged")]
    body: PartBody,
}

async fn trace(
    State(app): State<Arc<App>>,
    Named(id): Named<String>,
) -> Result<Json<Trace>, ApiError> {
    let name = id.clone();
    let work = move |tx: &mut Tx<'_>| {
        let Some(found) = find(tx, &name)? else {
            return Ok(None);
        };
        follow(tx, found).map(Some)
    };
    let message = format!("there is no event, run, reply, part, job or recent message {id}");
    let traced = app.shared.ledger.read(work).await?;
    traced.map(Json).ok_or(ApiError::NotFound { message })
}

fn find(tx: &mut Tx<'_>, name: &str) -> Result<Option<Found>, StoreError> {
    if let Ok(id) = name.parse::<EventId>()
        && let Some(found) = views::find(tx, *id.as_bytes())?
    {
        return Ok(Some(found));
    }
    views::find_message(tx, &MessageId::from(name))
}

/// Back to the event, and from there to everything that came of it.
fn follow(tx: &mut Tx<'_>, found: Found) -> Result<Trace, StoreError> {
    let job = match found {
        Found::Job(job) => Some(views::job(tx, job)?),
        _ => None,
    };
    let (event, runs, replies) = match found {
        Found::Job(job) => from_job(tx, job)?,
        Found::Event(event) => from_event(tx, event)?,
        Found::Run(run) => from_run(tx, run)?,
        Found::Reply(reply) => from_reply(tx, reply)?,
        Found::Part(part) => {
            let reply = outbox::get_part(tx, part)?.part.reply;
            from_reply(tx, reply)?
        }
    };
    let occurrence = occurrence(tx, event.as_ref(), &replies)?;
    let mut dead = Vec::new();
    if let Some(event) = &event {
        dead.extend(views::letters_about(tx, Thing::Event(event.row.event.id))?);
    }
    let runs = runs.into_iter().map(|run| traced_run(tx, run));
    let runs = runs.collect::<Result<_, StoreError>>()?;
    let mut traced = Vec::new();
    for reply in replies {
        let parts = parts(tx, reply.reply.id)?;
        for part in &parts {
            dead.extend(views::letters_about(tx, Thing::Part(part.queued.part.id))?);
        }
        traced.push(traced_reply(reply, parts));
    }
    Ok(Trace {
        job: job.map(JobRow::from),
        occurrence,
        event: event.map(traced_event),
        runs,
        replies: traced,
        dead: dead.into_iter().map(LetterRow::from).collect(),
    })
}

/// The time of a schedule that an event or a message came of.
fn occurrence(
    tx: &mut Tx<'_>,
    event: Option<&EventView>,
    replies: &[ReplyView],
) -> Result<Option<TracedOccurrence>, StoreError> {
    let found = match event.map(|event| &event.row.event.kind) {
        Some(EventKind::Internal {
            cause: InternalCause::Schedule { schedule, due },
            ..
        }) => schedules::occurrence(tx, *schedule, *due)?,
        Some(_) => None,
        None => match replies {
            [one] => schedules::occurrence_of(tx, one.reply.id)?,
            _ => None,
        },
    };
    let Some(found) = found else {
        return Ok(None);
    };
    let schedule = schedules::get(tx, found.schedule)?;
    Ok(Some(TracedOccurrence {
        when: schedule.when.show(&schedule.zone),
        schedule: schedule.name,
        row: found.into(),
    }))
}

/// The event, every run that tried it, every reply to it.
type Threads = (Option<EventView>, Vec<RunView>, Vec<ReplyView>);

fn from_event(tx: &mut Tx<'_>, id: EventId) -> Result<Threads, StoreError> {
    let event = views::event(tx, id)?;
    // What became part of an earlier message was answered with it.
    let answered = match event.row.merged_into {
        Some(earlier) => views::event(tx, earlier)?.row,
        None => event.row.clone(),
    };
    let runs = views::tries(tx, answered.event.id)?;
    let asked = (answered.event.id, answered.event.message.as_ref());
    let replies = views::replies_to(tx, answered.session, asked, &runs)?;
    Ok((Some(event), runs, replies))
}

/// What was done for a job, and how its end was told; before that, what asked for it.
fn from_job(tx: &mut Tx<'_>, id: JobId) -> Result<Threads, StoreError> {
    let mut threads: Threads = (None, Vec::new(), Vec::new());
    for about in views::about_job(tx, id)? {
        let (event, runs, replies) = from_event(tx, about)?;
        threads.0 = event;
        threads.1.extend(runs);
        threads.2.extend(replies);
    }
    match views::job(tx, id)?.job.run {
        Some(run) if threads.0.is_none() => match from_run(tx, run) {
            Err(StoreError::NotFound { .. }) => Ok(threads),
            asked => asked,
        },
        _ => Ok(threads),
    }
}

fn from_run(tx: &mut Tx<'_>, run: RunId) -> Result<Threads, StoreError> {
    let run = views::run(tx, run)?.run;
    match from_event(tx, run.event) {
        // The event may be pruned before its run.
        Err(StoreError::NotFound { .. }) => {
            let runs = views::tries(tx, run.event)?;
            let replies = views::replies_to(tx, run.session, (run.event, None), &runs)?;
            Ok((None, runs, replies))
        }
        threads => threads,
    }
}

fn from_reply(tx: &mut Tx<'_>, id: ReplyId) -> Result<Threads, StoreError> {
    let reply = views::reply(tx, id)?;
    let Some(run) = reply.reply.run else {
        return Ok((None, Vec::new(), vec![reply]));
    };
    // The run may be pruned before its reply.
    let (event, runs, mut replies) = match from_run(tx, run) {
        Err(StoreError::NotFound { .. }) => (None, Vec::new(), Vec::new()),
        threads => threads?,
    };
    if replies.iter().all(|view| view.reply.id != id) {
        replies.push(reply);
    }
    Ok((event, runs, replies))
}

fn parts(tx: &mut Tx<'_>, reply: ReplyId) -> Result<Vec<PartView>, StoreError> {
    let parts = outbox::parts(tx, reply)?;
    parts
        .iter()
        .map(|queued| views::part(tx, queued.part.id))
        .collect()
}

fn traced_event(view: EventView) -> TracedEvent {
    TracedEvent {
        content: view.row.event.kind.clone(),
        row: view.into(),
    }
}

fn traced_run(tx: &mut Tx<'_>, view: RunView) -> Result<TracedRun, StoreError> {
    let journal = views::journal(tx, view.run.id, JOURNAL)?;
    let row = |line: views::JournalLine| JournalRow {
        seq: line.seq,
        event: line.event,
        at: line.at,
    };
    Ok(TracedRun {
        row: view.into(),
        journal: journal.into_iter().map(row).collect(),
    })
}

fn traced_reply(view: ReplyView, parts: Vec<PartView>) -> TracedReply {
    let reply = view.reply;
    let part = |view: PartView| TracedPart {
        body: view.queued.part.body.clone(),
        row: view.into(),
    };
    TracedReply {
        id: reply.id,
        session_id: reply.session,
        run_id: reply.run,
        kind: reply.kind,
        state: reply.state,
        profile: reply.return_to.profile,
        to: reply.return_to.address,
        text: reply.text,
        revision: reply.revision,
        created_at: view.created_at,
        ended_at: view.ended_at,
        parts: parts.into_iter().map(part).collect(),
    }
}
