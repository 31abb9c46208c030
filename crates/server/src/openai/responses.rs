//! `/v1/responses`: the same turns in OpenAI's other format, kept until they are deleted, or as old as what has
//! ended may get. A response that follows another one goes on in its conversation, or in a copy of it: see [`branch`].

mod asked;
mod branch;
mod told;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use talaria_domain::digest::Fields;
use talaria_domain::ids::{EventId, SessionId};
use talaria_domain::names::ChatId;
use talaria_domain::scope::ScopeKey;
use talaria_domain::session_key::{SessionKey, Sharing, Source};
use talaria_store::passing::{self, Span};
use talaria_store::sessions::Opening;
use talaria_store::{Tx, state};

use self::asked::{Reading, Wanted};
use self::told::{Frame, Teller};
use super::completions::ALIVE;
use super::completions::asked::hearing;
use super::described;
use super::door::{self, Admitted};
use super::once::{Claim, Fresh, Request};
use super::refusal::Refusal;
use super::turn::follow::{self, Step};
use super::turn::standing::Standing;
use super::turn::{Asker, Turn, leave};
use super::waiting::Waiting;
use crate::access::keys::Caller;
use crate::contract::Routes;
use crate::error::ApiError;
use crate::input::{Headers, Named, Sent};
use crate::shared::App;
use crate::surfaces;

/// For how long a response is kept: its turn is pruned then.
const KEPT: Duration = Duration::from_hours(90 * 24);

pub(super) fn routes() -> Routes {
    Routes::new()
        .post("/v1/responses", create, described::create_response)
        .get("/v1/responses/{id}", show, described::one_response)
        .delete("/v1/responses/{id}", delete, described::delete_response)
        .post(
            "/v1/responses/{id}/cancel",
            cancel,
            described::cancel_response,
        )
}

/// A response by its name.
#[derive(Debug, Clone, Copy)]
struct ResponseId(EventId);

impl FromStr for ResponseId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let id = text.strip_prefix("resp_").and_then(|id| id.parse().ok());
        id.map(Self)
            .ok_or_else(|| format!("there is no response {text:?}"))
    }
}

/// What is kept of a response beside its turn.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept {
    model: String,
    instructions: Option<String>,
    previous: Option<String>,
    metadata: Value,
}

/// Where responses are kept.
fn scope(caller: &Caller) -> ScopeKey {
    let owner = caller.owner().0.to_string();
    ScopeKey(Fields::of("server responses").text(&owner).digest())
}

fn frame(turn: &Turn, kept: Kept, is_stored: bool) -> Frame {
    Frame {
        turn: turn.event.to_string(),
        created: turn.at.as_millis() / 1_000,
        model: kept.model,
        instructions: kept.instructions,
        previous: kept.previous,
        metadata: kept.metadata,
        is_stored,
    }
}

async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Headers(headers): Headers,
    Sent(body): Sent<Map<String, Value>>,
) -> Result<Response, Refusal> {
    let wanted = asked::read(&body)?;
    let request = Request {
        route: "responses",
        headers: &headers,
        body: &body,
    };
    let admitted = door::admit(&app, caller, &request, wanted.asked.model.as_deref()).await?;
    let Admitted {
        mut asker,
        callback,
        claim,
        place,
    } = admitted;
    let kept = Kept {
        model: asker.model(&app),
        instructions: wanted.instructions.clone(),
        previous: wanted.previous.clone(),
        metadata: wanted.metadata.clone(),
    };
    if let Claim::First(Fresh { event, .. }) = claim {
        go_on(&app, &mut asker, &wanted, event).await?;
        if wanted.is_stored {
            keep(&app, &asker.caller, event, &kept).await?;
        }
    }
    let hearing = hearing(wanted.is_streamed);
    let content = wanted.asked.content(asker.memory(), callback, hearing);
    let (turn, waiting) = Waiting::begin(&app, &asker, (claim, place), content).await?;
    let telling = Telling {
        waiting,
        teller: Teller::of(frame(&turn, kept, wanted.is_stored)),
        written: VecDeque::new(),
        last: None,
        is_over: false,
    };
    let mut response = if wanted.is_streamed {
        bit_by_bit(telling).into_response()
    } else {
        at_once(telling).await?.into_response()
    };
    response.headers_mut().extend(turn.header());
    Ok(response)
}

