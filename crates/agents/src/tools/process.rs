//! What an agent does with its background processes. A process belongs to the conversation that started it: one of
//! another conversation is not there, whatever is asked.

mod view;

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use talaria_domain::adapter::Pending;
use tokio::time;

use self::view::{Window, lines};
use super::arguments::read;
use super::{Tool, ToolContext, ToolOutput};
use crate::processes::{Cause, Process, Processes, tail};

/// Characters of output that can be looked at.
const MOST_OUTPUT: usize = 200_000;
/// Characters of output that are shown by the way.
const GLIMPSE: usize = 1_000;
const DEFAULT_LINES: usize = 200;
const LONGEST_WAIT: Duration = Duration::from_mins(3);

const DESCRIPTION: &str = "Looks after background processes that `terminal` started in this conversation. `list` shows \
    all of them, `poll` one and the last it printed, `log` its lines, `wait` waits for its end, `kill` ends it, `write` \
    types text into it, `submit` types a line, `close` ends its input. After `wait`, `log` or `kill` of a process that \
    has ended nobody tells you its end again.";

/// The tool.
pub(super) struct ProcessTool {
    processes: Arc<Processes>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Poll,
    Log,
    Wait,
    Kill,
    Write,
    Submit,
    Close,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    process_id: Option<String>,
    offset: Option<usize>,
    limit: Option<usize>,
    timeout_seconds: Option<u64>,
    text: Option<String>,
}

impl Tool for ProcessTool {
    fn name(&self) -> &'static str {
        "process"
    }

    fn description(&self) -> &'static str {
        DESCRIPTION
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "action": {
                    "type": "string",
                    "enum": ["list", "poll", "log", "wait", "kill", "write", "submit", "close"],
                },
                "process_id": { "type": "string", "description": "Which; for everything but `list`" },
                "offset": {
                    "type": "integer", "minimum": 0,
                    "description": "log: the line to begin with, from 0; the last lines if not given",
                },
                "limit": { "type": "integer", "minimum": 1, "description": "log: how many lines; 200 if not given" },
                "timeout_seconds": {
                    "type": "integer", "minimum": 1,
                    "description": "wait: for how long at most; 180 if not given, and never longer",
                },
                "text": { "type": "string", "description": "write, submit: what is typed" },
            },
            "required": ["action"],
            "additionalProperties": false,
        })
    }

    fn is_parallel(&self, arguments: &Value) -> bool {
        // Looking and waiting change nothing that another call could build on.
        let action = arguments.get("action").and_then(Value::as_str);
        action.is_some_and(|action| ["list", "poll", "log", "wait"].contains(&action))
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Value,
        context: &'a ToolContext<'a>,
    ) -> Pending<'a, ToolOutput> {
        Box::pin(async move {
            let done = self.act(arguments, context).await;
            done.unwrap_or_else(ToolOutput::refused)
        })
    }
}

impl ProcessTool {
    pub(super) const fn of(processes: Arc<Processes>) -> Self {
        Self { processes }
    }

    async fn act(
        &self,
        arguments: &Value,
        context: &ToolContext<'_>,
    ) -> Result<ToolOutput, String> {
        let arguments: Arguments = read(arguments, &self.parameters())?;
        if arguments.action == Action::List {
            return Ok(self.list(context));
        }
        let process = self.find(arguments.process_id.as_deref(), context)?;
        match arguments.action {
            Action::List | Action::Poll => Ok(poll(&process).await),
            Action::Log => Ok(log(&process, &arguments, context).await),
            Action::Wait => Ok(wait(&process, &arguments, context).await),
            Action::Kill => Ok(kill(&process, context).await),
            Action::Write => write(&process, arguments.text, "").await,
            Action::Submit => write(&process, arguments.text, "\n").await,
            Action::Close => close(&process).await,
        }
    }

    fn list(&self, context: &ToolContext<'_>) -> ToolOutput {
        let all = self.processes.of(context.turn.return_to.session);
        let all: Vec<_> = all.iter().map(|process| shown(process)).collect();
        ToolOutput::done(json!({ "processes": all }).to_string())
    }

    /// The process that is meant. One of another conversation is as unknown as one that never was.
    fn find(&self, id: Option<&str>, context: &ToolContext<'_>) -> Result<Arc<Process>, String> {
        let Some(id) = id else {
            return Err(
                "wrong arguments: `process_id` is missing: process(action=\"list\") shows the ids"
                    .to_owned(),
            );
        };
        let session = context.turn.return_to.session;
        let known = id.parse().ok();
        let process = known.and_then(|known| self.processes.find(session, known));
        process.ok_or_else(|| {
            format!("there is no process {id:?} in this conversation: process(action=\"list\") shows what there is")
        })
    }
}

