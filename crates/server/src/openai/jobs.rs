//! `GET /v1/jobs/{id}`: work that a turn of the caller's started, and what came of it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{JobId, RunId, SessionId};
use talaria_domain::job::JobKind;
use talaria_domain::machine::JobState;
use talaria_store::views::{self, JobView};
use talaria_store::{Tx, sessions};

use crate::access::keys::Caller;
use crate::contract::{Operation, Routes, words};
use crate::error::ApiError;
use crate::input::Named;
use crate::shared::App;

pub(super) fn routes() -> Routes {
    Routes::new().get("/v1/jobs/{id}", show, || {
        let operation = Operation::of("Work that a turn of the caller's started.");
        operation.gives::<JobBody>(StatusCode::OK)
    })
}

#[derive(Serialize, JsonSchema)]
struct JobBody {
    #[schemars(with = "words::Id")]
    id: JobId,
    object: &'static str,
    #[schemars(with = "words::Name")]
    kind: JobKind,
    #[schemars(schema_with = "words::state::<JobState>")]
    status: JobState,
    #[schemars(with = "words::Id")]
    session_id: SessionId,
    #[schemars(with = "Option<words::Id>")]
    run_id: Option<RunId>,
    #[schemars(with = "words::Anything")]
    result: Option<Value>,
    output: Option<String>,
    #[schemars(with = "words::Time")]
    created_at: Timestamp,
    #[schemars(with = "Option<words::Time>")]
    ended_at: Option<Timestamp>,
}

impl From<JobView> for JobBody {
    fn from(view: JobView) -> Self {
        let job = view.job;
        Self {
            id: job.id,
            object: "job",
            kind: job.kind,
            status: job.state,
            session_id: job.return_to.session,
            run_id: job.run,
            result: job.result,
            output: view.told,
            created_at: job.created_at,
            ended_at: view.ended_at,
        }
    }
}

async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<JobId>,
) -> Result<Json<JobBody>, ApiError> {
    let owner = caller.owner();
    let work = move |tx: &mut Tx<'_>| {
        let view = views::job(tx, id)?;
        match sessions::get_owned(tx, owner, view.job.return_to.session) {
            // Nobody hears of what is somebody else's, not even that it is there.
            Err(talaria_store::StoreError::NotFound { .. }) => {
                let (thing, id) = ("job", id.to_string());
                Err(talaria_store::StoreError::NotFound { thing, id })
            }
            found => found.map(|_| view),
        }
    };
    Ok(Json(app.shared.ledger.read(work).await?.into()))
}
