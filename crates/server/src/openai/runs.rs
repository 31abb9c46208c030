//! `/v1/runs`: turns that outlive the connection. A run is known by the event that asked for it, because a turn that was
//! interrupted takes several runs of the runner; the id of any of these leads to it as well.

mod approval;
pub(in crate::openai) mod asked;

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt as _, stream};
use serde_json::{Map, Value, json};
use talaria_domain::event::{Event as Said, EventKind, Hearing};
use talaria_domain::ids::{EventId, RunId};
use talaria_domain::names::ProfileName;
use talaria_domain::run::RunEvent;
use talaria_store::{StoreError, Tx, runs};

use super::completions::ALIVE;
use super::described;
use super::door::{self, Admitted};
use super::once::{Claim, Request};
use super::refusal::Refusal;
use super::turn::follow::{self, Follower, Line, Look, Step};
use super::turn::standing::{End, Over, Standing};
use super::turn::{Order, Taken, Turn, leave};
use crate::access::keys::Caller;
use crate::contract::Routes;
use crate::error::ApiError;
use crate::input::{Headers, Named, Sent};
use crate::shared::App;

const LAST: &str = "last-event-id";

pub(super) fn routes() -> Routes {
    Routes::new()
        .post("/v1/runs", create, described::create_run)
        .get("/v1/runs/{id}", show, described::one_run)
        .get("/v1/runs/{id}/events", events, described::run_events)
        .post("/v1/runs/{id}/cancel", cancel, described::cancel_run)
        .post("/v1/runs/{id}/approval", approval::decide, || {
            approval::described(&described::run())
        })
}

async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Headers(headers): Headers,
    Sent(body): Sent<Map<String, Value>>,
) -> Result<Response, Refusal> {
    let question = asked::read(&body)?;
    let request = Request {
        route: "runs",
        headers: &headers,
        body: &body,
    };
    let admitted = door::admit(&app, caller, &request, question.model.as_deref()).await?;
    let Admitted {
        asker,
        callback,
        claim,
        place,
    } = admitted;
    let turn = match claim {
        Claim::First(fresh) => {
            let order = Order::prepare(&app, &asker, fresh).await?;
            let mut content = question.content(asker.memory(), callback, Hearing::Left);
            if let Some(wishes) = &mut content.wishes {
                // It has `/approval` to answer by.
                wishes.may_be_asked = true;
            }
            match order.hand_in(&app, &asker.caller, content).await? {
                Taken::Now(turn) | Taken::Before(turn) => *turn,
            }
        }
        Claim::Again(turn) => *turn,
    };
    drop(place);
    // The same to those who ask again.
    let body = json!({
        "run_id": turn.event,
        "object": "run",
        "status": Standing::Queued.as_str(),
        "session_id": turn.session,
    });
    let mut response = (StatusCode::ACCEPTED, Json(body)).into_response();
    response.headers_mut().extend(turn.header());
    Ok(response)
}

/// The caller's run that an id stands for.
async fn find(app: &App, caller: &Caller, id: EventId) -> Result<Turn, Refusal> {
    match Turn::find(app, caller, id).await {
        Err(Refusal::Usual(ApiError::NotFound { .. })) => {}
        found => return found,
    }
    let run = RunId::from_bytes(*id.as_bytes());
    let work = move |tx: &mut Tx<'_>| match runs::get(tx, run) {
        Err(StoreError::NotFound { .. }) => Ok(id),
        found => found.map(|run| run.event),
    };
    let event = app.shared.ledger.read(work).await?;
    Turn::find(app, caller, event).await
}

async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<EventId>,
) -> Result<Response, Refusal> {
    let turn = find(&app, &caller, id).await?;
    status(&app, &turn).await
}

async fn status(app: &App, turn: &Turn) -> Result<Response, Refusal> {
    let event = turn.event;
    let work = move |tx: &mut Tx<'_>| Ok((follow::look(tx, event)?, approval::open(tx, event)?));
    let (look, request) = app.shared.ledger.read(work).await?;
    let mut body = told(app, &look);
    body["request"] = request;
    let mut response = Json(body).into_response();
    response.headers_mut().extend(turn.header());
    Ok(response)
}

