//! Lets something happen at a time: a text is posted, or the agent is asked something, where it works now. It sees and
//! changes what its own person planned in its own conversation, and nothing else.

use serde::Deserialize;
use serde_json::{Value, json};
use talaria_domain::adapter::Pending;
use talaria_domain::effects::RefusalCode;
use talaria_domain::machine::Machine as _;
use talaria_domain::schedule::{Schedule, ScheduleOrder, ScheduleRequest, What};

use super::arguments::read;
use super::{Tool, ToolContext, ToolOutput};

const DESCRIPTION: &str = "Lets something happen later in this conversation: with `text` those words are posted as they \
    are; with `prompt` you are asked that then and your answer is posted. `when` is `30m` (once, from now), `every 2h`, \
    five cron fields such as `0 9 * * 1-5`, or a time such as `2027-01-31T18:00`. Also lists, pauses, resumes and removes \
    what was planned here.";

/// The tool.
pub(super) struct ScheduleTool;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(default)]
    action: Action,
    when: Option<String>,
    text: Option<String>,
    prompt: Option<String>,
    name: Option<String>,
    zone: Option<String>,
    id: Option<String>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    #[default]
    Create,
    List,
    Pause,
    Resume,
    Remove,
}

impl Tool for ScheduleTool {
    fn name(&self) -> &'static str {
        "schedule"
    }

    fn description(&self) -> &'static str {
        DESCRIPTION
    }

    fn parameters(&self) -> Value {
        let text = |what: &str| json!({ "type": "string", "description": what });
        json!({
            "type": "object",
            "properties": {
                "action": {
                    "type": "string",
                    "enum": ["create", "list", "pause", "resume", "remove"],
                    "description": "What to do; create, if not given",
                },
                "when": text("create: the time, as people write it"),
                "text": text("create: what is posted then, word for word"),
                "prompt": text("create: what you are asked then, instead of `text`"),
                "name": text("create: what it is called; the beginning of the text, if not given"),
                "zone": text("create: the time zone of `when`, such as Europe/Berlin"),
                "id": text("pause, resume, remove: which one, by its id or its name"),
            },
            "additionalProperties": false,
        })
    }

    fn is_parallel(&self, _arguments: &Value) -> bool {
        // What is listed after a change should show it.
        false
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Value,
        context: &'a ToolContext<'a>,
    ) -> Pending<'a, ToolOutput> {
        Box::pin(async move {
            let request = read(arguments, &self.parameters()).and_then(request);
            match request {
                Ok(request) => plan(request, context).await,
                Err(refusal) => ToolOutput::refused(refusal),
            }
        })
    }
}

async fn plan(request: ScheduleRequest, context: &ToolContext<'_>) -> ToolOutput {
    match context.host.effects().schedule(request).await {
        Ok(schedules) => {
            let shown: Vec<Value> = schedules.iter().map(shown).collect();
            ToolOutput::done(json!({ "schedules": shown }).to_string())
        }
        Err(refusal) if refusal.code == RefusalCode::RunEnded => {
            ToolOutput::cancelled("[stopped: the run was stopped before anything was planned]")
        }
        Err(refusal) => ToolOutput::refused(refusal.reason),
    }
}

/// What is wanted, or what is wrong with it.
fn request(arguments: Arguments) -> Result<ScheduleRequest, String> {
    let id = |id: Option<String>| {
        let id = id.filter(|id| !id.trim().is_empty());
        id.ok_or_else(|| "wrong arguments: `id` is missing: `list` shows them".to_owned())
    };
    match arguments.action {
        Action::Create => order(arguments).map(ScheduleRequest::Create),
        Action::List => Ok(ScheduleRequest::List),
        Action::Pause => id(arguments.id).map(ScheduleRequest::Pause),
        Action::Resume => id(arguments.id).map(ScheduleRequest::Resume),
        Action::Remove => id(arguments.id).map(ScheduleRequest::Remove),
    }
}

fn order(arguments: Arguments) -> Result<ScheduleOrder, String> {
    let what = match (arguments.text, arguments.prompt) {
        (Some(text), None) => What::Say(text),
        (None, Some(prompt)) => What::Ask(prompt),
        (Some(_), Some(_)) => {
            return Err("wrong arguments: either `text` or `prompt`, not both".to_owned());
        }
        (None, None) => {
            return Err("wrong arguments: expected `text`, or `prompt`, and `when`".to_owned());
        }
    };
    Ok(ScheduleOrder {
        name: arguments.name,
        when: arguments.when.unwrap_or_default(),
        zone: arguments.zone,
        what,
    })
}

fn shown(schedule: &Schedule) -> Value {
    json!({
        "id": schedule.id,
        "name": schedule.name,
        "when": schedule.when.show(&schedule.zone),
        "what": schedule.what.as_str(),
        "text": schedule.what.text(),
        "state": schedule.state.as_str(),
        "next": schedule.next_at.map(|at| schedule.zone.show(at)),
    })
}
