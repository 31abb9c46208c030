//! Takes connections: so many at once, none of which may take for ever over its headers. Whoever comes when all places are
//! taken hears so. Once it stops, nobody gets in any more, and what was asked is answered.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::serve::Listener;
use futures::FutureExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::layers::{self, Front};
use crate::terms::Terms;

/// How long whoever is turned away may take to hear it.
const TURNED_AWAY: Duration = Duration::from_secs(1);

/// So many more bytes of headers are read than are allowed, so that whoever sends a few too many hears so in words.
const SPARE: usize = 64 * 1024;

/// How many headers a request may have.
const HEADERS: usize = 128;

/// What is said to whoever comes when all places are taken.
const FULL: &str = r#"{"error":{"message":"too many connections: try again","type":"api_error","param":null,"code":"unavailable"}}"#;

/// A listener at work.
pub(crate) struct Listening {
    pub(crate) listener: TcpListener,
    pub(crate) front: Front,
    pub(crate) terms: Terms,
    pub(crate) stop: CancellationToken,
    pub(crate) cut: CancellationToken,
}

impl Listening {
    /// Until it stops and everything that was asked is answered.
    pub(crate) async fn run(self) {
        let (visitors, places) = (
            TaskTracker::new(),
            Arc::new(Semaphore::new(self.terms.connections)),
        );
        let mut door = self.listener;
        loop {
            let connection = tokio::select! {
                biased;
                () = self.stop.cancelled() => break,
                (connection, _) = Listener::accept(&mut door) => connection,
            };
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                visitors.spawn(turn_away(connection));
                continue;
            };
            // A stream of small answers: without this the system waits for more before it sends one. If it cannot be
            // switched off, answers come late, no more.
            connection.set_nodelay(true).unwrap_or_default();
            let attending = attend(
                connection,
                self.front.clone(),
                builder(&self.terms),
                (self.stop.clone(), self.cut.clone()),
            );
            visitors.spawn(async move {
                attending.await;
                drop(place);
            });
        }
        drop(door);
        visitors.close();
        visitors.wait().await;
    }
}

fn builder(terms: &Terms) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(terms.header_time)
        .max_buf_size(terms.header_limit.saturating_add(SPARE))
        .max_headers(HEADERS);
    builder
}

/// Answers what is asked on a connection. Stopping is polite first: what was asked is answered. Whoever then neither reads
/// nor leaves would hold the gateway for ever, and is cut.
async fn attend(
    connection: TcpStream,
    front: Front,
    builder: http1::Builder,
    (stop, cut): (CancellationToken, CancellationToken),
) {
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let answering = front.clone().answer(request.map(Body::new));
        answering.map(Ok::<_, Infallible>)
    });
    let served = builder.serve_connection(TokioIo::new(connection), service);
    let mut served = std::pin::pin!(served);
    let ended = tokio::select! {
        biased;
        ended = served.as_mut() => ended,
        () = stop.cancelled() => {
            served.as_mut().graceful_shutdown();
            tokio::select! {
                biased;
                ended = served => ended,
                () = cut.cancelled() => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Says that all places are taken. What they ask is read first: a connection that is closed over something unread is
/// torn down, and the answer with it.
async fn turn_away(mut connection: TcpStream) {
    let headers = layers::BINDING.map(|(name, value)| format!("{name}: {value}\r\n"));
    let headers = headers.concat();
    let length = FULL.len();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n\
         connection: close\r\ncontent-length: {length}\r\n{headers}\r\n{FULL}"
    );
    let saying = async {
        let mut asked = [0; 4096];
        let _ = connection.read(&mut asked).await?;
        connection.write_all(answer.as_bytes()).await?;
        connection.shutdown().await
    };
    let said = tokio::time::timeout(TURNED_AWAY, saying).await;
    let has_heard = matches!(said, Ok(Ok(())));
    tracing::warn!(has_heard, "turned somebody away: too many connections");
}
