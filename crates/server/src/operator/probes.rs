//! `GET /healthz` and `GET /readyz`: for whoever starts and watches processes. The first says that we run, the second
//! that messages get in and out.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use talaria_store::{Ledger, dead};

use crate::contract::{Operation, Routes};
use crate::health::{Condition, PartReport};
use crate::shared::App;

/// How long the store may take to answer a look.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/healthz", healthz, || {
            let ok = json!({
                "type": "object",
                "properties": { "status": { "const": "ok" } },
                "required": ["status"]
            });
            Operation::of("Whether the process runs.").gives_shape(StatusCode::OK, &ok)
        })
        .get("/readyz", readyz, || {
            Operation::of("Whether messages get in and out.")
                .gives::<Readiness>(StatusCode::OK)
                .gives::<Readiness>(StatusCode::SERVICE_UNAVAILABLE)
        })
}

async fn healthz() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

#[derive(Serialize, JsonSchema)]
struct Readiness {
    ready: bool,
    parts: Vec<Ready>,
}

#[derive(Serialize, JsonSchema)]
struct Ready {
    name: String,
    state: Condition,
    detail: Option<String>,
}

async fn readyz(State(app): State<Arc<App>>) -> (StatusCode, Json<Readiness>) {
    let parts = parts(&app).await;
    let ready = parts.iter().all(|part| part.state.is_ready());
    let status = if ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let shown = |part: PartReport| Ready {
        name: part.name,
        state: part.state,
        detail: part.detail,
    };
    let parts = parts.into_iter().map(shown).collect();
    (status, Json(Readiness { ready, parts }))
}

/// What the gateway reports, and the store, which is asked here.
pub(super) async fn parts(app: &App) -> Vec<PartReport> {
    let mut parts = vec![store(&app.shared.ledger).await];
    parts.extend(app.shared.health.report().parts);
    parts
}

async fn store(ledger: &Ledger) -> PartReport {
    let look = tokio::time::timeout(PATIENCE, ledger.read(|tx| dead::list(tx, None, 1)));
    let (state, detail) = match look.await {
        Ok(Ok(_)) => (Condition::Connected, None),
        Ok(Err(error)) => (Condition::Stopped, Some(error.to_string())),
        Err(_) => (Condition::Stopped, Some("it does not answer".to_owned())),
    };
    PartReport {
        name: "store".to_owned(),
        state,
        detail,
        last_receive: None,
        last_send: None,
    }
}