/// Finds the conversation that a response goes on with.
async fn go_on(
    app: &App,
    asker: &mut Asker,
    wanted: &Wanted,
    event: EventId,
) -> Result<(), Refusal> {
    if let Some(conversation) = &wanted.conversation {
        let unfit = |_| ApiError::NotFound {
            message: format!("there is no conversation {conversation:?}"),
        };
        asker.session = Some(conversation.parse().map_err(unfit)?);
    }
    if let Some(previous) = &wanted.previous {
        asker.session = Some(follow_up(app, asker, previous, event).await?);
    }
    Ok(())
}

/// The conversation in which `event` follows a response.
async fn follow_up(
    app: &App,
    asker: &Asker,
    previous: &str,
    event: EventId,
) -> Result<SessionId, Refusal> {
    let caller = &asker.caller;
    let unknown = || ApiError::NotFound {
        message: format!("there is no response {previous:?}"),
    };
    let ResponseId(followed) = previous.parse().map_err(|_| unknown())?;
    let (turn, _) = find(app, caller, followed).await?;
    let look = move |tx: &mut Tx<'_>| follow::look(tx, followed);
    let look = app.shared.ledger.read(look).await?;
    if !matches!(look.standing, Standing::Over(_)) {
        return Err(Refusal::Later {
            status: StatusCode::CONFLICT,
            code: "response_in_progress",
            message: format!("the response {previous:?} is still under way"),
            seconds: 1,
        });
    }
    let step = branch::Step {
        scope: scope(caller),
        previous: (followed, turn.session),
        next: event,
        opening: opening(app, asker),
        at: app.now(),
    };
    let work = move |tx: &mut Tx<'_>| branch::follow(tx, &step);
    Ok(app.shared.ledger.write(work).await?)
}

/// A conversation of its own.
fn opening(app: &App, asker: &Asker) -> Opening {
    let (now, ids) = (app.now(), &*app.shared.ids);
    let address = surfaces::program(ChatId::from(ids.next(now).to_string()));
    let source = Source::of(&address, &asker.caller.principal);
    let profile = asker.profile.as_ref().unwrap_or(&app.shared.profile);
    let key = SessionKey::derive(profile, &source, Sharing::default());
    Opening::of(key, asker.caller.owner(), SessionId::next(ids, now), now)
}

async fn keep(app: &App, caller: &Caller, event: EventId, kept: &Kept) -> Result<(), Refusal> {
    let value = serde_json::to_value(kept).map_err(|error| ApiError::broken(&error))?;
    let (scope, now) = (scope(caller), app.now());
    let span = Span {
        at: now,
        until: now.plus(KEPT),
    };
    let work = move |tx: &mut Tx<'_>| passing::set(tx, scope, &event.to_string(), &value, span);
    app.shared.ledger.write(work).await?;
    Ok(())
}

/// The caller's response, if it is kept.
async fn find(app: &App, caller: &Caller, event: EventId) -> Result<(Turn, Kept), Refusal> {
    let scope = scope(caller);
    let work = move |tx: &mut Tx<'_>| state::get(tx, scope, &event.to_string());
    let kept = app.shared.ledger.read(work).await?;
    let kept = kept.ok_or_else(|| unknown(event))?;
    let kept = serde_json::from_value(kept.value).map_err(|error| ApiError::broken(&error))?;
    let turn = Turn::find(app, caller, event).await?;
    Ok((turn, kept))
}

fn unknown(event: EventId) -> ApiError {
    ApiError::NotFound {
        message: format!("there is no response \"resp_{event}\""),
    }
}

