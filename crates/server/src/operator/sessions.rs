//! `/api/sessions`: the caller's conversations. Whoever asks is part of every look-up.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use talaria_domain::clock::Timestamp;
use talaria_domain::delivery::Reply;
use talaria_domain::event::EventKind;
use talaria_domain::ids::{EventId, ReplyId, RunId, SessionId};
use talaria_domain::machine::SessionState;
use talaria_domain::names::ChatId;
use talaria_domain::principal::PrincipalKey;
use talaria_domain::session_key::{SessionKey, Sharing, Source};
use talaria_store::inbox::InboxRow;
use talaria_store::sessions::{self, Opening, Session};
use talaria_store::views::{self, ReplyView};
use talaria_store::{StoreError, Tx};

use crate::access::keys::Caller;
use crate::error::ApiError;
use crate::input::{Filters, Named, Page, Sent};
use crate::shared::App;
use crate::surfaces::Surface;

/// How long a title may be.
const TITLE: usize = 200;

/// How much of what waits, and of what the gateway said, is shown with a conversation.
const ASIDE: u32 = 50;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/api/sessions", get(list).post(create))
        .route("/api/sessions/{id}", get(show).patch(rename))
        .route("/api/sessions/{id}/notices", get(notices))
}

#[derive(Serialize)]
struct SessionRow {
    id: SessionId,
    title: Option<String>,
    state: SessionState,
    created_at: Timestamp,
    updated_at: Timestamp,
    generation: u32,
    parent: Option<SessionId>,
    last_seq: i64,
}

impl From<Session> for SessionRow {
    fn from(session: Session) -> Self {
        Self {
            id: session.id,
            title: session.title,
            state: session.state,
            created_at: session.created_at,
            updated_at: session.updated_at,
            generation: session.generation,
            parent: session.parent,
            last_seq: session.last_seq,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Creation {
    title: Option<String>,
    #[serde(default)]
    surface: Surface,
}

async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Sent(asked): Sent<Creation>,
) -> Result<(StatusCode, Json<SessionRow>), ApiError> {
    let title = asked.title.as_deref().map(readable_title).transpose()?;
    let (now, ids) = (app.now(), &*app.shared.ids);
    let address = asked
        .surface
        .address(ChatId::from(ids.next(now).to_string()));
    let source = Source::of(&address, &caller.principal);
    let key = SessionKey::derive(&app.shared.profile, &source, Sharing::default());
    let owner = caller.owner();
    let opening = Opening::of(key, owner, SessionId::next(ids, now), now);
    let work = move |tx: &mut Tx<'_>| {
        let session = sessions::resolve(tx, &opening)?;
        if let Some(title) = &title {
            sessions::set_title(tx, owner, session, title)?;
        }
        sessions::get_owned(tx, owner, session)
    };
    let session = app.shared.ledger.write(work).await?;
    Ok((StatusCode::CREATED, Json(session.into())))
}

fn readable_title(title: &str) -> Result<String, ApiError> {
    let title = title.trim();
    let is_readable = !title.is_empty() && !title.chars().any(char::is_control);
    if is_readable && title.chars().count() <= TITLE {
        return Ok(title.to_owned());
    }
    let expected = format!("expected a title of one line with 1 to {TITLE} characters");
    Err(ApiError::bad("title", expected))
}

async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    filters: Filters,
) -> Result<Json<Page<SessionRow, SessionId>>, ApiError> {
    filters.only(&[])?;
    let (limit, after, owner) = (filters.limit()?, filters.after()?, caller.owner());
    let work = move |tx: &mut Tx<'_>| sessions::list(tx, owner, after, limit + 1);
    let found = app.shared.ledger.read(work).await?;
    let rows: Vec<SessionRow> = found.into_iter().map(SessionRow::from).collect();
    Ok(Json(Page::full(rows, limit, |row| row.id)))
}

/// One conversation, with what is going on in it.
#[derive(Serialize)]
struct SessionPage {
    #[serde(flatten)]
    session: SessionRow,
    /// The session that a message to this one would be part of: another one after `/new`.
    current: SessionId,
    /// The run under way.
    running: Option<RunId>,
    /// What was sent and has not had its turn.
    waiting: Vec<Waiting>,
}

#[derive(Serialize)]
struct Waiting {
    event_id: EventId,
    text: String,
    at: Timestamp,
}

impl Waiting {
    fn of(row: InboxRow) -> Option<Self> {
        let EventKind::Message(content) = row.event.kind else {
            return None;
        };
        Some(Self {
            event_id: row.event.id,
            text: content.text,
            at: row.event.received_at,
        })
    }
}

async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<SessionId>,
) -> Result<Json<SessionPage>, ApiError> {
    let owner = caller.owner();
    let work = move |tx: &mut Tx<'_>| page(tx, owner, id);
    Ok(Json(app.shared.ledger.read(work).await?))
}

fn page(tx: &mut Tx<'_>, owner: PrincipalKey, id: SessionId) -> Result<SessionPage, StoreError> {
    let session = sessions::get_owned(tx, owner, id)?;
    let waiting = views::waiting(tx, id, ASIDE)?;
    Ok(SessionPage {
        current: sessions::current(tx, session.key)?.unwrap_or(id),
        running: views::running(tx, id)?,
        waiting: waiting.into_iter().filter_map(Waiting::of).collect(),
        session: session.into(),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Renaming {
    title: String,
}

async fn rename(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<SessionId>,
    Sent(asked): Sent<Renaming>,
) -> Result<Json<SessionRow>, ApiError> {
    let (title, owner) = (readable_title(&asked.title)?, caller.owner());
    let work = move |tx: &mut Tx<'_>| {
        sessions::set_title(tx, owner, id, &title)?;
        sessions::get_owned(tx, owner, id)
    };
    Ok(Json(app.shared.ledger.write(work).await?.into()))
}

#[derive(Serialize)]
struct Notice {
    reply_id: ReplyId,
    run_id: Option<RunId>,
    text: String,
    at: Timestamp,
}

impl From<ReplyView> for Notice {
    fn from(view: ReplyView) -> Self {
        let Reply { id, run, text, .. } = view.reply;
        Self {
            reply_id: id,
            run_id: run,
            text,
            at: view.created_at,
        }
    }
}

/// What the gateway itself said lately: it is not part of the transcript, and still was said here.
async fn notices(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<SessionId>,
) -> Result<Json<Page<Notice, ReplyId>>, ApiError> {
    let owner = caller.owner();
    let work = move |tx: &mut Tx<'_>| {
        sessions::get_owned(tx, owner, id)?;
        views::notices(tx, id, ASIDE)
    };
    let said = app.shared.ledger.read(work).await?;
    Ok(Json(Page::of(
        said.into_iter().map(Notice::from).collect(),
        None,
    )))
}
