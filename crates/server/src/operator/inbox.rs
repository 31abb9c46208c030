//! `GET /api/inbox?state=&session=`: what was accepted, newest first.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
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

use crate::contract::{Operation, Routes, words};
use crate::error::ApiError;
use crate::input::{Filters, Page};
use crate::shared::App;

pub(super) fn routes() -> Routes {
    Routes::new().get("/api/inbox", list, || {
        Operation::of("What was accepted, newest first.")
            .filter(
                "state",
                "Only in this state.",
                &words::one_state::<InboxState>(),
            )
            .filter("session", "Only of this conversation.", &words::id())
            .lists::<EventRow>(&words::number())
    })
}

/// An event without its words: those are in its trace.
#[derive(Serialize, JsonSchema)]
pub(super) struct EventRow {
    #[schemars(with = "words::Id")]
    id: EventId,
    #[schemars(with = "words::Id")]
    session_id: SessionId,
    seq: i64,
    #[schemars(schema_with = "words::state::<InboxState>")]
    state: InboxState,
    kind: &'static str,
    #[schemars(with = "words::Address")]
    address: Address,
    #[schemars(with = "words::Principal")]
    principal: Principal,
    #[schemars(with = "Option<words::Name>")]
    message: Option<MessageId>,
    attempts: u32,
    #[schemars(with = "Option<words::Id>")]
    run_id: Option<RunId>,
    #[schemars(with = "Option<words::Id>")]
    merged_into: Option<EventId>,
    reason: Option<String>,
    #[schemars(with = "Option<words::Name>")]
    busy: Option<BusyPolicy>,
    #[schemars(with = "words::Time")]
    not_before: Timestamp,
    #[schemars(with = "Option<words::Time>")]
    sent_at: Option<Timestamp>,
    #[schemars(with = "words::Time")]
    received_at: Timestamp,
    #[schemars(with = "Option<words::Time>")]
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
