//! The side that the adapter talks to: who may ask, what goes wrong, what is answered.

use std::future::{Future, ready};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, Path, Query, Request, State};
use axum::http::header::{AUTHORIZATION, RETRY_AFTER};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, patch, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Vendor;
use super::world::{No, Wanted, World};
use crate::vendor::line::Line;
use crate::vendor::stage::now;
use crate::vendor::{Asked, Fault, On, World as _};

const MOST_BYTES: usize = 10 * 1024 * 1024;
/// Nobody is kept waiting for longer.
const LONGEST: Duration = Duration::from_mins(1);

pub(super) fn routes(vendor: &Arc<Vendor>) -> Router {
    Router::new()
        .route("/v1/about", get(about))
        .route("/v1/updates", get(updates))
        .route("/v1/messages", post(send))
        .route("/v1/messages/{id}", patch(edit))
        .route_layer(from_fn_with_state(Arc::clone(vendor), attend))
        .with_state(Arc::clone(vendor))
}

/// What stands before every answer: the request is remembered, the token looked at, what is to go wrong goes wrong.
async fn attend(
    State(vendor): State<Arc<Vendor>>,
    ConnectInfo(line): ConnectInfo<Line>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MOST_BYTES).await else {
        return refuse(413, "too_long");
    };
    let on = question(&parts);
    vendor.remember(asked(on, &parts, &body));
    let token = parts.headers.get(AUTHORIZATION);
    let token = token.and_then(|header| header.to_str().ok());
    let token = token.and_then(|header| header.strip_prefix("Bearer "));
    if !vendor.see(|world| world.knows(token)) {
        return refuse(401, "unauthorized");
    }
    let answer = next.run(Request::from_parts(parts, Body::from(body)));
    match on {
        // A fault may come while somebody waits for what is new.
        On::Updates => answer.await,
        _ => happen(vendor.next_fault(on), line, answer).await,
    }
}

fn question(parts: &Parts) -> On {
    match (&parts.method, parts.uri.path()) {
        (&Method::POST, _) => On::Send,
        (&Method::PATCH, _) => On::Edit,
        (_, "/v1/about") => On::About,
        _ => On::Updates,
    }
}

fn asked(on: On, parts: &Parts, body: &Bytes) -> Asked {
    Asked {
        on,
        method: parts.method.to_string(),
        path: parts.uri.to_string(),
        body: serde_json::from_slice(body).unwrap_or(Value::Null),
        at: now(),
    }
}

/// The answer, unless something goes wrong.
async fn happen(
    fault: Option<Fault>,
    line: Line,
    answer: impl Future<Output = Response>,
) -> Response {
    line.happen(fault, answer, |status, code, retry_after| {
        let mut response = refuse(status, code);
        if let Some(seconds) = retry_after {
            let seconds = HeaderValue::from(seconds);
            response.headers_mut().insert(RETRY_AFTER, seconds);
        }
        response
    })
    .await
}

fn refuse(status: u16, code: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let message = format!("the simulated bridge says {status} {code}");
    let message = message.trim_end();
    let body = json!({ "error": { "code": code, "message": message } });
    (status, Json(body)).into_response()
}

async fn about(State(vendor): State<Arc<Vendor>>) -> Json<Value> {
    Json(vendor.see(World::about))
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Since {
    after: Option<u64>,
    wait: Option<u64>,
}

async fn updates(
    State(vendor): State<Arc<Vendor>>,
    ConnectInfo(line): ConnectInfo<Line>,
    Query(since): Query<Since>,
) -> Response {
    let fault = vendor.next_fault(On::Updates);
    if fault.is_some() {
        return happen(fault, line, listen(&vendor, since, |_| false)).await;
    }
    let answer = listen(&vendor, since, |world| world.room().has_fault(On::Updates)).await;
    happen(vendor.next_fault(On::Updates), line, ready(answer)).await
}

/// What is new, once there is something, or this interrupts, or the time is over.
async fn listen(
    vendor: &Vendor,
    since: Since,
    interrupts: impl Fn(&World) -> bool + Send,
) -> Response {
    let poll = vendor.with(|world| world.open_poll(since.after));
    let wait = Duration::from_secs(since.wait.unwrap_or(0)).min(LONGEST);
    let something = vendor.until(|world| world.is_ready(poll) || interrupts(world));
    // Nothing new in time is an answer as well.
    drop(tokio::time::timeout(wait, something).await);
    match vendor.see(|world| world.page(poll)) {
        Ok(page) => Json(page).into_response(),
        Err(No { status, code }) => refuse(status, code),
    }
}

async fn send(State(vendor): State<Arc<Vendor>>, body: Bytes) -> Response {
    let Ok(wanted) = serde_json::from_slice::<Wanted>(&body) else {
        return refuse(400, "malformed");
    };
    match vendor.with(|world| world.post(wanted)) {
        Ok(id) => (StatusCode::CREATED, Json(json!({ "message_id": id }))).into_response(),
        Err(No { status, code }) => refuse(status, code),
    }
}

async fn edit(State(vendor): State<Arc<Vendor>>, Path(id): Path<String>, body: Bytes) -> Response {
    let Ok(wanted) = serde_json::from_slice::<Wanted>(&body) else {
        return refuse(400, "malformed");
    };
    match vendor.with(|world| world.change(&id, &wanted)) {
        Ok(()) => Json(json!({ "message_id": id })).into_response(),
        Err(No { status, code }) => refuse(status, code),
    }
}
