//! The running gateway, as commands see it: found by what it left in the data directory, spoken to over its operator
//! API. An answer is JSON or a failure that says what to do.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::anyhow;
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;
use talaria_domain::secret::{ExposeSecret as _, SecretString};

use super::{Context, Failure};
use crate::config::{self, API_KEY, key, running};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// The most that a list gives at once.
const PAGE: usize = 200;

/// The running gateway.
pub(crate) struct Gateway {
    http: reqwest::Client,
    root: Url,
    key: SecretString,
}

impl Gateway {
    /// Finds it. Whether it answers is not known yet.
    pub(crate) fn find(context: &Context) -> Result<Self, Failure> {
        let environment = &context.environment;
        let home =
            config::home(environment).map_err(|problem| Failure::Configuration(vec![problem]))?;
        let started = running::read(&home).map(|running| running.listen);
        let listen = match started {
            Some(listen) => listen,
            None => {
                config::read(environment)
                    .map_err(Failure::Configuration)?
                    .server
                    .listen
            }
        };
        let key = key::read(&home)?.or_else(|| environment.secret(API_KEY));
        let key = key.ok_or_else(|| {
            let home = home.display();
            Failure::NotReachable(format!(
                "no gateway was ever started with the data directory {home}: start one with `talaria up`"
            ))
        })?;
        Self::at(listen, key)
    }

    fn at(listen: SocketAddr, key: SecretString) -> Result<Self, Failure> {
        let address = running::reached_at(listen);
        let root = Url::parse(&format!("http://{address}")).map_err(anyhow::Error::from)?;
        // No proxy: it is on this machine, and its key is nobody else's business.
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .no_proxy()
            .build()
            .map_err(anyhow::Error::from)?;
        Ok(Self { http, root, key })
    }

    /// Where it is.
    pub(crate) fn root(&self) -> &Url {
        &self.root
    }

    /// Asks for something.
    pub(crate) async fn get(&self, path: &[&str]) -> Result<Value, Failure> {
        self.ask(Method::GET, self.url(path), None).await
    }

    /// Asks for something, with more to say about it.
    pub(crate) async fn get_with(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<Value, Failure> {
        let mut url = self.url(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.ask(Method::GET, url, None).await
    }

    /// Asks for everything that a list has, but for no more than `most`.
    pub(crate) async fn list(&self, path: &[&str], most: usize) -> Result<Vec<Value>, Failure> {
        self.list_with(path, &[], most).await
    }

    /// The same, with more to say about it.
    pub(crate) async fn list_with(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
        most: usize,
    ) -> Result<Vec<Value>, Failure> {
        let mut all = Vec::new();
        let mut after: Option<String> = None;
        while all.len() < most {
            let mut url = self.url(path);
            let limit = (most - all.len()).min(PAGE).to_string();
            url.query_pairs_mut()
                .extend_pairs(query)
                .append_pair("limit", &limit);
            if let Some(after) = &after {
                url.query_pairs_mut().append_pair("after", after);
            }
            let mut page = self.ask(Method::GET, url, None).await?;
            let Some(items) = page["data"].as_array_mut() else {
                return Err(self.strange());
            };
            let is_empty = items.is_empty();
            all.append(items);
            let next = super::text::field(&page, "next");
            // A cursor that does not move would never end.
            if next.is_empty() || is_empty || after.as_ref() == Some(&next) {
                break;
            }
            after = Some(next);
        }
        all.truncate(most);
        Ok(all)
    }

    /// Tells it to do something.
    pub(crate) async fn post(&self, path: &[&str], body: &Value) -> Result<Value, Failure> {
        self.ask(Method::POST, self.url(path), Some(body)).await
    }

    /// Tells it to take something away.
    pub(crate) async fn delete(&self, path: &[&str]) -> Result<Value, Failure> {
        self.ask(Method::DELETE, self.url(path), None).await
    }

    /// Asks for something that has no end.
    pub(crate) async fn stream(&self, path: &[&str]) -> Result<Response, Failure> {
        let request = self.http.get(self.url(path));
        let answer = tokio::time::timeout(ANSWER_TIMEOUT, self.send(request)).await;
        answer.map_err(|_| self.silent("it did not answer in time"))?
    }

    async fn ask(&self, method: Method, url: Url, body: Option<&Value>) -> Result<Value, Failure> {
        let mut request = self.http.request(method, url).timeout(ANSWER_TIMEOUT);
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = self.send(request).await?;
        let bytes = response.bytes().await;
        let bytes = bytes.map_err(|_| self.silent("it broke off while it answered"))?;
        if bytes.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&bytes).map_err(|_| self.strange())
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, Failure> {
        let request = request.bearer_auth(self.key.expose_secret());
        let response = request
            .send()
            .await
            .map_err(|error| self.unreached(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(self.refused(response).await)
    }

    async fn refused(&self, response: Response) -> Failure {
        let status = response.status();
        let body: Option<Value> = response.json().await.ok();
        let message =
            body.and_then(|body| body["error"]["message"].as_str().map(super::text::clean));
        match (status, message) {
            (StatusCode::UNAUTHORIZED, _) => Failure::Failed(anyhow!(
                "the gateway at {} does not accept our key: was it started with another data directory?",
                self.root
            )),
            (StatusCode::SERVICE_UNAVAILABLE, Some(message)) => Failure::NotReachable(format!(
                "the gateway at {} cannot work right now: {message}",
                self.root
            )),
            (_, Some(message)) => Failure::Failed(anyhow!("{message} ({status})")),
            (_, None) => self.strange(),
        }
    }

    fn unreached(&self, error: &reqwest::Error) -> Failure {
        let why = match error {
            _ if error.is_timeout() => "it did not answer in time",
            _ if error.is_connect() => "nothing listens there",
            _ => "it broke off",
        };
        self.silent(why)
    }

    fn silent(&self, why: &str) -> Failure {
        Failure::NotReachable(format!(
            "no gateway answers at {} ({why}): start one with `talaria up`",
            self.root
        ))
    }

    fn strange(&self) -> Failure {
        Failure::NotReachable(format!(
            "what answers at {} is not a talaria gateway: look at `talaria doctor`",
            self.root
        ))
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.root.clone();
        // An http url always has segments.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.clear().extend(path);
        }
        url
    }
}
