//! A host that grants what it is told to, remembers, and keeps a person waiting until somebody lets them answer; and
//! runners of real programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use talaria_agents::process::{
    Limits, ModelOffer, ProcessRunner, ProcessRunnerSettings, Resources, ToolOffer,
};
use talaria_agents::processes::Processes;
use talaria_agents::tools;
use talaria_domain::adapter::Pending;
use talaria_domain::authority::{Authority, Grant, ResourceKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::effects::{
    Answer, Effects, Kept, Memory, MemoryAnswer, MemoryRequest, PastAnswer, PastLine, PastRequest,
    Question, Refusal, RefusalCode,
};
use talaria_domain::ids::RunId;
use talaria_domain::run::{RunEvent, RunOutcome};
use talaria_domain::runner::{Host, Reach, Runner as _, Said, Speaker, Stopped, Turn};
use talaria_domain::schedule::{Schedule, ScheduleRequest};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::server::Server;
use crate::world::{self, Recorder, environment, within};

/// The host of one run.
pub(crate) struct House {
    pub(crate) recorder: Recorder,
    pub(crate) authority: Mutex<Authority>,
    kept: Mutex<BTreeMap<(String, String), Kept>>,
    /// What a person was asked.
    asked: watch::Sender<Vec<Question>>,
    /// Answers that they may give.
    pub(crate) answers: Semaphore,
}

impl House {
    /// One that grants this, each with its operations.
    pub(crate) fn granting(grants: &[(ResourceKind, &str, &[&str])]) -> Self {
        let authority = grants.iter().fold(
            Authority::default(),
            |authority, (kind, name, operations)| {
                authority.with(*kind, *name, Grant::of(operations.iter().copied()))
            },
        );
        Self {
            recorder: Recorder::new(),
            authority: Mutex::new(authority),
            kept: Mutex::default(),
            asked: watch::Sender::default(),
            answers: Semaphore::new(0),
        }
    }

    /// One that grants nothing.
    pub(crate) fn bare() -> Self {
        Self::granting(&[])
    }

    /// One that grants the terminal.
    pub(crate) fn with_terminal() -> Self {
        Self::granting(&[(ResourceKind::Tool, "terminal", &["call", "detail"])])
    }

    /// Waits until the person was asked something.
    pub(crate) async fn was_asked(&self) {
        let mut asked = self.asked.subscribe();
        within(asked.wait_for(|asked| !asked.is_empty()))
            .await
            .unwrap();
    }

    /// What a person was asked.
    pub(crate) fn questions(&self) -> Vec<Question> {
        self.asked.borrow().clone()
    }

    /// The messages that were completed.
    pub(crate) fn messages(&self) -> Vec<String> {
        let message = |event: RunEvent| match event {
            RunEvent::MessageCompleted { text } => Some(text),
            _ => None,
        };
        let events = self.recorder.events();
        events.into_iter().filter_map(message).collect()
    }

    /// What was logged.
    pub(crate) fn logs(&self) -> Vec<String> {
        let log = |event: RunEvent| match event {
            RunEvent::Log { text } => Some(text),
            _ => None,
        };
        self.recorder.events().into_iter().filter_map(log).collect()
    }

    fn refuse(code: RefusalCode, reason: &str) -> Refusal {
        Refusal::new(code, reason)
    }

    fn do_remember(&self, memory: Memory, request: MemoryRequest) -> Result<MemoryAnswer, Refusal> {
        if let Memory::Plugin | Memory::Workspace = memory {
            let name = format!("{memory:?}").to_lowercase();
            self.check(ResourceKind::Storage, &name, "get")?;
        }
        let place = |key: String| (format!("{memory:?}"), key);
        let mut kept = self.kept.lock().unwrap();
        Ok(match request {
            MemoryRequest::Get { key } => MemoryAnswer::Found(kept.get(&place(key)).cloned()),
            MemoryRequest::Set {
                key,
                value,
                expected,
            } => {
                let known = kept.get(&place(key.clone())).map_or(0, |it| it.version);
                if expected.is_some_and(|expected| expected != known) {
                    return Err(Self::refuse(RefusalCode::Conflict, "somebody was first"));
                }
                let version = known + 1;
                let stored = Kept {
                    value,
                    version,
                    created_at: Timestamp::from_millis(1),
                    updated_at: Timestamp::from_millis(version),
                };
                kept.insert(place(key), stored);
                MemoryAnswer::Stored { version }
            }
            MemoryRequest::Delete { key } => {
                MemoryAnswer::Deleted(kept.remove(&place(key)).is_some())
            }
            MemoryRequest::List { prefix, limit, .. } => {
                let all = kept
                    .iter()
                    .map(|((_, key), kept)| (key.clone(), kept.clone()));
                let all = all.filter(|(key, _)| key.starts_with(&prefix));
                let kept: Vec<_> = all.take(limit).collect();
                MemoryAnswer::Listed {
                    kept,
                    has_more: false,
                }
            }
            MemoryRequest::Clear => MemoryAnswer::Cleared(0),
        })
    }
}

impl Host for House {
    fn journal(&self, event: RunEvent) -> Pending<'_, Result<(), Stopped>> {
        self.recorder.journal(event)
    }

    fn stopped(&self) -> Pending<'_, ()> {
        self.recorder.stopped()
    }

    fn steered(&self) -> Pending<'_, Result<Vec<String>, Stopped>> {
        self.recorder.steered()
    }

    fn reach(&self) -> &dyn Reach {
        self.recorder.reach()
    }

    fn effects(&self) -> &dyn Effects {
        self
    }
}

