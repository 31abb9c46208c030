//! `/api/dead`: what was given up, in both directions, to look at, send again or lay to rest.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{DeadId, SessionId};
use talaria_domain::machine::DeadState;
use talaria_store::Tx;
use talaria_store::dead::{self, Thing};
use talaria_store::views::{self, LetterView};

use crate::contract::{Operation, Routes, words};
use crate::error::ApiError;
use crate::input::{Filters, Named, Page};
use crate::shared::App;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/dead", list, || {
            Operation::of("What was given up and nobody has looked at, oldest first.")
                .lists::<LetterRow>(&words::id())
        })
        .get("/api/dead/{id}", show, || {
            Operation::of("One dead letter.").gives::<LetterRow>(StatusCode::OK)
        })
        .post("/api/dead/{id}/replay", replay, || {
            let operation = Operation::of("Tries again what was given up.");
            operation.gives::<LetterRow>(StatusCode::OK).refuses(&[409])
        })
        .post("/api/dead/{id}/drop", lay_to_rest, || {
            let operation = Operation::of("Lays to rest what was given up.");
            operation.gives::<LetterRow>(StatusCode::OK).refuses(&[409])
        })
}

#[derive(Serialize, JsonSchema)]
pub(super) struct LetterRow {
    #[schemars(with = "words::Id")]
    id: DeadId,
    thing: &'static str,
    thing_id: String,
    #[schemars(with = "words::Id")]
    session_id: SessionId,
    #[schemars(schema_with = "words::state::<DeadState>")]
    state: DeadState,
    reason: String,
    #[schemars(with = "words::Time")]
    at: Timestamp,
    #[schemars(with = "Option<words::Time>")]
    ended_at: Option<Timestamp>,
}

impl From<LetterView> for LetterRow {
    fn from(view: LetterView) -> Self {
        let letter = view.letter;
        let (thing, thing_id) = match letter.thing {
            Thing::Event(id) => ("event", id.to_string()),
            Thing::Part(id) => ("part", id.to_string()),
        };
        Self {
            id: letter.id,
            thing,
            thing_id,
            session_id: letter.session,
            state: letter.state,
            reason: letter.reason,
            at: letter.at,
            ended_at: view.ended_at,
        }
    }
}

/// Those that nobody has looked at, oldest first.
async fn list(
    State(app): State<Arc<App>>,
    filters: Filters,
) -> Result<Json<Page<LetterRow, DeadId>>, ApiError> {
    filters.only(&[])?;
    let (limit, after) = (filters.limit()?, filters.after()?);
    let work = move |tx: &mut Tx<'_>| dead::list(tx, after, limit + 1);
    let letters = app.shared.ledger.read(work).await?;
    let row = |letter| {
        LetterRow::from(LetterView {
            letter,
            ended_at: None,
        })
    };
    let rows: Vec<LetterRow> = letters.into_iter().map(row).collect();
    Ok(Json(Page::full(rows, limit, |row| row.id)))
}

async fn show(
    State(app): State<Arc<App>>,
    Named(id): Named<DeadId>,
) -> Result<Json<LetterRow>, ApiError> {
    let work = move |tx: &mut Tx<'_>| views::letter(tx, id);
    Ok(Json(app.shared.ledger.read(work).await?.into()))
}

async fn replay(
    State(app): State<Arc<App>>,
    Named(id): Named<DeadId>,
) -> Result<Json<LetterRow>, ApiError> {
    let now = app.now();
    let work = move |tx: &mut Tx<'_>| {
        dead::replay(tx, id, now)?;
        views::letter(tx, id)
    };
    Ok(Json(app.shared.ledger.write(work).await?.into()))
}

async fn lay_to_rest(
    State(app): State<Arc<App>>,
    Named(id): Named<DeadId>,
) -> Result<Json<LetterRow>, ApiError> {
    let now = app.now();
    let work = move |tx: &mut Tx<'_>| {
        dead::drop(tx, id, now)?;
        views::letter(tx, id)
    };
    Ok(Json(app.shared.ledger.write(work).await?.into()))
}
