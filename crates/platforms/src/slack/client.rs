//! Talks to Slack. The only file that opens the tokens, and the one that keeps them out of every sentence. What an answer
//! means is decided elsewhere.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{RequestBuilder, Response, Url};
use serde::Serialize;
use serde_json::{Value, json};
use talaria_domain::adapter::Disconnected;
use talaria_domain::delivery::Outcome;
use talaria_domain::names::MessageId;
use talaria_domain::secret::{ExposeSecret, SecretString};
use url::form_urlencoded::Serializer;

use super::classify::{self, Reply};
use super::people::Called;
use super::wire::{Answer, Identified, Person};

/// How long an answer may take; shorter than the gateway's own patience, so that the reason is ours to tell.
const PATIENCE: Duration = Duration::from_secs(20);
const MOST_BYTES: usize = 4 * 1024 * 1024;
const MOST_WORDS: usize = 300;
const JSON: &str = "application/json; charset=utf-8";
const FORM: &str = "application/x-www-form-urlencoded";

/// The way to Slack.
pub(super) struct Client {
    http: reqwest::Client,
    base: Url,
    token: SecretString,
    app_token: Option<SecretString>,
}

/// Which of the tokens speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum As {
    Bot,
    App,
}

impl Client {
    /// The way to the workspace that these tokens, of the bot and of the app, are for.
    pub(super) fn of(
        http: reqwest::Client,
        base: Url,
        (token, app_token): (SecretString, Option<SecretString>),
    ) -> Self {
        Self {
            http,
            base,
            token,
            app_token,
        }
    }

    /// Whether events come over a socket.
    pub(super) const fn has_socket(&self) -> bool {
        self.app_token.is_some()
    }

    /// Who we are.
    pub(super) async fn identify(&self) -> Result<Identified, Disconnected> {
        let reply = self.ask(As::Bot, "auth.test", FORM, String::new()).await;
        let body = classify::received(reply)?;
        serde_json::from_value(body).map_err(|error| self.unreadable("auth.test", &error))
    }

    /// Where the next socket is. The address lets in whoever has it.
    pub(super) async fn open_socket(&self) -> Result<SecretString, Disconnected> {
        let method = "apps.connections.open";
        let reply = self.ask(As::App, method, FORM, String::new()).await;
        let body = classify::received(reply)?;
        let lost = |detail: &str| Disconnected::Lost {
            detail: detail.to_owned(),
        };
        let url = body.get("url").and_then(Value::as_str);
        let url = url.and_then(|url| Url::parse(url).ok());
        let url = url.ok_or_else(|| lost("the answer to `apps.connections.open` has no `url`"))?;
        // In the clear only where everything else is, too.
        if url.scheme() != "wss" && self.base.scheme() != "http" {
            return Err(lost("the socket is not encrypted"));
        }
        Ok(SecretString::from(url.as_str()))
    }

    /// Sends or changes a message; gives its id.
    pub(super) async fn post(
        &self,
        method: &str,
        message: &impl Serialize,
    ) -> Result<MessageId, Outcome> {
        let body = classify::done(self.json(method, message).await)?;
        let ts = body.get("ts").and_then(Value::as_str);
        let ts = ts.filter(|ts| !ts.is_empty());
        let unknown = || Outcome::Unknown {
            detail: "it was done, and the answer has no `ts`".to_owned(),
        };
        ts.map(MessageId::from).ok_or_else(unknown)
    }

    /// Does something that leaves no message. These reasons are as good as a yes.
    pub(super) async fn done(&self, method: &str, asked: &Value, as_good: &[&str]) -> Outcome {
        let reply = self.json(method, asked).await;
        match reply {
            Reply::Refused { ref error, .. } if as_good.contains(&error.as_str()) => {
                Outcome::Delivered {
                    receipts: Vec::new(),
                }
            }
            reply => match classify::done(reply) {
                Ok(_) => Outcome::Delivered {
                    receipts: Vec::new(),
                },
                Err(outcome) => outcome,
            },
        }
    }

