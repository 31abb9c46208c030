//! A server of its own for each test, and people who call it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::Value;
use talaria_domain::clock::{ManualClock, Timestamp};
use talaria_domain::ids::SessionId;
use talaria_domain::secret::SecretString;
use talaria_server::{About, OperatorKeys, Shared, Terms, serve_on};
use talaria_store::maintenance::integrity;
use talaria_store::{Durability, Ledger, Result, Settings, Tx};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::conformity;
use crate::gateway::Gateway;

pub(crate) const START: Timestamp = Timestamp::from_millis(1_790_000_000_000);
pub(crate) const OPERATOR: &str = "the-operators-own-key";
pub(crate) const ENVIRONMENT: &str = "the-key-from-the-environment";

/// Longer than anything here takes: a test that waits so long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A server and everything around it.
pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) stop: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
    client: reqwest::Client,
    url: String,
    directory: tempfile::TempDir,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::on(Terms::default()).await
    }

    /// On terms of its own.
    pub(crate) async fn on(terms: Terms) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", store(&directory).display());
        Self::open(directory, url, terms).await
    }

    async fn open(directory: tempfile::TempDir, url: String, terms: Terms) -> Self {
        let clock = Arc::new(ManualClock::at(START));
        let settings = Settings {
            url: url.clone(),
            durability: Durability::Process,
            clock: Some(Arc::<ManualClock>::clone(&clock)),
        };
        let ledger = Ledger::open_with(settings).await.unwrap();
        let gateway = Arc::new(Gateway::over(ledger, clock));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        let shared = shared(&gateway);
        let serving = TaskTracker::new().spawn(serve_on(listener, shared, terms, stop.clone()));
        Self {
            address,
            gateway,
            stop,
            serving,
            client: client(),
            url,
            directory,
        }
    }

    /// Stops the server and says what it said.
    pub(crate) async fn stopped(self) -> Closed {
        self.stop.cancel();
        let served = tokio::time::timeout(PATIENCE, self.serving).await;
        served.expect("the server stops").unwrap().unwrap();
        self.gateway.ledger.close().await;
        let Self { url, directory, .. } = self;
        Closed { url, directory }
    }

    /// Whatever the story did, the server stops and the ledger holds together.
    pub(crate) async fn end(self) {
        let closed = self.stopped().await;
        let ledger = Ledger::open(&closed.url).await.unwrap();
        let findings = ledger.read(integrity::check).await.unwrap();
        assert_eq!(findings, Vec::<String>::new());
        ledger.close().await;
    }

    /// Whoever has this key; nobody if it is empty.
    pub(crate) fn with(&self, key: &str) -> Person<'_> {
        let headers = match key {
            "" => Vec::new(),
            key => vec![("authorization".to_owned(), format!("Bearer {key}"))],
        };
        Person {
            world: self,
            headers,
        }
    }

    pub(crate) fn operator(&self) -> Person<'_> {
        self.with(OPERATOR)
    }

    pub(crate) fn nobody(&self) -> Person<'_> {
        self.with("")
    }

    /// Somebody with a fresh key of these scopes, and the key's id.
    pub(crate) async fn somebody(&self, name: &str, scopes: &[&str]) -> (Person<'_>, String) {
        let body = serde_json::json!({ "name": name, "scopes": scopes });
        let made = self.operator().post("/api/keys", &body).await;
        assert_eq!(made.status, StatusCode::CREATED, "{:?}", made.body);
        (self.with(made.text("key")), made.text("id").to_owned())
    }

    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> T {
        self.gateway.ledger.write(work).await.unwrap()
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> T {
        self.gateway.ledger.read(work).await.unwrap()
    }
}

/// A store whose server was stopped.
pub(crate) struct Closed {
    url: String,
    directory: tempfile::TempDir,
}

impl Closed {
    /// A new process on the same store.
    pub(crate) async fn restarted(self) -> World {
        World::open(self.directory, self.url, Terms::default()).await
    }
}

fn store(directory: &tempfile::TempDir) -> PathBuf {
    directory.path().join("store.db")
}

