//! A gateway that does nothing and says everything: the operator API with canned answers, and conversations whose turns
//! follow a script. What a message says is what happens.

mod canned;
mod script;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use futures::{Stream, StreamExt as _, stream};
use serde_json::{Value, json};
use talaria_domain::live::Happening;
use tokio::net::TcpListener;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinSet;

use crate::program::{Home, KEY};

pub(crate) use canned::SESSION;

/// A running one, and the data directory that leads to it.
pub(crate) struct Fake {
    pub(crate) home: Home,
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

struct Shared {
    known: Mutex<Known>,
    happenings: broadcast::Sender<Happening>,
    /// Grows whenever all connections are to be cut.
    cut: watch::Sender<u32>,
}

#[derive(Default)]
struct Known {
    /// What was asked: method and path, with the body.
    asked: Vec<(String, Value)>,
    /// The lives of events and replies, by id.
    lives: BTreeMap<String, Value>,
    /// Which event a client's message became.
    posted: BTreeMap<String, String>,
    ids: u32,
}

impl Fake {
    pub(crate) async fn start() -> Self {
        let (happenings, _) = broadcast::channel(256);
        let shared = Arc::new(Shared {
            known: Mutex::default(),
            happenings,
            cut: watch::Sender::new(0),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = router(Arc::clone(&shared));
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, router).await.unwrap() });
        let home = Home::empty();
        home.write("operator.key", KEY, 0o600);
        let running = json!({ "listen": address, "pid": std::process::id() });
        home.write("gateway.json", &running.to_string(), 0o644);
        Self {
            home,
            address,
            shared,
            _serving: serving,
        }
    }

    /// What was asked, in order.
    pub(crate) fn asked(&self) -> Vec<(String, Value)> {
        self.shared.known().asked.clone()
    }

    /// The bodies of everything that was asked there.
    pub(crate) fn bodies(&self, method_and_path: &str) -> Vec<Value> {
        let asked = self.asked().into_iter();
        let here = asked.filter(|(place, _)| place == method_and_path);
        here.map(|(_, body)| body).collect()
    }

    /// Says something that nobody asked for.
    pub(crate) fn say(&self, happening: Happening) {
        self.shared.tell(happening);
    }
}

impl Shared {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap()
    }

    fn tell(&self, happening: Happening) {
        // Nobody listening is fine.
        drop(self.happenings.send(happening));
    }

    fn next_id(&self) -> String {
        let mut known = self.known();
        known.ids += 1;
        format!("0198c0de-0000-7000-8000-{:012x}", 0x1000 + known.ids)
    }
}

fn router(shared: Arc<Shared>) -> Router {
    let behind_the_key = Router::new()
        .route("/api/status", get(|| async { Json(canned::status()) }))
        .route("/api/login", post(login))
        .route("/api/sessions", get(sessions).post(open_session))
        .route("/api/sessions/{id}", get(session))
        .route(
            "/api/sessions/{id}/messages",
            get(messages).post(script::post),
        )
        .route("/api/sessions/{id}/events", get(events))
        .route("/api/trace/{id}", get(trace))
        .route(
            "/api/dead",
            get(|| async { Json(canned::page(&[canned::letter()])) }),
        )
        .route("/api/dead/{id}", get(letter))
        .route(
            "/api/jobs",
            get(|| async { Json(canned::page(&[canned::job()])) }),
        )
        .route("/api/jobs/{id}", get(|| async { Json(canned::job()) }))
        .route(
            "/api/runs",
            get(|| async { Json(canned::page(&[canned::run()])) }),
        )
        .route(
            "/api/runs/{id}/revoke",
            post(|Path(id): Path<String>| async move { Json(json!({ "runs": [id] })) }),
        )
        .route("/api/dead/{id}/{verb}", post(letter))
        .route("/api/send", post(script::send))
        .route(
            "/api/keys",
            get(|| async { Json(canned::page(&[canned::key()])) }).post(make_key),
        )
        .route(
            "/api/keys/{id}",
            delete(|| async { StatusCode::NO_CONTENT }),
        )
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard));
    Router::new()
        .route(
            "/healthz",
            get(|| async { Json(json!({ "status": "ok" })) }),
        )
        .merge(behind_the_key)
        .with_state(shared)
}

