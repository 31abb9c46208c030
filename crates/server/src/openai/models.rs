//! `GET /v1/models`: profiles as models. Which profile a request is for is decided here, too.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use talaria_domain::names::ProfileName;

use super::refusal::Refusal;
use crate::contract::{Operation, Routes, Shape};
use crate::error::ApiError;
use crate::shared::App;

const PROFILE: &str = "x-talaria-profile";

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/v1/models", list, || {
            let all = json!({
                "type": "object",
                "properties": {
                    "object": { "const": "list" },
                    "data": { "type": "array", "items": shape() }
                },
                "required": ["object", "data"]
            });
            Operation::of("Profiles as models.").gives_shape(StatusCode::OK, &all)
        })
        .get("/v1/models/{model}", show, || {
            Operation::of("One profile as a model.").gives_shape(StatusCode::OK, &shape())
        })
}

/// A model as programs see it.
fn shape() -> Shape {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string" },
            "object": { "const": "model" },
            "created": { "type": "integer" },
            "owned_by": { "type": "string" }
        },
        "required": ["id", "object", "created", "owned_by"]
    })
}

/// Every profile that this listener can give a turn to.
fn profiles(app: &App) -> &[ProfileName] {
    &app.shared.profiles
}

fn model(app: &App, profile: &ProfileName) -> Value {
    let created = app.shared.about.started_at.as_millis() / 1_000;
    json!({ "id": profile, "object": "model", "created": created, "owned_by": "talaria" })
}

async fn list(State(app): State<Arc<App>>) -> Json<Value> {
    let models: Vec<Value> = profiles(&app)
        .iter()
        .map(|name| model(&app, name))
        .collect();
    Json(json!({ "object": "list", "data": models }))
}

async fn show(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let profile = named(&app, &name)?;
    Ok(Json(model(&app, profile)))
}

/// The profile that a request names: the header chooses before the body does.
pub(super) fn choose<'a>(
    app: &'a App,
    headers: &HeaderMap,
    model: Option<&str>,
) -> Result<Option<&'a ProfileName>, Refusal> {
    let header = headers.get(PROFILE).map(|value| value.to_str());
    let header = header.transpose().map_err(|_| ApiError::BadInput {
        param: None,
        message: format!("expected a profile's name in {PROFILE}"),
    })?;
    header.or(model).map(|name| named(app, name)).transpose()
}

fn named<'a>(app: &'a App, name: &str) -> Result<&'a ProfileName, Refusal> {
    let found = profiles(app).iter().find(|known| known.as_str() == name);
    found.ok_or_else(|| Refusal::UnknownModel {
        model: name.to_owned(),
    })
}
