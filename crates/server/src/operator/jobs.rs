//! `GET /api/jobs?state=&session=`: work that outlives its turn, newest first; `GET /api/jobs/{id}`: one of them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use talaria_domain::address::Address;
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{JobId, RunId, SessionId};
use talaria_domain::job::{JobKind, Promise};
use talaria_domain::machine::JobState;
use talaria_domain::names::ProfileName;
use talaria_store::Tx;
use talaria_store::views::{self, JobView, Wanted};

use crate::contract::{Operation, Routes, words};
use crate::error::ApiError;
use crate::input::{Filters, Named, Page};
use crate::shared::App;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/jobs", list, || {
            Operation::of("Work that outlives its turn, newest first.")
                .filter(
                    "state",
                    "Only in this state.",
                    &words::one_state::<JobState>(),
                )
                .filter("session", "Only of this conversation.", &words::id())
                .lists::<JobRow>(&words::id())
        })
        .get("/api/jobs/{id}", show, || {
            Operation::of("One job.").gives::<JobRow>(StatusCode::OK)
        })
}

#[derive(Serialize, JsonSchema)]
pub(super) struct JobRow {
    #[schemars(with = "words::Id")]
    id: JobId,
    #[schemars(with = "words::Id")]
    session_id: SessionId,
    #[schemars(with = "Option<words::Id>")]
    run_id: Option<RunId>,
    #[schemars(with = "words::Name")]
    profile: ProfileName,
    #[schemars(with = "words::Name")]
    kind: JobKind,
    #[schemars(schema_with = "words::state::<JobState>")]
    state: JobState,
    #[schemars(with = "words::Name")]
    promise: Promise,
    #[schemars(with = "words::Address")]
    to: Address,
    #[schemars(with = "words::Anything")]
    work: Value,
    #[schemars(with = "Option<words::Anything>")]
    handle: Option<Value>,
    #[schemars(with = "Option<words::Anything>")]
    result: Option<Value>,
    told: Option<String>,
    #[schemars(with = "Option<words::Time>")]
    consumed_at: Option<Timestamp>,
    #[schemars(with = "words::Time")]
    created_at: Timestamp,
    #[schemars(with = "Option<words::Time>")]
    ended_at: Option<Timestamp>,
}

impl From<JobView> for JobRow {
    fn from(view: JobView) -> Self {
        let job = view.job;
        Self {
            id: job.id,
            session_id: job.return_to.session,
            run_id: job.run,
            profile: job.return_to.profile,
            kind: job.kind,
            state: job.state,
            promise: job.promise,
            to: job.return_to.address,
            work: job.work,
            handle: job.handle,
            result: job.result,
            told: view.told,
            consumed_at: view.consumed_at,
            created_at: job.created_at,
            ended_at: view.ended_at,
        }
    }
}

async fn list(
    State(app): State<Arc<App>>,
    filters: Filters,
) -> Result<Json<Page<JobRow, JobId>>, ApiError> {
    filters.only(&["state", "session"])?;
    let (state, session) = (filters.state()?, filters.id("session")?);
    let wanted = Wanted {
        after: filters.after()?,
        limit: filters.limit()?,
    };
    let work = move |tx: &mut Tx<'_>| views::jobs(tx, state, session, wanted);
    let found = app.shared.ledger.read(work).await?;
    let rows = found.rows.into_iter().map(JobRow::from).collect();
    Ok(Json(Page::of(rows, found.next)))
}

async fn show(
    State(app): State<Arc<App>>,
    Named(id): Named<JobId>,
) -> Result<Json<JobRow>, ApiError> {
    let work = move |tx: &mut Tx<'_>| views::job(tx, id);
    Ok(Json(app.shared.ledger.read(work).await?.into()))
}
