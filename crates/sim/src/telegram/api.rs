//! The side that bots talk to: who may ask, what goes wrong, what is answered.

use std::future::{Future, ready};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::methods::{self, No};
use super::parameters::Parameters;
use super::updates::Queue;
use super::world::{Token, World};
use super::{Vendor, hooks};
use crate::vendor::line::Line;
use crate::vendor::stage::now;
use crate::vendor::{Asked, Fault, On, World as _};

const MOST_BYTES: usize = 64 * 1024 * 1024;
/// Nobody is kept waiting for longer.
const LONGEST: Duration = Duration::from_secs(50);

/// The vendor, and whoever calls its bots.
struct Office {
    vendor: Arc<Vendor>,
    _calls: Mutex<JoinSet<()>>,
}

pub(super) fn routes(vendor: &Arc<Vendor>) -> Router {
    let mut calls = JoinSet::new();
    calls.spawn(hooks::call(Arc::clone(vendor)));
    let office = Office {
        vendor: Arc::clone(vendor),
        _calls: Mutex::new(calls),
    };
    Router::new()
        .route("/{bot}/{method}", any(ask))
        .route("/file/{bot}/{*path}", get(fetch))
        .with_state(Arc::new(office))
}

async fn ask(
    State(office): State<Arc<Office>>,
    ConnectInfo(line): ConnectInfo<Line>,
    Path((bot, method)): Path<(String, String)>,
    request: Request,
) -> Response {
    let vendor = &office.vendor;
    let method = method.to_ascii_lowercase();
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MOST_BYTES).await else {
        return refuse(&No::of(413, "Request Entity Too Large"));
    };
    let media_type = parts.headers.get(CONTENT_TYPE);
    let media_type = media_type
        .and_then(|header| header.to_str().ok())
        .unwrap_or_default();
    let asked = Parameters::read(parts.uri.query().unwrap_or_default(), media_type, &body);
    let on = methods::question(&method);
    vendor.remember(Asked {
        on,
        method: parts.method.to_string(),
        path: format!("/{method}"),
        body: asked.shown(),
        at: now(),
    });
    let bot = match admit(vendor, &bot) {
        Ok(bot) => bot,
        Err(no) => return refuse(&no),
    };
    if on == On::Updates {
        return updates(vendor, line, (bot, &asked)).await;
    }
    let answer = async {
        let answer = vendor.with(|world| methods::call(world, bot, (&method, &asked)));
        answered(answer)
    };
    happen(vendor.next_fault(on), line, answer).await
}

/// The bot that asks ("Authorizing your bot").
fn admit(vendor: &Vendor, bot: &str) -> Result<usize, No> {
    let token = bot.strip_prefix("bot");
    match token.map(|token| vendor.with(|world| world.bot(token))) {
        Some(Token::Bot(at)) => Ok(at),
        Some(Token::Unknown) => Err(No::of(401, "Unauthorized")),
        Some(Token::Malformed) | None => Err(No::of(404, "Not Found")),
    }
}

fn answered(answer: Result<Value, No>) -> Response {
    match answer {
        Ok(result) => Json(json!({ "ok": true, "result": result })).into_response(),
        Err(no) => refuse(&no),
    }
}

