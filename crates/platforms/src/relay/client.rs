//! Talks to the bridge. The only file that opens the token, and the one that keeps it out of every sentence. What an
//! answer means is decided elsewhere.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderValue, RETRY_AFTER};
use reqwest::{Method, RequestBuilder, Response, Url};
use talaria_domain::adapter::Disconnected;
use talaria_domain::delivery::Outcome;
use talaria_domain::names::MessageId;
use talaria_domain::secret::{ExposeSecret, SecretString};

use super::classify::{self, Ask, Reply};
use super::wire::{About, Message, Page, Refusal};

/// How long the bridge is asked to wait for something new.
const POLL: Duration = Duration::from_secs(25);
/// How much longer than that it may take.
const POLL_GRACE: Duration = Duration::from_secs(15);
/// How long anything else may take; shorter than the gateway's own patience, so that the reason is ours to tell.
const PATIENCE: Duration = Duration::from_secs(20);
const MOST_BYTES: usize = 16 * 1024 * 1024;
const MOST_REFUSAL_BYTES: usize = 64 * 1024;
const MOST_WORDS: usize = 300;

/// The way to a bridge.
pub(super) struct Client {
    http: reqwest::Client,
    base: Url,
    token: SecretString,
}

impl Client {
    /// The way to the bridge at `base`.
    pub(super) const fn of(http: reqwest::Client, base: Url, token: SecretString) -> Self {
        Self { http, base, token }
    }

    /// Where the bridge is.
    pub(super) const fn bridge(&self) -> &Url {
        &self.base
    }

    /// Whom the bridge speaks for.
    pub(super) async fn about(&self) -> Result<About, Disconnected> {
        let request = self.request(Method::GET, self.url(&["about"]));
        let request = request.timeout(PATIENCE);
        let body = classify::received(Ask::About, self.ask(request).await)?;
        serde_json::from_slice(&body).map_err(|error| self.unreadable("about", &error))
    }

    /// What is new after this offset, once there is something. Tells the bridge that everything up to it is ours.
    pub(super) async fn updates(&self, after: Option<u64>) -> Result<Page, Disconnected> {
        let mut url = self.url(&["updates"]);
        let after = after.map(|after| ("after", after));
        let asked = after.into_iter().chain([("wait", POLL.as_secs())]);
        let asked = asked.map(|(name, number)| (name, number.to_string()));
        url.query_pairs_mut().extend_pairs(asked);
        let request = self.request(Method::GET, url).timeout(POLL + POLL_GRACE);
        let body = classify::received(Ask::Updates, self.ask(request).await)?;
        serde_json::from_slice(&body).map_err(|error| self.unreadable("updates", &error))
    }

    /// Sends a message; gives its id.
    pub(super) async fn send(&self, message: &Message<'_>) -> Result<MessageId, Outcome> {
        let request = self.request(Method::POST, self.url(&["messages"]));
        let request = request.json(message).timeout(PATIENCE);
        classify::sent(self.ask(request).await, None)
    }

    /// Makes a message that is there show something else.
    pub(super) async fn change(
        &self,
        id: &MessageId,
        message: &Message<'_>,
    ) -> Result<MessageId, Outcome> {
        let request = self.request(Method::PATCH, self.url(&["messages", id.as_str()]));
        let request = request.json(message).timeout(PATIENCE);
        classify::sent(self.ask(request).await, Some(id))
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        // An address that has no path cannot be asked; the request then says so itself.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("v1").extend(path);
        }
        url
    }

    fn request(&self, method: Method, url: Url) -> RequestBuilder {
        let token = format!("Bearer {}", self.token.expose_secret().trim());
        let request = self.http.request(method, url);
        match HeaderValue::from_str(&token) {
            Ok(mut token) => {
                token.set_sensitive(true);
                request.header(AUTHORIZATION, token)
            }
            // Without a token the bridge says no, which is what such a token is worth.
            Err(_) => request,
        }
    }

    async fn ask(&self, request: RequestBuilder) -> Reply {
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) if error.is_connect() || error.is_builder() => {
                return Reply::NotSent(self.words(&causes(error)));
            }
            Err(error) => return Reply::Silent(self.words(&causes(error))),
        };
        let status = response.status();
        if !status.is_success() {
            return self.refusal(response).await;
        }
        match read(response, MOST_BYTES).await {
            Ok(body) => Reply::Done(body),
            Err(why) => Reply::Silent(self.words(&why)),
        }
    }

    /// The status decides; a body that cannot be read only has nothing to add.
    async fn refusal(&self, response: Response) -> Reply {
        let status = response.status();
        let retry_after = response.headers().get(RETRY_AFTER);
        let retry_after = retry_after.and_then(|header| header.to_str().ok());
        let retry_after = retry_after.map(str::to_owned);
        let body = read(response, MOST_REFUSAL_BYTES).await.unwrap_or_default();
        let refusal: Refusal = serde_json::from_slice(&body).unwrap_or_default();
        let words = format!("{status}: {}", refusal.error.message);
        Reply::Refused {
            status: status.as_u16(),
            retry_after,
            code: refusal.error.code,
            words: self.words(words.trim_end_matches(": ")),
        }
    }

    fn unreadable(&self, what: &str, error: &serde_json::Error) -> Disconnected {
        let detail = self.words(&format!("the answer to `{what}` cannot be read: {error}"));
        Disconnected::Lost { detail }
    }

    /// A bridge may quote the token that it was sent. Shortened only afterwards: half a token is not found again.
    fn words(&self, words: &str) -> String {
        let token = self.token.expose_secret().trim();
        let words = if token.is_empty() {
            words.to_owned()
        } else {
            words.replace(token, "[token]")
        };
        match words.char_indices().nth(MOST_WORDS) {
            Some((end, _)) => format!("{}…", &words[..end]),
            None => words,
        }
    }
}

/// The body, if it ends in time and is not too long.
async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(causes)? {
        if body.len() + piece.len() > most {
            return Err(format!("the answer is longer than {most} bytes"));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// What happened, without the address.
fn causes(error: reqwest::Error) -> String {
    if error.is_timeout() && !error.is_connect() {
        return "no answer in time".to_owned();
    }
    let error = error.without_url();
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        words = format!("{words}: {inner}");
        cause = inner.source();
    }
    words
}
