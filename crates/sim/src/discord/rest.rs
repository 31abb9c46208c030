//! The HTTP API: who may ask, what goes wrong, what is answered; and the files, which are found without a token.

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, Path, Query, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Extension, Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Vendor;
use super::names::user_id;
use super::render;
use super::wants::{No, Wanted, snowflake};
use super::world::{Bot, Channel, Chosen, World};
use crate::vendor::line::Line;
use crate::vendor::stage::now;
use crate::vendor::{Asked, On, Signed};

const MOST_BYTES: usize = 25 * 1024 * 1024;

pub(super) fn routes(vendor: &Arc<Vendor>) -> Router {
    let api = Router::new()
        .route("/users/@me", get(me))
        .route("/users/@me/channels", post(direct))
        .route("/applications/@me", get(application))
        .route("/oauth2/applications/@me", get(application))
        .route("/applications/{id}/commands", get(commands).put(register))
        .route("/gateway/bot", get(entrance))
        .route("/gateway", get(entrance))
        .route("/channels/{channel}", get(channel))
        .route("/channels/{channel}/messages", get(history).post(send))
        .route(
            "/channels/{channel}/messages/{id}",
            get(message).patch(edit),
        )
        .route("/channels/{channel}/messages/{id}/threads", post(open_at))
        .route(
            "/channels/{channel}/messages/{id}/reactions/{emoji}/@me",
            put(mark).delete(unmark),
        )
        .route("/channels/{channel}/threads", post(open))
        .route("/channels/{channel}/typing", post(typing))
        .route("/interactions/{id}/{token}/callback", post(answer))
        .route_layer(from_fn_with_state(Arc::clone(vendor), attend))
        .with_state(Arc::clone(vendor));
    let beside = Router::new()
        .route("/attachments/{channel}/{file}/{name}", get(file))
        .route("/sim/command", post(choose))
        .with_state(Arc::clone(vendor));
    Router::new().nest("/api/v10", api).merge(beside)
}

type At = State<Arc<Vendor>>;

/// What stands before every answer: the request is remembered, the token looked at, what is to go wrong goes wrong.
async fn attend(
    State(vendor): At,
    ConnectInfo(line): ConnectInfo<Line>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MOST_BYTES).await else {
        return refuse(&No::of(413, 40_005, "Request entity too large"));
    };
    let on = question(&parts);
    vendor.remember(asked(on, &parts, &body));
    let token = parts.headers.get(AUTHORIZATION);
    let token = token.and_then(|header| header.to_str().ok());
    let token = token.and_then(|header| header.strip_prefix("Bot "));
    let bot = token.and_then(|token| vendor.with(|world| world.bot(token)));
    // An interaction is answered by whoever has its token.
    let is_open = parts.uri.path().starts_with("/interactions/");
    match bot {
        Some(bot) => {
            parts.extensions.insert(bot);
        }
        None if is_open => {}
        None => return refuse(&No::of(401, 0, "401: Unauthorized")),
    }
    let channel = channel_in(&parts);
    let answer = next.run(Request::from_parts(parts, Body::from(body)));
    let fault = vendor.next_fault(on);
    let happen = line.happen(fault, answer, |status, code, retry_after| {
        refuse(&No::ordered(status, code, retry_after))
    });
    let mut response = happen.await;
    if on == On::Send {
        limits(&vendor, &channel, response.headers_mut());
    }
    response
}

