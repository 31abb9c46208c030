//! A turn, and a host that writes down what it is told and stops when it is asked to.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use talaria_agents::models::Model;
use talaria_agents::native::NativeRunner;
use talaria_agents::tools::{self, Environment};
use talaria_domain::adapter::Pending;
use talaria_domain::address::{Address, ChatKind, ReturnAddress};
use talaria_domain::authority::{Authority, Grant, ResourceKind};
use talaria_domain::ids::{RunId, SessionId};
use talaria_domain::principal::{Principal, Role};
use talaria_domain::profile::{BusyPolicy, Profile};
use talaria_domain::run::{RunEvent, RunOutcome, ToolResult};
use talaria_domain::runner::{Host, Runner as _, Stopped, Turn};
use talaria_domain::scope::StatePolicy;
use talaria_domain::session_key::Sharing;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// More than anything here takes: a test that waits for so long has failed.
pub(crate) const TOO_LONG: Duration = Duration::from_secs(30);

/// What comes within a time that nobody would wait for.
pub(crate) async fn within<T>(pending: impl Future<Output = T>) -> T {
    tokio::time::timeout(TOO_LONG, pending)
        .await
        .expect("it came in time")
}

/// A host that writes down what it is told.
pub(crate) struct Recorder {
    events: watch::Sender<Vec<RunEvent>>,
    steered: Mutex<Vec<Vec<String>>>,
    calls: Mutex<usize>,
    /// The call at which the host says that the run is over.
    stops_at: Option<usize>,
    stop: CancellationToken,
}

impl Recorder {
    /// A host that never stops anything.
    pub(crate) fn new() -> Self {
        Self {
            events: watch::Sender::new(Vec::new()),
            steered: Mutex::default(),
            calls: Mutex::default(),
            stops_at: None,
            stop: CancellationToken::new(),
        }
    }

    /// A host that says at its `call`th call, from one, that the run is over.
    pub(crate) fn stopping_at(call: usize) -> Self {
        Self {
            stops_at: Some(call),
            ..Self::new()
        }
    }

    /// What people say, by the model call that it comes before.
    pub(crate) fn with_people(self, steered: &[&[&str]]) -> Self {
        let texts = |texts: &&[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        *self.steered.lock().unwrap() = steered.iter().rev().map(texts).collect();
        self
    }

    /// Somebody stops the run.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// What it was told.
    pub(crate) fn events(&self) -> Vec<RunEvent> {
        self.events.borrow().clone()
    }

    /// How often it was called.
    pub(crate) fn calls(&self) -> usize {
        *self.calls.lock().unwrap()
    }

    /// Waits until it was told such a thing.
    pub(crate) async fn heard(&self, is_it: impl Fn(&RunEvent) -> bool) {
        let mut events = self.events.subscribe();
        events
            .wait_for(|events| events.iter().any(&is_it))
            .await
            .unwrap();
    }

    /// The same as [`Self::events`] in a short form, with deltas put together.
    pub(crate) fn story(&self) -> Vec<String> {
        let mut story = Vec::new();
        let mut delta = String::new();
        for event in self.events() {
            if let RunEvent::MessageDelta { text } = event {
                delta.push_str(&text);
                continue;
            }
            if !delta.is_empty() {
                story.push(format!("delta: {}", std::mem::take(&mut delta)));
            }
            story.push(told(&event));
        }
        if !delta.is_empty() {
            story.push(format!("delta: {delta}"));
        }
        story
    }

    /// Counts a call; one that comes after the end is a defect.
    fn count(&self) -> Result<(), Stopped> {
        let mut calls = self.calls.lock().unwrap();
        *calls += 1;
        match self.stops_at {
            Some(at) if *calls > at => panic!("called after it said that the run is over"),
            Some(at) if *calls == at => Err(Stopped),
            _ => Ok(()),
        }
    }
}

fn told(event: &RunEvent) -> String {
    match event {
        RunEvent::MessageCompleted { text } => format!("message: {text}"),
        RunEvent::Reasoning { text } => format!("thought: {text}"),
        RunEvent::ToolStarted {
            call,
            tool,
            arguments,
        } => format!("start {call}: {tool} {arguments}"),
        RunEvent::ToolCompleted {
            call,
            output,
            result,
        } => format!("{result:?} {call}: {output}"),
        RunEvent::Log { text } => format!("log: {text}"),
        other => panic!("{other:?}"),
    }
}

impl Host for Recorder {
    fn journal(&self, event: RunEvent) -> Pending<'_, Result<(), Stopped>> {
        Box::pin(async move {
            self.count()?;
            // As a commit would: somebody else gets a turn.
            tokio::task::yield_now().await;
            self.events.send_modify(|events| events.push(event));
            Ok(())
        })
    }

    fn stopped(&self) -> Pending<'_, ()> {
        Box::pin(self.stop.cancelled())
    }

    fn steered(&self) -> Pending<'_, Result<Vec<String>, Stopped>> {
        Box::pin(async {
            self.count()?;
            Ok(self.steered.lock().unwrap().pop().unwrap_or_default())
        })
    }
}

/// A turn in which somebody says `prompt` and the tools `allowed` may be called.
pub(crate) fn turn(prompt: &str, allowed: &[&str]) -> Turn {
    let address = Address {
        platform: "example".into(),
        account: "bot".into(),
        chat_kind: ChatKind::Direct,
        chat: "chat".into(),
        thread: None,
        reply_to: None,
    };
    let requester = Principal {
        platform: "example".into(),
        account: "bot".into(),
        user: "ada".into(),
        alternate: None,
        display_name: None,
        role: Role::Member,
    };
    Turn {
        run: RunId::from_bytes([7; 16]),
        profile: profile(),
        authority: allowing(allowed),
        return_to: ReturnAddress {
            address,
            requester,
            profile: "assistant".into(),
            session: SessionId::from_bytes([8; 16]),
        },
        history: Vec::new(),
        input: Vec::new(),
        prompt: prompt.to_owned(),
    }
}

fn profile() -> Profile {
    Profile {
        name: "assistant".into(),
        runner: "native".into(),
        instructions: "be kind".to_owned(),
        busy: BusyPolicy::default(),
        sharing: Sharing::default(),
        state: StatePolicy::default(),
    }
}

fn allowing(tools: &[&str]) -> Authority {
    let grant = |tool: &&str| {
        let grant = Grant {
            operations: ["call".to_owned()].into(),
            pinned: None,
        };
        ((*tool).to_owned(), grant)
    };
    Authority {
        grants: [(ResourceKind::Tool, tools.iter().map(grant).collect())].into(),
    }
}

/// A runner with all tools.
pub(crate) fn runner(model: Arc<dyn Model>) -> NativeRunner {
    NativeRunner::new(model, tools::all(environment()))
}

/// What the tools' children get.
pub(crate) fn environment() -> Environment {
    let path = ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
    Environment(vec![path, ("HOME".to_owned(), "/".to_owned())])
}

/// Runs a turn with the terminal to its end.
pub(crate) async fn run(model: Arc<dyn Model>, prompt: &str, host: &Recorder) -> RunOutcome {
    within(runner(model).run(&turn(prompt, &["terminal"]), host)).await
}

/// Calls the terminal without a model around it.
pub(crate) async fn terminal(arguments: &Value, host: &Recorder) -> (String, ToolResult) {
    let turn = turn("", &[]);
    let context = tools::ToolContext { turn: &turn, host };
    let tools = tools::all(environment());
    let terminal = tools.iter().find(|tool| tool.name() == "terminal").unwrap();
    let output = within(terminal.call(arguments, &context)).await;
    (output.text, output.result)
}
