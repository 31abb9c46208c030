//! `GET /api/inbox?state=&session=`: what was accepted, newest first.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;
use talaria_domain::address::Address;
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{EventId, RunId, SessionId};
use talaria_domain::machine::InboxState;
use talaria_domain::names::MessageId;
use talaria_domain::principal::Principal;
use talaria_domain::profile::BusyPolicy;
use talaria_store::Tx;
use talaria_store::views::{self, EventView, Wanted};

use crate::error::ApiError;
use crate::input::{Filters, Page};
use crate::shared::App;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/api/inbox", get(list))
}

/// An event without its words: those are in its trace.
#[derive(Serialize)]
pub(super) struct EventRow {
    id: EventId,
    session_id: SessionId,
    seq: i64,
    state: InboxState,
    kind: &'static str,
    address: Address,
    principal: Principal,
    message: Option<MessageId>,
    attempts: u32,
    run_id: Option<RunId>,
    merged_into: Option<EventId>,
    reason: Option<String>,
    busy: Option<BusyPolicy>,
    not_before: Timestamp,
    sent_at: Option<Timestamp>,
    received_at: Timestamp,
    ended_at: Option<Timestamp>,
}

impl From<EventView> for EventRow {
    fn from(view: EventView) -> Self {
        let row = view.row;
        let event = &row.event;
        Self {
            id: event.id,
            session_id: row.session,
            seq: row.seq,
            state: row.state,
            kind: event.kind.as_str(),
            attempts: row.attempts,
            run_id: row.run,
            merged_into: row.merged_into,
            busy: row.busy,
            not_before: row.not_before,
            sent_at: event.sent_at,
            received_at: event.received_at,
            ended_at: view.ended_at,
            reason: row.reason,
            address: row.event.address,
            principal: row.event.principal,
            message: row.event.message,
        }
    }
}

async fn list(
    State(app): State<Arc<App>>,
    filters: Filters,
) -> Result<Json<Page<EventRow, i64>>, ApiError> {
    filters.only(&["state", "session"])?;
    let (state, session) = (filters.state()?, filters.id("session")?);
    let wanted = Wanted {
        after: filters.after()?,
        limit: filters.limit()?,
    };
    let work = move |tx: &mut Tx<'_>| views::events(tx, state, session, wanted);
    let found = app.shared.ledger.read(work).await?;
    let rows = found.rows.into_iter().map(EventRow::from).collect();
    Ok(Json(Page::of(rows, found.next)))
}
