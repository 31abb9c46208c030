//! `/api/schedules`: what happens at a time, whoever planned it, and what came of each such time.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use talaria_domain::address::Address;
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{EventId, ReplyId, ScheduleId, SessionId};
use talaria_domain::machine::{OccurrenceState, ScheduleState};
use talaria_domain::names::ProfileName;
use talaria_domain::principal::Principal;
use talaria_domain::schedule::{Occurrence, Schedule, ScheduleOrder, What};
use talaria_store::{Tx, schedules};

use super::send::{Place, destination};
use crate::access::keys::Caller;
use crate::contract::{Operation, Routes, words};
use crate::error::ApiError;
use crate::input::{Filters, Named, Page, Sent};
use crate::shared::App;
use crate::timetable::{Deed, NotPlanned, Wanted};

/// How many of its times are shown with a schedule.
const SHOWN: u32 = 50;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/schedules", list, || {
            Operation::of("What happens at a time, newest first.")
                .filter(
                    "state",
                    "Only in this state.",
                    &words::one_state::<ScheduleState>(),
                )
                .lists::<ScheduleRow>(&words::id())
        })
        .post("/api/schedules", create, || {
            Operation::of("Lets something happen at a time.")
                .takes::<Planning>()
                .gives::<ScheduleRow>(StatusCode::CREATED)
        })
        .get("/api/schedules/{id}", show, || {
            Operation::of("One schedule, and what came of its last times.")
                .gives::<ShownSchedule>(StatusCode::OK)
        })
        .delete("/api/schedules/{id}", remove, || {
            let operation = Operation::of("Ends a schedule. What came of it stays.");
            operation
                .gives::<ScheduleRow>(StatusCode::OK)
                .refuses(&[409])
        })
        .post("/api/schedules/{id}/pause", pause, || {
            changes("Lets nothing of a schedule happen for now.")
        })
        .post("/api/schedules/{id}/resume", resume, || {
            changes("Puts a schedule in force again.")
        })
        .post("/api/schedules/{id}/run", run, || {
            changes("Lets it happen now, beside its times.")
        })
}

fn changes(summary: &'static str) -> Operation {
    let operation = Operation::of(summary);
    operation
        .gives::<ScheduleRow>(StatusCode::OK)
        .refuses(&[409])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Planning {
    to: Place,
    /// `30m`, `every 2h`, five fields such as `0 9 * * 1-5`, or `2027-01-31T18:00`.
    when: String,
    /// The time zone of `when`, such as Europe/Berlin; the gateway's, if nothing is said.
    zone: Option<String>,
    /// What it is called; the beginning of the text, if nothing is said.
    name: Option<String>,
    /// `say`: the text is posted; `ask`: the agent is asked it.
    #[schemars(schema_with = "deeds")]
    what: String,
    #[schemars(regex(pattern = r"\S"))]
    text: String,
}

fn deeds(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["say", "ask"] })
}

#[derive(Serialize, JsonSchema)]
struct ScheduleRow {
    #[schemars(with = "words::Id")]
    id: ScheduleId,
    name: String,
    #[schemars(schema_with = "words::state::<ScheduleState>")]
    state: ScheduleState,
    /// The rule, in words.
    when: String,
    zone: String,
    #[schemars(schema_with = "deeds")]
    what: &'static str,
    text: String,
    /// The conversation that it was made in.
    #[schemars(with = "words::Id")]
    session_id: SessionId,
    #[schemars(with = "words::Name")]
    profile: ProfileName,
    #[schemars(with = "words::Address")]
    to: Address,
    #[schemars(with = "words::Principal")]
    owner: Principal,
    #[schemars(with = "Option<words::Time>")]
    next_at: Option<Timestamp>,
    #[schemars(with = "words::Time")]
    created_at: Timestamp,
}

