//! `POST /api/login`: a fresh one-time link for a browser. It makes the browser the operator's, so only the operator's own
//! keys get one: a key that was made for somebody else does not become them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::access::keys::Caller;
use crate::access::login::{NoLink, login_link};
use crate::contract::{Operation, Routes};
use crate::error::ApiError;
use crate::input::Sent;
use crate::shared::App;

pub(super) fn routes() -> Routes {
    Routes::new().post("/api/login", login, || {
        let url = json!({
            "type": "object",
            "properties": { "url": { "type": "string" } },
            "required": ["url"]
        });
        Operation::of("A one-time link that makes a browser the operator's.")
            .takes::<Nothing>()
            .gives_shape(StatusCode::CREATED, &url)
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

async fn login(
    State(app): State<Arc<App>>,
    caller: Caller,
    Sent(Nothing {}): Sent<Nothing>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    if !caller.is_owner() {
        let message = "only the operator's own key makes a login".to_owned();
        return Err(ApiError::Forbidden { message });
    }
    let link = login_link(&app.shared.ledger, app.now()).await;
    let url = link.map_err(|error| match error {
        NoLink::NoEntropy(error) => ApiError::broken(&error),
        NoLink::Store(error) => error.into(),
    })?;
    Ok((StatusCode::CREATED, Json(json!({ "url": url }))))
}
