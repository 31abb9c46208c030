//! A program that asks the gateway over HTTP, as whoever runs it.

use std::net::SocketAddr;

use reqwest::{RequestBuilder, Url};
use serde_json::Value;

use crate::program::{Home, PATIENCE};

pub(super) struct Caller {
    client: reqwest::Client,
    listen: SocketAddr,
    key: String,
}

/// What was answered.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) status: u16,
    pub(super) session: String,
    pub(super) body: Value,
}

impl Asked {
    /// What the agent said.
    pub(super) fn text(&self) -> String {
        let completion = &self.body["choices"][0]["message"]["content"];
        let output = self.body["output"].as_array();
        let response = output.and_then(|all| all.last());
        let response = response.map(|last| &last["content"][0]["text"]);
        let text = completion.as_str().or_else(|| response?.as_str());
        text.unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }

    /// The status and the code of a refusal.
    pub(super) fn refusal(&self) -> (u16, &str) {
        let code = self.body["error"]["code"].as_str();
        (self.status, code.unwrap_or_default())
    }
}

impl Caller {
    /// Somebody who asks the gateway that was last started here.
    pub(super) fn of(home: &Home) -> Self {
        // Another test of this process may have been first.
        let provider = rustls::crypto::ring::default_provider();
        provider.install_default().unwrap_or_default();
        let read = |name: &str| std::fs::read_to_string(home.file(name)).unwrap();
        let running: Value = serde_json::from_str(&read("gateway.json")).unwrap();
        Self {
            client: reqwest::Client::builder().build().unwrap(),
            listen: running["listen"].as_str().unwrap().parse().unwrap(),
            key: read("operator.key").trim().to_owned(),
        }
    }

    fn url(&self, path: &str) -> Url {
        format!("http://{}{path}", self.listen).parse().unwrap()
    }

    async fn ask(&self, request: RequestBuilder) -> Asked {
        let asking = async {
            let response = request.bearer_auth(&self.key).send().await.unwrap();
            let session = response.headers().get("x-talaria-session-id");
            let session = session.map(|id| id.to_str().unwrap().to_owned());
            Asked {
                status: response.status().as_u16(),
                session: session.unwrap_or_default(),
                body: response.json().await.unwrap(),
            }
        };
        tokio::time::timeout(PATIENCE, asking).await.unwrap()
    }

    /// Asks somewhere, with a callback among the headers if there is one.
    pub(super) async fn posts(&self, path: &str, body: &Value, callback: Option<&str>) -> Asked {
        let mut request = self.client.post(self.url(path)).json(body);
        if let Some(callback) = callback {
            request = request.header("X-Talaria-Callback-Url", callback);
        }
        self.ask(request).await
    }

    /// Asks for a chat completion, and gets one.
    pub(super) async fn completes(&self, body: &Value) -> Asked {
        let asked = self.posts("/v1/chat/completions", body, None).await;
        assert_eq!(asked.status, 200, "{asked:?}");
        asked
    }

    pub(super) async fn gets(&self, path: &str) -> Value {
        let asked = self.ask(self.client.get(self.url(path))).await;
        assert_eq!(asked.status, 200, "{path}: {asked:?}");
        asked.body
    }

    /// What a run said at last, as soon as it has ended.
    pub(super) async fn finished(&self, run: &str) -> String {
        let path = format!("/v1/runs/{run}");
        let run = self.until(&path, |run| run["status"] == "completed").await;
        run["output"].as_str().unwrap().to_owned()
    }

    /// Waits until something that was tried in vain waits to go out.
    pub(super) async fn has_waiting(&self) {
        let has_one = |page: &Value| page["data"].as_array().is_some_and(|all| !all.is_empty());
        self.until("/api/outbox?state=retry", has_one).await;
    }

    /// Waits until nothing waits for anything: no job, no turn, no part.
    pub(super) async fn settled(&self) {
        let is_empty = |page: &Value| page["data"].as_array().is_some_and(Vec::is_empty);
        for open in [
            "/api/jobs?state=running",
            "/api/inbox?state=queued",
            "/api/inbox?state=claimed",
            "/api/outbox?state=queued",
            "/api/outbox?state=sending",
            "/api/outbox?state=retry",
        ] {
            self.until(open, is_empty).await;
        }
    }

    async fn until(&self, path: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let looking = async {
            loop {
                let found = self.gets(path).await;
                if holds(&found) {
                    return found;
                }
            }
        };
        tokio::time::timeout(PATIENCE, looking).await.unwrap()
    }
}
