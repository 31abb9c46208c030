//! Takes connections: so many at once, none of which may take for ever over its headers. Whoever comes when all places are
//! taken hears so. Once it stops, nobody gets in any more, and what was asked is answered.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::Listener as _;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connection::{Cuttable, CuttableListener};
use crate::layers;
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
    pub(crate) router: Router,
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
        let mut door = CuttableListener {
            listener: self.listener,
            cut: self.cut,
        };
        loop {
            let connection = tokio::select! {
                biased;
                () = self.stop.cancelled() => break,
                (connection, _) = door.accept() => connection,
            };
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                visitors.spawn(turn_away(connection));
                continue;
            };
            let attending = attend(
                connection,
                self.router.clone(),
                builder(&self.terms),
                self.stop.clone(),
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

async fn attend(
    connection: Cuttable,
    router: Router,
    builder: http1::Builder,
    stop: CancellationToken,
) {
    let service = TowerToHyperService::new(router);
    let served = builder.serve_connection(TokioIo::new(connection), service);
    let mut served = std::pin::pin!(served);
    let ended = tokio::select! {
        biased;
        ended = served.as_mut() => ended,
        () = stop.cancelled() => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Says that all places are taken. What they ask is read first: a connection that is closed over something unread is
/// torn down, and the answer with it.
async fn turn_away(mut connection: Cuttable) {
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
