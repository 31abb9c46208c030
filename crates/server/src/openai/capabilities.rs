//! `GET /v1/capabilities`: what this gateway can do for programs, so that nobody has to probe.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::contract::{Operation, Routes};
use crate::shared::App;

pub(super) fn routes() -> Routes {
    Routes::new().get("/v1/capabilities", show, || {
        let all = json!({
            "type": "object",
            "properties": {
                "object": { "const": "talaria.capabilities" },
                "version": { "type": "string" },
                "features": { "type": "object", "additionalProperties": { "type": "boolean" } },
                "options": { "type": "array", "items": { "type": "string" } },
                "endpoints": { "type": "array", "items": { "type": "string" } }
            },
            "required": ["object", "version", "features", "options", "endpoints"]
        });
        Operation::of("What this gateway can do.").gives_shape(StatusCode::OK, &all)
    })
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
            "run_approval": true,
            "sessions": true,
            "idempotency_keys": true,
            "async_delivery": false,
            "callbacks": app.shared.callback.is_some(),
        },
        "options": super::completions::OPTIONS,
        "endpoints": [
            "GET /v1/models",
            "GET /v1/models/{model}",
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
            "POST /v1/runs/{id}/approval",
            "GET /v1/jobs/{id}",
        ],
    }))
}
