//! Programs that call a server with a real gateway behind it, on a real ledger in a temporary file. What thinks is told by
//! the message what to do: `hang` until it is stopped, `fail`, use a `tool`, be `silent`, ask (see
//! `approving.rs`); else it says the message again.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use talaria_domain::adapter::Pending;
use talaria_domain::authority::{Authority, Right};
use talaria_domain::clock::{Clock, ManualClock, SystemClock};
use talaria_domain::ids::{Ids, JobId, RandomIds};
use talaria_domain::job::{Job, Jobs, Worker};
use talaria_domain::profile::{BusyPolicy, Profile};
use talaria_domain::run::{Failure, FailureCode, Finish, RunEvent, RunOutcome, ToolResult, Usage};
use talaria_domain::runner::{Host, Runner, Said, Stopped, Turn};
use talaria_domain::scope::StatePolicy;
use talaria_domain::secret::SecretString;
use talaria_domain::session_key::Sharing;
use talaria_gateway::access::{AccessPolicy, Trust};
use talaria_gateway::binding::Bindings;
use talaria_gateway::delivery::pace::Rate;
use talaria_gateway::settings::{
    AccountSettings, DoubtPolicy, Limits, ProfileSettings, Reset, Settings,
};
use talaria_gateway::{Gateway, Parts};
use talaria_platforms::local::{Local, SURFACES};
use talaria_platforms::split::pieces;
use talaria_server::{About, OperatorKeys, Shared, serve};
use talaria_store::maintenance::integrity;
use talaria_store::{Durability, Ledger, Result, Settings as StoreSettings, Tx};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::approving;
use crate::conformity;
use crate::world::{OPERATOR, PATIENCE, START};

/// A server, a gateway, and what thinks.
pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) ledger: Ledger,
    pub(crate) parrot: Arc<Parrot>,
    gateway: Gateway,
    stop: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
    client: reqwest::Client,
    directory: tempfile::TempDir,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::open(tempfile::tempdir().unwrap()).await
    }

    async fn open(directory: tempfile::TempDir) -> Self {
        let store = StoreSettings {
            durability: Durability::Process,
            ..StoreSettings::for_url(&url(&directory))
        };
        let ledger = Ledger::open_with(store).await.unwrap();
        let parrot = Arc::new(Parrot::default());
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let ids: Arc<dyn Ids> = Arc::new(RandomIds::default());
        let parts = Parts {
            ledger: ledger.clone(),
            clock: Arc::clone(&clock),
            ids: Arc::clone(&ids),
            settings: settings(&parrot, &clock),
        };
        let gateway = Gateway::start(parts).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        let shared = shared(&gateway, &ledger, (clock, ids));
        let serving = TaskTracker::new().spawn(serve(listener, shared, stop.clone()));
        // Another test of this process may have been first.
        let provider = rustls::crypto::ring::default_provider();
        provider.install_default().unwrap_or_default();
        let client = reqwest::Client::builder().timeout(PATIENCE).build();
        Self {
            address,
            ledger,
            parrot,
            gateway,
            stop,
            serving,
            client: client.unwrap(),
            directory,
        }
    }

    /// The process is gone, and another one starts on the same store.
    pub(crate) async fn crashed(self) -> Self {
        self.gateway.kill().await;
        self.stop.cancel();
        let served = tokio::time::timeout(PATIENCE, self.serving).await;
        served.expect("the server stops").unwrap().unwrap();
        self.ledger.close().await;
        Self::open(self.directory).await
    }

    pub(crate) async fn end(self) {
        self.gateway.stop().await;
        self.stop.cancel();
        let served = tokio::time::timeout(PATIENCE, self.serving).await;
        served.expect("the server stops").unwrap().unwrap();
        let findings = self.ledger.read(integrity::check).await.unwrap();
        assert_eq!(findings, Vec::<String>::new());
        self.ledger.close().await;
    }

    /// Whoever runs the gateway.
    pub(crate) fn operator(&self) -> Program<'_> {
        self.with(OPERATOR)
    }

    pub(crate) fn with(&self, key: &str) -> Program<'_> {
        Program {
            world: self,
            headers: vec![("authorization".to_owned(), format!("Bearer {key}"))],
        }
    }

    /// A program with a key of its own.
    pub(crate) async fn program(&self, name: &str) -> Program<'_> {
        let body = json!({ "name": name, "scopes": ["chat"] });
        let made = self.operator().post("/api/keys", &body).await;
        assert_eq!(made.status, StatusCode::CREATED, "{}", made.words);
        self.with(made.body["key"].as_str().unwrap())
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> T {
        self.ledger.read(work).await.unwrap()
    }
}

fn url(directory: &tempfile::TempDir) -> String {
    format!("sqlite:{}", directory.path().join("store.db").display())
}