    /// The direct chat with somebody.
    pub(super) async fn open_direct(&self, user: &str) -> Result<String, Outcome> {
        let reply = self
            .json("conversations.open", &json!({ "users": user }))
            .await;
        let body = classify::done(reply).map_err(not_yet)?;
        let id = body.pointer("/channel/id").and_then(Value::as_str);
        let nothing = || Outcome::NotSent {
            retry_after: None,
            detail: "the answer to `conversations.open` has no channel".to_owned(),
        };
        id.map(str::to_owned).ok_or_else(nothing)
    }

    /// What somebody is called.
    pub(super) async fn called(&self, user: &str) -> Called {
        match self.form("users.info", &[("user", user)]).await {
            Reply::Done(mut body) => {
                let person = body.get_mut("user").map(Value::take).unwrap_or_default();
                let person: Person = serde_json::from_value(person).unwrap_or_default();
                let some = |name: Option<String>| name.filter(|name| !name.is_empty());
                let name = some(person.profile.display_name)
                    .or_else(|| some(person.profile.real_name))
                    .or_else(|| some(person.real_name))
                    .or_else(|| some(person.name));
                Called::Name(name)
            }
            Reply::Refused { error, .. } if error == "missing_scope" => Called::Forbidden,
            Reply::Refused { status: 200, .. } => Called::Name(None),
            _ => Called::Silent,
        }
    }

    /// Asks something whose arguments are a tree.
    pub(super) async fn json(&self, method: &str, asked: &impl Serialize) -> Reply {
        match serde_json::to_string(asked) {
            Ok(body) => self.ask(As::Bot, method, JSON, body).await,
            Err(error) => Reply::NotSent(error.to_string()),
        }
    }

    /// Asks something whose arguments are words.
    pub(super) async fn form(&self, method: &str, asked: &[(&str, &str)]) -> Reply {
        let body = Serializer::new(String::new()).extend_pairs(asked).finish();
        self.ask(As::Bot, method, FORM, body).await
    }

    async fn ask(&self, speaks: As, method: &str, media_type: &str, body: String) -> Reply {
        let request = self.http.post(self.url(method)).timeout(PATIENCE);
        let request = request.header(CONTENT_TYPE, media_type).body(body);
        self.answer(self.signed(request, speaks)).await
    }