async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(ResponseId(event)): Named<ResponseId>,
    uri: Uri,
) -> Result<Response, Refusal> {
    let (turn, kept) = find(&app, &caller, event).await?;
    let Reading::Stream { last } = asked::reading(&uri)? else {
        return Ok(Json(as_it_is(&app, &turn, kept).await?).into_response());
    };
    let telling = Telling {
        waiting: Waiting::follow(&app, &turn),
        teller: Teller::of(frame(&turn, kept, true)),
        written: VecDeque::new(),
        last,
        is_over: false,
    };
    let mut response = bit_by_bit(telling).into_response();
    response.headers_mut().extend(turn.header());
    Ok(response)
}

/// A response as the ledger has it.
async fn as_it_is(app: &App, turn: &Turn, kept: Kept) -> Result<Value, Refusal> {
    let event = turn.event;
    let work = move |tx: &mut Tx<'_>| follow::read_all(tx, event);
    let (look, lines) = app.shared.ledger.read(work).await?;
    let mut teller = Teller::of(frame(turn, kept, true));
    for line in &lines {
        teller.tell(&line.what);
    }
    Ok(match look.standing {
        Standing::Over(over) => teller.end(&over),
        Standing::Queued => teller.response("queued"),
        Standing::Running | Standing::Waiting => teller.response("in_progress"),
    })
}

async fn cancel(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(ResponseId(event)): Named<ResponseId>,
) -> Result<Json<Value>, Refusal> {
    let (turn, kept) = find(&app, &caller, event).await?;
    leave::cancel(&app, &turn).await?;
    Ok(Json(as_it_is(&app, &turn, kept).await?))
}

/// The response is not found any more. What was said stays in its conversation.
async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(ResponseId(event)): Named<ResponseId>,
) -> Result<Json<Value>, Refusal> {
    let scope = scope(&caller);
    let work = move |tx: &mut Tx<'_>| {
        branch::forget(tx, scope, event)?;
        state::delete(tx, scope, &event.to_string())
    };
    if !app.shared.ledger.write(work).await? {
        return Err(unknown(event).into());
    }
    let id = format!("resp_{event}");
    Ok(Json(
        json!({ "id": id, "object": "response", "deleted": true }),
    ))
}

async fn at_once(mut telling: Telling) -> Result<Json<Value>, Refusal> {
    loop {
        match telling.waiting.next().await? {
            Step::Line(line) => telling.teller.tell(&line.what),
            Step::Over(over) => {
                let response = telling.teller.end(&over);
                return Refusal::of(&over).map_or(Ok(Json(response)), Err);
            }
            Step::Left => return Err(Refusal::stopping()),
        }
    }
}

/// A response that is being told.
struct Telling {
    waiting: Waiting,
    teller: Teller,
    written: VecDeque<Value>,
    /// The number of the last event that its reader has.
    last: Option<u64>,
    is_over: bool,
}

fn bit_by_bit(telling: Telling) -> impl IntoResponse {
    let events = stream::unfold(telling, |mut telling| async move {
        let written = telling.next().await?;
        let kind = written["type"].as_str().unwrap_or("error").to_owned();
        let event = Event::default().event(kind).data(written.to_string());
        Some((Ok::<_, Infallible>(event), telling))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE))
}

impl Telling {
    async fn next(&mut self) -> Option<Value> {
        loop {
            let last = self.last;
            let is_new = |event: &Value| event["sequence_number"].as_u64() > last;
            self.written
                .extend(self.teller.take().into_iter().filter(is_new));
            if let Some(written) = self.written.pop_front() {
                return Some(written);
            }
            if self.is_over {
                return None;
            }
            match self.waiting.next().await {
                Ok(Step::Line(line)) => self.teller.tell(&line.what),
                Ok(Step::Over(over)) => {
                    self.is_over = true;
                    self.teller.end(&over);
                }
                Ok(Step::Left) => self.give_up(&Refusal::stopping()),
                Err(refusal) => self.give_up(&refusal),
            }
        }
    }

    fn give_up(&mut self, refusal: &Refusal) {
        self.is_over = true;
        let mut error = refusal.body()["error"].take();
        error["type"] = json!("error");
        self.written.push_back(error);
    }
}
