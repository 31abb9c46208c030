//! Where a model's server is: its address, its key, and how long it is waited for. The only file that opens the key, and
//! the one that keeps it out of every sentence.

#[cfg(test)]
mod tests;

use reqwest::Url;
use reqwest::header::HeaderValue;
use talaria_domain::run::FailureCode;
use talaria_domain::secret::{ExposeSecret, SecretString};

use super::draft::clip;
use super::fault::Fault;
use super::retry::Progress;
use super::{ModelError, Patience};

const MOST_WORDS: usize = 300;

/// The way to a server.
pub(super) struct Link {
    /// The shared client.
    pub(super) client: reqwest::Client,
    /// The address that is posted to; none if it is not one.
    pub(super) url: Option<Url>,
    /// How long it is waited for.
    pub(super) patience: Patience,
    /// Host and port, for people.
    server: String,
    key: Option<SecretString>,
}

impl Link {
    /// The way to `path` below `base_url`.
    pub(super) fn of(
        client: reqwest::Client,
        base_url: &str,
        path: &str,
        key: Option<SecretString>,
        patience: Patience,
    ) -> Self {
        let url = below(base_url, path);
        let server = url.as_ref().map(host_and_port).unwrap_or_default();
        Self {
            client,
            url,
            patience,
            server,
            key: key.filter(|key| !key.expose_secret().trim().is_empty()),
        }
    }

    /// Host and port.
    pub(super) fn server(&self) -> &str {
        &self.server
    }

    /// The key after `scheme`, as a header; none if there is no key.
    pub(super) fn key_header(&self, scheme: &str) -> Option<Result<HeaderValue, Fault>> {
        let key = self.key.as_ref()?.expose_secret().trim();
        let header = HeaderValue::from_str(&format!("{scheme}{key}"));
        Some(match header {
            Ok(mut header) => {
                header.set_sensitive(true);
                Ok(header)
            }
            Err(_) => Err(Fault::Misconfigured(
                "`api_key` has characters that no key has".to_owned(),
            )),
        })
    }

    /// What the user is told after the last attempt.
    pub(super) fn error(&self, fault: Fault, progress: Progress, attempts: usize) -> ModelError {
        let server = self.server.clone();
        let give_up = |why, code, after| match progress {
            Progress::Something => ModelError::BrokenOff {
                server: server.clone(),
                why,
                code,
            },
            Progress::Nothing => ModelError::TryLater {
                server: server.clone(),
                attempts,
                why,
                code,
                after,
            },
        };
        match fault {
            Fault::Passing { why, after } => {
                give_up(self.redact(&why), FailureCode::ModelUnreachable, after)
            }
            Fault::Busy { why, after } => {
                give_up(self.redact(&why), FailureCode::ModelOverloaded, after)
            }
            Fault::Silent { patience } => {
                give_up(silence(patience.as_secs()), FailureCode::Timeout, None)
            }
            Fault::Unreadable(why) => {
                let why = self.redact(&why);
                ModelError::Unreadable { server, why }
            }
            Fault::Refused(why) => {
                let why = self.redact(&why);
                ModelError::Refused { server, why }
            }
            Fault::Unauthorized(why) => {
                let why = self.redact(&why);
                ModelError::Unauthorized { server, why }
            }
            Fault::Misconfigured(why) => ModelError::Misconfigured { why },
            Fault::TooLong(why) => ModelError::TooLong {
                why: self.redact(&why),
            },
        }
    }

    /// A server may quote the key that it was sent. Shortened only afterwards: half a key is not found again.
    fn redact(&self, words: &str) -> String {
        let words = match &self.key {
            Some(key) => words.replace(key.expose_secret().trim(), "[key]"),
            None => words.to_owned(),
        };
        clip(&words, MOST_WORDS)
    }
}

fn silence(seconds: u64) -> String {
    format!("nothing came for {seconds} s")
}

/// The address of `path`; a query that stands in the base stays one.
fn below(base_url: &str, path: &str) -> Option<Url> {
    let mut url = Url::parse(base_url.trim()).ok()?;
    let whole = format!("{}/{path}", url.path().trim_end_matches('/'));
    url.set_path(&whole);
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

fn host_and_port(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}
