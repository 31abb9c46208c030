//! Decides about the calls of an answer: which tools a turn is shown, what becomes of a call that may not be, which of
//! them are made together, and which id a call has in the journal.
//!
//! Pure: authority, tools and calls in, decisions out.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;

use talaria_domain::authority::{Authority, ResourceKind};
use talaria_domain::ids::RunId;
use talaria_domain::runner::ToolCall;

use crate::models::ToolSpec;
use crate::tools::Tool;

const OPERATION: &str = "call";

/// The tools that the authority allows, as a model is shown them.
pub(super) fn offered(tools: &[Arc<dyn Tool>], authority: &Authority) -> Vec<ToolSpec> {
    let is_allowed = |tool: &&Arc<dyn Tool>| may_call(authority, tool.name());
    let spec = |tool: &Arc<dyn Tool>| ToolSpec {
        name: tool.name().to_owned(),
        description: tool.description().to_owned(),
        parameters: tool.parameters(),
    };
    tools.iter().filter(is_allowed).map(spec).collect()
}

/// The tool that is called, or why it is not.
pub(super) fn decide<'a>(
    tools: &'a [Arc<dyn Tool>],
    authority: &Authority,
    name: &str,
) -> Result<&'a Arc<dyn Tool>, String> {
    let names = tools.iter().map(|tool| tool.name());
    let names: Vec<_> = names.filter(|name| may_call(authority, name)).collect();
    let there_is = match names.as_slice() {
        [] => "there is none in this conversation".to_owned(),
        names => format!("there is {}", names.join(", ")),
    };
    let Some(tool) = tools.iter().find(|tool| tool.name() == name) else {
        return Err(format!("there is no tool `{name}`: {there_is}"));
    };
    if !may_call(authority, name) {
        return Err(format!("the tool `{name}` is not allowed here: {there_is}"));
    }
    Ok(tool)
}

/// Calls that may be under way together, in the order in which they were made: neighbours whose tools allow it.
pub(super) fn batches<'a>(tools: &[Arc<dyn Tool>], calls: &'a [ToolCall]) -> Vec<&'a [ToolCall]> {
    let is_parallel = |call: &ToolCall| {
        let tool = tools.iter().find(|tool| tool.name() == call.tool);
        tool.is_some_and(|tool| tool.is_parallel(&call.arguments))
    };
    let together = |one: &ToolCall, next: &ToolCall| is_parallel(one) && is_parallel(next);
    calls.chunk_by(together).collect()
}

fn may_call(authority: &Authority, name: &str) -> bool {
    authority.allows(ResourceKind::Tool, name, OPERATION)
}

/// Ids that no other call of the conversation has. Servers leave them out or start again from one.
#[derive(Debug, Default)]
pub(super) struct CallIds {
    used: HashSet<String>,
}

impl CallIds {
    /// The calls that were there before.
    pub(super) fn after<'a>(calls: impl Iterator<Item = &'a ToolCall>) -> Self {
        Self {
            used: calls.map(|call| call.id.clone()).collect(),
        }
    }

    /// Makes sure that a new call has an id of its own.
    pub(super) fn settle(&mut self, run: RunId, call: &mut ToolCall) {
        if call.id.is_empty() || self.used.contains(&call.id) {
            let numbered = (1..).map(|number| format!("call_{run}_{number}"));
            let mut free = numbered.filter(|id| !self.used.contains(id));
            call.id = free.next().unwrap_or_default();
        }
        self.used.insert(call.id.clone());
    }
}
