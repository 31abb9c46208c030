//! Talks to the Bot API. The only file that opens the token, and the one that keeps it out of every sentence: it is
//! part of every address. What an answer means is decided elsewhere.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE};
use reqwest::{RequestBuilder, Response, Url};
use serde_json::{Value, json};
use talaria_domain::adapter::{Disconnected, NotFetched};
use talaria_domain::secret::{ExposeSecret, SecretString};

use super::classify::{self, Halt, Refusal, Reply};
use super::outbound::Request;
use super::upload;
use super::wire::{Answer, Stored, User, WebhookState};
use crate::commands::COMMANDS;

/// How long the platform is asked to wait for something new.
const POLL: Duration = Duration::from_secs(25);
/// How much longer than that it may take.
const POLL_GRACE: Duration = Duration::from_secs(15);
/// How long anything else may take; shorter than the gateway's own patience, so that the reason is ours to tell.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a file may take on its way out, for the same reason.
const UPLOAD_PATIENCE: Duration = Duration::from_secs(28);
/// How long a file may take on its way in.
const FETCH_PATIENCE: Duration = Duration::from_mins(1);
/// How long a courtesy may take that nobody waits for.
const SHORT: Duration = Duration::from_secs(5);
const MOST_BYTES: usize = 32 * 1024 * 1024;
const MOST_WORDS: usize = 300;
/// How many updates come at once.
const PAGE: u64 = 100;
/// What we want to hear of: everything that an event can be made of.
const WANTED: [&str; 7] = [
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "callback_query",
    "message_reaction",
    "my_chat_member",
];

/// The way to the Bot API.
pub(super) struct Client {
    http: reqwest::Client,
    base: Url,
    token: SecretString,
}

impl Client {
    /// The way to the API at `base`, with this token.
    pub(super) const fn of(http: reqwest::Client, base: Url, token: SecretString) -> Self {
        Self { http, base, token }
    }

    /// Who we are.
    pub(super) async fn me(&self) -> Result<User, Disconnected> {
        let reply = self.call(&Request::of("getMe", [])).await;
        self.readable("getMe", classify::met(reply)?)
    }

    /// What is new from this number on, once there is something. Tells the platform that everything before it is ours.
    pub(super) async fn updates(&self, from: Option<i64>) -> Result<Vec<Value>, Halt> {
        let request = Request::of(
            "getUpdates",
            [
                ("offset", json!(from)),
                ("limit", PAGE.into()),
                ("timeout", POLL.as_secs().into()),
                ("allowed_updates", json!(WANTED)),
            ],
        );
        let asked = self.json(&request).timeout(POLL + POLL_GRACE);
        let page = classify::polled(self.ask(asked).await)?;
        self.readable("getUpdates", page).map_err(Halt::Ended)
    }

    /// Asks to be called at this address, one call at a time: more would overtake each other.
    pub(super) async fn set_webhook(
        &self,
        url: &Url,
        secret: &SecretString,
    ) -> Result<(), Disconnected> {
        let request = Request::of(
            "setWebhook",
            [
                ("url", url.as_str().into()),
                ("secret_token", secret.expose_secret().into()),
                ("max_connections", 1.into()),
                ("allowed_updates", json!(WANTED)),
                ("drop_pending_updates", false.into()),
            ],
        );
        classify::answered(self.call(&request).await).map(drop)
    }

    /// Asks not to be called any more. What waits is kept for whoever asks for it.
    pub(super) async fn delete_webhook(&self) -> Result<(), Disconnected> {
        let request = Request::of("deleteWebhook", [("drop_pending_updates", false.into())]);
        classify::answered(self.call(&request).await).map(drop)
    }

    /// How the calls to us go.
    pub(super) async fn webhook(&self) -> Result<WebhookState, Disconnected> {
        let reply = self.call(&Request::of("getWebhookInfo", [])).await;
        let mut state: WebhookState =
            self.readable("getWebhookInfo", classify::answered(reply)?)?;
        state.last_error_message = state.last_error_message.map(|words| self.words(&words));
        Ok(state)
    }

    /// Puts our commands into the menu. Without it they work just as well.
    pub(super) async fn show_commands(&self) {
        let commands = COMMANDS.map(
            |(command, description)| json!({ "command": command, "description": description }),
        );
        let request = Request::of("setMyCommands", [("commands", json!(commands))]);
        self.ask_kindly(&request).await;
    }

    /// Tells that a press was received, so that the button stops waiting.
    pub(super) async fn answer_press(&self, press: &str) {
        let request = Request::of("answerCallbackQuery", [("callback_query_id", press.into())]);
        self.ask_kindly(&request).await;
    }

    async fn ask_kindly(&self, request: &Request) {
        let reply = self.ask(self.json(request).timeout(SHORT)).await;
        if let Err(why) = classify::outcome(reply) {
            tracing::debug!(method = request.method, ?why, "not done");
        }
    }

    /// Calls a method.
    pub(super) async fn call(&self, request: &Request) -> Reply {
        self.ask(self.json(request).timeout(PATIENCE)).await
    }