fn settings(parrot: &Arc<Parrot>, clock: &Arc<dyn Clock>) -> Settings {
    let profile = Profile {
        name: "assistant".into(),
        runner: "parrot".into(),
        instructions: String::new(),
        busy: BusyPolicy::Queue,
        sharing: Sharing::default(),
        state: StatePolicy::default(),
    };
    let account = |surface| AccountSettings {
        adapter: Arc::new(Local::of(surface, &profile.name, clock)),
        access: AccessPolicy {
            surface: Trust::Checked,
            ..AccessPolicy::default()
        },
        merge_window: Duration::ZERO,
        rate: Rate::UNLIMITED,
        account_rate: Rate::UNLIMITED,
        edit_pace: Duration::ZERO,
        doubt: DoubtPolicy::PreferLoss,
        marks: false,
        home: None,
    };
    let accounts = SURFACES.map(account).into();
    let profile = ProfileSettings {
        profile,
        runner: Arc::<Parrot>::clone(parrot),
        authority: Authority {
            rights: Right::ALL.into(),
            ..Authority::default()
        },
        reset: Reset::default(),
    };
    let mut scholar = profile.clone();
    scholar.profile.name = "scholar".into();
    Settings {
        node: "node".into(),
        profiles: [("assistant".into(), profile), ("scholar".into(), scholar)].into(),
        accounts,
        routes: Vec::new(),
        bindings: Bindings::default(),
        limits: Limits::default(),
        split: pieces,
        worker: Arc::new(NoProcesses),
        files: None,
        zone: talaria_domain::schedule::Zone::default(),
    }
}

fn shared(
    gateway: &Gateway,
    ledger: &Ledger,
    (clock, ids): (Arc<dyn Clock>, Arc<dyn Ids>),
) -> Shared {
    let still = Arc::new(ManualClock::at(START));
    let stand_in = Arc::new(crate::gateway::Gateway::over(ledger.clone(), still));
    Shared {
        ledger: ledger.clone(),
        intake: gateway.intake(),
        live: gateway.live(),
        health: stand_in.clone(),
        courier: stand_in.clone(),
        hooks: stand_in.clone(),
        rights: stand_in.clone(),
        doorkeeper: stand_in.clone(),
        timetable: stand_in,
        clock,
        ids,
        keys: OperatorKeys {
            operator: SecretString::from(OPERATOR),
            environment: None,
        },
        profile: "assistant".into(),
        profiles: vec!["assistant".into(), "scholar".into()],
        about: About {
            version: "1.2.3".to_owned(),
            model: "parrot".to_owned(),
            store: "sqlite".to_owned(),
            started_at: START,
        },
        public_url: None,
        callback: None,
    }
}

struct NoProcesses;

impl Worker for NoProcesses {
    fn adopt(&self, _: Job, _: Arc<dyn Jobs>) -> Pending<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn cancel(&self, _: JobId) -> Pending<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// What thinks.
#[derive(Default)]
pub(crate) struct Parrot {
    turns: Mutex<Vec<Turn>>,
    /// Turns that were told to stop.
    stopped: Mutex<Vec<String>>,
    moved: Notify,
}

impl Parrot {
    pub(crate) fn turns(&self) -> Vec<Turn> {
        self.turns.lock().unwrap().clone()
    }

    pub(crate) fn stopped(&self) -> Vec<String> {
        self.stopped.lock().unwrap().clone()
    }

    /// Waits until something that it did is so.
    pub(crate) async fn until(&self, is_so: impl Fn(&Self) -> bool) {
        let waiting = async {
            loop {
                let moved = self.moved.notified();
                if is_so(self) {
                    return;
                }
                moved.await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting)
            .await
            .expect("it comes to that");
    }

    async fn play(&self, turn: &Turn, host: &dyn Host) -> std::result::Result<RunOutcome, Stopped> {
        self.turns.lock().unwrap().push(turn.clone());
        self.moved.notify_waiters();
        let prompt = turn.prompt.as_str();
        if let Some(text) = approving::asked(host, prompt).await {
            host.journal(RunEvent::MessageCompleted { text }).await?;
            return Ok(RunOutcome::completed(Usage::default()));
        }
        if prompt.contains("tool") {
            self.use_tool(host).await?;
        }
        if prompt.contains("hang") {
            let text = "hm".to_owned();
            host.journal(RunEvent::MessageDelta { text }).await?;
            host.stopped().await;
            self.stopped.lock().unwrap().push(prompt.to_owned());
            self.moved.notify_waiters();
            return Err(Stopped);
        }
        if prompt.contains("fail") {
            return Ok(failure_of(prompt));
        }
        if !prompt.contains("silent") {
            for text in ["re: ", prompt] {
                let text = text.to_owned();
                host.journal(RunEvent::MessageDelta { text }).await?;
            }
            let text = format!("re: {prompt}");
            host.journal(RunEvent::MessageCompleted { text }).await?;
        }
        let usage = Usage {
            input_tokens: 11,
            output_tokens: 7,
        };
        let finish = if prompt.contains("cut off") {
            Finish::Length
        } else if prompt.contains("withhold") {
            Finish::ContentFilter
        } else {
            Finish::Stop
        };
        Ok(RunOutcome::Completed { usage, finish })
    }

    async fn use_tool(&self, host: &dyn Host) -> std::result::Result<(), Stopped> {
        let text = "let me look".to_owned();
        host.journal(RunEvent::MessageCompleted { text }).await?;
        let call = "call-1".to_owned();
        let started = RunEvent::ToolStarted {
            call: call.clone(),
            tool: "lever".to_owned(),
            arguments: json!({}),
        };
        host.journal(started).await?;
        if self
            .turns()
            .iter()
            .any(|turn| turn.prompt.contains("stuck"))
        {
            self.moved.notify_waiters();
            host.stopped().await;
            return Err(Stopped);
        }
        let completed = RunEvent::ToolCompleted {
            call,
            output: "pulled".to_owned(),
            result: ToolResult::Done,
        };
        host.journal(completed).await
    }
}

/// `fail` with no code, or with one that is named after it: `fail model_auth`.
fn failure_of(prompt: &str) -> RunOutcome {
    let named = prompt
        .split_whitespace()
        .skip_while(|word| *word != "fail")
        .nth(1);
    let code = named.map(|name| serde_json::from_value(json!(name)).unwrap());
    let failure = Failure::of(code.unwrap_or_default(), "the model answered 500");
    let retry_after_seconds = (failure.code == FailureCode::ModelOverloaded).then_some(7);
    RunOutcome::Failed(Failure {
        retry_after_seconds,
        ..failure
    })
}

impl Runner for Parrot {
    fn run<'a>(&'a self, turn: &'a Turn, host: &'a dyn Host) -> Pending<'a, RunOutcome> {
        Box::pin(async move { self.play(turn, host).await.unwrap_or(RunOutcome::Cancelled) })
    }

