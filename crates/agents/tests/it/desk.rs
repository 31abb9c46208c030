//! All tools with real background processes, as one conversation or another uses them. When it is dropped, whatever
//! still runs is ended.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use talaria_agents::context::{self, Context};
use talaria_agents::processes::Processes;
use talaria_agents::tools::{self, Tool, ToolContext};
use talaria_domain::ids::{JobId, SessionId};
use talaria_domain::job::{Jobs, Worker as _};
use talaria_domain::run::ToolResult;
use talaria_domain::runner::Turn;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::book::Book;
use crate::world::{Recorder, environment, turn, within};

/// Tools with background processes.
pub(crate) struct Desk {
    pub(crate) directory: TempDir,
    pub(crate) processes: Arc<Processes>,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) host: Recorder,
    pub(crate) turn: Turn,
    stop: CancellationToken,
}

fn open(directory: &Path) -> (Arc<Processes>, Vec<Arc<dyn Tool>>, CancellationToken) {
    let stop = CancellationToken::new();
    let processes = Processes::new(directory.to_owned(), TaskTracker::new(), stop.clone());
    let processes = Arc::new(processes);
    let tools = tools::all(&environment(), &processes);
    (processes, tools, stop)
}

impl Desk {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (processes, tools, stop) = open(directory.path());
        Self {
            directory,
            processes,
            tools,
            host: Recorder::new(),
            turn: turn("", &[]),
            stop,
        }
    }

    pub(crate) fn book(&self) -> &Arc<Book> {
        &self.host.beyond.book
    }

    /// The gateway dies where it stands, and another one comes up with the same directory and the same book. Nothing
    /// is taken up yet.
    pub(crate) async fn restart(&mut self) {
        self.stop.cancel();
        self.processes.close().await;
        (self.processes, self.tools, self.stop) = open(self.directory.path());
    }

    /// Takes a job up as the new gateway does.
    pub(crate) async fn adopt(&self, job: JobId) {
        let jobs: Arc<dyn Jobs> = Arc::<Book>::clone(self.book());
        self.processes.adopt(self.book().found(job), jobs).await;
    }

    /// A turn of somebody else.
    pub(crate) fn stranger(&self) -> Turn {
        let mut turn = self.turn.clone();
        turn.return_to.session = SessionId::from_bytes([99; 16]);
        turn
    }

    /// Calls a tool in a turn.
    pub(crate) async fn call_as(
        &self,
        turn: &Turn,
        tool: &str,
        arguments: Value,
    ) -> (String, ToolResult) {
        let tool = self.tools.iter().find(|it| it.name() == tool).unwrap();
        let host = &self.host;
        let context = ToolContext { turn, host };
        let calling = context::scope(Context::of_turn(turn), tool.call(&arguments, &context));
        let output = within(calling).await;
        (output.text, output.result)
    }

    /// Calls a tool that does what is asked, and answers its JSON.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let (text, result) = self.call_as(&self.turn, tool, arguments).await;
        assert_eq!(result, ToolResult::Done, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Calls a tool that does not, and answers why.
    pub(crate) async fn refusal(&self, tool: &str, arguments: Value) -> String {
        let (text, result) = self.call_as(&self.turn, tool, arguments).await;
        assert_eq!(result, ToolResult::Refused, "{text}");
        text
    }

    /// Starts a process whose end is told.
    pub(crate) async fn start(&self, command: &str) -> JobId {
        let arguments = json!({"command": command, "background": true, "notify_on_complete": true});
        self.start_with(arguments).await
    }

    pub(crate) async fn start_with(&self, arguments: Value) -> JobId {
        let answer = self.call("terminal", arguments).await;
        answer["process_id"].as_str().unwrap().parse().unwrap()
    }

    /// Does something with a process.
    pub(crate) async fn process(&self, action: &str, job: JobId) -> Value {
        let arguments = json!({"action": action, "process_id": job});
        self.call("process", arguments).await
    }

    /// What it printed so far is like this, sooner or later.
    pub(crate) async fn shows(&self, job: JobId, is_it: impl Fn(&str) -> bool) -> String {
        let looking = async {
            loop {
                let poll = self.process("poll", job).await;
                let output = poll["output"].as_str().unwrap().to_owned();
                if is_it(&output) {
                    return output;
                }
                tokio::task::yield_now().await;
            }
        };
        within(looking).await
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        for job in self.book().jobs() {
            let entry = self.book().entry(job);
            let pid = entry.handle.and_then(|it| it["pid"].as_i64());
            let pid = pid.filter(|_| entry.end.is_none()).unwrap_or_default();
            if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(pid, Signal::KILL);
            }
        }
    }
}