    /// Calls a method with the file at `path`; the boundary is to be in no file.
    pub(super) async fn send_file(
        &self,
        request: &Request,
        (path, boundary): (&Path, &str),
    ) -> Reply {
        let Some(upload) = &request.upload else {
            return self.call(request).await;
        };
        let form = match upload::form(&request.fields, upload, (path, boundary)).await {
            Ok(form) => form,
            Err(error) => return Reply::NotSent(format!("the file cannot be read: {error}")),
        };
        let asked = self.http.post(self.url(request.method));
        let asked = asked
            .header(CONTENT_TYPE, form.media_type)
            .header(CONTENT_LENGTH, form.length)
            .body(form.body);
        self.ask(asked.timeout(UPLOAD_PATIENCE)).await
    }

    /// Gets a file that somebody sent, if it is not larger than `most` bytes.
    pub(super) async fn fetch(&self, file: &str, most: u64) -> Result<Vec<u8>, NotFetched> {
        let why = |reason: String| NotFetched { reason };
        let reply = self
            .call(&Request::of("getFile", [("file_id", file.into())]))
            .await;
        let stored = match classify::outcome(reply) {
            Ok(result) => serde_json::from_value::<Stored>(result).ok(),
            Err(outcome) => return Err(why(told(outcome))),
        };
        let place = stored
            .as_ref()
            .and_then(|stored| stored.file_path.as_deref());
        let url = place.and_then(|place| self.file_url(place));
        let url = url.ok_or_else(|| why("the platform does not say where it is".to_owned()))?;
        let size = stored.and_then(|stored| stored.file_size).unwrap_or(0);
        if size > most {
            let reason = format!("it has {size} bytes, and at most {most} are taken");
            return Err(why(reason));
        }
        let asked = self.http.get(url).timeout(FETCH_PATIENCE).send().await;
        let response = asked.map_err(|error| why(self.words(&causes(error))))?;
        if !response.status().is_success() {
            return Err(why(format!("the platform answered {}", response.status())));
        }
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let body = read(response, most).await;
        body.map_err(|reason| why(self.words(&reason)))
    }

    fn url(&self, method: &str) -> Url {
        let bot = format!("bot{}", self.token.expose_secret().trim());
        self.below(&[&bot, method])
    }

    /// Where a file is. A path that leads anywhere else leads nowhere.
    fn file_url(&self, place: &str) -> Option<Url> {
        let parts: Vec<&str> = place.split('/').collect();
        let is_plain = |part: &&str| !matches!(*part, "" | "." | "..");
        parts.iter().all(is_plain).then(|| {
            let bot = format!("bot{}", self.token.expose_secret().trim());
            let front = ["file", bot.as_str()];
            let path: Vec<&str> = front.into_iter().chain(parts).collect();
            self.below(&path)
        })
    }

    fn below(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        // An address that has no path cannot be asked; the request then says so itself.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    fn json(&self, request: &Request) -> RequestBuilder {
        self.http
            .post(self.url(request.method))
            .json(&request.fields)
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
        let body = match read(response, MOST_BYTES).await {
            Ok(body) => body,
            Err(why) if status.is_success() => return Reply::Silent(self.words(&why)),
            // The status decides; a body that cannot be read only has nothing to add.
            Err(_) => Vec::new(),
        };
        match serde_json::from_slice::<Answer>(&body) {
            Ok(answer) if status.is_success() && answer.ok => Reply::Done(answer.result),
            Ok(answer) => self.refusal(answer, status.as_u16()),
            Err(_) if status.is_success() => Reply::Silent("the answer cannot be read".to_owned()),
            Err(_) => self.refusal(Answer::default(), status.as_u16()),
        }
    }

    fn refusal(&self, answer: Answer, status: u16) -> Reply {
        let code = answer.error_code.unwrap_or(status);
        let words = if answer.description.is_empty() {
            "no words".to_owned()
        } else {
            answer.description
        };
        Reply::Refused(Refusal {
            code,
            words: self.words(&format!("{code}: {words}")),
            retry_after: answer.parameters.retry_after,
            moved_to: answer.parameters.migrate_to_chat_id,
        })
    }

    fn readable<T: serde::de::DeserializeOwned>(
        &self,
        method: &str,
        result: Value,
    ) -> Result<T, Disconnected> {
        serde_json::from_value(result).map_err(|error| Disconnected::Lost {
            detail: self.words(&format!("the answer to {method} cannot be read: {error}")),
        })
    }

    /// A server may quote the address that it was asked at. Shortened only afterwards: half a token is not found again.
    fn words(&self, words: &str) -> String {
        let token = self.token.expose_secret().trim();
        let mut words = words.to_owned();
        // The part behind the bot's number is the secret.
        let secret = token.split_once(':').map(|(_, secret)| secret);
        for hidden in [Some(token), secret].into_iter().flatten() {
            if !hidden.is_empty() {
                words = words.replace(hidden, "[token]");
            }
        }
        match words.char_indices().nth(MOST_WORDS) {
            Some((end, _)) => format!("{}…", &words[..end]),
            None => words,
        }
    }
}

fn told(outcome: talaria_domain::delivery::Outcome) -> String {
    use talaria_domain::delivery::Outcome;
    match outcome {
        Outcome::Rejected { detail, .. }
        | Outcome::NotSent { detail, .. }
        | Outcome::Unknown { detail } => detail,
        Outcome::Delivered { .. } => String::new(),
    }
}

/// The body, if it ends in time and is not too long.
async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(causes)? {
        if body.len() + piece.len() > most {
            return Err(format!("it is longer than {most} bytes"));
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
