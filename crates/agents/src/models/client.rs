//! The one HTTP client that all models share, with its connections, its TLS and its connect timeout. It follows no
//! redirect: that would carry the key in its header to wherever the server points.
//!
//! It is thinner than what the platforms use: a turn that only talks spends much of its work here.

mod connect;
mod pool;
mod wire;

#[cfg(test)]
mod tests;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use hyper::body::{Frame, Incoming};
use hyper::header::HeaderValue;
use hyper::http::uri::Scheme;
use hyper::{Response, Uri};
use hyper_util::client::proxy::matcher::Matcher;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio_util::bytes::Bytes;
use tower_service::Service as _;

use self::connect::{Connector, Failed};
use self::pool::{Pool, Server};
use self::wire::{Question, Wire};

/// How many pieces are passed over to get a connection back whose answer nobody reads to its end.
const MOST_PASSED_OVER: usize = 16;

/// Who asks.
pub(super) const USER_AGENT: HeaderValue =
    HeaderValue::from_static(concat!("talaria/", env!("CARGO_PKG_VERSION")));

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum ClientError {
    /// There is no way to the server.
    #[error("no connection")]
    NoConnection(#[source] Failed),
    /// There was one.
    #[error("the connection broke")]
    Broken(#[source] hyper::Error),
}

/// This machine's TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("TLS cannot be set up: {0}")]
pub struct NoTls(#[from] rustls::Error);

/// TLS with the certificates of this machine. One without any gets it as well: a model beside us needs none, and one far
/// away says what is wrong when it is asked.
pub fn tls() -> Result<ClientConfig, NoTls> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(tls)
}

/// The client that is handed to every model.
#[derive(Clone)]
pub struct Client {
    connector: Connector,
    pool: Arc<Pool>,
    proxies: Arc<Matcher>,
}

impl Client {
    /// A client that goes through the proxies that the environment names (`HTTPS_PROXY` and the like).
    pub fn new(tls: ClientConfig) -> Self {
        Self::through(Matcher::from_system(), tls)
    }

    fn through(proxies: Matcher, tls: ClientConfig) -> Self {
        let proxies = Arc::new(proxies);
        Self {
            connector: Connector::of(Arc::clone(&proxies), tls),
            pool: Arc::default(),
            proxies,
        }
    }

    /// Asks, and answers when the head of the answer is there. The question names its host.
    pub(super) async fn send(&self, mut question: Question) -> Result<Received, ClientError> {
        let uri = question.uri().clone();
        let server = Server::of(&uri);
        while let Some(mut wire) = self.pool.take(&server) {
            match wire.ask(question).await {
                Ok(response) => return Ok(self.received(server, wire, response)),
                // The server closed it in this moment, and nothing was sent: another one will do.
                Err(mut error) => match error.take_message() {
                    Some(unsent) => question = unsent,
                    None => return Err(ClientError::Broken(error.into_error())),
                },
            }
            *question.uri_mut() = uri.clone();
        }
        // Rare and large: whoever finds a connection need not have room for making one.
        let mut wire = Box::pin(self.connect(uri)).await?;
        let asked = wire.ask(question).await;
        let response = asked.map_err(|error| ClientError::Broken(error.into_error()))?;
        Ok(self.received(server, wire, response))
    }

    async fn connect(&self, to: Uri) -> Result<Box<Wire>, ClientError> {
        let connected = self.connector.clone().call(to).await;
        let stream = connected.map_err(ClientError::NoConnection)?;
        Wire::over(stream).await.map_err(ClientError::Broken)
    }

    fn received(&self, server: Server, wire: Box<Wire>, response: Response<Incoming>) -> Received {
        Received {
            response,
            wire: Some(wire),
            server,
            pool: Arc::clone(&self.pool),
        }
    }

    /// What a proxy has to be shown with each request to `uri`. One that tunnels is shown it by the connector.
    pub(super) fn proxy_key(&self, uri: &Uri) -> Option<HeaderValue> {
        if uri.scheme() != Some(&Scheme::HTTP) {
            return None;
        }
        self.proxies.intercept(uri)?.basic_auth().cloned()
    }
}

/// An answer whose head is there. Its connection can be used again once all of it is.
pub(super) struct Received {
    pub(super) response: Response<Incoming>,
    /// None once it was given back or broke.
    wire: Option<Box<Wire>>,
    server: Server,
    pool: Arc<Pool>,
}

impl Received {
    /// The next piece; none after the last.
    pub(super) async fn next(&mut self) -> Option<Result<Frame<Bytes>, ClientError>> {
        poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ClientError>>> {
        let Some(wire) = &mut self.wire else {
            return Poll::Ready(None);
        };
        let next = std::task::ready!(wire.poll_frame(self.response.body_mut(), context));
        let wire = self.wire.take_if(|_| !matches!(next, Some(Ok(_))));
        if let (None, Some(wire)) = (&next, wire) {
            self.pool.keep(&self.server, wire);
        }
        Poll::Ready(next.map(|piece| piece.map_err(ClientError::Broken)))
    }
}

impl Drop for Received {
    /// Most answers say that they are complete before their last byte, which is there then.
    fn drop(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..MOST_PASSED_OVER {
            if !matches!(self.poll_next(&mut context), Poll::Ready(Some(Ok(_)))) {
                return;
            }
        }
    }
}
