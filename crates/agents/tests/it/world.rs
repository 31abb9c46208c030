//! A turn, and a host that writes down what it is told and stops when it is asked to.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use talaria_agents::models::Model;
use talaria_agents::native::NativeRunner;
use talaria_agents::processes::Processes;
use talaria_agents::tools::{self, Environment};
use talaria_domain::adapter::Pending;
use talaria_domain::address::{Address, ChatKind, ReturnAddress};
use talaria_domain::authority::{Authority, Grant, ResourceKind};
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::clock::Timestamp;
use talaria_domain::effects::{
    Answer, Effects, Memory, MemoryAnswer, MemoryRequest, PastAnswer, PastRequest, Question,
    Refusal, RefusalCode,
};
use talaria_domain::event::{
    Attachment, AttachmentKind, Content, DedupeKey, Event, EventKind, Hearing, Kept, Wishes,
};
use talaria_domain::ids::{EventId, RunId, SessionId};
use talaria_domain::principal::{Principal, Role};
use talaria_domain::profile::{BusyPolicy, Profile};
use talaria_domain::run::{RunEvent, RunOutcome, ToolResult};
use talaria_domain::runner::{Host, Reach, Runner as _, Stopped, Turn};
use talaria_domain::schedule::{Schedule, ScheduleRequest};
use talaria_domain::scope::StatePolicy;
use talaria_domain::session_key::Sharing;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::book::{Beyond, Book};

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
    /// What it can do beyond the conversation.
    pub(crate) beyond: Beyond,
    /// Who can be asked.
    pub(crate) person: Person,
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
            beyond: Beyond::new(Book::new()),
            person: Person::default(),
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

    /// The same as [`Self::events`] in a short form, with deltas put together. Those that a whole message follows are part
    /// of it; how many there are depends on how fast the server was.
    pub(crate) fn story(&self) -> Vec<String> {
        let mut story = Vec::new();
        let mut delta = String::new();
        for event in self.events() {
            if let RunEvent::MessageDelta { text } = event {
                delta.push_str(&text);
                continue;
            }
            if let RunEvent::MessageCompleted { text } = &event {
                assert!(
                    text.starts_with(&delta),
                    "{delta:?} is not a beginning of {text:?}"
                );
                delta.clear();
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

    fn reach(&self) -> &dyn Reach {
        &self.beyond
    }

    fn effects(&self) -> &dyn Effects {
        &self.person
    }
}

/// Grants what is asked for until it is revoked, and remembers nothing; whoever is asked answers what they were told
/// to, or nobody is there.
#[derive(Default)]
pub(crate) struct Person {
    /// What was checked, in order.
    pub(crate) checked: Mutex<Vec<(ResourceKind, String)>>,
    /// What is granted so often and no more.
    pub(crate) revoked: Mutex<Option<(ResourceKind, usize)>>,
    pub(crate) asked: Mutex<Vec<Question>>,
    pub(crate) answer: Mutex<Option<Result<Answer, Refusal>>>,
    /// What was wanted of schedules.
    pub(crate) planned: Mutex<Vec<ScheduleRequest>>,
    pub(crate) schedules: Mutex<Option<Result<Vec<Schedule>, Refusal>>>,
}

impl Person {
    fn refuse<T>() -> Result<T, Refusal> {
        let reason = "this host has nothing to give";
        Err(Refusal::new(RefusalCode::Unavailable, reason))
    }
}

impl Effects for Person {
    fn check(
        &self,
        kind: ResourceKind,
        name: &str,
        operation: &str,
    ) -> Result<Arc<Grant>, Refusal> {
        let mut checked = self.checked.lock().unwrap();
        let before = checked.iter().filter(|(it, _)| *it == kind).count();
        checked.push((kind, name.to_owned()));
        match *self.revoked.lock().unwrap() {
            Some((revoked, times)) if revoked == kind && before >= times => {
                let reason = format!("{name:?} was taken away from this run");
                Err(Refusal::new(RefusalCode::NotAllowed, reason))
            }
            _ => Ok(Grant::of([operation]).into()),
        }
    }

    fn remember(&self, _: Memory, _: MemoryRequest) -> Pending<'_, Result<MemoryAnswer, Refusal>> {
        Box::pin(std::future::ready(Self::refuse()))
    }

    fn look_back(&self, _: PastRequest) -> Pending<'_, Result<PastAnswer, Refusal>> {
        Box::pin(std::future::ready(Self::refuse()))
    }

    fn ask(&self, question: Question) -> Pending<'_, Result<Answer, Refusal>> {
        self.asked.lock().unwrap().push(question);
        let answer = self.answer.lock().unwrap().clone();
        Box::pin(std::future::ready(answer.unwrap_or_else(Self::refuse)))
    }

    fn schedule(&self, request: ScheduleRequest) -> Pending<'_, Result<Vec<Schedule>, Refusal>> {
        self.planned.lock().unwrap().push(request);
        let planned = self.schedules.lock().unwrap().clone();
        Box::pin(std::future::ready(planned.unwrap_or_else(Self::refuse)))
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
        authority: Arc::new(allowing(allowed).freeze()),
        return_to: ReturnAddress {
            address,
            requester,
            profile: "assistant".into(),
            session: SessionId::from_bytes([8; 16]),
        },
        session_key: "key".to_owned(),
        window: DeliveryWindow::Always,
        depth: 0,
        history: Vec::new(),
        input: Arc::default(),
        prompt: prompt.to_owned(),
        state: talaria_domain::scope::Snapshot::default(),
        config: serde_json::Map::default(),
        options: std::collections::BTreeMap::default(),
    }
}

