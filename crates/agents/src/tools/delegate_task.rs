//! Gives tasks to agents of their own, which may use at most what this one may. It waits for what they come to, or is
//! told later where the conversation can be reached later.

use serde::Deserialize;
use serde_json::{Value, json};
use talaria_domain::adapter::Pending;
use talaria_domain::ids::JobId;
use talaria_domain::machine::Machine as _;
use talaria_domain::runner::{Reach, Task};

use super::arguments::read;
use super::{Tool, ToolContext, ToolOutput};
use crate::context;

/// Tasks of one call.
const MOST_TASKS: usize = 3;
/// Delegations between a person and an agent.
const DEEPEST: u32 = 2;

const DESCRIPTION: &str = "Gives a task, or up to three at once, to an agent of its own that sees nothing of this \
    conversation: say all that it needs to know in `goal` and `context`. It may use what you may, or the `tools` you \
    name of that. You get what it comes to; with `background` you go on and are told later.";

const NOTE: &str = "this conversation cannot be reached after your answer, so the work was done at once and not in the \
    background: these are its results";

/// The tool.
pub(super) struct DelegateTask;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    goal: Option<String>,
    context: Option<String>,
    tools: Option<Vec<String>>,
    tasks: Option<Vec<One>>,
    #[serde(default)]
    background: bool,
}

/// One task of several.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct One {
    goal: String,
    #[serde(default)]
    context: String,
    tools: Option<Vec<String>>,
}

/// A task that was given away, or why it was not.
struct Given {
    goal: String,
    job: Result<JobId, String>,
}

impl Tool for DelegateTask {
    fn name(&self) -> &'static str {
        "delegate_task"
    }

    fn description(&self) -> &'static str {
        DESCRIPTION
    }

    fn parameters(&self) -> Value {
        let goal = json!({ "type": "string", "description": "What is to come out of it" });
        let context =
            json!({ "type": "string", "description": "All that its agent needs to know" });
        let tools = json!({
            "type": "array", "items": { "type": "string" },
            "description": "The tools it may use; all of yours if not given",
        });
        json!({
            "type": "object",
            "properties": {
                "goal": goal,
                "context": context,
                "tools": tools,
                "tasks": {
                    "type": "array",
                    "maxItems": MOST_TASKS,
                    "description": "Several tasks at once, instead of `goal`",
                    "items": {
                        "type": "object",
                        "properties": { "goal": goal, "context": context, "tools": tools },
                        "required": ["goal"],
                        "additionalProperties": false,
                    },
                },
                "background": { "type": "boolean", "description": "Go on, and be told the result later" },
            },
            "additionalProperties": false,
        })
    }

    fn is_parallel(&self, _arguments: &Value) -> bool {
        true
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Value,
        context: &'a ToolContext<'a>,
    ) -> Pending<'a, ToolOutput> {
        Box::pin(async move {
            let done = self.delegate(arguments, context).await;
            done.unwrap_or_else(ToolOutput::refused)
        })
    }
}

impl DelegateTask {
    async fn delegate(
        &self,
        arguments: &Value,
        context: &ToolContext<'_>,
    ) -> Result<ToolOutput, String> {
        let arguments: Arguments = read(arguments, &self.parameters())?;
        let is_wanted_later = arguments.background;
        let is_background = is_wanted_later && context::async_delivery_supported();
        let tasks = tasks(arguments, is_background)?;
        if context.turn.depth >= DEEPEST {
            return Err(format!(
                "a task may be handed on {DEEPEST} times, and this one was: do it yourself, or say what is missing"
            ));
        }
        let reach = context.host.reach();
        let mut given = Vec::new();
        for task in tasks {
            let goal = task.goal.clone();
            let job = reach.delegate(task).await;
            given.push(Given { goal, job });
        }
        if is_background {
            return dispatched(&given);
        }
        let Some(results) = outcomes(&given, context).await else {
            return Ok(ToolOutput::cancelled(
                "[stopped: the run was stopped, and what it had delegated with it]",
            ));
        };
        let mut answer = json!({ "results": results });
        if is_wanted_later {
            answer["note"] = json!(NOTE);
        }
        Ok(ToolOutput::done(answer.to_string()))
    }
}

/// The tasks that are meant, or what is wrong with them.
fn tasks(arguments: Arguments, is_background: bool) -> Result<Vec<Task>, String> {
    let wrong = |what: &str| Err(format!("wrong arguments: {what}"));
    let all = match (arguments.goal, arguments.tasks) {
        (Some(goal), None) => vec![One {
            goal,
            context: arguments.context.unwrap_or_default(),
            tools: arguments.tools,
        }],
        (None, Some(all)) if arguments.context.is_none() && arguments.tools.is_none() => all,
        (None, Some(_)) => {
            return wrong("with `tasks` each task has its own `context` and `tools`");
        }
        (Some(_), Some(_)) => return wrong("either `goal` or `tasks`, not both"),
        (None, None) => return wrong("expected `goal`, or `tasks` with up to three of them"),
    };
    if all.is_empty() || all.iter().any(|one| one.goal.trim().is_empty()) {
        return wrong("a task without a `goal`");
    }
    if all.len() > MOST_TASKS {
        let count = all.len();
        return Err(format!(
            "wrong arguments: {count} tasks, and at most {MOST_TASKS} are done at once: give the others afterwards"
        ));
    }
    let task = |one: One| Task {
        goal: one.goal,
        context: one.context,
        tools: one.tools,
        is_background,
    };
    Ok(all.into_iter().map(task).collect())
}

/// What was given away and will be told later.
fn dispatched(given: &[Given]) -> Result<ToolOutput, String> {
    let one = |it: &Given| match &it.job {
        Ok(job) => json!({ "goal": it.goal, "job_id": job, "status": "dispatched" }),
        Err(why) => json!({ "goal": it.goal, "status": "refused", "reason": why }),
    };
    let all: Vec<_> = given.iter().map(one).collect();
    if given.iter().all(|it| it.job.is_err()) {
        return Err(json!({ "tasks": all }).to_string());
    }
    let note = "you will be told what each comes to; do not wait for it";
    Ok(ToolOutput::done(
        json!({ "tasks": all, "note": note }).to_string(),
    ))
}

/// What each came to, in their order; nothing if the run was stopped, and then they are stopped as well.
async fn outcomes(given: &[Given], context: &ToolContext<'_>) -> Option<Vec<Value>> {
    let reach = context.host.reach();
    let waiting = given.iter().map(|it| outcome(it, reach));
    tokio::select! {
        biased;
        () = context.host.stopped() => {
            for job in given.iter().filter_map(|it| it.job.as_ref().ok()) {
                if let Err(error) = reach.cancel(*job).await {
                    tracing::debug!(%job, error, "a delegation was over before it was stopped");
                }
            }
            None
        }
        results = futures::future::join_all(waiting) => Some(results),
    }
}

async fn outcome(given: &Given, reach: &dyn Reach) -> Value {
    let ended = match &given.job {
        Ok(job) => reach.outcome(*job).await,
        Err(why) => Err(why.clone()),
    };
    match ended {
        Ok(end) => json!({ "goal": given.goal, "status": end.state.as_str(), "result": end.text }),
        Err(why) => json!({ "goal": given.goal, "status": "refused", "reason": why }),
    }
}
