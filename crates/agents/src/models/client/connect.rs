//! Connections to model servers: straight, or through the proxy that is named for the address. To a server with TLS a
//! proxy only gives a tunnel; one without TLS it asks in our place.

mod stream;

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper::header::{HeaderMap, USER_AGENT};
use hyper::http::uri::Scheme;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use rustls::ClientConfig;
use tokio::time;
use tower_service::Service;

pub(super) use self::stream::Stream;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A server that thinks is silent for minutes: whether it is still there is asked meanwhile, and it may be deaf for
/// [`DEAF`].
const ALIVE: Duration = Duration::from_secs(15);
const ALIVE_QUESTIONS: u32 = 3;
const DEAF: Duration = Duration::from_secs(30);

type Connecting = Pin<Box<dyn Future<Output = Result<Stream, Failed>> + Send>>;
/// Why there is no connection.
pub(super) type Failed = Box<dyn Error + Send + Sync>;

/// Makes connections.
#[derive(Clone)]
pub(super) struct Connector {
    straight: HttpsConnector<HttpConnector>,
    tls: Arc<ClientConfig>,
    proxies: Arc<Matcher>,
}

impl Connector {
    /// A connector that goes through these proxies.
    pub(super) fn of(proxies: Arc<Matcher>, tls: ClientConfig) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(ALIVE));
        tcp.set_keepalive_interval(Some(ALIVE));
        tcp.set_keepalive_retries(Some(ALIVE_QUESTIONS));
        #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
        tcp.set_tcp_user_timeout(Some(DEAF));
        let tls = Arc::new(tls);
        Self {
            straight: HttpsConnector::from((tcp, Arc::clone(&tls))),
            tls,
            proxies,
        }
    }

    async fn connect(mut self, to: Uri) -> Result<Stream, Failed> {
        match self.proxies.intercept(&to) {
            None => Ok(Stream::straight(self.straight.call(to).await?)),
            Some(proxy) if to.scheme() == Some(&Scheme::HTTPS) => self.tunnel(&proxy, to).await,
            Some(proxy) => {
                let proxy = proxy.uri().clone();
                Ok(Stream::to_proxy(self.straight.call(proxy).await?))
            }
        }
    }

    async fn tunnel(self, proxy: &Intercept, to: Uri) -> Result<Stream, Failed> {
        let headers = HeaderMap::from_iter([(USER_AGENT, super::USER_AGENT)]);
        let mut tunnel = Tunnel::new(proxy.uri().clone(), self.straight).with_headers(headers);
        if let Some(key) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(key.clone());
        }
        let mut tls = HttpsConnector::from((tunnel, self.tls));
        Ok(Stream::tunnelled(tls.call(to).await?))
    }
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = Failed;
    type Future = Connecting;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        self.straight.poll_ready(context)
    }

    fn call(&mut self, to: Uri) -> Connecting {
        let connected = time::timeout(CONNECT_TIMEOUT, self.clone().connect(to));
        Box::pin(async move {
            let late = |_| io::Error::new(io::ErrorKind::TimedOut, "operation timed out");
            connected.await.map_err(late)?
        })
    }
}
