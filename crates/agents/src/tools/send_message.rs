//! Sends a message to a named place, or says why not. There is no place that is meant when none is named.

use serde::Deserialize;
use serde_json::{Value, json};
use talaria_domain::adapter::Pending;

use super::arguments::read;
use super::{Tool, ToolContext, ToolOutput};

const DESCRIPTION: &str = "Sends a message to another chat, as `platform:chat` or `platform:chat:thread`. Your answer in \
    this conversation is sent anyway: this is for other places.";

/// The tool.
pub(super) struct SendMessage;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    target: String,
    text: String,
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
                "target": { "type": "string", "description": "Where: platform[:chat[:thread]]" },
                "text": { "type": "string", "description": "What" },
            },
            "required": ["target", "text"],
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
    async fn send(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<String, String> {
        let Arguments { target, text } = read(arguments, &self.parameters())?;
        if target.trim().is_empty() {
            return Err(
                "wrong arguments: `target` is empty: name a place, as in platform:chat".to_owned(),
            );
        }
        if text.trim().is_empty() {
            return Err("wrong arguments: `text` is empty".to_owned());
        }
        context.host.reach().send(target, text).await
    }
}
