//! Answering what a run asked, over HTTP. The answer goes through intake like everything that people say; whether it was
//! taken is what the ledger says afterwards, so that of two who answer one is told that they were too late.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use talaria_domain::adapter::{Accepted, NotAccepted};
use talaria_domain::address::Address;
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{DedupeKey, Event, EventKind};
use talaria_domain::ids::{EventId, QuestionId, RunId};
use talaria_domain::machine::QuestionState;
use talaria_domain::question::{Button, Choice};
use talaria_domain::run::Action;
use talaria_store::questions::{self, Question};
use talaria_store::{StoreError, Tx, keys, sessions};

use crate::access::keys::Caller;
use crate::contract::words;
use crate::error::ApiError;
use crate::shared::App;
use crate::surfaces;

/// How long an answer may be.
const LONGEST: usize = 20_000;

/// What somebody decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    /// Yes.
    Approve,
    /// No.
    Deny,
    /// In words: `text` has them.
    Answer,
}

/// The choice that is meant, or what is missing.
pub(crate) fn choice(decision: Decision, text: Option<String>) -> Result<Choice, ApiError> {
    match (decision, text) {
        (Decision::Approve, None) => Ok(Choice::Approve),
        (Decision::Deny, None) => Ok(Choice::Deny),
        (Decision::Answer, Some(text)) if text.trim().is_empty() => {
            Err(ApiError::bad("text", "expected some text, found none"))
        }
        (Decision::Answer, Some(text)) if text.len() > LONGEST => {
            let expected = format!("expected at most {LONGEST} bytes");
            Err(ApiError::bad("text", expected))
        }
        (Decision::Answer, Some(text)) => Ok(Choice::Answer { text }),
        (Decision::Answer, None) => Err(ApiError::bad("text", "expected some text, found none")),
        (Decision::Approve | Decision::Deny, Some(_)) => Err(ApiError::bad(
            "text",
            "expected none beside `approve` and `deny`",
        )),
    }
}

/// A question as programs see it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RequestRow {
    #[schemars(with = "words::Id")]
    request_id: QuestionId,
    #[schemars(with = "words::Id")]
    run_id: RunId,
    /// What people call it.
    code: String,
    /// `approval` or `question`.
    kind: &'static str,
    text: String,
    /// What may be answered; empty means anything.
    choices: Vec<String>,
    /// What each button says.
    buttons: Vec<String>,
    #[schemars(with = "words::Time")]
    asked_at: Timestamp,
    #[schemars(with = "words::Time")]
    expires_at: Timestamp,
}

impl From<Question> for RequestRow {
    fn from(question: Question) -> Self {
        let asked = question.asked;
        let buttons = Button::all(&asked.action).into_iter();
        let buttons = buttons.map(|button| button.label).collect();
        let (kind, text, choices) = match asked.action {
            Action::Approval { effect } => ("approval", effect, Vec::new()),
            Action::Question { text, choices } => ("question", text, choices),
        };
        Self {
            request_id: asked.id,
            run_id: asked.run,
            code: asked.code,
            kind,
            text,
            choices,
            buttons,
            asked_at: asked.asked_at,
            expires_at: asked.expires_at,
        }
    }
}

/// Answers a question of the caller's.
pub(crate) async fn answer(
    app: &App,
    caller: &Caller,
    question: QuestionId,
    choice: Choice,
) -> Result<(), ApiError> {
    let (asked, address) = find(app, caller, question).await?;
    let now = app.now();
    let id = EventId::next(&*app.shared.ids, now);
    let event = Event {
        id,
        dedupe: DedupeKey::own(id),
        address,
        principal: caller.principal.clone(),
        message: None,
        kind: EventKind::Pressed {
            token: asked.asked.token,
            choice,
        },
        sent_at: None,
        received_at: now,
    };
    match app.shared.intake.accept(event).await {
        Ok(
            Accepted::Recorded { .. } | Accepted::CrowdedOut { .. } | Accepted::Duplicate { .. },
        ) => {}
        Ok(Accepted::Refused { .. }) => {
            let message = "the gateway does not accept messages with this key".to_owned();
            return Err(ApiError::Forbidden { message });
        }
        Err(NotAccepted { reason }) => return Err(ApiError::Unavailable { cause: reason }),
    }
    let after = app
        .shared
        .ledger
        .read(move |tx| questions::get(tx, question))
        .await?;
    if after.answer_event == Some(id) {
        return Ok(());
    }
    Err(refusal(&after))
}

/// Why something was not taken as the answer.
pub(crate) fn refusal(question: &Question) -> ApiError {
    let message = match (question.state, &question.asked.action) {
        (QuestionState::Answered, _) => "it was answered already".to_owned(),
        (QuestionState::Expired, _) => {
            "nobody answered in time: it is not open any more".to_owned()
        }
        (QuestionState::Withdrawn, _) => "it is not open any more: its run has ended".to_owned(),
        (QuestionState::Open, Action::Approval { .. }) => {
            "expected `approve` or `deny`, and somebody who may".to_owned()
        }
        (QuestionState::Open, Action::Question { choices, .. }) if choices.is_empty() => {
            "expected `answer` with a text, and somebody who may".to_owned()
        }
        (QuestionState::Open, Action::Question { choices, .. }) => {
            format!("expected `answer` with one of: {}", choices.join(", "))
        }
    };
    ApiError::Conflict { message }
}

/// A question of the caller's, and where it was asked.
async fn find(app: &App, caller: &Caller, id: QuestionId) -> Result<(Question, Address), ApiError> {
    let owner = caller.owner();
    let work = move |tx: &mut Tx<'_>| {
        let question = questions::get(tx, id)?;
        let session = sessions::get_owned(tx, owner, question.asked.session)?;
        Ok((question, keys::origin(tx, session.key)?))
    };
    let unknown = |error| match error {
        StoreError::NotFound { .. } => ApiError::NotFound {
            message: format!("there is no request {id}"),
        },
        error => error.into(),
    };
    let (question, key) = app.shared.ledger.read(work).await.map_err(unknown)?;
    let elsewhere = || ApiError::Conflict {
        message: format!(
            "this conversation takes place on {}: answer there",
            key.platform
        ),
    };
    let address = surfaces::place(&key).ok_or_else(elsewhere)?;
    Ok((question, address))
}
