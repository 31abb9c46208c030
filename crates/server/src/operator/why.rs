//! `GET /api/why/{id}`: why somebody may talk or not, as it would be decided now, and who would answer.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;

use super::pairing::refused;
use crate::contract::{Operation, Routes};
use crate::doorkeeper::{Person, Supposed, Told};
use crate::error::ApiError;
use crate::input::{Filters, Named};
use crate::shared::App;

pub(super) fn routes() -> Routes {
    Routes::new().get("/api/why/{id}", why, || {
        let text = json!({ "type": "string" });
        Operation::of("Why somebody may talk or not, and who would answer.")
            .filter("chat", "Where; without it, in their own chat.", &text)
            .filter("thread", "In which thread of it.", &text)
            .filter("command", "With which command, if with one.", &text)
            .gives::<Told>(StatusCode::OK)
            .refuses(&[404])
    })
}

async fn why(
    State(app): State<Arc<App>>,
    Named(who): Named<String>,
    filters: Filters,
) -> Result<Json<Told>, ApiError> {
    filters.only(&["chat", "thread", "command"])?;
    let nobody = || ApiError::NotFound {
        message: format!("expected PLATFORM/ACCOUNT/USER, found {who:?}"),
    };
    let supposed = Supposed {
        who: Person::parse(&who).ok_or_else(nobody)?,
        chat: filters.id::<String>("chat")?.map(Into::into),
        thread: filters.id::<String>("thread")?.map(Into::into),
        command: filters.id("command")?,
    };
    let told = app.shared.doorkeeper.why(supposed);
    told.map(Json).map_err(refused)
}
