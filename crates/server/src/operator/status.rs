//! `GET /api/status`: the gateway on one screen.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use talaria_domain::clock::Timestamp;
use talaria_domain::machine::{InboxState, Machine, PartState, RunState};
use talaria_store::views;

use super::probes;
use crate::contract::{Operation, Routes, words};
use crate::error::ApiError;
use crate::health::PartReport;
use crate::shared::App;

pub(super) fn routes() -> Routes {
    Routes::new().get("/api/status", status, || {
        Operation::of("The gateway on one screen.").gives::<Status>(StatusCode::OK)
    })
}

#[derive(Serialize, JsonSchema)]
struct Status {
    version: String,
    profile: String,
    model: String,
    store: String,
    #[schemars(with = "words::Time")]
    started_at: Timestamp,
    listen: String,
    parts: Vec<PartReport>,
    lanes: Lanes,
    inbox: Inbox,
    outbox: Outbox,
    dead: i64,
}

#[derive(Serialize, JsonSchema)]
struct Lanes {
    open: i64,
    running: usize,
    /// Runs that wait for a person.
    waiting: i64,
}

#[derive(Serialize, JsonSchema)]
struct Inbox {
    queued: i64,
    claimed: i64,
}

#[derive(Serialize, JsonSchema)]
struct Outbox {
    queued: i64,
    sending: i64,
    retry: i64,
    doubted: i64,
    unknown: i64,
    #[schemars(with = "Option<words::Time>")]
    oldest_undelivered: Option<Timestamp>,
}

async fn status(State(app): State<Arc<App>>) -> Result<Json<Status>, ApiError> {
    let counts = app.shared.ledger.read(views::counts).await?;
    let about = app.shared.about.clone();
    Ok(Json(Status {
        version: about.version,
        profile: app.shared.profile.to_string(),
        model: about.model,
        store: about.store,
        started_at: about.started_at,
        listen: app.listen.to_string(),
        parts: probes::parts(&app).await,
        lanes: Lanes {
            open: counts.lanes,
            running: app.shared.health.report().lanes_running,
            waiting: of(&counts.runs, RunState::Waiting),
        },
        inbox: Inbox {
            queued: of(&counts.inbox, InboxState::Queued),
            claimed: of(&counts.inbox, InboxState::Claimed),
        },
        outbox: Outbox {
            queued: of(&counts.outbox, PartState::Queued),
            sending: of(&counts.outbox, PartState::Sending),
            retry: of(&counts.outbox, PartState::Retry),
            doubted: of(&counts.outbox, PartState::Doubted),
            unknown: counts.unknown,
            oldest_undelivered: counts.oldest_undelivered,
        },
        dead: counts.dead,
    }))
}

/// How many are in a state.
pub(super) fn of<M: Machine + Ord>(counts: &BTreeMap<M, i64>, state: M) -> i64 {
    counts.get(&state).copied().unwrap_or(0)
}
