//! Runs a shell command: to its end, in the foreground, or as a background process that is a job of its own. What is
//! promised about a background process is only what the conversation can keep.

mod capture;
mod group;
mod promise;
mod running;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use talaria_domain::adapter::Pending;

use self::promise::Wish;
use self::running::{Foreground, Running};
use super::arguments::read;
use super::{Environment, Tool, ToolContext, ToolOutput};
use crate::context;
use crate::processes::{Order, Processes, Work};

const DEFAULT_SECONDS: u64 = 180;
const MOST_SECONDS: u64 = 600;
const SHELL: &str = "/bin/sh";

const DESCRIPTION: &str = "Runs a shell command (`sh -c`) to its end and answers with what it printed, standard \
    output and standard error together, and with its exit code. There is no standard input. Long output is shortened \
    in the middle. What the command leaves in the background is ended with it. With `background` it answers at once \
    with a process id for the tool `process`; with `notify_on_complete` you are told when the process has ended, with \
    `watch_patterns` when it prints a line with one of them in it.";

/// The tool.
pub(super) struct Terminal {
    environment: Environment,
    processes: Arc<Processes>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    cwd: Option<String>,
    timeout_seconds: Option<u64>,
    #[serde(default)]
    background: bool,
    #[serde(default)]
    pty: bool,
    #[serde(default)]
    notify_on_complete: bool,
    #[serde(default)]
    watch_patterns: Vec<String>,
}

impl Tool for Terminal {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn description(&self) -> &'static str {
        DESCRIPTION
    }

    fn parameters(&self) -> Value {
        let timeout = format!(
            "End it after so many seconds; {DEFAULT_SECONDS} if not given, at most {MOST_SECONDS}; not in the background"
        );
        let flag = |text: &str| json!({ "type": "boolean", "description": text });
        json!({
            "type": "object",
            "properties": {
                "command": { "type": "string", "description": "The command" },
                "cwd": { "type": "string", "description": "The directory it runs in" },
                "timeout_seconds": {
                    "type": "integer", "minimum": 1, "maximum": MOST_SECONDS, "description": timeout
                },
                "background": flag("Start it and go on; see the tool `process`"),
                "pty": flag("Run it in a pseudo-terminal of 80 columns, for programs that insist on one"),
                "notify_on_complete": flag("Background: you are told when it has ended"),
                "watch_patterns": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "Background: you are told of lines with one of these texts in them, now and then; \
                        for rare lines, and not with `notify_on_complete`",
                },
            },
            "required": ["command"],
            "additionalProperties": false,
        })
    }

    fn is_parallel(&self, _arguments: &Value) -> bool {
        // Commands of one answer may build on each other.
        false
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Value,
        context: &'a ToolContext<'a>,
    ) -> Pending<'a, ToolOutput> {
        Box::pin(async move {
            let done = match self.check(arguments) {
                Ok(arguments) if arguments.background => self.start(arguments, context).await,
                Ok(arguments) => self.run(arguments, context).await,
                Err(refusal) => Err(refusal),
            };
            done.unwrap_or_else(ToolOutput::refused)
        })
    }
}

impl Terminal {
    pub(super) const fn of(environment: Environment, processes: Arc<Processes>) -> Self {
        Self {
            environment,
            processes,
        }
    }

    /// What is asked for, or what is wrong with it.
    fn check(&self, arguments: &Value) -> Result<Arguments, String> {
        let arguments: Arguments = read(arguments, &self.parameters())?;
        if arguments.command.trim().is_empty() {
            return Err("wrong arguments: `command` is empty".to_owned());
        }
        let seconds = arguments.timeout_seconds.unwrap_or(DEFAULT_SECONDS);
        if !(1..=MOST_SECONDS).contains(&seconds) {
            return Err(format!(
                "wrong arguments: `timeout_seconds` is from 1 to {MOST_SECONDS}, not {seconds}"
            ));
        }
        let is_promised = arguments.notify_on_complete || !arguments.watch_patterns.is_empty();
        if is_promised && !arguments.background {
            return Err(
                "wrong arguments: `notify_on_complete` and `watch_patterns` are for `background`: in the foreground \
                 the answer is the end"
                    .to_owned(),
            );
        }
        promise::check(&arguments.watch_patterns)?;
        Ok(arguments)
    }

    /// Runs it to its end.
    async fn run(
        &self,
        arguments: Arguments,
        context: &ToolContext<'_>,
    ) -> Result<ToolOutput, String> {
        let seconds = arguments.timeout_seconds.unwrap_or(DEFAULT_SECONDS);
        let cwd = self.start_directory(arguments.cwd.as_deref()).await?;
        let variables = context::child_environment(&self.environment);
        let order = Foreground {
            command: &arguments.command,
            cwd: cwd.as_deref(),
            variables: &variables,
        };
        let running = if arguments.pty {
            Running::start_in_terminal(&order, self.processes.tasks())
        } else {
            Running::start(&order)
        };
        let running =
            running.map_err(|error| format!("the shell could not be started: {error}"))?;
        Ok(running
            .attend(Duration::from_secs(seconds), context.host)
            .await)
    }

    /// Starts it in the background.
    async fn start(
        &self,
        arguments: Arguments,
        context: &ToolContext<'_>,
    ) -> Result<ToolOutput, String> {
        let wish = Wish {
            is_notified: arguments.notify_on_complete,
            patterns: arguments.watch_patterns,
            is_pty: arguments.pty,
        };
        let plan = promise::decide(wish, context::async_delivery_supported());
        let order = Order {
            run: context.turn.run,
            return_to: context.turn.return_to.clone(),
            promise: plan.promise,
            work: Work {
                command: arguments.command,
                cwd: self.start_directory(arguments.cwd.as_deref()).await?,
                pty: arguments.pty,
                watch_patterns: plan.patterns,
            },
            variables: context::child_environment(&self.environment),
        };
        let jobs = context.host.reach().jobs();
        let process = self.processes.start(order, jobs).await?;
        let mut answer = plan.words;
        answer.insert("process_id".to_owned(), json!(process.id));
        answer.insert("pid".to_owned(), json!(process.pid));
        Ok(ToolOutput::done(Value::Object(answer).to_string()))
    }

    /// Where a command starts: where it is told to, else where its session works, if that is still there.
    async fn start_directory(&self, cwd: Option<&str>) -> Result<Option<PathBuf>, String> {
        if let Some(cwd) = cwd {
            return self.directory(cwd).await.map(Some);
        }
        let Some(cwd) = context::cwd(&self.environment) else {
            return Ok(None);
        };
        let found = tokio::fs::metadata(&cwd).await;
        Ok(found.is_ok_and(|found| found.is_dir()).then_some(cwd))
    }

    async fn directory(&self, cwd: &str) -> Result<PathBuf, String> {
        let home = self
            .environment
            .get("HOME")
            .filter(|_| cwd == "~" || cwd.starts_with("~/"));
        let path = match home {
            Some(home) => PathBuf::from(format!("{home}{}", &cwd[1..])),
            None => PathBuf::from(cwd),
        };
        match tokio::fs::metadata(&path).await {
            Ok(found) if found.is_dir() => Ok(path),
            Ok(_) => Err(format!("wrong arguments: `cwd` {cwd} is not a directory")),
            Err(error) => Err(format!(
                "wrong arguments: `cwd` {cwd} cannot be used: {error}"
            )),
        }
    }
}
