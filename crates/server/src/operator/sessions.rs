//! `/api/sessions`: the caller's conversations. Whoever asks is part of every look-up.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use talaria_domain::address::Address;
use talaria_domain::clock::Timestamp;
use talaria_domain::delivery::Reply;
use talaria_domain::event::EventKind;
use talaria_domain::ids::{EventId, ReplyId, RunId, SessionId};
use talaria_domain::machine::SessionState;
use talaria_domain::names::{ChatId, ProfileName};
use talaria_domain::principal::PrincipalKey;
use talaria_domain::session_key::{SessionKey, Sharing, Source};
use talaria_store::erasure::{self, Erased};
use talaria_store::inbox::InboxRow;
use talaria_store::sessions::{self, Opening, Session};
use talaria_store::views::{self, ReplyView};
use talaria_store::{StoreError, Tx, forking, keys};

use crate::access::keys::Caller;
use crate::contract::{Operation, Routes, words};
use crate::error::ApiError;
use crate::input::{Filters, Named, Page, Sent};
use crate::shared::App;
use crate::surfaces::{self, Surface};

/// How long a title may be.
const TITLE: usize = 200;

/// How much of what waits, and of what the gateway said, is shown with a conversation.
const ASIDE: u32 = 50;

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/api/sessions", list, || {
            Operation::of("The caller's conversations, newest first.")
                .lists::<SessionRow>(&words::id())
        })
        .post("/api/sessions", create, || {
            let operation = Operation::of("Begins a conversation.");
            operation
                .takes::<Creation>()
                .gives::<SessionRow>(StatusCode::CREATED)
        })
        .get("/api/sessions/{id}", show, || {
            let operation = Operation::of("One conversation, with what is going on in it.");
            operation.gives::<SessionPage>(StatusCode::OK)
        })
        .patch("/api/sessions/{id}", rename, || {
            let operation = Operation::of("Names a conversation.");
            operation
                .takes::<Renaming>()
                .gives::<SessionRow>(StatusCode::OK)
        })
        .delete("/api/sessions/{id}", erase, || {
            Operation::of("Erases a conversation with every word of it.")
                .gives_nothing(StatusCode::NO_CONTENT)
                .refuses(&[409])
        })
        .post("/api/sessions/{id}/fork", fork, || {
            let operation = Operation::of("A new conversation with the history so far.");
            operation
                .takes::<Forking>()
                .gives::<SessionRow>(StatusCode::CREATED)
        })
        .get("/api/sessions/{id}/notices", notices, || {
            let operation = Operation::of("What the gateway itself said lately.");
            operation.gives_page::<Notice>(&words::id())
        })
}

#[derive(Serialize, JsonSchema)]
struct SessionRow {
    #[schemars(with = "words::Id")]
    id: SessionId,
    title: Option<String>,
    #[schemars(schema_with = "words::state::<SessionState>")]
    state: SessionState,
    #[schemars(with = "words::Time")]
    created_at: Timestamp,
    #[schemars(with = "words::Time")]
    updated_at: Timestamp,
    generation: u32,
    #[schemars(with = "Option<words::Id>")]
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

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Creation {
    #[schemars(schema_with = "words::maybe_line_of::<TITLE>")]
    #[serde(default)]
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
    let opening = opening(&app, &caller, &address, &app.shared.profile);
    let owner = caller.owner();
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
#[derive(Serialize, JsonSchema)]
struct SessionPage {
    #[serde(flatten)]
    session: SessionRow,
    /// The session that a message to this one would be part of: another one after `/new`.
    #[schemars(with = "words::Id")]
    current: SessionId,
    /// The run under way.
    #[schemars(with = "Option<words::Id>")]
    running: Option<RunId>,
    /// What was sent and has not had its turn.
    waiting: Vec<Waiting>,
}

#[derive(Serialize, JsonSchema)]
struct Waiting {
    #[schemars(with = "words::Id")]
    event_id: EventId,
    text: String,
    #[schemars(with = "words::Time")]
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
        current: keys::current(tx, session.key)?.unwrap_or(id),
        running: views::running(tx, id)?,
        waiting: waiting.into_iter().filter_map(Waiting::of).collect(),
        session: session.into(),
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Renaming {
    #[schemars(schema_with = "words::line_of::<TITLE>")]
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

#[derive(Serialize, JsonSchema)]
struct Notice {
    #[schemars(with = "words::Id")]
    reply_id: ReplyId,
    #[schemars(with = "Option<words::Id>")]
    run_id: Option<RunId>,
    text: String,
    #[schemars(with = "words::Time")]
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

/// How often it is looked again while a conversation goes on.
const LOOKS: usize = 5;

/// Nothing that is under way is torn down: whoever wants it to end stops it first.
async fn erase(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<SessionId>,
) -> Result<StatusCode, ApiError> {
    let owner = caller.owner();
    for _ in 0..LOOKS {
        let survey = move |tx: &mut Tx<'_>| erasure::survey(tx, owner, id);
        let estate = app.shared.ledger.read(survey).await?;
        let work = move |tx: &mut Tx<'_>| erasure::erase(tx, &estate);
        match app.shared.ledger.write(work).await? {
            Erased::Gone => {
                app.places.forget(id);
                return Ok(StatusCode::NO_CONTENT);
            }
            Erased::Busy => break,
            Erased::Moved => {}
        }
    }
    let message = "something is under way in this conversation: stop it or wait, then erase it";
    Err(ApiError::Conflict {
        message: message.to_owned(),
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Forking {
    #[schemars(schema_with = "words::maybe_line_of::<TITLE>")]
    #[serde(default)]
    title: Option<String>,
}

/// On the same surface; one that took place elsewhere goes on at the page.
async fn fork(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<SessionId>,
    Sent(asked): Sent<Forking>,
) -> Result<(StatusCode, Json<SessionRow>), ApiError> {
    let title = asked.title.as_deref().map(readable_title).transpose()?;
    let owner = caller.owner();
    let look = move |tx: &mut Tx<'_>| {
        sessions::get_owned(tx, owner, id)?;
        keys::origin_of(tx, id)
    };
    let origin = app.shared.ledger.read(look).await?;
    let (now, ids) = (app.now(), &*app.shared.ids);
    let chat = ChatId::from(ids.next(now).to_string());
    let mut address =
        surfaces::place(&origin).unwrap_or_else(|| Surface::default().address(chat.clone()));
    address.chat = chat;
    let opening = opening(&app, &caller, &address, &origin.profile);
    let work = move |tx: &mut Tx<'_>| {
        let session = forking::fork(tx, owner, id, &opening)?;
        if let Some(title) = &title {
            sessions::set_title(tx, owner, session, title)?;
        }
        sessions::get_owned(tx, owner, session)
    };
    let session = app.shared.ledger.write(work).await?;
    Ok((StatusCode::CREATED, Json(session.into())))
}

/// A conversation of the caller's at a fresh place.
fn opening(app: &App, caller: &Caller, address: &Address, profile: &ProfileName) -> Opening {
    let (now, ids) = (app.now(), &*app.shared.ids);
    let source = Source::of(address, &caller.principal);
    let key = SessionKey::derive(profile, &source, Sharing::default());
    Opening::of(key, caller.owner(), SessionId::next(ids, now), now)
}
