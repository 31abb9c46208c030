//! `/api/sessions/{id}/questions`: what a conversation waits for, and answering it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;
use talaria_domain::ids::{QuestionId, SessionId};
use talaria_store::{Tx, sessions};

use crate::access::keys::Caller;
use crate::contract::{Operation, Routes, words};
use crate::error::ApiError;
use crate::input::{Named, Page, Sent};
use crate::questions::{self, Decision, RequestRow};
use crate::shared::App;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/sessions/{id}/questions", list, || {
            let operation = Operation::of("What a conversation waits for, oldest first.");
            operation.gives_page::<RequestRow>(&words::id())
        })
        .post("/api/questions/{id}", answer, || {
            let operation = Operation::of("Answers what a run asked. The first answer counts.");
            operation
                .takes::<Answering>()
                .gives_nothing(StatusCode::NO_CONTENT)
                .refuses(&[404, 409])
        })
}

async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<SessionId>,
) -> Result<Json<Page<RequestRow, QuestionId>>, ApiError> {
    let owner = caller.owner();
    let work = move |tx: &mut Tx<'_>| {
        sessions::get_owned(tx, owner, id)?;
        talaria_store::questions::open_in(tx, id)
    };
    let open = app.shared.ledger.read(work).await?;
    let rows = open.into_iter().map(RequestRow::from).collect();
    Ok(Json(Page::of(rows, None)))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Answering {
    decision: Decision,
    text: Option<String>,
}

async fn answer(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<QuestionId>,
    Sent(asked): Sent<Answering>,
) -> Result<StatusCode, ApiError> {
    let choice = questions::choice(asked.decision, asked.text)?;
    questions::answer(&app, &caller, id, choice).await?;
    Ok(StatusCode::NO_CONTENT)
}
