//! `GET /api/outbox?state=`: what goes out, newest first, with every attempt and every receipt.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;
use talaria_domain::clock::Timestamp;
use talaria_domain::delivery::{Outcome, Receipt};
use talaria_domain::ids::{PartId, ReplyId, SessionId};
use talaria_domain::machine::PartState;
use talaria_store::Tx;
use talaria_store::views::{self, PartView, Wanted};

use crate::error::ApiError;
use crate::input::{Filters, Page};
use crate::shared::App;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/api/outbox", get(list))
}

/// A part without what it shows: that is in its trace.
#[derive(Serialize)]
pub(super) struct PartRow {
    id: PartId,
    reply_id: ReplyId,
    session_id: SessionId,
    ordinal: u32,
    state: PartState,
    not_before: Timestamp,
    created_at: Timestamp,
    attempts: Vec<AttemptRow>,
    receipts: Vec<Receipt>,
}

#[derive(Serialize)]
struct AttemptRow {
    #[serde(flatten)]
    outcome: Outcome,
    at: Timestamp,
}

impl From<PartView> for PartRow {
    fn from(view: PartView) -> Self {
        let (queued, part) = (&view.queued, &view.queued.part);
        let attempt = |(outcome, at)| AttemptRow { outcome, at };
        Self {
            id: part.id,
            reply_id: part.reply,
            session_id: view.session,
            ordinal: part.ordinal,
            state: queued.state,
            not_before: queued.not_before,
            created_at: queued.created_at,
            attempts: view.attempts.into_iter().map(attempt).collect(),
            receipts: view.receipts,
        }
    }
}

async fn list(
    State(app): State<Arc<App>>,
    filters: Filters,
) -> Result<Json<Page<PartRow, PartId>>, ApiError> {
    filters.only(&["state"])?;
    let state = filters.state()?;
    let wanted = Wanted {
        after: filters.after()?,
        limit: filters.limit()?,
    };
    let work = move |tx: &mut Tx<'_>| views::parts(tx, state, wanted);
    let found = app.shared.ledger.read(work).await?;
    let rows = found.rows.into_iter().map(PartRow::from).collect();
    Ok(Json(Page::of(rows, found.next)))
}