/// A turn that shows pictures and has wishes.
pub(crate) fn wishing(prompt: &str, pictures: &[&str], options: Value) -> Turn {
    let attachment = |address: &&str| Attachment {
        kind: AttachmentKind::Image,
        locator: (*address).to_owned(),
        file_name: None,
        media_type: None,
        size_bytes: None,
        kept: None,
    };
    let turn = turn(prompt, &[]);
    let to = &turn.return_to;
    let event = Event {
        id: EventId::from_bytes([1; 16]),
        dedupe: DedupeKey::derive(&to.address.platform, &to.address.account, "1"),
        address: to.address.clone(),
        principal: to.requester.clone(),
        message: None,
        kind: EventKind::Message(Content {
            text: prompt.to_owned(),
            attachments: pictures.iter().map(attachment).collect(),
            ..Content::default()
        }),
        sent_at: None,
        received_at: Timestamp::ZERO,
    };
    Turn {
        input: [event].into(),
        options: serde_json::from_value(options).unwrap(),
        ..turn
    }
}

/// A turn whose end somebody waits for, and hears nothing of it before.
pub(crate) fn awaited(prompt: &str, allowed: &[&str]) -> Turn {
    let mut turn = Turn {
        authority: Arc::new(allowing(allowed).freeze()),
        ..wishing(prompt, &[], Value::Object(serde_json::Map::default()))
    };
    if let EventKind::Message(content) = &mut Arc::make_mut(&mut turn.input)[0].kind {
        content.wishes = Some(Box::new(Wishes {
            hearing: Hearing::AtItsEnd,
            ..Wishes::default()
        }));
    }
    turn
}

/// The same turn, with its files fetched like this.
pub(crate) fn with_kept(mut turn: Turn, kept: Vec<Kept>) -> Turn {
    if let EventKind::Message(content) = &mut Arc::make_mut(&mut turn.input)[0].kind {
        for (attachment, kept) in content.attachments.iter_mut().zip(kept) {
            attachment.kept = Some(kept);
        }
    }
    turn
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
    let authority = Authority {
        grants: [(ResourceKind::Tool, tools.iter().map(grant).collect())].into(),
        ..Authority::default()
    };
    authority.with(ResourceKind::Model, "main", Grant::of(["stream"]))
}

/// A runner with all tools.
pub(crate) fn runner(model: Arc<dyn Model>) -> NativeRunner {
    NativeRunner::new(model, tools::all(&environment(), &processes()))
}

/// For those who start nothing in the background.
fn processes() -> Arc<Processes> {
    let nowhere = "/nowhere/at/all".into();
    let stop = CancellationToken::new();
    Arc::new(Processes::new(nowhere, TaskTracker::new(), stop))
}

/// What the tools' children get.
pub(crate) fn environment() -> Environment {
    let path = ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
    Environment::allowed([path, ("HOME".to_owned(), "/".to_owned())])
}

/// Runs a turn with the terminal to its end.
pub(crate) async fn run(model: Arc<dyn Model>, prompt: &str, host: &Recorder) -> RunOutcome {
    within(runner(model).run(&turn(prompt, &["terminal"]), host)).await
}

/// Calls the terminal without a model around it.
pub(crate) async fn terminal(arguments: &Value, host: &Recorder) -> (String, ToolResult) {
    let turn = turn("", &[]);
    let context = tools::ToolContext { turn: &turn, host };
    let tools = tools::all(&environment(), &processes());
    let terminal = tools.iter().find(|tool| tool.name() == "terminal").unwrap();
    let output = within(terminal.call(arguments, &context)).await;
    (output.text, output.result)
}