/// A run as programs see it.
fn told(app: &App, look: &Look) -> Value {
    let mut body = json!({
        "run_id": look.row.event.id,
        "object": "run",
        "status": look.standing.as_str(),
        "session_id": look.row.session,
        "model": profile_of(&look.row.event).unwrap_or(&app.shared.profile),
        "created_at": look.row.event.received_at.as_millis() / 1_000,
        "output": null,
        "finish_reason": null,
        "usage": null,
        "error": null,
    });
    if let Standing::Over(over) = &look.standing {
        tell_end(&mut body, over);
    }
    body
}

/// The profile that was chosen for a turn.
fn profile_of(event: &Said) -> Option<&ProfileName> {
    let EventKind::Message(content) = &event.kind else {
        return None;
    };
    content.wishes.as_ref()?.profile.as_ref()
}

fn tell_end(body: &mut Value, over: &Over) {
    body["status"] = json!(over.end.as_str());
    if let End::Completed(finish) = over.end {
        body["output"] = json!(over.text);
        body["usage"] = json!(over.usage);
        body["finish_reason"] = json!(finish.as_str());
    }
    if let Some(refusal) = Refusal::of(over) {
        body["error"] = refusal.body()["error"].take();
    }
}

async fn cancel(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<EventId>,
) -> Result<Response, Refusal> {
    let turn = find(&app, &caller, id).await?;
    leave::cancel(&app, &turn).await?;
    status(&app, &turn).await
}

/// The run's events from after the last one that was read, then how it ended.
async fn events(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<EventId>,
    Headers(headers): Headers,
) -> Result<Response, Refusal> {
    let turn = find(&app, &caller, id).await?;
    let after = last(&headers)?;
    let reading = Reading {
        follower: Follower::of(&app, &turn),
        run: turn.event,
        last: after,
        is_over: false,
    };
    let greeting = Event::default().comment("following");
    let events = stream::unfold(reading, |mut reading| async move {
        let event = reading.next().await?;
        Some((event, reading))
    });
    let events = stream::iter([greeting])
        .chain(events)
        .map(Ok::<_, Infallible>);
    let mut response = Sse::new(events)
        .keep_alive(KeepAlive::new().interval(ALIVE))
        .into_response();
    response.headers_mut().extend(turn.header());
    Ok(response)
}

fn last(headers: &HeaderMap) -> Result<i64, ApiError> {
    let Some(value) = headers.get(LAST) else {
        return Ok(0);
    };
    let number = value.to_str().ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| ApiError::BadInput {
        param: None,
        message: "expected Last-Event-ID to be the id of an event of this run".to_owned(),
    })
}

/// Somebody who reads a run's events.
struct Reading {
    follower: Follower,
    run: EventId,
    last: i64,
    is_over: bool,
}

impl Reading {
    async fn next(&mut self) -> Option<Event> {
        while !self.is_over {
            match self.follower.next().await {
                Ok(Step::Line(line)) if line.number <= self.last || !is_told(&line.what) => {}
                Ok(Step::Line(line)) => {
                    self.last = line.number;
                    return Some(self.line(&line));
                }
                Ok(Step::Over(over)) => {
                    self.is_over = true;
                    return Some(self.end(&over));
                }
                // Whoever comes back reads on where they were.
                Ok(Step::Left) | Err(_) => self.is_over = true,
            }
        }
        None
    }

    fn line(&self, line: &Line) -> Event {
        let mut body = json!({ "run_id": self.run, "seq": line.number });
        if let (Some(fields), Ok(Value::Object(what))) =
            (body.as_object_mut(), serde_json::to_value(&line.what))
        {
            fields.extend(what);
        }
        Event::default()
            .id(line.number.to_string())
            .event(line.what.as_str())
            .data(body.to_string())
    }

    /// Under the number of the last one: whoever comes back with it is told of the end again.
    fn end(&self, over: &Over) -> Event {
        let mut body = json!({
            "run_id": self.run,
            "output": null,
            "finish_reason": null,
            "usage": null,
            "error": null,
        });
        tell_end(&mut body, over);
        Event::default()
            .id(self.last.to_string())
            .event(format!("run_{}", over.end.as_str()))
            .data(body.to_string())
    }
}

/// What is for the operator, or for the runner itself, is not told; how a run of the runner ended is told with the turn.
const fn is_told(what: &RunEvent) -> bool {
    !matches!(
        what,
        RunEvent::Log { .. } | RunEvent::StateUpdated { .. } | RunEvent::Ended(_)
    )
}
