//! The one HTTP client that all models share, with its connections, its TLS and its connect timeout. It follows no
//! redirect: that would carry the key in its header to wherever the server points.
//!
//! It is thinner than what the platforms use: a turn that only talks spends much of its work here.

mod connect;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::http::uri::Scheme;
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio_util::bytes::Bytes;

use self::connect::Connector;

/// How long a connection that nobody uses is kept.
const IDLE: Duration = Duration::from_secs(90);

/// Who asks.
pub(super) const USER_AGENT: HeaderValue =
    HeaderValue::from_static(concat!("talaria/", env!("CARGO_PKG_VERSION")));

/// Why a request has no answer.
pub(super) type ClientError = legacy::Error;

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
    http: legacy::Client<Connector, Full<Bytes>>,
    proxies: Arc<Matcher>,
}

impl Client {
    /// A client that goes through the proxies that the environment names (`HTTPS_PROXY` and the like).
    pub fn new(tls: ClientConfig) -> Self {
        Self::through(Matcher::from_system(), tls)
    }

    fn through(proxies: Matcher, tls: ClientConfig) -> Self {
        let proxies = Arc::new(proxies);
        let http = legacy::Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(Connector::of(Arc::clone(&proxies), tls));
        Self { http, proxies }
    }

    /// Sends a request, and answers when the head of the answer is there.
    pub(super) async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, ClientError> {
        self.http.request(request).await
    }

    /// What a proxy has to be shown with each request to `uri`. One that tunnels is shown it by the connector.
    pub(super) fn proxy_key(&self, uri: &Uri) -> Option<HeaderValue> {
        if uri.scheme() != Some(&Scheme::HTTP) {
            return None;
        }
        self.proxies.intercept(uri)?.basic_auth().cloned()
    }
}