    async fn answer(&self, request: RequestBuilder) -> Reply {
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) if error.is_connect() || error.is_builder() => {
                return Reply::NotSent(self.words(&causes(error)));
            }
            Err(error) => return Reply::Silent(self.words(&causes(error))),
        };
        let status = response.status();
        let retry_after = response.headers().get(RETRY_AFTER);
        let retry_after = retry_after.and_then(|header| header.to_str().ok());
        let retry_after = retry_after.map(str::to_owned);
        let body = match read(response, MOST_BYTES).await {
            Ok(body) => body,
            Err(why) if status.is_success() => return Reply::Silent(self.words(&why)),
            Err(_) => Vec::new(),
        };
        let body: Option<Value> = serde_json::from_slice(&body).ok();
        let answer = body.clone().map(serde_json::from_value::<Answer>);
        match (body, answer) {
            (Some(body), Some(Ok(answer))) if status.is_success() && answer.ok => Reply::Done(body),
            (_, Some(Ok(answer))) => Reply::Refused {
                status: status.as_u16(),
                retry_after,
                words: self.words(&sentence(status.as_u16(), &answer)),
                error: answer.error,
            },
            _ if status.is_success() => Reply::Silent("the answer cannot be read".to_owned()),
            _ => Reply::Refused {
                status: status.as_u16(),
                retry_after,
                error: String::new(),
                words: status.to_string(),
            },
        }
    }

    /// Hands a file to where Slack wants it. The address is all the proof that is needed.
    pub(super) async fn upload(
        &self,
        url: &str,
        (file, length): (tokio::fs::File, u64),
    ) -> Result<(), String> {
        let url = self.own(url)?;
        let request = self.http.post(url).timeout(PATIENCE);
        let request = request
            .header(CONTENT_TYPE, "application/octet-stream")
            .header(reqwest::header::CONTENT_LENGTH, length);
        let answer = request.body(file).send().await;
        let answer = answer.map_err(|error| self.words(&causes(error)))?;
        let status = answer.status();
        status
            .is_success()
            .then_some(())
            .ok_or_else(|| format!("the upload was answered with {status}"))
    }

    /// Gets a file, if it is at Slack and not too long. No redirect is followed with the token.
    pub(super) async fn download(&self, url: &str, most: u64) -> Result<Vec<u8>, String> {
        let request = self.http.get(self.own(url)?).timeout(PATIENCE);
        let response = self.signed(request, As::Bot).send().await;
        let response = response.map_err(|error| self.words(&causes(error)))?;
        let status = response.status();
        if !status.is_success() {
            return Err(format!("Slack answered with {status}"));
        }
        if response
            .content_length()
            .is_some_and(|length| length > most)
        {
            return Err(format!("it is larger than {most} bytes"));
        }
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let read = read(response, most).await;
        read.map_err(|why| self.words(&why))
    }

    /// The address, if it is Slack's own.
    fn own(&self, url: &str) -> Result<Url, String> {
        let url = Url::parse(url).map_err(|_| "the file has no address".to_owned())?;
        let (ours, theirs) = (self.base.host_str(), url.host_str());
        let is_below = match (ours, theirs) {
            (Some(ours), Some(theirs)) => theirs
                .strip_suffix(ours)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.')),
            _ => false,
        };
        let is_port =
            theirs != ours || url.port_or_known_default() == self.base.port_or_known_default();
        if is_below && is_port && url.scheme() == self.base.scheme() {
            Ok(url)
        } else {
            Err("the file is not at Slack".to_owned())
        }
    }

    fn url(&self, method: &str) -> Url {
        let mut url = self.base.clone();
        let has_api = url.path().trim_end_matches('/').ends_with("/api");
        // An address that has no path cannot be asked; the request then says so itself.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty();
            if !has_api {
                segments.push("api");
            }
            segments.push(method);
        }
        url
    }

    fn signed(&self, request: RequestBuilder, speaks: As) -> RequestBuilder {
        let token = match speaks {
            As::Bot => Some(&self.token),
            As::App => self.app_token.as_ref(),
        };
        let token = token.map_or("", |token| token.expose_secret().trim());
        match HeaderValue::from_str(&format!("Bearer {token}")) {
            Ok(mut token) => {
                token.set_sensitive(true);
                request.header(AUTHORIZATION, token)
            }
            // Without a token Slack says no, which is what such a token is worth.
            Err(_) => request,
        }
    }

    fn unreadable(&self, what: &str, error: &serde_json::Error) -> Disconnected {
        let detail = self.words(&format!("the answer to `{what}` cannot be read: {error}"));
        Disconnected::Lost { detail }
    }

    /// A token may be quoted. Shortened only afterwards: half a token is not found again.
    pub(super) fn words(&self, words: &str) -> String {
        let tokens = [Some(&self.token), self.app_token.as_ref()];
        let tokens = tokens.into_iter().flatten();
        let tokens = tokens.map(|token| token.expose_secret().trim());
        let tokens = tokens.filter(|token| !token.is_empty());
        let words = tokens.fold(words.to_owned(), |words, token| {
            words.replace(token, "[token]")
        });
        match words.char_indices().nth(MOST_WORDS) {
            Some((end, _)) => format!("{}…", &words[..end]),
            None => words,
        }
    }
}

/// What failed before the message itself was asked for: whatever it was, there is no message.
pub(super) fn not_yet(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Unknown { detail } => Outcome::NotSent {
            retry_after: None,
            detail,
        },
        other => other,
    }
}

/// The reason, with what Slack adds to it.
fn sentence(status: u16, answer: &Answer) -> String {
    let error = &answer.error;
    let needed = answer.needed.as_ref().filter(|needed| !needed.is_empty());
    let needed = needed.map(|needed| format!(", the scope {needed} is needed"));
    let notes = answer.response_metadata.messages.join("; ");
    let notes = Some(notes).filter(|notes| !notes.is_empty());
    let notes = notes.map(|notes| format!(": {notes}"));
    let status = Some(status).filter(|status| *status != 200);
    let status = status.map(|status| format!(" ({status})"));
    let [status, needed, notes] = [status, needed, notes].map(Option::unwrap_or_default);
    format!("Slack says {error}{status}{needed}{notes}")
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