impl Effects for House {
    fn check(
        &self,
        kind: ResourceKind,
        name: &str,
        operation: &str,
    ) -> Result<Arc<Grant>, Refusal> {
        let authority = self.authority.lock().unwrap();
        let grant = authority.grants.get(&kind).and_then(|all| all.get(name));
        let grant = grant.filter(|grant| grant.operations.contains(operation));
        let refusal = || Self::refuse(RefusalCode::NotAllowed, "this run may not do that");
        grant.cloned().map(Arc::new).ok_or_else(refusal)
    }

    fn remember(
        &self,
        memory: Memory,
        request: MemoryRequest,
    ) -> Pending<'_, Result<MemoryAnswer, Refusal>> {
        let answer = self.do_remember(memory, request);
        Box::pin(async move {
            // As a commit would: somebody else gets a turn.
            tokio::task::yield_now().await;
            answer
        })
    }

    fn look_back(&self, request: PastRequest) -> Pending<'_, Result<PastAnswer, Refusal>> {
        let answer = match request {
            PastRequest::Page { .. } | PastRequest::Search { .. } => Ok(PastAnswer::Said {
                lines: vec![PastLine {
                    seq: 1,
                    said: Said::plain(Speaker::User, "long ago"),
                    at: Timestamp::ZERO,
                }],
                has_more: false,
            }),
            PastRequest::Event { .. } => Err(Self::refuse(
                RefusalCode::NotFound,
                "there is no such event",
            )),
        };
        Box::pin(std::future::ready(answer))
    }

    fn ask(&self, question: Question) -> Pending<'_, Result<Answer, Refusal>> {
        self.asked.send_modify(|asked| asked.push(question));
        Box::pin(async {
            self.answers.acquire().await.unwrap().forget();
            let text = "go on".to_owned();
            Ok(Answer::Said { text })
        })
    }

    fn schedule(&self, _: ScheduleRequest) -> Pending<'_, Result<Vec<Schedule>, Refusal>> {
        let refusal = Self::refuse(RefusalCode::Unavailable, "nothing is planned here");
        Box::pin(std::future::ready(Err(refusal)))
    }
}

/// A runner of a real program, and what looks after it.
pub(crate) struct Outside {
    pub(crate) runner: ProcessRunner,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

impl Outside {
    /// A runner of this program.
    pub(crate) fn of(settings: ProcessRunnerSettings, resources: Resources) -> Self {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let (ours, end) = (tasks.clone(), stop.clone());
        Self {
            runner: ProcessRunner::new(settings, resources, environment(), ours, end),
            tasks,
            stop,
        }
    }

    /// A runner of a script.
    pub(crate) fn script(language: &str, script: &Path) -> Self {
        Self::of(settings(language, script), resources())
    }

    /// The one that does whatever it is told to, with limits that a test can wait for.
    pub(crate) fn hostile() -> Self {
        Self::script("python3", &beside("process_runner_hostile.py"))
    }

    /// Lets a run begin and waits for its end.
    pub(crate) async fn run(&self, turn: &Turn, host: &House) -> RunOutcome {
        within(self.runner.run(turn, host)).await
    }

    /// Shuts its process down.
    pub(crate) async fn close(self) {
        self.stop.cancel();
        self.tasks.close();
        within(self.tasks.wait()).await;
    }
}

/// A script, with limits that a test can wait for.
pub(crate) fn settings(language: &str, script: &Path) -> ProcessRunnerSettings {
    let program = interpreter(language);
    let mut settings = ProcessRunnerSettings::of("plugin:test/hostile/default", program);
    settings.arguments = vec![script.display().to_string()];
    settings.limits = short();
    settings
}

/// Limits that a test can wait for.
fn short() -> Limits {
    Limits {
        unread: Duration::from_millis(500),
        grace: Duration::from_millis(500),
        pause: Duration::from_secs(5),
        reports: 1024,
        ..Limits::default()
    }
}

/// All tools, and no model.
pub(crate) fn resources() -> Resources {
    let tools = tools::all(&environment(), &processes());
    let offer = |tool: Arc<dyn tools::Tool>| ToolOffer {
        implementation: format!("built in: {}", tool.name()),
        tool,
    };
    Resources {
        tools: tools.into_iter().map(offer).collect(),
        ..Resources::default()
    }
}

fn processes() -> Arc<Processes> {
    let nowhere = "/nowhere/at/all".into();
    let stop = CancellationToken::new();
    Arc::new(Processes::new(nowhere, TaskTracker::new(), stop))
}

/// All tools, and a model.
pub(crate) fn with_model(server: &Server) -> Resources {
    let model = ModelOffer {
        name: "main".to_owned(),
        implementation: "test".to_owned(),
        model: server.openai(),
    };
    Resources {
        models: vec![model],
        ..resources()
    }
}

/// A turn of its own.
pub(crate) fn turn(number: u8, prompt: &str) -> Turn {
    Turn {
        run: RunId::from_bytes([number; 16]),
        ..world::wishing(prompt, &[], serde_json::json!({}))
    }
}

/// A file beside the tests.
pub(crate) fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it")
        .join(name)
}

/// Where a language's interpreter is. The examples and the hostile runner are real programs.
pub(crate) fn interpreter(name: &str) -> PathBuf {
    let path = environment().get("PATH").unwrap_or_default().to_owned();
    let mut folders = std::env::split_paths(&path);
    let found = folders.find(|folder| folder.join(name).is_file());
    let found = found.unwrap_or_else(|| panic!("install {name}: there is none in {path}"));
    found.join(name)
}
