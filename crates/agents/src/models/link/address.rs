//! A server's address as requests have it. A name and a password do not belong in it, and are not sent.
//!
//! Pure: text in, address out.

use hyper::Uri;
use url::Url;

/// An address.
pub(super) struct Address {
    /// Without a name and a password.
    pub(super) uri: Uri,
    /// Host and port, for people.
    pub(super) server: String,
}

impl Address {
    /// The address of `path`; a query that stands in the base stays one.
    pub(super) fn below(base_url: &str, path: &str) -> Option<Self> {
        let mut url = Url::parse(base_url.trim()).ok()?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return None;
        }
        let whole = format!("{}/{path}", url.path().trim_end_matches('/'));
        url.set_path(&whole);
        url.set_username("").ok()?;
        url.set_password(None).ok()?;
        url.set_fragment(None);
        Some(Self {
            uri: url.as_str().parse().ok()?,
            server: host_and_port(&url),
        })
    }
}

fn host_and_port(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}
