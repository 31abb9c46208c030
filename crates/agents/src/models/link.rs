//! Where a model's server is: its address, its key, and how long it is waited for. The only file that opens the key, and
//! the one that keeps it out of every sentence.
//!
//! What the head of every request says is put together once.

mod address;

#[cfg(test)]
mod tests;

use http_body_util::Full;
use hyper::header::{
    ACCEPT, CONTENT_TYPE, HOST, HeaderName, HeaderValue, PROXY_AUTHORIZATION, USER_AGENT,
};
use hyper::{Method, Request};
use talaria_domain::run::FailureCode;
use talaria_domain::secret::{ExposeSecret, SecretString};
use tokio_util::bytes::Bytes;

use self::address::Address;
use super::draft::clip;
use super::fault::Fault;
use super::retry::Progress;
use super::{Client, ModelError, Patience, client};

const MOST_WORDS: usize = 300;

/// The way to a server.
pub(super) struct Link {
    /// The shared client.
    pub(super) client: Client,
    /// How long it is waited for.
    pub(super) patience: Patience,
    /// Address and headers of every request, or why there can be none.
    head: Result<Request<()>, Fault>,
    /// Host and port, for people.
    server: String,
    key: Option<SecretString>,
}

impl Link {
    /// The way to `path` below `base_url`.
    pub(super) fn of(
        client: Client,
        base_url: &str,
        path: &str,
        key: Option<SecretString>,
        patience: Patience,
    ) -> Self {
        let address = Address::below(base_url, path);
        let server = address.as_ref().map(|address| address.server.clone());
        let wrong = || {
            let why = "`base_url` is not an address such as http://127.0.0.1:11434/v1";
            Fault::Misconfigured(why.to_owned())
        };
        Self {
            head: address.map(|it| head(it, &client)).ok_or_else(wrong),
            client,
            patience,
            server: server.unwrap_or_default(),
            key: key.filter(|key| !key.expose_secret().trim().is_empty()),
        }
    }

    /// The same with a header that every request has.
    pub(super) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        if let Ok(head) = &mut self.head {
            head.headers_mut().insert(name, value);
        }
        self
    }

    /// The same with the key after `scheme` in a header, if there is a key.
    pub(super) fn with_key(self, name: HeaderName, scheme: &str) -> Self {
        let Some(key) = &self.key else { return self };
        let shown = format!("{scheme}{}", key.expose_secret().trim());
        match HeaderValue::try_from(shown) {
            Ok(mut value) => {
                value.set_sensitive(true);
                self.with(name, value)
            }
            Err(_) => Self {
                head: Err(Fault::Misconfigured(
                    "`api_key` has characters that no key has".to_owned(),
                )),
                ..self
            },
        }
    }

    /// The request that has this to say.
    pub(super) fn request(&self, body: Bytes) -> Result<Request<Full<Bytes>>, Fault> {
        let head = self.head.clone()?;
        Ok(head.map(|()| Full::new(body)))
    }

    /// Host and port.
    pub(super) fn server(&self) -> &str {
        &self.server
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

fn head(address: Address, client: &Client) -> Request<()> {
    let proxy_key = client.proxy_key(&address.uri);
    let host = HeaderValue::try_from(address.server);
    let mut head = Request::new(());
    *head.method_mut() = Method::POST;
    *head.uri_mut() = address.uri;
    let headers = head.headers_mut();
    // The client would put it together for each request.
    headers.extend(host.ok().map(|host| (HOST, host)));
    headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, client::USER_AGENT);
    headers.extend(proxy_key.map(|key| (PROXY_AUTHORIZATION, key)));
    head
}