/// Checks the key and writes down what was asked.
async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let expected = format!("Bearer {KEY}");
    let given = request.headers().get("authorization");
    if given.is_none_or(|given| given != expected.as_str()) {
        return refuse(StatusCode::UNAUTHORIZED, "no such key");
    }
    let place = format!("{} {}", request.method(), request.uri());
    let (head, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    shared.known().asked.push((place, body));
    next.run(Request::from_parts(head, bytes.into())).await
}

pub(crate) fn refuse(status: StatusCode, message: &str) -> Response {
    let error = json!({ "message": message, "type": "x", "param": null, "code": "x" });
    (status, Json(json!({ "error": error }))).into_response()
}

async fn login() -> impl IntoResponse {
    (StatusCode::CREATED, Json(json!({ "url": "/?login=once" })))
}

/// Three conversations, one at a time, to prove that pages are turned.
async fn sessions(Query(query): Query<BTreeMap<String, String>>) -> impl IntoResponse {
    let after = query
        .get("after")
        .and_then(|after| after.parse().ok())
        .unwrap_or(0_usize);
    let all = canned::sessions();
    let next = (after + 1 < all.len()).then(|| (after + 1).to_string());
    Json(json!({ "data": [all[after]], "next": next }))
}

async fn open_session() -> impl IntoResponse {
    (StatusCode::CREATED, Json(canned::sessions()[0].clone()))
}

async fn session(Path(id): Path<String>) -> Response {
    match canned::sessions()
        .into_iter()
        .find(|session| session["id"] == id.as_str())
    {
        Some(session) => Json(session).into_response(),
        None => refuse(StatusCode::NOT_FOUND, &format!("there is no session {id}")),
    }
}

async fn messages(Query(query): Query<BTreeMap<String, String>>) -> impl IntoResponse {
    let after = query
        .get("after")
        .and_then(|after| after.parse().ok())
        .unwrap_or(0_i64);
    let seq = after + 1;
    let calls = json!({ "calls": [{ "id": "1", "tool": "terminal", "arguments": {} }] });
    let (speaker, text, detail) = match seq {
        1 => ("user", "what is \u{1b}[31mred?", Value::Null),
        _ => ("assistant", "A colour.", calls),
    };
    let message = json!({ "seq": seq, "speaker": speaker, "text": text, "detail": detail, "run_id": null, "at": 1_000 * seq });
    Json(json!({ "data": [message], "next": (seq < 2).then_some(seq) }))
}

async fn events(State(shared): State<Arc<Shared>>) -> impl IntoResponse {
    let heard = shared.happenings.subscribe();
    let mut cut = shared.cut.subscribe();
    cut.mark_unchanged();
    let greeting = stream::iter([Ok(Event::default().comment("watching"))]);
    let end = async move { drop(cut.changed().await) };
    let happenings = greeting.chain(encoded(heard)).take_until(Box::pin(end));
    Sse::new(happenings).keep_alive(KeepAlive::default())
}

fn encoded(heard: broadcast::Receiver<Happening>) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(heard, |mut heard| async move {
        let happening = heard.recv().await.ok()?;
        let text = serde_json::to_string(&happening).unwrap();
        Some((Ok(Event::default().data(text)), heard))
    })
}

async fn trace(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Response {
    let life = shared.known().lives.get(&id).cloned();
    let life = life.or_else(|| (id == "$platform/1").then(canned::life));
    match life {
        Some(life) => Json(life).into_response(),
        None => refuse(StatusCode::NOT_FOUND, &format!("nothing is known of {id}")),
    }
}

async fn letter() -> impl IntoResponse {
    Json(canned::letter())
}

async fn make_key() -> impl IntoResponse {
    let mut key = canned::key();
    key["key"] = json!("shown-once");
    (StatusCode::CREATED, Json(key))
}