    fn window(&self) -> usize {
        1_000_000
    }

    fn summarise<'a>(&'a self, _: &'a [Said]) -> Pending<'a, std::result::Result<String, String>> {
        Box::pin(std::future::ready(Err("not here".to_owned())))
    }
}

/// Somebody who calls.
#[derive(Clone)]
pub(crate) struct Program<'w> {
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

impl Program<'_> {
    pub(crate) fn saying(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
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

    pub(crate) async fn send(&self, path: &str, body: impl Into<reqwest::Body>) -> Answer {
        self.ask(self.request(Method::POST, path).body(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.ask(self.request(Method::DELETE, path)).await
    }

    /// Asks for a completion with nothing but this.
    pub(crate) async fn says(&self, text: &str) -> Answer {
        self.post("/v1/chat/completions", &saying(text)).await
    }

    /// Begins to read a stream.
    pub(crate) async fn opens(&self, method: Method, path: &str, body: &Value) -> Reader {
        let request = self.request(method, path).json(body);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Reader {
            response,
            read: String::new(),
        }
    }
}

/// A completion that is asked for.
pub(crate) fn saying(text: &str) -> Value {
    json!({ "model": "assistant", "messages": [{ "role": "user", "content": text }] })
}

impl Answer {
    /// Asserts that this is a refusal in our one shape; gives its message.
    pub(crate) fn refused(&self, status: StatusCode, code: &str) -> &str {
        assert_eq!(self.status, status, "{}", self.words);
        let error = self.body["error"].as_object().expect(&self.words);
        let mut fields: Vec<&str> = error.keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["code", "message", "param", "type"]);
        assert_eq!(error["code"], code, "{}", self.words);
        error["message"].as_str().unwrap()
    }

    pub(crate) fn content(&self) -> &str {
        assert_eq!(self.status, StatusCode::OK, "{}", self.words);
        let content = &self.body["choices"][0]["message"]["content"];
        content.as_str().expect(&self.words)
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn session(&self) -> &str {
        self.header("x-talaria-session-id")
    }
}

/// Somebody who reads a stream.
pub(crate) struct Reader {
    pub(crate) response: Response,
    read: String,
}

/// One event of a stream.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Told {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) text: String,
}

impl Told {
    pub(crate) fn body(&self) -> Value {
        serde_json::from_str(&self.text).expect(&self.text)
    }
}

impl Reader {
    /// The next event; none at the end. Comments are passed over.
    pub(crate) async fn next(&mut self) -> Option<Told> {
        loop {
            while let Some((block, rest)) = self.read.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.read = rest;
                if let Some(told) = parse(&block) {
                    return Some(told);
                }
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await;
            let chunk = chunk.expect("something comes").unwrap()?;
            self.read.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    pub(crate) async fn all(mut self) -> Vec<Told> {
        let mut all = Vec::new();
        while let Some(told) = self.next().await {
            all.push(told);
        }
        all
    }
}

fn parse(block: &str) -> Option<Told> {
    let mut told = Told::default();
    let mut has_text = false;
    for line in block.lines() {
        match line.split_once(": ") {
            Some(("id", id)) => told.id = Some(id.to_owned()),
            Some(("event", name)) => told.name = Some(name.to_owned()),
            Some(("data", text)) => {
                assert!(!has_text, "one line each");
                has_text = true;
                text.clone_into(&mut told.text);
            }
            _ => assert!(line.starts_with(':'), "{line}"),
        }
    }
    has_text.then_some(told)
}
