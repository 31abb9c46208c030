//! `POST /v1/runs/{id}/approval`: a program answers what its run asked. The key that owns the run answers, once; where
//! several things are open, `request_id` says which one is meant.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use talaria_domain::ids::{EventId, QuestionId};
use talaria_domain::machine::QuestionState;
use talaria_store::questions::{self as asked, Question};
use talaria_store::{Result as Stored, Tx, inbox, runs};

use super::super::refusal::Refusal;
use crate::access::keys::Caller;
use crate::contract::{Operation, Shape, words};
use crate::error::ApiError;
use crate::input::{Named, Sent};
use crate::questions::{self, Decision, RequestRow};
use crate::shared::App;

/// What a program decides.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Approval {
    decision: Decision,
    text: Option<String>,
    #[schemars(with = "Option<words::Id>")]
    request_id: Option<QuestionId>,
}

pub(super) fn described(run: &Shape) -> Operation {
    Operation::of("Answers what a run asked. The first answer counts.")
        .takes::<Approval>()
        .gives_shape(StatusCode::OK, run)
        .refuses(&[404, 409])
}

pub(super) async fn decide(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<EventId>,
    Sent(sent): Sent<Approval>,
) -> Result<Response, Refusal> {
    let turn = super::find(&app, &caller, id).await?;
    let choice = questions::choice(sent.decision, sent.text)?;
    let event = turn.event;
    let all = app.shared.ledger.read(move |tx| of_turn(tx, event)).await?;
    let meant = meant(&all, sent.request_id)?;
    questions::answer(&app, &caller, meant, choice).await?;
    super::status(&app, &turn).await
}

/// What a turn asked, oldest first.
fn of_turn(tx: &mut Tx<'_>, event: EventId) -> Stored<Vec<Question>> {
    let turn = inbox::get(tx, event)?.merged_into.unwrap_or(event);
    let mut all = Vec::new();
    for run in runs::for_event(tx, turn)? {
        all.extend(asked::of_run(tx, run.id)?);
    }
    Ok(all)
}

/// The one that is meant, or why none is.
fn meant(all: &[Question], named: Option<QuestionId>) -> Result<QuestionId, ApiError> {
    if let Some(id) = named {
        let is_there = all.iter().any(|question| question.asked.id == id);
        return Some(id)
            .filter(|_| is_there)
            .ok_or_else(|| ApiError::NotFound {
                message: format!("this run has no request {id}"),
            });
    }
    let open: Vec<QuestionId> = all
        .iter()
        .filter(|question| question.state == QuestionState::Open)
        .map(|question| question.asked.id)
        .collect();
    match (open.as_slice(), all.last()) {
        ([only], _) => Ok(*only),
        ([], Some(last)) => Err(questions::refusal(last)),
        ([], None) => Err(ApiError::Conflict {
            message: "the run asks nothing".to_owned(),
        }),
        _ => Err(ApiError::Conflict {
            message: "the run asks several things: name one of them in `request_id`".to_owned(),
        }),
    }
}

/// What a turn waits for, as programs see it; null most of the time.
pub(super) fn open(tx: &mut Tx<'_>, event: EventId) -> Stored<Value> {
    let open = of_turn(tx, event)?
        .into_iter()
        .find(|question| question.state == QuestionState::Open);
    Ok(open.map_or(Value::Null, |question| json!(RequestRow::from(question))))
}
