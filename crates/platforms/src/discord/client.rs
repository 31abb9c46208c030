//! Talks to Discord's HTTP API. The only file that opens the token, and the one that keeps it out of every sentence.
//! What an answer means is decided elsewhere.

use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, USER_AGENT,
};
use reqwest::{Body, Method, RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use talaria_domain::adapter::Disconnected;
use talaria_domain::delivery::Outcome;
use talaria_domain::secret::{ExposeSecret, SecretString};
use tokio::time::{Instant, sleep};

use super::classify::{self, No, Reply};
use super::gateway;
use super::limits::{Limits, Route, Told};
use super::place::{Session, Shard};
use super::wire::Refusal;

/// How long an answer may take; with the longest wait shorter than the gateway's own patience.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long it is waited for until there is something left of a limit. Whoever would have to wait longer is told.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// How long an interaction can be answered.
const INTERACTION: Duration = Duration::from_secs(3);
const MOST_BYTES: usize = 32 * 1024 * 1024;
const MOST_REFUSAL_BYTES: usize = 64 * 1024;
const MOST_WORDS: usize = 300;
/// "API Reference", user agent.
const AGENT: &str = concat!("DiscordBot (talaria, ", env!("CARGO_PKG_VERSION"), ")");
/// Where files are, if not where the API is.
const FILE_HOSTS: [&str; 2] = ["cdn.discordapp.com", "media.discordapp.net"];

/// The way to Discord.
pub(super) struct Client {
    http: reqwest::Client,
    base: Url,
    token: SecretString,
    limits: Mutex<Limits>,
    began: Instant,
}

/// What is sent along.
pub(super) enum Load {
    /// Nothing.
    Nothing,
    /// These fields, behind the path.
    Query(Vec<(&'static str, String)>),
    /// This.
    Json(Value),
    /// A form: its media type, its length and what is in it.
    Form(String, u64, Body),
}

impl Client {
    /// The way to Discord at `base`.
    pub(super) fn of(http: reqwest::Client, base: Url, token: SecretString) -> Self {
        Self {
            http,
            base,
            token,
            limits: Mutex::default(),
            began: Instant::now(),
        }
    }

    /// What is there.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T, Disconnected> {
        let reply = self.ask(Method::GET, path, Load::Nothing).await;
        let body = classify::received(reply)?;
        serde_json::from_slice(&body).map_err(|error| Disconnected::Lost {
            detail: self.unreadable(path, &error),
        })
    }

    /// What is there, or what is in the way.
    pub(super) async fn look<T: DeserializeOwned>(
        &self,
        path: &[&str],
        load: Load,
    ) -> Result<T, Outcome> {
        let body = classify::done(self.ask(Method::GET, path, load).await)?;
        serde_json::from_slice(&body).map_err(|error| Outcome::Unknown {
            detail: self.unreadable(path, &error),
        })
    }

    /// Answers an interaction. It cannot be answered for long.
    pub(super) async fn answer(
        &self,
        (id, token): (&str, &str),
        with: Value,
    ) -> Result<(), Outcome> {
        let path = ["interactions", id, token, "callback"];
        let asking = self.ask(Method::POST, &path, Load::Json(with));
        let reply = tokio::time::timeout(INTERACTION, asking).await;
        let reply = reply.unwrap_or_else(|_| Reply::Silent("no answer in time".to_owned()));
        classify::done(reply).map(drop)
    }

    /// What begins a session on the gateway.
    pub(super) fn identify(&self, shard: Shard) -> String {
        gateway::identify(self.token.expose_secret().trim(), shard)
    }

    /// What takes a session up again.
    pub(super) fn resume(&self, session: &Session) -> String {
        gateway::resume(self.token.expose_secret().trim(), session)
    }

    /// Whether the token may be told over such an address: in the clear only where the API itself is.
    pub(super) fn may_tell(&self, gateway: &Url) -> bool {
        gateway.scheme() == "wss" || (gateway.scheme() == "ws" && self.base.scheme() == "http")
    }

    /// Gets a file from where Discord says it is, without the token.
    pub(super) async fn file(&self, address: &str, most: u64) -> Result<Vec<u8>, String> {
        let address = Url::parse(address).map_err(|_| "its address cannot be read".to_owned())?;
        let is_ours = address.origin() == self.base.origin();
        let host = address.host_str().unwrap_or_default();
        if !is_ours && !(address.scheme() == "https" && FILE_HOSTS.contains(&host)) {
            return Err(format!("it is at {host:?}, which is not Discord's"));
        }
        let request = self.http.get(address).header(USER_AGENT, AGENT);
        let response = request.timeout(PATIENCE).send().await;
        let response = response.map_err(|error| self.words(&causes(error)))?;
        let status = response.status();
        if !status.is_success() {
            return Err(format!("Discord answered {status}"));
        }
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        read(response, most).await.map_err(|why| self.words(&why))
    }

    /// Asks, as soon as Discord's limits allow it.
    pub(super) async fn ask(&self, method: Method, path: &[&str], load: Load) -> Reply {
        let route = Route::of(method.as_str(), path);
        if let Err(wait) = self.admitted(&route).await {
            let why = "the limit for this is used up for now".to_owned();
            return Reply::NotSent(why, Some(wait));
        }
        let mut url = self.url(path);
        if let Load::Query(fields) = &load {
            url.query_pairs_mut().extend_pairs(fields);
        }
        let request = self.request(method, url);
        let request = match load {
            Load::Nothing | Load::Query(_) => request,
            Load::Json(body) => request.json(&body),
            Load::Form(media_type, length, body) => request
                .header(CONTENT_TYPE, media_type)
                .header(CONTENT_LENGTH, length)
                .body(body),
        };
        let response = match request.timeout(PATIENCE).send().await {
            Ok(response) => response,
            Err(error) if error.is_connect() || error.is_builder() => {
                return Reply::NotSent(self.words(&causes(error)), None);
            }
            Err(error) => return Reply::Silent(self.words(&causes(error))),
        };
        if let Some(told) = told(response.headers()) {
            self.limits().learn(&route, &told, self.began.elapsed());
        }
        if !response.status().is_success() {
            return Reply::Refused(self.refusal(response, &route).await);
        }
        match read(response, MOST_BYTES).await {
            Ok(body) => Reply::Done(body),
            Err(why) => Reply::Silent(self.words(&why)),
        }
    }

    /// Waits for its turn, if that is not too long.
    async fn admitted(&self, route: &Route) -> Result<(), Duration> {
        let until = self.began.elapsed() + LONGEST_WAIT;
        loop {
            let now = self.began.elapsed();
            let taken = self.limits().take(route, now);
            match taken {
                Ok(()) => return Ok(()),
                // Not polling: Discord said when there is more.
                Err(wait) if now + wait <= until => sleep(wait).await,
                Err(wait) => return Err(wait),
            }
        }
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        // An address that has no path cannot be asked; the request then says so itself.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(["api", "v10"]).extend(path);
        }
        url
    }

    fn request(&self, method: Method, url: Url) -> RequestBuilder {
        let request = self.http.request(method, url).header(USER_AGENT, AGENT);
        let token = format!("Bot {}", self.token.expose_secret().trim());
        match HeaderValue::from_str(&token) {
            Ok(mut token) => {
                token.set_sensitive(true);
                request.header(AUTHORIZATION, token)
            }
            // Without a token Discord says no, which is what such a token is worth.
            Err(_) => request,
        }
    }

    /// The status decides; a body that cannot be read only has nothing to add.
    async fn refusal(&self, response: Response, route: &Route) -> No {
        let status = response.status();
        let header = number(response.headers(), RETRY_AFTER.as_str());
        let body = read(response, MOST_REFUSAL_BYTES).await.unwrap_or_default();
        let refusal: Refusal = serde_json::from_slice(&body).unwrap_or_default();
        let code = Some(refusal.code).filter(|code| *code != 0);
        let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
        let words = format!("{status}{code}: {}", refusal.message);
        let words = self.words(words.trim_end_matches(": "));
        let no = No::of(status.as_u16(), &refusal, (header, words));
        if let (429, Some(wait)) = (no.status, no.wait) {
            let now = self.began.elapsed();
            if refusal.global {
                self.limits().refuse_all(wait, now);
            } else {
                self.limits().refuse(route, wait, now);
            }
        }
        no
    }

    fn limits(&self) -> MutexGuard<'_, Limits> {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unreadable(&self, path: &[&str], error: &serde_json::Error) -> String {
        let what = path.join("/");
        let (line, column) = (error.line(), error.column());
        self.words(&format!(
            "the answer to `{what}` cannot be read at {line}:{column}"
        ))
    }

    /// Shortened only after the token is out: half a token is not found again.
    pub(super) fn words(&self, words: &str) -> String {
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

/// What the headers say about the limit that a request fell under.
fn told(headers: &HeaderMap) -> Option<Told> {
    let bucket = headers.get("x-ratelimit-bucket")?.to_str().ok()?;
    let remaining = headers.get("x-ratelimit-remaining")?.to_str().ok()?;
    let reset_after = number(headers, "x-ratelimit-reset-after")?;
    Some(Told {
        bucket: bucket.to_owned(),
        remaining: remaining.trim().parse().ok()?,
        reset_after: Duration::try_from_secs_f64(reset_after).ok()?,
    })
}

fn number(headers: &HeaderMap, name: &str) -> Option<f64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

/// The body, if it ends in time and is not too long.
async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(causes)? {
        if body.len() + piece.len() > most {
            return Err(format!("it is larger than {most} bytes"));
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
