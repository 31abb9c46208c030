//! `/api/sessions/{id}/messages`: what was said, and saying something. A message goes to the place that the conversation
//! is at, through the same intake as everything else that arrives.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use talaria_domain::adapter::{Accepted, NotAccepted};
use talaria_domain::clock::Timestamp;
use talaria_domain::digest::Fields;
use talaria_domain::event::{Content, DedupeKey, Event, EventKind, Mention, Wishes};
use talaria_domain::ids::{EventId, RunId, SessionId};
use talaria_domain::names::MessageId;
use talaria_domain::runner::Speaker;
use talaria_store::transcripts::{self, Entry, Visibility};
use talaria_store::{Tx, sessions};

use crate::access::keys::Caller;
use crate::contract::{Operation, Routes, words};
use crate::error::ApiError;
use crate::input::{Filters, Named, Page, Sent};
use crate::output;
use crate::places::Place;
use crate::shared::App;

/// How long a client's own id may be.
const CLIENT_ID: usize = 128;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/sessions/{id}/messages", list, || {
            Operation::of("What was said, in order.").lists::<MessageRow>(&words::number())
        })
        .post("/api/sessions/{id}/messages", post, || {
            let event = json!({ "type": "string", "format": "uuid" });
            let taken = json!({
                "type": "object",
                "properties": { "event_id": event, "session_id": event },
                "required": ["event_id", "session_id"]
            });
            let again = json!({
                "type": "object",
                "properties": { "event_id": event, "duplicate": { "const": true } },
                "required": ["event_id", "duplicate"]
            });
            Operation::of("Says something. What comes of it is told by the events.")
                .takes::<Posting>()
                .gives_shape(StatusCode::ACCEPTED, &taken)
                .gives_shape(StatusCode::OK, &again)
                .refuses(&[409])
        })
}

#[derive(Serialize, JsonSchema)]
struct MessageRow {
    seq: i64,
    #[schemars(with = "words::Name")]
    speaker: Speaker,
    text: String,
    /// Tool calls, attachments: whatever the model is shown beside the words.
    #[schemars(with = "words::Anything")]
    detail: Value,
    #[schemars(with = "Option<words::Id>")]
    run_id: Option<RunId>,
    visibility: &'static str,
    #[schemars(with = "words::Time")]
    at: Timestamp,
}

impl From<Entry> for MessageRow {
    fn from(entry: Entry) -> Self {
        Self {
            seq: entry.seq,
            speaker: entry.speaker,
            text: entry.text,
            detail: entry.detail,
            run_id: entry.run,
            visibility: entry.visibility.as_str(),
            at: entry.at,
        }
    }
}

async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<SessionId>,
    filters: Filters,
) -> Result<Json<Page<MessageRow, i64>>, ApiError> {
    filters.only(&[])?;
    let (limit, after, owner) = (filters.limit()?, filters.after()?, caller.owner());
    let work = move |tx: &mut Tx<'_>| {
        sessions::get_owned(tx, owner, id)?;
        transcripts::page(tx, id, after.unwrap_or(0), limit + 1)
    };
    let mut entries = app.shared.ledger.read(work).await?;
    let is_more = entries.len() > limit as usize;
    entries.truncate(limit as usize);
    let next = entries.last().filter(|_| is_more).map(|entry| entry.seq);
    // What was undone was not said.
    entries.retain(|entry| entry.visibility != Visibility::Undone);
    let rows = entries.into_iter().map(MessageRow::from).collect();
    Ok(Json(Page::of(rows, next)))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Posting {
    #[schemars(regex(pattern = r"\S"))]
    text: String,
    #[schemars(length(max = CLIENT_ID), regex(pattern = "^[!-~]+$"))]
    id: Option<String>,
}

/// The answer to something that was said.
#[derive(Serialize)]
struct Recorded {
    event_id: EventId,
    session_id: SessionId,
}

async fn post(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(session): Named<SessionId>,
    Sent(asked): Sent<Posting>,
) -> Result<Response, ApiError> {
    if asked.text.trim().is_empty() {
        return Err(ApiError::bad("text", "expected some text, found none"));
    }
    let is_id = |id: &str| {
        let is_visible = id.chars().all(|char| char.is_ascii_graphic());
        is_visible && (1..=CLIENT_ID).contains(&id.len())
    };
    if asked.id.as_deref().is_some_and(|id| !is_id(id)) {
        let expected = format!("expected 1 to {CLIENT_ID} visible ASCII characters");
        return Err(ApiError::bad("id", expected));
    }
    let place = Place::find(&app, &caller, session).await?;
    let event = event(&app, caller.clone(), place, asked);
    answer(app.shared.intake.accept(event).await, &caller)
}

fn event(app: &App, caller: Caller, place: Place, asked: Posting) -> Event {
    let Place { address, profile } = place;
    let wishes = (profile != app.shared.profile).then(|| {
        Box::new(Wishes {
            profile: Some(profile),
            ..Wishes::default()
        })
    });
    let now = app.now();
    let id = EventId::next(&*app.shared.ids, now);
    // A client's id is its own: nobody else's message is taken for it, and not one of another chat.
    let token = asked.id.as_deref().map(|client| {
        let fields = Fields::of("client message").text(&caller.owner().0.to_string());
        fields
            .text(address.chat.as_str())
            .text(client)
            .digest()
            .to_string()
    });
    let dedupe = match token {
        Some(token) => DedupeKey::derive(&address.platform, &address.account, &token),
        None => DedupeKey::own(id),
    };
    let message = asked.id.unwrap_or_else(|| id.to_string());
    Event {
        id,
        dedupe,
        address,
        principal: caller.principal,
        message: Some(MessageId::from(message)),
        // Also where it is a command: intake knows them, for every surface alike.
        kind: EventKind::Message(Content {
            text: asked.text,
            mention: Mention::Direct,
            wishes,
            ..Content::default()
        }),
        sent_at: None,
        received_at: now,
    }
}

fn answer(accepted: Result<Accepted, NotAccepted>, caller: &Caller) -> Result<Response, ApiError> {
    match accepted {
        Ok(Accepted::Recorded { event, session } | Accepted::CrowdedOut { event, session }) => {
            let body = Recorded {
                event_id: event,
                session_id: session,
            };
            Ok(output::json(StatusCode::ACCEPTED, &body))
        }
        Ok(Accepted::Duplicate { first }) => {
            let body = json!({ "event_id": first, "duplicate": true });
            Ok(Json(body).into_response())
        }
        Ok(Accepted::Refused { reason }) => {
            let told = format!("the gateway does not accept this: {reason}");
            let message = if caller.is_owner() {
                told
            } else {
                "the gateway does not accept messages with this key".to_owned()
            };
            Err(ApiError::Forbidden { message })
        }
        Err(NotAccepted { reason }) => Err(ApiError::Unavailable { cause: reason }),
    }
}