impl From<Schedule> for ScheduleRow {
    fn from(schedule: Schedule) -> Self {
        Self {
            id: schedule.id,
            name: schedule.name,
            state: schedule.state,
            when: schedule.when.show(&schedule.zone),
            zone: schedule.zone.to_string(),
            what: schedule.what.as_str(),
            text: schedule.what.text().to_owned(),
            session_id: schedule.return_to.session,
            profile: schedule.return_to.profile,
            to: schedule.return_to.address,
            owner: schedule.return_to.requester,
            next_at: schedule.next_at,
            created_at: schedule.created_at,
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct ShownSchedule {
    #[serde(flatten)]
    row: ScheduleRow,
    /// The last times, newest first.
    occurrences: Vec<OccurrenceRow>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct OccurrenceRow {
    #[schemars(with = "words::Id")]
    schedule_id: ScheduleId,
    #[schemars(with = "words::Time")]
    due_at: Timestamp,
    #[schemars(schema_with = "words::state::<OccurrenceState>")]
    state: OccurrenceState,
    /// The event that it became.
    #[schemars(with = "Option<words::Id>")]
    event_id: Option<EventId>,
    /// The message that it became.
    #[schemars(with = "Option<words::Id>")]
    reply_id: Option<ReplyId>,
    /// Why it was passed over.
    reason: Option<String>,
    #[schemars(with = "words::Time")]
    at: Timestamp,
}

impl From<Occurrence> for OccurrenceRow {
    fn from(occurrence: Occurrence) -> Self {
        Self {
            schedule_id: occurrence.schedule,
            due_at: occurrence.due,
            state: occurrence.state,
            event_id: occurrence.event,
            reply_id: occurrence.reply,
            reason: occurrence.reason,
            at: occurrence.at,
        }
    }
}

async fn list(
    State(app): State<Arc<App>>,
    filters: Filters,
) -> Result<Json<Page<ScheduleRow, ScheduleId>>, ApiError> {
    filters.only(&["state"])?;
    let (state, limit, after) = (filters.state()?, filters.limit()?, filters.after()?);
    let work = move |tx: &mut Tx<'_>| schedules::list(tx, state, after, limit + 1);
    let found = app.shared.ledger.read(work).await?;
    let rows: Vec<ScheduleRow> = found.into_iter().map(ScheduleRow::from).collect();
    Ok(Json(Page::full(rows, limit, |row| row.id)))
}

async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Sent(asked): Sent<Planning>,
) -> Result<(StatusCode, Json<ScheduleRow>), ApiError> {
    let unknown = || {
        ApiError::bad(
            "what",
            format!("expected say or ask, found {:?}", asked.what),
        )
    };
    let order = ScheduleOrder {
        name: asked.name,
        when: asked.when,
        zone: asked.zone,
        what: What::of(&asked.what, asked.text).ok_or_else(unknown)?,
    };
    let wanted = Wanted {
        to: destination(asked.to)?,
        order,
        requester: caller.principal,
    };
    let created = app.shared.timetable.create(wanted).await;
    let created = created.map_err(|refused| match refused {
        NotPlanned::Refused { reason } => ApiError::BadInput {
            param: None,
            message: reason,
        },
        other => not_changed(other),
    })?;
    Ok((StatusCode::CREATED, Json(created.into())))
}

async fn show(
    State(app): State<Arc<App>>,
    Named(id): Named<ScheduleId>,
) -> Result<Json<ShownSchedule>, ApiError> {
    let work = move |tx: &mut Tx<'_>| {
        let schedule = schedules::get(tx, id)?;
        Ok((schedule, schedules::occurrences(tx, id, SHOWN)?))
    };
    let (schedule, occurrences) = app.shared.ledger.read(work).await?;
    Ok(Json(ShownSchedule {
        row: schedule.into(),
        occurrences: occurrences.into_iter().map(OccurrenceRow::from).collect(),
    }))
}

async fn pause(
    State(app): State<Arc<App>>,
    Named(id): Named<ScheduleId>,
) -> Result<Json<ScheduleRow>, ApiError> {
    change(&app, id, Deed::Pause).await
}

async fn resume(
    State(app): State<Arc<App>>,
    Named(id): Named<ScheduleId>,
) -> Result<Json<ScheduleRow>, ApiError> {
    change(&app, id, Deed::Resume).await
}

async fn run(
    State(app): State<Arc<App>>,
    Named(id): Named<ScheduleId>,
) -> Result<Json<ScheduleRow>, ApiError> {
    change(&app, id, Deed::Run).await
}

async fn remove(
    State(app): State<Arc<App>>,
    Named(id): Named<ScheduleId>,
) -> Result<Json<ScheduleRow>, ApiError> {
    change(&app, id, Deed::Remove).await
}

async fn change(app: &Arc<App>, id: ScheduleId, deed: Deed) -> Result<Json<ScheduleRow>, ApiError> {
    let changed = app.shared.timetable.change(id, deed).await;
    changed
        .map(|schedule| Json(schedule.into()))
        .map_err(not_changed)
}

fn not_changed(refused: NotPlanned) -> ApiError {
    match refused {
        NotPlanned::NotFound { reason } => ApiError::NotFound { message: reason },
        NotPlanned::Refused { reason } => ApiError::Conflict { message: reason },
        NotPlanned::Retry { reason } => ApiError::Unavailable { cause: reason },
    }
}
