//! The one HTTP client that all models share, with its connections, its TLS provider and its connect timeout.

use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// There is no client: this machine's TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum NoClient {
    /// The TLS provider refused.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    /// The client refused.
    #[error("the HTTP client cannot be made: {0}")]
    Http(#[from] reqwest::Error),
}

/// Makes the client that is handed to every model. A machine without certificates gets one as well: a model beside
/// us needs none, and one far away says what is wrong when it is asked.
pub fn client() -> Result<reqwest::Client, NoClient> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let client = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        // A redirect would carry the key in its header to wherever the server points.
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("talaria/", env!("CARGO_PKG_VERSION")))
        .tls_backend_preconfigured(tls)
        .build()?;
    Ok(client)
}
