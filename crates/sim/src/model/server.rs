//! The simulated model on a port. Dropped, it accepts nothing more; what it is answering it still answers.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use axum::{Json, Router};
use futures::stream::{self, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::answer::{self, Cost, Frame, Pace, Spoken, Streamed};
use super::conversation::Request;
use super::script::{self, Line};

const MOST_BYTES: usize = 64 * 1024 * 1024;
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// The simulated model on a port.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    serving: JoinSet<io::Result<()>>,
}

impl Server {
    /// Starts it. Port 0 is a free one.
    pub async fn start(listen: impl ToSocketAddrs, pace: Pace) -> io::Result<Self> {
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        // Without it pieces come late, no more.
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap_or_default());
        let desk = Arc::new(Desk {
            pace,
            answers: AtomicU64::new(0),
        });
        let routes = Router::new()
            .route("/v1/chat/completions", post(complete))
            .route("/v1/models", get(models))
            .layer(DefaultBodyLimit::max(MOST_BYTES))
            .with_state(desk);
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, routes).await });
        Ok(Self { address, serving })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a client is told as its base url.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Waits until it ends, which it does not by itself.
    pub async fn ended(mut self) -> io::Result<()> {
        match self.serving.join_next().await {
            Some(Ok(ended)) => ended,
            Some(Err(broken)) => Err(io::Error::other(broken)),
            None => Ok(()),
        }
    }
}

/// What all answers share.
struct Desk {
    pace: Pace,
    /// How many answers there were.
    answers: AtomicU64,
}

async fn models() -> Json<Value> {
    let model = json!({ "id": "sim", "object": "model", "created": 0, "owned_by": "talaria-sim" });
    Json(json!({ "object": "list", "data": [model] }))
}

async fn complete(State(desk): State<Arc<Desk>>, body: Bytes) -> Response {
    let request: Request<'_> = match serde_json::from_slice(&body) {
        Ok(request) => request,
        Err(error) => return refuse(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let frame = Frame {
        number: desk.answers.fetch_add(1, Ordering::Relaxed),
        model: &request.model.0,
        prompt_tokens: answer::tokens(request.messages.bytes),
    };
    match script::line(&request.messages) {
        Line::Hang => std::future::pending().await,
        Line::Fail(status) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
            refuse(status, "told to")
        }
        Line::Say(text) => {
            let spoken = Spoken::within(&text, request.most());
            say(desk.pace, &request, frame, spoken).await
        }
        Line::Call(command) => say(desk.pace, &request, frame, Spoken::Call(command)).await,
    }
}

/// Says it, in a stream if that is wanted. Both ways take the same time.
async fn say(pace: Pace, request: &Request<'_>, frame: Frame<'_>, spoken: Spoken<'_>) -> Response {
    if !request.stream {
        let whole = answer::whole(frame, spoken);
        let pieces = u32::try_from(pace.pieces).unwrap_or(u32::MAX);
        wait(pace.delay.saturating_mul(pieces)).await;
        return ([(CONTENT_TYPE, JSON)], whole).into_response();
    }
    let cost = if request.wants_usage() {
        Cost::Told
    } else {
        Cost::Untold
    };
    let pieces = pieces(answer::stream(frame, spoken, pace.pieces, cost));
    let pieces = stream::iter(pieces.map(Ok::<_, io::Error>));
    let body = if pace.delay.is_zero() {
        Body::from_stream(pieces)
    } else {
        let delay = pace.delay;
        Body::from_stream(pieces.then(move |piece| async move {
            sleep(delay).await;
            piece
        }))
    };
    ([(CONTENT_TYPE, EVENTS)], body).into_response()
}

/// The pieces of a stream, none of them copied.
fn pieces(streamed: Streamed) -> impl Iterator<Item = Bytes> + Send {
    let mut rest = Bytes::from(streamed.bytes);
    let mut start = 0;
    streamed.ends.into_iter().map(move |end| {
        let piece = rest.split_to((end - start).min(rest.len()));
        start = end;
        piece
    })
}

async fn wait(time: Duration) {
    if !time.is_zero() {
        sleep(time).await;
    }
}

fn refuse(status: StatusCode, message: &str) -> Response {
    let error = json!({ "message": message, "type": "simulated", "param": null, "code": null });
    let mut response = (status, Json(json!({ "error": error }))).into_response();
    if status == StatusCode::TOO_MANY_REQUESTS {
        let headers = response.headers_mut();
        headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}