fn refuse(no: &No) -> Response {
    let status = StatusCode::from_u16(no.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut body = json!({ "ok": false, "error_code": no.code, "description": no.words });
    if !no.parameters.is_null() {
        body["parameters"] = no.parameters.clone();
    }
    (status, Json(body)).into_response()
}

/// The answer, unless something goes wrong.
async fn happen(
    fault: Option<Fault>,
    line: Line,
    answer: impl Future<Output = Response>,
) -> Response {
    line.happen(fault, answer, |status, code, retry_after| {
        refuse(&refusal(status, code, retry_after))
    })
    .await
}

/// The words for a refusal that was ordered.
fn refusal(status: u16, code: &str, retry_after: Option<u64>) -> No {
    let words = match (status, code) {
        (400, "markup") => {
            "Bad Request: can't parse entities: Unsupported start tag \"x\" at byte offset 0".to_owned()
        }
        (400, "too_long") => "Bad Request: message is too long".to_owned(),
        (400, "gone") => "Bad Request: message thread not found".to_owned(),
        (400, "forbidden") => "Bad Request: not enough rights to send text messages to the chat".to_owned(),
        (400, _) => format!("Bad Request: {code}"),
        (401, _) => format!("Unauthorized {code}"),
        (403, "" | "forbidden") => "Forbidden: bot was blocked by the user".to_owned(),
        (403, _) => format!("Forbidden: {code}"),
        (404, _) => "Not Found".to_owned(),
        (409, "") => "Conflict: terminated by other getUpdates request; make sure that only one bot instance is \
                      running"
            .to_owned(),
        (409, _) => format!("Conflict: {code}"),
        (429, _) => format!("Too Many Requests: retry after {}", retry_after.unwrap_or(1)),
        _ => format!("Internal Server Error {code}"),
    };
    let moved = code
        .strip_prefix("migrate ")
        .and_then(|id| id.parse::<i64>().ok());
    let parameters = match (status, moved) {
        (429, _) => json!({ "retry_after": retry_after.unwrap_or(1) }),
        (_, Some(after)) => json!({ "migrate_to_chat_id": after }),
        _ => Value::Null,
    };
    No {
        parameters,
        ..No::of(status, words.trim_end())
    }
}

async fn updates(vendor: &Vendor, line: Line, (bot, asked): (usize, &Parameters)) -> Response {
    let fault = vendor.next_fault(On::Updates);
    if fault.is_some() {
        return happen(fault, line, listen(vendor, (bot, asked), |_| false)).await;
    }
    let interrupts = |world: &World| world.room().has_fault(On::Updates);
    let answer = listen(vendor, (bot, asked), interrupts).await;
    happen(vendor.next_fault(On::Updates), line, ready(answer)).await
}

/// What is new, once there is something, or this interrupts, or the time is over.
async fn listen(
    vendor: &Vendor,
    (bot, asked): (usize, &Parameters),
    interrupts: impl Fn(&World) -> bool + Send,
) -> Response {
    let poll = vendor.with(|world| {
        let queue = world.bots.get_mut(bot).map(|bot| &mut bot.queue)?;
        queue.want(asked.json("allowed_updates"));
        Some(queue.open_poll(asked.number("offset").unwrap_or(0)))
    });
    let wait = asked
        .number("timeout")
        .and_then(|wait| u64::try_from(wait).ok());
    let wait = Duration::from_secs(wait.unwrap_or(0)).min(LONGEST);
    let is_over = |world: &World| {
        let queue = queue(world, bot);
        queue.is_none_or(|queue| queue.is_ready(poll.unwrap_or(0)))
    };
    let something = vendor.until(|world| is_over(world) || interrupts(world));
    // Nothing new in time is an answer as well.
    drop(tokio::time::timeout(wait, something).await);
    let page = vendor.see(|world| {
        let queue = queue(world, bot);
        let queue = queue.ok_or_else(|| No::of(401, "Unauthorized"))?;
        queue.page(poll.unwrap_or(0), asked.number("limit"))
    });
    answered(page)
}

/// What waits for a bot, if its token still counts.
fn queue(world: &World, bot: usize) -> Option<&Queue> {
    let bot = world.bots.get(bot);
    let bot = bot.filter(|bot| !bot.token.is_empty());
    bot.map(|bot| &bot.queue)
}

async fn fetch(
    State(office): State<Arc<Office>>,
    ConnectInfo(line): ConnectInfo<Line>,
    Path((bot, path)): Path<(String, String)>,
) -> Response {
    let vendor = &office.vendor;
    vendor.remember(Asked {
        on: On::Fetch,
        method: "GET".to_owned(),
        path: format!("/file/{path}"),
        body: Value::Null,
        at: now(),
    });
    if let Err(no) = admit(vendor, &bot) {
        return refuse(&no);
    }
    let answer = async {
        let content =
            vendor.see(|world| world.files.at(&path).map(|stored| stored.content.clone()));
        match content {
            Some(content) => content.into_response(),
            None => refuse(&No::of(404, "Not Found")),
        }
    };
    happen(vendor.next_fault(On::Fetch), line, answer).await
}
