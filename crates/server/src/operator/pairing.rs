//! `/api/pairing`: who waits to be let in, and who was. Nobody is shown a code: only whoever got it has it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use talaria_domain::principal::Role;

use crate::access::keys::Caller;
use crate::contract::{Operation, Routes};
use crate::doorkeeper::{Approval, Granted, Listing, NotSettled, Person, Waiting, Whom};
use crate::error::ApiError;
use crate::input::{Filters, Sent};
use crate::shared::App;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/pairing", list, || {
            Operation::of("Who waits to be let in, and who was.")
                .gives::<Listing>(StatusCode::OK)
                .refuses(&[400])
        })
        .post("/api/pairing/approve", approve, || {
            Operation::of("Lets somebody in, by their code or by their id.")
                .takes::<Approving>()
                .gives::<Granted>(StatusCode::OK)
                .refuses(&[404, 409])
        })
        .post("/api/pairing/deny", deny, || {
            Operation::of("Sends somebody away who waits. They are not told.")
                .takes::<Denying>()
                .gives::<Waiting>(StatusCode::OK)
                .refuses(&[404, 409])
        })
        .post("/api/pairing/revoke", revoke, || {
            Operation::of("Takes back what somebody was granted, at once.")
                .takes::<Revoking>()
                .gives_nothing(StatusCode::NO_CONTENT)
                .refuses(&[404])
        })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Approving {
    /// The code that somebody was given, or who they are: PLATFORM/ACCOUNT/USER.
    who: String,
    /// What they may do; a member, if nothing is said.
    #[schemars(schema_with = "role")]
    role: Option<Role>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Denying {
    /// The code that somebody was given, or who they are: PLATFORM/ACCOUNT/USER.
    who: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Revoking {
    /// PLATFORM/ACCOUNT/USER.
    #[schemars(regex(pattern = r"^[^/]+/[^/]+/[\s\S]"))]
    who: String,
}

fn role(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<Option<&str>> = Role::ALL
        .map(|role| Some(role.as_str()))
        .into_iter()
        .chain([None])
        .collect();
    json_schema!({ "enum": names })
}

async fn list(State(app): State<Arc<App>>, filters: Filters) -> Result<Json<Listing>, ApiError> {
    filters.only(&[])?;
    let listing = app.shared.doorkeeper.list().await;
    listing.map(Json).map_err(refused)
}

async fn approve(
    State(app): State<Arc<App>>,
    caller: Caller,
    Sent(asked): Sent<Approving>,
) -> Result<Json<Granted>, ApiError> {
    let approval = Approval {
        whom: Whom::parse(&asked.who),
        role: asked.role.unwrap_or(Role::Member),
        by: caller
            .principal
            .display_name
            .unwrap_or_else(|| caller.principal.user.to_string()),
    };
    let granted = app.shared.doorkeeper.approve(approval).await;
    granted.map(Json).map_err(refused)
}

async fn deny(
    State(app): State<Arc<App>>,
    Sent(asked): Sent<Denying>,
) -> Result<Json<Waiting>, ApiError> {
    let denied = app.shared.doorkeeper.deny(Whom::parse(&asked.who)).await;
    denied.map(Json).map_err(refused)
}

async fn revoke(
    State(app): State<Arc<App>>,
    Sent(asked): Sent<Revoking>,
) -> Result<StatusCode, ApiError> {
    let who = Person::parse(&asked.who);
    let who = who.ok_or_else(|| ApiError::bad("who", "expected PLATFORM/ACCOUNT/USER"))?;
    let revoked = app.shared.doorkeeper.revoke(who).await;
    revoked.map(|()| StatusCode::NO_CONTENT).map_err(refused)
}

pub(super) fn refused(not_settled: NotSettled) -> ApiError {
    match not_settled {
        NotSettled::NotFound { reason } => ApiError::NotFound { message: reason },
        NotSettled::Locked { reason } => ApiError::Conflict { message: reason },
        NotSettled::Retry { reason } => ApiError::Unavailable { cause: reason },
    }
}