/// "Rate Limits", header format.
fn limits(vendor: &Vendor, channel: &str, headers: &mut HeaderMap) {
    let Some((left, limit)) = vendor.see(|world| world.left(channel)) else {
        return;
    };
    let lines = [
        ("x-ratelimit-limit", limit.to_string()),
        ("x-ratelimit-remaining", left.to_string()),
        ("x-ratelimit-reset-after", "5.000".to_owned()),
        ("x-ratelimit-bucket", "messages".to_owned()),
    ];
    for (name, value) in lines {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

/// The path behind the version.
fn path(parts: &Parts) -> Vec<&str> {
    let path = parts.uri.path().trim_start_matches("/api/v10");
    path.trim_matches('/').split('/').collect()
}

fn channel_in(parts: &Parts) -> String {
    match *path(parts) {
        ["channels", id, ..] => id.to_owned(),
        _ => String::new(),
    }
}

fn question(parts: &Parts) -> On {
    let is_form = parts.headers.get(CONTENT_TYPE);
    let is_form = is_form.is_some_and(|it| it.as_bytes().starts_with(b"multipart/"));
    match (&parts.method, &*path(parts)) {
        (&Method::GET, ["users", "@me"]) => On::About,
        (&Method::GET, ["channels", _, "messages"]) => On::Updates,
        (&Method::POST, ["channels", _, "messages"]) if is_form => On::Upload,
        (&Method::POST, ["channels", _, "messages"]) => On::Send,
        (&Method::PATCH, ["channels", _, "messages", _]) => On::Edit,
        (&Method::POST, ["channels", _, "typing"]) => On::Typing,
        (_, ["channels", _, "messages", _, "reactions", ..]) => On::Mark,
        (&Method::POST, [.., "threads"]) => On::Thread,
        _ => On::Other,
    }
}

fn asked(on: On, parts: &Parts, body: &Bytes) -> Asked {
    // An interaction's token is a secret like any other.
    let path = match *path(parts) {
        ["interactions", id, ..] => format!("/interactions/{id}/callback"),
        _ => parts
            .uri
            .to_string()
            .trim_start_matches("/api/v10")
            .to_owned(),
    };
    Asked {
        on,
        method: parts.method.to_string(),
        path,
        body: serde_json::from_slice(body).unwrap_or(Value::Null),
        at: now(),
    }
}

fn refuse(no: &No) -> Response {
    let status = StatusCode::from_u16(no.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, Json(no.body.clone())).into_response();
    if let Some(wait) = no.body.get("retry_after").and_then(Value::as_f64) {
        let headers = response.headers_mut();
        if let Ok(wait) = HeaderValue::from_str(&wait.to_string()) {
            headers.insert(RETRY_AFTER, wait.clone());
            headers.insert("x-ratelimit-reset-after", wait);
        }
        headers.insert("x-ratelimit-scope", HeaderValue::from_static("user"));
        // A library takes a refusal without it for one of the network's, and not Discord's.
        headers.insert("via", HeaderValue::from_static("1.1 simulated"));
    }
    response
}

fn answered(answer: Result<Value, No>) -> Response {
    match answer {
        Ok(body) => Json(body).into_response(),
        Err(no) => refuse(&no),
    }
}

fn found(body: Option<Value>, no: No) -> Response {
    answered(body.ok_or(no))
}

async fn me(Extension(bot): Extension<Bot>) -> Json<Value> {
    Json(render::bot_user(&bot))
}

async fn application(Extension(bot): Extension<Bot>) -> Json<Value> {
    Json(json!({
        "id": bot.id, "name": bot.name, "icon": null, "description": "", "bot_public": true,
        "bot_require_code_grant": false, "verify_key": "00", "flags": 0, "hook": true,
        "summary": "", "owner": render::bot_user(&bot), "team": null, "bot": render::bot_user(&bot),
    }))
}

async fn commands(State(vendor): At, Path(id): Path<String>) -> Json<Value> {
    let menu = vendor.see(|world| world.commands.get(&id).cloned());
    Json(menu.unwrap_or_else(|| json!([])))
}

async fn register(
    State(vendor): At,
    Path(id): Path<String>,
    Json(mut menu): Json<Vec<Value>>,
) -> Json<Value> {
    for (number, command) in menu.iter_mut().enumerate() {
        command["id"] = json!((number + 1).to_string());
        command["application_id"] = json!(id);
        command["version"] = json!("1");
    }
    let menu = Value::Array(menu);
    vendor.with(|world| world.commands.insert(id, menu.clone()));
    Json(menu)
}

async fn entrance(State(vendor): At) -> Json<Value> {
    let address = vendor.see(World::address);
    let start = json!({ "total": 1000, "remaining": 1000, "reset_after": 0, "max_concurrency": 1 });
    let url = format!("ws://{address}");
    Json(json!({ "url": url, "shards": 1, "session_start_limit": start }))
}

#[derive(Deserialize)]
struct Recipient {
    recipient_id: Value,
}

/// A direct conversation with somebody, who may have one already.
async fn direct(State(vendor): At, Json(wanted): Json<Recipient>) -> Response {
    let body = vendor.with(|world| {
        let id = snowflake(&wanted.recipient_id);
        let with = |channel: &Channel| channel.with.as_ref().is_some_and(|it| user_id(it) == id);
        let mut known = world.channels.iter();
        let known = known.find(|(_, channel)| with(channel));
        let known = known.map(|(id, _)| id.clone());
        let known = known.unwrap_or_else(|| world.channel((&id, "direct"), None, &id));
        render::channel(world, &known)
    });
    found(body, No::channel())
}

async fn channel(State(vendor): At, Path(id): Path<String>) -> Response {
    let body = vendor.see(|world| render::channel(world, &id));
    found(body, No::channel())
}

#[derive(Deserialize)]
struct Since {
    after: Option<u64>,
    before: Option<u64>,
    limit: Option<usize>,
}

/// "Message Resource", get channel messages: newest first; with `after`, those that follow it.
async fn history(
    State(vendor): At,
    Extension(bot): Extension<Bot>,
    Path(channel): Path<String>,
    Query(since): Query<Since>,
) -> Response {
    let limit = since.limit.unwrap_or(50).clamp(1, 100);
    let body = vendor.see(|world| {
        world.channels.get(&channel)?;
        let all = world.letters.iter();
        let of_channel = all.filter(|(_, letter)| letter.channel == channel);
        let ids = of_channel.filter_map(|(id, _)| id.parse::<u64>().ok());
        let ids = ids.filter(|id| since.after.is_none_or(|after| *id > after));
        let mut ids: Vec<u64> = ids
            .filter(|id| since.before.is_none_or(|before| *id < before))
            .collect();
        ids.sort_unstable();
        if since.after.is_some() {
            ids.truncate(limit);
        } else {
            ids.drain(..ids.len().saturating_sub(limit));
        }
        let ids = ids.iter().rev().map(ToString::to_string);
        let page = ids.filter_map(|id| render::message(world, &bot, &id));
        Some(Value::Array(page.collect()))
    });
    found(body, No::channel())
}

async fn message(
    State(vendor): At,
    Extension(bot): Extension<Bot>,
    Path((_, id)): Path<(String, String)>,
) -> Response {
    let body = vendor.see(|world| render::message(world, &bot, &id));
    found(body, No::message())
}

fn read(headers: &HeaderMap, body: &Bytes) -> Result<Wanted, No> {
    let media_type = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    Wanted::read(media_type.unwrap_or_default(), body)
}

async fn send(
    State(vendor): At,
    Extension(bot): Extension<Bot>,
    Path(channel): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let wanted = read(&headers, &body);
    answered(
        wanted.and_then(|wanted| vendor.with(|world| world.post(&bot, &channel, wanted, now()))),
    )
}

async fn edit(
    State(vendor): At,
    Extension(bot): Extension<Bot>,
    Path((_, id)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let wanted = read(&headers, &body);
    answered(wanted.and_then(|wanted| vendor.with(|world| world.change(&bot, &id, wanted, now()))))
}

#[derive(Deserialize)]
struct Thread {
    name: String,
    #[serde(default)]
    message: Option<Value>,
}

async fn open(
    State(vendor): At,
    Extension(bot): Extension<Bot>,
    Path(channel): Path<String>,
    Json(thread): Json<Thread>,
) -> Response {
    answered(vendor.with(|world| {
        let id = world.next_id();
        begin_thread(world, &bot, (&channel, &id), &thread)
    }))
}

async fn open_at(
    State(vendor): At,
    Extension(bot): Extension<Bot>,
    Path((channel, message)): Path<(String, String)>,
    Json(thread): Json<Thread>,
) -> Response {
    answered(vendor.with(|world| {
        let is_there = crate::vendor::World::room(world)
            .message(&message)
            .is_some();
        if !is_there {
            return Err(No::message());
        }
        // A thread that begins at a message has the message's id.
        begin_thread(world, &bot, (&channel, &message), &thread)
    }))
}

fn begin_thread(
    world: &mut World,
    bot: &Bot,
    (parent, id): (&str, &str),
    thread: &Thread,
) -> Result<Value, No> {
    let above = world.channels.get(parent).ok_or_else(No::channel)?;
    let is_forum = above.kind == 15;
    if above.parent.is_some() || above.kind == 1 {
        return Err(No::of(
            400,
            50_024,
            "Cannot execute action on this channel type",
        ));
    }
    if thread.name.is_empty() || thread.name.chars().count() > 100 {
        let message = "Must be between 1 and 100 in length.";
        return Err(No::form("name", "BASE_TYPE_BAD_LENGTH", message));
    }
    if is_forum && thread.message.is_none() {
        return Err(No::form(
            "message",
            "BASE_TYPE_REQUIRED",
            "This field is required",
        ));
    }
    let below = Channel {
        key: id.to_owned(),
        name: thread.name.clone(),
        kind: if above.kind == 5 { 10 } else { 11 },
        parent: Some(parent.to_owned()),
        with: None,
        last_message: None,
    };
    world.open(id, below, "THREAD_CREATE");
    if let Some(message) = &thread.message {
        let wanted = serde_json::from_value(message.clone()).unwrap_or_default();
        world.post(bot, id, wanted, now())?;
    }
    render::channel(world, id).ok_or_else(No::channel)
}

async fn typing(
    State(vendor): At,
    Extension(bot): Extension<Bot>,
    Path(channel): Path<String>,
) -> Response {
    vendor.with(|world| {
        let Some(place) = world.channels.get(&channel).cloned() else {
            return refuse(&No::channel());
        };
        let above = place.parent.as_ref().and_then(|id| world.channels.get(id));
        let (chat, thread) = match above {
            Some(above) => (above.key.clone(), Some(place.key)),
            None => (place.key, None),
        };
        let says = "typing".to_owned();
        let sender = bot.id;
        crate::vendor::World::room_mut(world).sign(
            &chat,
            Signed {
                sender,
                thread,
                says,
            },
        );
        StatusCode::NO_CONTENT.into_response()
    })
}

async fn mark(vendor: At, bot: Extension<Bot>, at: Path<(String, String, String)>) -> Response {
    marked(&vendor, &bot, at, false)
}

async fn unmark(vendor: At, bot: Extension<Bot>, at: Path<(String, String, String)>) -> Response {
    marked(&vendor, &bot, at, true)
}

fn marked(
    State(vendor): &At,
    bot: &Bot,
    Path((_, message, emoji)): Path<(String, String, String)>,
    removed: bool,
) -> Response {
    let is_there = vendor.with(|world| {
        let room = crate::vendor::World::room_mut(world);
        room.mark(&message, (&bot.id, &emoji), removed)
    });
    if is_there {
        StatusCode::NO_CONTENT.into_response()
    } else {
        refuse(&No::message())
    }
}

#[derive(Deserialize)]
struct Echo {
    with_response: Option<String>,
}

/// "Receiving and Responding", create interaction response; told what became of it, if that is wanted.
async fn answer(
    State(vendor): At,
    Path((id, token)): Path<(String, String)>,
    Query(Echo { with_response }): Query<Echo>,
    Json(with): Json<Value>,
) -> Response {
    let resource = json!({ "type": with["type"] });
    let told = json!({ "interaction": { "id": id, "type": 2 }, "resource": resource });
    vendor.with(|world| match world.interactions.get_mut(&token) {
        None => refuse(&No::of(404, 10_062, "Unknown interaction")),
        Some((_, Some(_))) => {
            let words = "Interaction has already been acknowledged.";
            refuse(&No::of(400, 40_060, words))
        }
        Some((_, answer)) => {
            *answer = Some(with);
            if with_response.is_some_and(|it| it == "1" || it == "true") {
                return Json(told).into_response();
            }
            StatusCode::NO_CONTENT.into_response()
        }
    })
}

/// A file, for whoever has its address.
async fn file(
    State(vendor): At,
    ConnectInfo(line): ConnectInfo<Line>,
    Path((channel, file, _)): Path<(String, String, String)>,
) -> Response {
    let content = vendor.see(|world| {
        let mut letters = world.letters.iter();
        letters.find_map(|(id, letter)| {
            let shown = crate::vendor::World::room(world).message(id)?;
            let files = render::files(id, (shown, letter));
            let mut files = files.into_iter().filter(|_| letter.channel == channel);
            let (_, found) = files.find(|(id, _)| *id == file)?;
            Some(found.content.clone())
        })
    });
    let answer = async {
        let lost = || {
            (
                StatusCode::NOT_FOUND,
                "This content is no longer available.",
            )
        };
        content.map_or_else(|| lost().into_response(), IntoResponse::into_response)
    };
    let fault = vendor.next_fault(On::Fetch);
    let happen = line.happen(fault, answer, |status, code, retry_after| {
        refuse(&No::ordered(status, code, retry_after))
    });
    happen.await
}

async fn choose(State(vendor): At, Json(chosen): Json<Chosen>) -> Json<Value> {
    let ids = vendor.with(|world| world.choose(&chosen));
    Json(json!({ "interactions": ids }))
}
