//! A server's address as requests have it. Somebody's name and password that stand in it become a header, as browsers do.
//!
//! Pure: text in, address out.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Uri;
use hyper::header::HeaderValue;
use percent_encoding::percent_decode_str;
use url::Url;

/// An address.
pub(super) struct Address {
    /// Without a name and a password.
    pub(super) uri: Uri,
    /// Host and port, for people.
    pub(super) server: String,
    /// The name and the password.
    pub(super) login: Option<HeaderValue>,
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
        let login = login(&url);
        url.set_username("").ok()?;
        url.set_password(None).ok()?;
        url.set_fragment(None);
        Some(Self {
            uri: url.as_str().parse().ok()?,
            server: host_and_port(&url),
            login,
        })
    }
}

fn login(url: &Url) -> Option<HeaderValue> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let plain = |text| percent_decode_str(text).decode_utf8_lossy();
    let name = plain(url.username());
    let password = plain(url.password().unwrap_or_default());
    let encoded = STANDARD.encode(format!("{name}:{password}"));
    let mut header = HeaderValue::try_from(format!("Basic {encoded}")).ok()?;
    header.set_sensitive(true);
    Some(header)
}

fn host_and_port(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}
