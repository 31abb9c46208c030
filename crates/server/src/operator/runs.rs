//! `GET /api/runs?state=&session=`: executions of runners, newest first.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{RunId, SessionId};
use talaria_domain::machine::RunState;
use talaria_domain::names::{ProfileName, RunnerId};
use talaria_domain::run::RunOutcome;
use talaria_store::Tx;
use talaria_store::views::{self, RunView, Wanted};

use crate::contract::{Operation, Routes, words};
use crate::error::ApiError;
use crate::input::{Filters, Page};
use crate::shared::App;

pub(super) fn routes() -> Routes {
    Routes::new().get("/api/runs", list, || {
        Operation::of("Executions of runners, newest first.")
            .filter(
                "state",
                "Only in this state.",
                &words::one_state::<RunState>(),
            )
            .filter("session", "Only of this conversation.", &words::id())
            .lists::<RunRow>(&words::id())
    })
}

#[derive(Serialize, JsonSchema)]
pub(super) struct RunRow {
    #[schemars(with = "words::Id")]
    id: RunId,
    #[schemars(with = "words::Id")]
    session_id: SessionId,
    #[schemars(with = "words::Name")]
    profile: ProfileName,
    #[schemars(with = "words::Name")]
    runner: RunnerId,
    #[schemars(schema_with = "words::state::<RunState>")]
    state: RunState,
    attempt: u32,
    #[schemars(with = "Option<words::Tagged>")]
    outcome: Option<RunOutcome>,
    #[schemars(with = "words::Time")]
    created_at: Timestamp,
    #[schemars(with = "words::Time")]
    active_at: Timestamp,
    #[schemars(with = "Option<words::Time>")]
    ended_at: Option<Timestamp>,
}

impl From<RunView> for RunRow {
    fn from(view: RunView) -> Self {
        let run = view.run;
        Self {
            id: run.id,
            session_id: run.session,
            profile: run.return_to.profile,
            runner: run.runner,
            state: run.state,
            attempt: run.attempt,
            outcome: run.outcome,
            created_at: run.created_at,
            active_at: run.active_at,
            ended_at: view.ended_at,
        }
    }
}

async fn list(
    State(app): State<Arc<App>>,
    filters: Filters,
) -> Result<Json<Page<RunRow, RunId>>, ApiError> {
    filters.only(&["state", "session"])?;
    let (state, session) = (filters.state()?, filters.id("session")?);
    let wanted = Wanted {
        after: filters.after()?,
        limit: filters.limit()?,
    };
    let work = move |tx: &mut Tx<'_>| views::runs(tx, state, session, wanted);
    let found = app.shared.ledger.read(work).await?;
    let rows = found.rows.into_iter().map(RunRow::from).collect();
    Ok(Json(Page::of(rows, found.next)))
}
