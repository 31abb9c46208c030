//! The side that the adapter talks to: who may ask, what goes wrong, what is answered. A no is a success for HTTP and has
//! its reason in the body, but for too many requests ("Rate limits").

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use axum::{Extension, Json, Router};
use serde_json::{Map, Value, json};
use tokio_util::task::TaskTracker;

use super::methods::{self, Arguments, No};
use super::{Vendor, socket};
use crate::vendor::line::Line;
use crate::vendor::stage::now;
use crate::vendor::{Asked, On};

const MOST_BYTES: usize = 110 * 1024 * 1024;

pub(super) fn routes(vendor: &Arc<Vendor>) -> Router {
    Router::new()
        .route("/api/{method}", any(method))
        .route("/upload/v1/{id}", post(upload))
        .route("/files-pri/{id}/{name}", get(download))
        .route_layer(from_fn_with_state(Arc::clone(vendor), attend))
        .route("/link/", get(socket::open))
        .layer(Extension(TaskTracker::new()))
        .with_state(Arc::clone(vendor))
}

/// Who asks: the token that came along.
#[derive(Debug, Clone)]
struct Token(String);

/// What stands before every answer: the request is remembered, what is to go wrong goes wrong.
async fn attend(
    State(vendor): State<Arc<Vendor>>,
    ConnectInfo(line): ConnectInfo<Line>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MOST_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let on = question(parts.uri.path());
    let mut asked = arguments(&parts, &body);
    let inline = asked.remove("token");
    let inline = inline.as_ref().and_then(Value::as_str);
    let header = parts.headers.get(AUTHORIZATION);
    let header = header.and_then(|header| header.to_str().ok());
    let header = header.and_then(|header| header.strip_prefix("Bearer "));
    let token = header.or(inline).unwrap_or_default().to_owned();
    vendor.remember(Asked {
        on,
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        body: Value::Object(asked.clone()),
        at: now(),
    });
    parts.extensions.insert(Token(token));
    parts.extensions.insert(asked);
    let answer = next.run(Request::from_parts(parts, Body::from(body)));
    line.happen(vendor.next_fault(on), answer, refuse).await
}

fn question(path: &str) -> On {
    match path.rsplit("/api/").next().unwrap_or_default() {
        "chat.postMessage" => On::Send,
        "chat.update" => On::Edit,
        "auth.test" => On::About,
        "apps.connections.open" => On::Connect,
        "assistant.threads.setStatus" => On::Typing,
        "reactions.add" | "reactions.remove" => On::Mark,
        "files.completeUploadExternal" => On::Upload,
        other if other.starts_with("/files-pri/") => On::Fetch,
        _ => On::Other,
    }
}

/// Arguments come in the query, as a form, or as JSON; in a form, trees are texts.
fn arguments(parts: &Parts, body: &Bytes) -> Arguments {
    let media_type = parts.headers.get(CONTENT_TYPE);
    let media_type = media_type.and_then(|header| header.to_str().ok());
    let media_type = media_type.unwrap_or_default();
    let mut asked = Map::new();
    let query = parts.uri.query().unwrap_or_default().as_bytes();
    fill(&mut asked, query);
    if media_type.starts_with("application/json") {
        let tree: Option<Arguments> = serde_json::from_slice(body).ok();
        asked.extend(tree.unwrap_or_default());
    } else if media_type.starts_with("application/x-www-form-urlencoded") {
        fill(&mut asked, body);
    }
    asked
}

fn fill(asked: &mut Arguments, form: &[u8]) {
    let pairs: Vec<(String, String)> = serde_urlencoded(form);
    for (name, text) in pairs {
        let is_tree = ["blocks", "files", "metadata", "attachments"].contains(&name.as_str());
        let tree = is_tree.then(|| serde_json::from_str(&text).ok()).flatten();
        asked.insert(name, tree.unwrap_or(Value::String(text)));
    }
}

fn serde_urlencoded(form: &[u8]) -> Vec<(String, String)> {
    let pairs = reqwest::Url::parse("http://simulated/").ok();
    let text = String::from_utf8_lossy(form).into_owned();
    let Some(mut url) = pairs else {
        return Vec::new();
    };
    url.set_query(Some(&text));
    url.query_pairs().into_owned().collect()
}

