//! `GET /api/outbox?state=`: what goes out, newest first, with every attempt and every receipt.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use talaria_domain::clock::Timestamp;
use talaria_domain::delivery::{Outcome, Receipt};
use talaria_domain::ids::{PartId, ReplyId, SessionId};
use talaria_domain::machine::PartState;
use talaria_store::Tx;
use talaria_store::views::{self, PartView, Wanted};

use crate::contract::{Operation, Routes, words};
use crate::error::ApiError;
use crate::input::{Filters, Page};
use crate::shared::App;

pub(super) fn routes() -> Routes {
    Routes::new().get("/api/outbox", list, || {
        Operation::of("What goes out, newest first.")
            .filter(
                "state",
                "Only in this state.",
                &words::one_state::<PartState>(),
            )
            .lists::<PartRow>(&words::id())
    })
}

/// A part without what it shows: that is in its trace.
#[derive(Serialize, JsonSchema)]
pub(super) struct PartRow {
    #[schemars(with = "words::Id")]
    id: PartId,
    #[schemars(with = "words::Id")]
    reply_id: ReplyId,
    #[schemars(with = "words::Id")]
    session_id: SessionId,
    ordinal: u32,
    #[schemars(schema_with = "words::state::<PartState>")]
    state: PartState,
    #[schemars(with = "words::Time")]
    not_before: Timestamp,
    #[schemars(with = "words::Time")]
    created_at: Timestamp,
    attempts: Vec<AttemptRow>,
    #[schemars(with = "Vec<words::Receipt>")]
    receipts: Vec<Receipt>,
}

#[derive(Serialize, JsonSchema)]
struct AttemptRow {
    #[serde(flatten)]
    #[schemars(with = "words::Tagged")]
    outcome: Outcome,
    #[schemars(with = "words::Time")]
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
