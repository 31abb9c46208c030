//! `GET /v1/capabilities`: what this gateway can do for programs, so that nobody has to probe.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::shared::App;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/v1/capabilities", get(show))
}

async fn show(State(app): State<Arc<App>>) -> Json<Value> {
    Json(json!({
        "object": "talaria.capabilities",
        "version": app.shared.about.version,
        "features": {
            "chat_completions": true,
            "streaming": true,
            "stream_usage": true,
            "image_input": true,
            "client_tools": false,
            "multiple_choices": false,
            "responses": true,
            "runs": true,
            "run_events_replay": true,
            "run_approval": false,
            "sessions": true,
            "idempotency_keys": true,
            "async_delivery": false,
        },
        "options": super::completions::OPTIONS,
        "endpoints": [
            "GET /v1/models",
            "GET /v1/capabilities",
            "POST /v1/chat/completions",
            "POST /v1/responses",
            "GET /v1/responses/{id}",
            "DELETE /v1/responses/{id}",
            "POST /v1/responses/{id}/cancel",
            "POST /v1/runs",
            "GET /v1/runs/{id}",
            "GET /v1/runs/{id}/events",
            "POST /v1/runs/{id}/cancel",
            "GET /v1/jobs/{id}",
        ],
    }))
}