/// A fault, in Slack's own words.
fn refuse(status: u16, code: &str, retry_after: Option<u64>) -> Response {
    let error = match (status, code) {
        (429, _) => "ratelimited",
        (400, "markup") => "invalid_blocks",
        (400, "too_long") => "msg_too_long",
        (400 | 404 | 410, "gone" | "") => "channel_not_found",
        (401, _) => "invalid_auth",
        (403, _) => "restricted_action",
        (409, _) => "too_many_websockets",
        (500.., "") => "internal_error",
        (_, code) => code,
    };
    let status = match status {
        429 | 500.. => StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        _ => StatusCode::OK,
    };
    let body = json!({ "ok": false, "error": error });
    let mut response = (status, Json(body)).into_response();
    if status == StatusCode::TOO_MANY_REQUESTS {
        let seconds = HeaderValue::from(retry_after.unwrap_or(1));
        response.headers_mut().insert(RETRY_AFTER, seconds);
    }
    response
}

async fn method(
    State(vendor): State<Arc<Vendor>>,
    Path(method): Path<String>,
    Extension(Token(token)): Extension<Token>,
    Extension(asked): Extension<Arguments>,
) -> Json<Value> {
    let answer = vendor.with(|world| {
        if token.is_empty() {
            return Err(No::from("not_authed"));
        }
        if method == "apps.connections.open" {
            let is_bot = world.bot_by(&token).is_some();
            let wrong = if is_bot {
                "not_allowed_token_type"
            } else {
                "invalid_auth"
            };
            let bot = world.app_by(&token).ok_or(wrong)?;
            let ticket = world.ticket(bot);
            let url = format!("ws://{}/link/?ticket={ticket}&app_id=A0SIM", world.host);
            return Ok(json!({ "url": url }));
        }
        let bot = world.bot_by(&token).ok_or("invalid_auth")?;
        methods::answer(world, bot, &method, &asked)
    });
    Json(match answer {
        Ok(mut answer) => {
            answer["ok"] = true.into();
            answer
        }
        Err(No { code, notes }) if notes.is_empty() => json!({ "ok": false, "error": code }),
        Err(No { code, notes }) => {
            json!({ "ok": false, "error": code, "response_metadata": { "messages": notes } })
        }
    })
}

/// Takes a file's bytes, as they are or as the only part of a form.
async fn upload(
    State(vendor): State<Arc<Vendor>>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MOST_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let media_type = parts.headers.get(CONTENT_TYPE);
    let media_type = media_type.and_then(|header| header.to_str().ok());
    let content = match media_type.and_then(|it| it.split_once("boundary=")) {
        Some((_, boundary)) => part(&body, boundary.trim_matches('"')),
        None => body.to_vec(),
    };
    let is_known = vendor.with(|world| {
        let stored = world.files.get_mut(&id);
        stored.map(|stored| stored.content = content).is_some()
    });
    if is_known {
        "OK".into_response()
    } else {
        StatusCode::NOT_FOUND.into_response()
    }
}

/// What is in the first part of a form.
fn part(body: &[u8], boundary: &str) -> Vec<u8> {
    let find = |from: usize, what: &[u8]| {
        let rest = body.get(from..)?;
        let at = rest.windows(what.len()).position(|window| window == what);
        at.map(|at| at + from)
    };
    let start = find(0, b"\r\n\r\n").map_or(0, |at| at + 4);
    let end = find(start, format!("\r\n--{boundary}").as_bytes());
    let content = body.get(start..end.unwrap_or(body.len()));
    content.unwrap_or_default().to_vec()
}

/// Whoever is not known is sent to the page where people log in.
async fn download(
    State(vendor): State<Arc<Vendor>>,
    Path((id, _)): Path<(String, String)>,
    Extension(Token(token)): Extension<Token>,
) -> Response {
    let found = vendor.see(|world| {
        let is_known = world.bot_by(&token).is_some();
        is_known.then(|| world.files.get(&id).cloned())
    });
    match found {
        Some(Some(stored)) => ([(CONTENT_TYPE, stored.media_type)], stored.content).into_response(),
        Some(None) => StatusCode::NOT_FOUND.into_response(),
        None => (StatusCode::FOUND, [(LOCATION, "/?redir=login")]).into_response(),
    }
}
