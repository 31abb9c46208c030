//! `GET /api/runs?state=&session=`: executions of runners, newest first. `POST /api/runs/{id}/revoke`: takes something
//! away from one that is under way, for good.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use talaria_domain::authority::{ResourceKind, Revocation, Right};
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{RunId, SessionId};
use talaria_domain::machine::RunState;
use talaria_domain::names::{ProfileName, RunnerId};
use talaria_domain::run::RunOutcome;
use talaria_store::views::{self, RunView, Wanted};
use talaria_store::{Tx, runs};

use crate::contract::{Operation, Routes, words};
use crate::error::ApiError;
use crate::input::{Filters, Named, Page, Sent};
use crate::shared::App;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/runs", list, || {
            Operation::of("Executions of runners, newest first.")
                .filter(
                    "state",
                    "Only in this state.",
                    &words::one_state::<RunState>(),
                )
                .filter("session", "Only of this conversation.", &words::id())
                .lists::<RunRow>(&words::id())
        })
        .post("/api/runs/{id}/revoke", revoke, || {
            Operation::of("Takes something away from a run that is under way, for good.")
                .takes::<Taking>()
                .gives::<Taken>(StatusCode::OK)
                .refuses(&[409])
        })
}

/// What is to be taken away.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Taking {
    kind: Kind,
    /// Which: the name of a tool, a model and so on, or the right. Not for `state`.
    name: Option<String>,
    /// Only this operation on it; without it, all of them.
    operation: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Model,
    Tool,
    KnowledgeBase,
    File,
    Storage,
    /// `history_page`, `history_search`, `event_get` or `ask`.
    Right,
    /// All that it remembers.
    State,
}

/// From which runs it was taken away.
#[derive(Serialize, JsonSchema)]
struct Taken {
    /// The run itself, and those that do tasks for it.
    #[schemars(with = "Vec<words::Id>")]
    runs: Vec<RunId>,
}

impl Taking {
    fn what(self) -> Result<Revocation, ApiError> {
        let Self {
            kind,
            name,
            operation,
        } = self;
        if operation.is_some() && matches!(kind, Kind::Right | Kind::State) {
            let what = "only resources have operations";
            return Err(ApiError::bad("operation", what));
        }
        let missing = || ApiError::bad("name", "expected which one, found nothing");
        let name = name.filter(|name| !name.trim().is_empty());
        let kind = match kind {
            Kind::State if name.is_some() => {
                let what = "expected none: it is all that the run remembers";
                return Err(ApiError::bad("name", what));
            }
            Kind::State => return Ok(Revocation::State),
            Kind::Right => return right(&name.ok_or_else(missing)?),
            Kind::Model => ResourceKind::Model,
            Kind::Tool => ResourceKind::Tool,
            Kind::KnowledgeBase => ResourceKind::KnowledgeBase,
            Kind::File => ResourceKind::File,
            Kind::Storage => ResourceKind::Storage,
        };
        Ok(Revocation::Resource {
            kind,
            name: name.ok_or_else(missing)?,
            operation,
        })
    }
}

fn right(name: &str) -> Result<Revocation, ApiError> {
    let found = Right::parse(name).map(Revocation::Right);
    found.ok_or_else(|| {
        let all = Right::ALL.map(Right::as_str).join(", ");
        ApiError::bad("name", format!("expected one of {all}, found {name:?}"))
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

async fn revoke(
    State(app): State<Arc<App>>,
    Named(run): Named<RunId>,
    Sent(taking): Sent<Taking>,
) -> Result<Json<Taken>, ApiError> {
    // Whether there is such a run comes first: what is said about one that is not there does not matter.
    let known = app.shared.ledger.read(move |tx| runs::get(tx, run));
    known.await?;
    let runs = app.shared.rights.revoke(run, taking.what()?).await?;
    Ok(Json(Taken { runs }))
}