fn shared(gateway: &Arc<Gateway>) -> Shared {
    Shared {
        ledger: gateway.ledger.clone(),
        intake: gateway.clone(),
        live: gateway.clone(),
        health: gateway.clone(),
        courier: gateway.clone(),
        hooks: gateway.clone(),
        rights: gateway.clone(),
        doorkeeper: gateway.clone(),
        timetable: gateway.clone(),
        clock: gateway.clock.clone(),
        ids: gateway.ids.clone(),
        keys: OperatorKeys {
            operator: SecretString::from(OPERATOR),
            environment: Some(SecretString::from(ENVIRONMENT)),
        },
        profile: "assistant".into(),
        profiles: vec!["assistant".into(), "scholar".into()],
        about: About {
            version: "1.2.3".to_owned(),
            model: "demo".to_owned(),
            store: "sqlite".to_owned(),
            started_at: START,
        },
        public_url: None,
        callback: None,
    }
}

fn client() -> reqwest::Client {
    // Another test of this process may have been first.
    let provider = rustls::crypto::ring::default_provider();
    provider.install_default().unwrap_or_default();
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(PATIENCE);
    client.build().unwrap()
}

/// Somebody who calls.
#[derive(Clone)]
pub(crate) struct Person<'w> {
    world: &'w World,
    headers: Vec<(String, String)>,
}

/// What they were answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: Value,
    pub(crate) words: String,
}

impl Person<'_> {
    /// The same person, saying one more thing about themselves.
    pub(crate) fn saying(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let url = format!("http://{}{path}", self.world.address);
        let request = self.world.client.request(method, url);
        let headers = self.headers.iter();
        headers.fold(request, |request, (name, value)| {
            request.header(name, value)
        })
    }

    async fn ask(&self, request: reqwest::RequestBuilder) -> Answer {
        let request = request.build().unwrap();
        let asked = (request.method().clone(), request.url().path().to_owned());
        let response = self.world.client.execute(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let words = response.text().await.unwrap();
        let body = serde_json::from_str(&words).unwrap_or(Value::Null);
        let answer = Answer {
            status,
            headers,
            body,
            words,
        };
        let (type_of, body) = (answer.header("content-type"), &answer.body);
        conformity::of(self.world.address)
            .await
            .check(&asked, (status, type_of), body);
        answer
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask(self.request(Method::GET, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask(self.request(Method::POST, path).json(body)).await
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: impl Into<reqwest::Body>,
    ) -> Answer {
        self.ask(self.request(method, path).body(body)).await
    }

    /// A fresh conversation.
    pub(crate) async fn begins(&self) -> SessionId {
        let made = self.post("/api/sessions", &serde_json::json!({})).await;
        assert_eq!(made.status, StatusCode::CREATED, "{:?}", made.body);
        made.text("id").parse().unwrap()
    }

    /// Says something that is accepted.
    pub(crate) async fn says(&self, session: SessionId, text: &str) -> Answer {
        let path = format!("/api/sessions/{session}/messages");
        let said = self.post(&path, &serde_json::json!({ "text": text })).await;
        assert_eq!(said.status, StatusCode::ACCEPTED, "{:?}", said.body);
        said
    }
}

impl Answer {
    /// A field that is a text.
    pub(crate) fn text(&self, field: &str) -> &str {
        let text = self.body[field].as_str();
        text.unwrap_or_else(|| panic!("no {field} in {}", self.words))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// The rows of a list.
    pub(crate) fn rows(&self) -> &[Value] {
        let rows = self.body["data"].as_array();
        rows.unwrap_or_else(|| panic!("no list in {}", self.words))
    }

    /// Asserts that this is a refusal in our one shape; gives its message.
    pub(crate) fn refused(&self, status: StatusCode, code: &str) -> &str {
        assert_eq!(self.status, status, "{}", self.words);
        let error = self.body["error"]
            .as_object()
            .unwrap_or_else(|| panic!("{}", self.words));
        let mut fields: Vec<&str> = error.keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["code", "message", "param", "type"]);
        assert_eq!(error["code"], code, "{}", self.words);
        error["message"].as_str().unwrap()
    }
}