/// What a process is and how it is, for the model.
fn shown(process: &Process) -> Value {
    let ending = process.ending();
    let mut shown = json!({
        "process_id": process.id,
        "command": process.command,
        "pid": process.pid,
        "status": if ending.is_some() { "ended" } else { "running" },
    });
    if let Some(ending) = ending {
        shown["exit_code"] = json!(ending.code);
        shown["ended"] = json!(ending.words());
    } else if let Some(age) = process.age() {
        shown["running_seconds"] = json!(age.as_secs());
    }
    shown
}

async fn poll(process: &Process) -> ToolOutput {
    let mut answer = shown(process);
    answer["output"] = json!(tail(&process.output(), GLIMPSE).await.text);
    ToolOutput::done(answer.to_string())
}

async fn log(process: &Process, arguments: &Arguments, context: &ToolContext<'_>) -> ToolOutput {
    // Asked before the output is read: an end that comes between is still told.
    let is_ended = process.ending().is_some();
    let output = tail(&process.output(), MOST_OUTPUT).await;
    let window = Window {
        offset: arguments.offset,
        limit: arguments.limit.unwrap_or(DEFAULT_LINES).max(1),
    };
    let lines = lines(&output.text, &window);
    let mut answer = shown(process);
    answer["output"] = json!(lines.text);
    answer["first_line"] = json!(lines.first);
    answer["lines"] = json!(lines.count);
    answer["total_lines"] = json!(lines.total);
    if output.is_cut {
        let note = format!(
            "only the last {MOST_OUTPUT} characters are kept, and lines are counted in them"
        );
        answer["note"] = json!(note);
    }
    if is_ended {
        consume(process, context).await;
    }
    ToolOutput::done(answer.to_string())
}

async fn wait(process: &Process, arguments: &Arguments, context: &ToolContext<'_>) -> ToolOutput {
    let asked = arguments.timeout_seconds.map(Duration::from_secs);
    let longest = asked.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT);
    let is_over = tokio::select! {
        biased;
        () = context.host.stopped() => {
            return ToolOutput::cancelled("[stopped: the run was stopped; the process runs on]");
        }
        ended = time::timeout(longest, process.take_end()) => ended.is_ok(),
    };
    let mut answer = shown(process);
    answer["output"] = json!(tail(&process.output(), GLIMPSE).await.text);
    if is_over {
        consume(process, context).await;
    } else {
        let note = format!("it still runs after {} s", longest.as_secs());
        answer["note"] = json!(note);
    }
    ToolOutput::done(answer.to_string())
}

async fn kill(process: &Process, context: &ToolContext<'_>) -> ToolOutput {
    process.end(Cause::Killed);
    tokio::select! {
        biased;
        () = context.host.stopped() => {
            return ToolOutput::cancelled("[stopped: the run was stopped; the process is being ended]");
        }
        _ = process.take_end() => {}
    }
    consume(process, context).await;
    ToolOutput::done(shown(process).to_string())
}

async fn write(process: &Process, text: Option<String>, end: &str) -> Result<ToolOutput, String> {
    let text = text.ok_or("wrong arguments: `text` is missing: what is to be typed?")?;
    still_runs(process)?;
    process.type_in(&format!("{text}{end}")).await?;
    Ok(ToolOutput::done(
        json!({ "typed_bytes": text.len() + end.len() }).to_string(),
    ))
}

async fn close(process: &Process) -> Result<ToolOutput, String> {
    still_runs(process)?;
    process.close_input().await?;
    Ok(ToolOutput::done(json!({ "input": "closed" }).to_string()))
}

fn still_runs(process: &Process) -> Result<(), String> {
    match process.ending() {
        Some(ending) => Err(format!(
            "the process {}: nothing can be typed any more",
            ending.words()
        )),
        None => Ok(()),
    }
}

/// The conversation has the end in its hands: nobody needs to tell it.
async fn consume(process: &Process, context: &ToolContext<'_>) {
    let job = process.id;
    process.note_taken();
    if let Err(error) = context.host.reach().jobs().consume(job).await {
        tracing::warn!(%job, %error, "an end that was taken may be told again");
    }
}
