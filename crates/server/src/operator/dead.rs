//! `/api/dead`: what was given up, in both directions, to look at, send again or lay to rest.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Serialize;
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{DeadId, SessionId};
use talaria_domain::machine::DeadState;
use talaria_store::Tx;
use talaria_store::dead::{self, Thing};
use talaria_store::views::{self, LetterView};

use crate::error::ApiError;
use crate::input::{Filters, Named, Page};
use crate::shared::App;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/api/dead", get(list))
        .route("/api/dead/{id}", get(show))
        .route("/api/dead/{id}/replay", post(replay))
        .route("/api/dead/{id}/drop", post(lay_to_rest))
}

#[derive(Serialize)]
pub(super) struct LetterRow {
    id: DeadId,
    thing: &'static str,
    thing_id: String,
    session_id: SessionId,
    state: DeadState,
    reason: String,
    at: Timestamp,
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
