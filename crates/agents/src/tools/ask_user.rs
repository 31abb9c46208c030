//! Asks the person something in the middle of a turn, and waits for the answer. Where nobody can be asked, or nobody
//! answers, the model is told so in words and goes on.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use talaria_domain::adapter::Pending;
use talaria_domain::effects::{Answer, Question, RefusalCode};
use talaria_domain::run::Action;

use super::arguments::read;
use super::{Tool, ToolContext, ToolOutput};

/// How long a person gets.
pub(crate) const PATIENCE: Duration = Duration::from_mins(10);

const DESCRIPTION: &str = "Asks the person you work for a question and waits for the answer: use it when you cannot go on \
    without knowing. Give `choices` if it is one of a few; without them any words are an answer.";

/// The tool.
pub(super) struct AskUser;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    question: String,
    #[serde(default)]
    choices: Vec<String>,
}

impl Tool for AskUser {
    fn name(&self) -> &'static str {
        "ask_user"
    }

    fn description(&self) -> &'static str {
        DESCRIPTION
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "question": { "type": "string", "description": "What you need to know" },
                "choices": {
                    "type": "array", "items": { "type": "string" }, "maxItems": 20,
                    "description": "What may be answered; anything, if not given",
                },
            },
            "required": ["question"],
            "additionalProperties": false,
        })
    }

    fn is_parallel(&self, _arguments: &Value) -> bool {
        // A person answers one thing after the other.
        false
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Value,
        context: &'a ToolContext<'a>,
    ) -> Pending<'a, ToolOutput> {
        Box::pin(async move {
            match read(arguments, &self.parameters()) {
                Ok(arguments) => ask(arguments, context).await,
                Err(refusal) => ToolOutput::refused(refusal),
            }
        })
    }
}

async fn ask(arguments: Arguments, context: &ToolContext<'_>) -> ToolOutput {
    let Arguments { question, choices } = arguments;
    let action = Action::Question {
        text: question,
        choices,
    };
    let question = Question {
        action,
        patience: PATIENCE,
    };
    match context.host.effects().ask(question).await {
        Ok(Answer::Said { text }) => ToolOutput::done(text),
        Ok(Answer::Approved) => ToolOutput::done("yes"),
        Ok(Answer::Denied) => ToolOutput::refused("the person does not want to answer that"),
        Err(refusal) if refusal.code == RefusalCode::RunEnded => {
            ToolOutput::cancelled("[stopped: the run was stopped before anybody answered]")
        }
        Err(refusal) => ToolOutput::refused(format!("no answer: {}", refusal.reason)),
    }
}
