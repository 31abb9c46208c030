//! `/api/keys`: keys for programs and people. A key is shown once, in the answer that makes it.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use talaria_domain::secret::ExposeSecret as _;

use crate::access::keys::{self, FreshKey, KeyRow, Scope};
use crate::contract::words::line_of;
use crate::contract::{Operation, Routes};
use crate::error::ApiError;
use crate::input::{Filters, Named, Page, Sent};
use crate::shared::App;

/// How long a key's name may be.
const NAME: usize = 100;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/keys", list, || {
            Operation::of("Keys, without what is secret in them.")
                .lists::<KeyRow>(&json!({ "type": "string" }))
        })
        .post("/api/keys", create, || {
            let operation = Operation::of("Makes a key, and shows it this once.");
            operation
                .takes::<Creation>()
                .gives::<Created>(StatusCode::CREATED)
        })
        .delete("/api/keys/{id}", revoke, || {
            Operation::of("Takes a key back, at once.").gives_nothing(StatusCode::NO_CONTENT)
        })
}

async fn list(
    State(app): State<Arc<App>>,
    filters: Filters,
) -> Result<Json<Page<KeyRow, String>>, ApiError> {
    filters.only(&[])?;
    let (limit, after) = (filters.limit()?, filters.after::<String>()?);
    let mut rows = keys::list(&app.shared.ledger, &app.ring).await?;
    rows.retain(|row| after.as_ref().is_none_or(|after| row.id > *after));
    Ok(Json(Page::full(rows, limit, |row| row.id.clone())))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Creation {
    #[schemars(schema_with = "line_of::<NAME>")]
    name: String,
    #[schemars(length(min = 1))]
    scopes: BTreeSet<Scope>,
}

#[derive(Serialize, JsonSchema)]
struct Created {
    #[serde(flatten)]
    row: KeyRow,
    /// Shown here and never again.
    key: String,
}

async fn create(
    State(app): State<Arc<App>>,
    Sent(asked): Sent<Creation>,
) -> Result<(StatusCode, Json<Created>), ApiError> {
    let name = asked.name.trim().to_owned();
    let is_readable = !name.is_empty() && !name.chars().any(char::is_control);
    if !is_readable || name.chars().count() > NAME {
        let expected = format!("expected a name of 1 to {NAME} characters");
        return Err(ApiError::bad("name", expected));
    }
    if asked.scopes.is_empty() {
        return Err(ApiError::bad(
            "scopes",
            "expected at least one of chat, operator",
        ));
    }
    let now = app.now();
    let id = app.shared.ids.next(now).to_string();
    let fresh =
        FreshKey::make(id, name, asked.scopes, now).map_err(|error| ApiError::broken(&error))?;
    fresh.record(&app.shared.ledger).await?;
    let key = fresh.text.expose_secret().to_owned();
    let created = Created {
        row: fresh.row,
        key,
    };
    Ok((StatusCode::CREATED, Json(created)))
}

async fn revoke(
    State(app): State<Arc<App>>,
    Named(id): Named<String>,
) -> Result<StatusCode, ApiError> {
    if keys::revoke(&app.shared.ledger, &app.ring, id.clone()).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    let message = format!("there is no key {id}");
    Err(ApiError::NotFound { message })
}
