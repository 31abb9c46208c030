//! Sends a message to a named place, or a file there or into this conversation, or says why not. There is no place that
//! is meant for words when none is named: those of this conversation are the answer.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};
use talaria_domain::adapter::Pending;
use talaria_domain::runner::Letter;

use super::arguments::read;
use super::{Environment, Tool, ToolContext, ToolOutput};
use crate::context;

const DESCRIPTION: &str = "Sends a file into this conversation (`file`, with `text` beside it if you like), or a message \
    or a file to another chat (`target`, as `platform:chat` or `platform:chat:thread`). Your answer in this \
    conversation is sent anyway: do not send its words with this.";

/// The tool.
pub(super) struct SendMessage {
    environment: Environment,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    target: Option<String>,
    #[serde(default)]
    text: String,
    file: Option<String>,
}

impl Tool for SendMessage {
    fn name(&self) -> &'static str {
        "send_message"
    }

    fn description(&self) -> &'static str {
        DESCRIPTION
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "target": {
                    "type": "string",
                    "description": "Where: platform:chat[:thread]; without it a file goes into this conversation",
                },
                "text": { "type": "string", "description": "What; with a file, the words beside it" },
                "file": { "type": "string", "description": "The path of a file to send" },
            },
            "required": [],
            "additionalProperties": false,
        })
    }

    fn is_parallel(&self, _arguments: &Value) -> bool {
        // Two messages to one place are read in the order in which they were meant.
        false
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Value,
        context: &'a ToolContext<'a>,
    ) -> Pending<'a, ToolOutput> {
        Box::pin(async move {
            match self.send(arguments, context).await {
                Ok(receipt) => ToolOutput::done(receipt),
                Err(refusal) => ToolOutput::refused(refusal),
            }
        })
    }
}

impl SendMessage {
    pub(super) const fn of(environment: Environment) -> Self {
        Self { environment }
    }

    async fn send(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<String, String> {
        let Arguments { target, text, file } = read(arguments, &self.parameters())?;
        let wrong = |what: &str| Err(format!("wrong arguments: {what}"));
        let is_blank = |text: &String| text.trim().is_empty();
        if target.as_ref().is_some_and(is_blank) {
            return wrong("`target` is empty: name a place, as in platform:chat");
        }
        if file.as_ref().is_some_and(is_blank) {
            return wrong("`file` is empty: name a file");
        }
        if file.is_none() && target.is_none() {
            return wrong(
                "missing field `target`: name a place, as in platform:chat, or a `file` for this conversation",
            );
        }
        if file.is_none() && is_blank(&text) {
            return wrong("`text` is empty");
        }
        let file = file.map(|file| self.path(file.trim()));
        let letter = Letter { target, text, file };
        context.host.reach().send(letter).await
    }

    /// A file is where the session works, unless its path says more.
    fn path(&self, file: &str) -> PathBuf {
        let path = PathBuf::from(file);
        match context::cwd(&self.environment) {
            Some(cwd) if path.is_relative() => cwd.join(path),
            _ => path,
        }
    }
}
