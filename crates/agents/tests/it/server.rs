//! A model server that answers from a script, one reply for each request, and remembers what it was asked.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode, Uri};
use futures::stream::{self, BoxStream, StreamExt as _};
use serde_json::Value;
use talaria_agents::models::{self, Client, Model, ModelSettings, Patience, Provider};
use talaria_domain::secret::SecretString;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The key that every model here is given.
pub(crate) const KEY: &str = "sk-test-0123456789";

/// What the server does next.
pub(crate) enum Reply {
    /// Sends the pieces and closes.
    Stream(Vec<String>),
    /// Sends the pieces and drops the connection.
    Cut(Vec<String>),
    /// Sends the pieces and then nothing for ever.
    Hang(Vec<String>),
    /// Sends a body with a status and headers.
    Body(u16, Vec<(&'static str, String)>, String),
    /// Never even answers.
    Silence,
}

impl Reply {
    /// A stream of these data.
    pub(crate) fn events(events: &[&str]) -> Self {
        Self::Stream(lines(events))
    }

    /// A JSON body.
    pub(crate) fn json(status: u16, body: &str) -> Self {
        Self::Body(
            status,
            vec![("content-type", "application/json".to_owned())],
            body.to_owned(),
        )
    }
}

/// Data as events.
pub(crate) fn lines(events: &[&str]) -> Vec<String> {
    events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect()
}

/// What the server was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// The server.
pub(crate) struct Server {
    script: Arc<Script>,
    address: String,
    _serving: JoinSet<()>,
}

struct Script {
    replies: Mutex<VecDeque<Reply>>,
    asked: watch::Sender<Vec<Asked>>,
}

impl Server {
    /// A server on a port of its own.
    pub(crate) async fn with(replies: impl IntoIterator<Item = Reply>) -> Self {
        let script = Arc::new(Script {
            replies: Mutex::new(replies.into_iter().collect()),
            asked: watch::Sender::new(Vec::new()),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new()
            .fallback(reply)
            .with_state(Arc::clone(&script));
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            script,
            address,
            _serving: serving,
        }
    }

    /// What it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.script.asked.borrow().clone()
    }

    /// Waits until it was asked so often.
    pub(crate) async fn was_asked(&self, times: usize) {
        let mut asked = self.script.asked.subscribe();
        asked.wait_for(|asked| asked.len() >= times).await.unwrap();
    }

    /// Where it is.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// A model that speaks OpenAI to it.
    pub(crate) fn openai(&self) -> Arc<dyn Model> {
        self.openai_with(quick())
    }

    /// The same with a given patience.
    pub(crate) fn openai_with(&self, patience: Patience) -> Arc<dyn Model> {
        model(Provider::OpenAi, format!("{}/v1", self.address), patience)
    }

    /// A model that speaks Anthropic to it.
    pub(crate) fn anthropic(&self) -> Arc<dyn Model> {
        model(Provider::Anthropic, self.address.clone(), quick())
    }
}

/// The usual patience, but for the waits between attempts.
pub(crate) fn quick() -> Patience {
    let usual = Patience::default();
    Patience {
        waits: usual
            .waits
            .iter()
            .map(|_| std::time::Duration::from_millis(1))
            .collect(),
        ..usual
    }
}

/// A model somewhere.
pub(crate) fn model(provider: Provider, base_url: String, patience: Patience) -> Arc<dyn Model> {
    let settings = ModelSettings {
        provider,
        base_url: Some(base_url),
        model: "some-model".to_owned(),
        api_key: Some(SecretString::from(KEY)),
        window: Some(10_000),
    };
    models::build_with(settings, Client::new(models::tls().unwrap()), patience)
}

async fn reply(
    State(script): State<Arc<Script>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let asked = Asked {
        path: uri.path().to_owned(),
        headers,
        body: serde_json::from_slice(&body).unwrap(),
    };
    script.asked.send_modify(|all| all.push(asked));
    let reply = script.replies.lock().unwrap().pop_front();
    match reply.expect("a request that is not in the script") {
        Reply::Stream(pieces) => streaming(pieces, stream::empty().boxed()),
        Reply::Cut(pieces) => streaming(pieces, stream::once(cut()).boxed()),
        Reply::Hang(pieces) => streaming(pieces, stream::pending().boxed()),
        Reply::Body(status, headers, body) => {
            let response = Response::builder().status(StatusCode::from_u16(status).unwrap());
            let response = headers
                .into_iter()
                .fold(response, |response, (name, value)| {
                    response.header(name, value)
                });
            response.body(Body::from(body)).unwrap()
        }
        Reply::Silence => std::future::pending().await,
    }
}

/// The connection breaks, after what was sent before is on its way.
async fn cut() -> Result<Bytes, io::Error> {
    tokio::task::yield_now().await;
    Err(io::Error::other("cut"))
}

fn streaming(
    pieces: Vec<String>,
    end: BoxStream<'static, Result<Bytes, io::Error>>,
) -> Response<Body> {
    let pieces = stream::iter(pieces).map(|piece| Ok(Bytes::from(piece)));
    let response = Response::builder().header("content-type", "text/event-stream");
    response.body(Body::from_stream(pieces.chain(end))).unwrap()
}
