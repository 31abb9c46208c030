//! Tools that need a person's yes. It is asked for before the tool's start is journalled: a turn that is interrupted
//! while it waits has touched nothing, and can simply be done again.

use talaria_domain::effects::{Answer, Question, RefusalCode};
use talaria_domain::run::Action;
use talaria_domain::runner::{Host, Stopped, ToolCall};

use crate::tools::PATIENCE;

/// Whether a call may be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Consent {
    /// It may.
    Given,
    /// It may not, and this is what the model is told.
    Withheld(String),
}

/// What would be done, as a person can judge it.
pub(crate) fn effect(call: &ToolCall) -> String {
    let given = call.arguments.as_object();
    let lines = given.into_iter().flatten().map(|(name, value)| {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), ToOwned::to_owned);
        format!("{name}: {value}")
    });
    let lines: Vec<String> = std::iter::once(call.tool.clone()).chain(lines).collect();
    lines.join("\n")
}

/// Asks for a yes.
pub(crate) async fn ask(host: &dyn Host, call: &ToolCall) -> Result<Consent, Stopped> {
    let question = Question {
        action: Action::Approval {
            effect: effect(call),
        },
        patience: PATIENCE,
    };
    let tool = &call.tool;
    match host.effects().ask(question).await {
        Ok(Answer::Approved) => Ok(Consent::Given),
        Ok(Answer::Denied | Answer::Said { .. }) => Ok(Consent::Withheld(format!(
            "the person does not want this call of `{tool}` to be made: do not try it in another way, say what you would \
             have done"
        ))),
        Err(refusal) if refusal.code == RefusalCode::RunEnded => Err(Stopped),
        Err(refusal) => Ok(Consent::Withheld(format!(
            "`{tool}` needs a person's yes here, and there is none: {}",
            refusal.reason
        ))),
    }
}

#[cfg(test)]
mod tests {
    //! What a person reads.

    use serde_json::json;

    use super::*;

    fn call(arguments: serde_json::Value) -> ToolCall {
        ToolCall {
            id: "1".to_owned(),
            tool: "terminal".to_owned(),
            arguments,
        }
    }

    #[test]
    fn nothing_of_a_call_is_hidden_from_whoever_judges_it() {
        let table = [
            (
                json!({ "command": "rm -rf a\nrm -rf b" }),
                "terminal\ncommand: rm -rf a\nrm -rf b",
            ),
            (
                json!({ "background": true, "command": "make" }),
                "terminal\nbackground: true\ncommand: make",
            ),
            (json!({}), "terminal"),
        ];
        for (arguments, expected) in table {
            assert_eq!(effect(&call(arguments)), expected);
        }
    }
}
